"""Knowledge and what a log shows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.fault_codes import xid_codes
from apps.core import safe_yaml
from apps.evidence.engine.source import Source
from apps.health.engine import knowledge as module
from apps.health.engine.diagnose import Diagnosis, diagnose_source, diagnose_text
from apps.health.engine.knowledge import knowledge, search

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
DATA = Path(module.__file__).resolve().parents[1] / "data" / "knowledge.yaml"


def seen(diagnosis: Diagnosis) -> list[str]:
    return [symptom.item.id for symptom in diagnosis.symptoms]


LOGS = [
    (
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 7/8 clients joined.",
        "comm-init-timeout",
    ),
    ("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9)", "collective-timeout"),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "oom-despite-estimate"),
    ("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", "gpu-lost"),
    (
        "[1.0] NVRM: Xid (PCI:0000:9b:00): 119, pid=1, Timeout after 6s of waiting for RPC response",
        "gsp-timeout",
    ),
    ("RuntimeError: CUDA error: invalid device ordinal", "per-process-isolation"),
    ("OSError: [Errno 98] Address already in use", "stray-processes"),
    ("node1:1:1 [0] NCCL INFO Using network Socket", "halved-bandwidth"),
    ("NET/IB : Got completion from peer with status=12 opcode=0", "rdma-errors"),
    ("INFO: task python:1 blocked for more than 120 seconds.", "intermittent-hang"),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "mixed-vendors"),
    ("WARNING straggler detected on rank 12", "mfu-collapse"),
    ("Failed to initialize NVML: Driver/library version mismatch", "version-mismatch"),
    ("RuntimeError: CUDA error: system not yet initialized (error 802)", "fabric-not-ready"),
    ("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up", "nvswitch-error"),
    ("NCCL INFO NCCL_MNNVL_ENABLE set by environment to 0.", "multi-node-nvlink"),
    ("Error while creating shared memory segment /dev/shm/nccl-abc (size 9637888)", "shared-memory-small"),
    ("    SW Thermal Slowdown               : Active", "thermal-throttling"),
    ("step 812 loss: nan grad norm: nan", "loss-nan"),
    ("OSError: [Errno 28] No space left on device", "storage-slow"),
    (
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        "checkpoint-unreadable",
    ),
    ("Out of memory: Killed process 8123 (python) total-vm:1kB", "host-oom"),
    ("WARNING: data loading is slow, Waiting for data 4.2 s", "periodic-zero-utilisation"),
    ("GPU 0: NVLink degraded, 2 links inactive", "nvlink-half-speed"),
    (
        "api.py:869] failed (exitcode: -9) local_rank: 5 (pid: 9123) of binary: /usr/bin/python",
        "process-killed",
    ),
]
FIRST_CAUSES = [
    (
        "EI0006: Getting socket times out. Reason: Remote Rank did not send the data in time.",
        ("comm-init-timeout", "missing-rank"),
    ),
    (
        "mlx5_core 0000:9a:00.0: Port: 1 Link DOWN\nNET/IB: Got completion from peer with status=12 opcode=0\n"
        "mlx5_core 0000:9a:00.0: Port: 1 Link ACTIVE",
        ("rdma-errors", "flapping-link"),
    ),
    (
        '[0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!',
        ("intermittent-hang", "iommu-translates"),
    ),
    ("traceback : Signal 9 (SIGKILL) received by PID 9123", ("process-killed", "host-memory")),
    ("traceback : Signal 11 (SIGSEGV) received by PID 9123", ("process-killed", "crash-in-library")),
]


@pytest.mark.parametrize(("line", "item"), LOGS)
def test_each_symptom_is_recognised_with_its_line(line: str, item: str) -> None:
    diagnosis = diagnose_text(f"start\n{line}\nend")

    assert item in seen(diagnosis)
    symptom = next(symptom for symptom in diagnosis.symptoms if symptom.item.id == item)
    assert [(sighting.line, sighting.text) for sighting in symptom.sightings] == [(2, line.strip())]


@pytest.mark.parametrize(("log", "first"), FIRST_CAUSES)
def test_what_the_log_says_comes_first(log: str, first: tuple[str, str]) -> None:
    symptom = diagnose_text(log).symptoms[0]

    assert (symptom.item.id, symptom.causes[0].cause.id) == first


def test_every_item_of_the_knowledge_is_tried_here() -> None:
    assert {item for _, item in LOGS} == {item.id for item in knowledge()}


def test_evidence_in_the_log_lifts_its_cause() -> None:
    failed = "Watchdog caught collective operation timeout"
    plain = diagnose_text(failed).symptoms[0]
    with_link = diagnose_text(f"{failed}\nNET/IB: Got completion, error 12\nkernel: Xid").symptoms

    assert plain.causes[0].cause.id == "rank-left-behind"
    ranked = next(symptom for symptom in with_link if symptom.item.id == "collective-timeout").causes
    assert (ranked[0].cause.id, ranked[0].evidence) == ("link-fault", (2, 3))


def test_a_cause_alone_shows_no_symptom() -> None:
    assert diagnose_text("docker0: flags=4163<UP> mtu 1500").symptoms == ()


def test_a_quiet_log_shows_nothing_but_its_length() -> None:
    diagnosis = diagnose_text("step 1 loss 2.3\nstep 2 loss 2.2")

    assert (diagnosis.symptoms, diagnosis.lines) == ((), 2)


def test_a_burst_is_counted_and_only_its_beginning_kept() -> None:
    symptom = diagnose_text("CUDA out of memory\n" * 500).symptoms[0]

    assert (symptom.count, len(symptom.sightings)) == (500, 20)


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("xid-dmesg/xid119-gsp-timeout.log", "gsp-timeout"),
        ("xid-dmesg/xid48-63-94-iso-decode.log", "gpu-lost"),
        ("xid-dmesg/xid79-with-sxid20034.log", "nvswitch-error"),
        ("xid-dmesg/xid149-154-gb200-nvlink5.log", "nvswitch-error"),
        ("nccl-debug-log/ray-2pods-2.21.5.log", "halved-bandwidth"),
    ],
)
def test_real_logs_are_diagnosed(name: str, item: str) -> None:
    assert item in seen(diagnose_source(Source.of_bytes((CORPUS / name).read_bytes())))


def test_a_diagnosis_is_the_same_every_time() -> None:
    text = (CORPUS / "xid-dmesg/xid79-with-sxid20034.log").read_text()

    assert diagnose_text(text) == diagnose_text(text)


def test_knowledge_is_searched_in_both_languages_and_by_code() -> None:
    assert search("NVLink half")[0].id == "nvlink-half-speed"
    assert "oom-despite-estimate" in [item.id for item in search("显存不足")]
    assert "gsp-timeout" in [item.id for item in search("Xid 119")]
    assert search("no such words at all") == ()


def test_texts_are_chosen_by_language() -> None:
    title = search("nvlink-half-speed")[0].title

    assert title.in_language("zh-hans") == title.zh
    assert title.in_language("en") == title.en


def test_the_knowledge_is_whole_in_both_languages() -> None:
    rows = safe_yaml.load(DATA.read_text(encoding="utf-8"))["items"]
    texts = [row[key] for row in rows for key in ("title", "text")]
    texts += [cause[key] for row in rows for cause in row["causes"] for key in ("text", "check", "remedy")]

    assert [text for text in texts if set(text) != {"en", "zh"}] == []
    assert [text["zh"] for text in texts if not re.search(r"[\u4e00-\u9fff]", text["zh"])] == []
    assert [text["en"] for text in texts if re.search(r"[\u4e00-\u9fff]", text["en"])] == []
    assert len({row["id"] for row in rows}) == len(rows)


def test_the_knowledge_names_only_codes_that_exist() -> None:
    assert {code for item in knowledge() for code in item.xids} <= set(xid_codes())
    assert all(1 <= cause.weight <= 5 for item in knowledge() for cause in item.causes)
    assert all(len(word) > 1 for item in knowledge() for phrase in item.phrases for word in phrase)


@given(st.text(max_size=300))
def test_any_text_is_diagnosed_without_an_error(text: str) -> None:
    assert diagnose_text(text).lines == len(text.splitlines())
