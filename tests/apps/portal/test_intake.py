"""From a file to the records that it is about: node, domain, later nodes, large files, two at once."""

from __future__ import annotations

import hashlib
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.models import AuditEvent
from apps.benchmarks.models import BenchmarkRun
from apps.core import actor as actors
from apps.core import clock
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.core.verdicts import Verdict
from apps.environments.models import NodeFact
from apps.environments.queries import hardware_faults, reported_versions
from apps.evidence import services as evidence
from apps.evidence import store
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState
from apps.fleet.models import Accelerator, HardwareChange, NodeAlias, Part
from apps.health.models import FaultRecord, HealthState
from apps.jobs.models import Job, JobState
from apps.jobs.registry import recurring
from apps.jobs.services import enqueue
from apps.portal.queries.cluster_summary import domain_summaries
from apps.portal.services import intake, owners
from tests import factories
from tests.apps.evidence.engine.parsers import version_outputs
from tests.callers import actor_for
from tests.support import corpus


@pytest.fixture
def domain(cluster):
    return factories.domain(cluster, "sn")


@pytest.fixture
def node(cluster, domain):
    return factories.node(cluster, "sn-n01", domain=domain, accelerators=8)


@pytest.fixture
def send(cluster, bo):
    def sent(data: bytes, node_name: str = "", **fields) -> Receipt:
        return intake.take_in(
            actor=actor_for(bo), cluster=cluster, chunks=[data], node_name=node_name, **fields
        )

    return sent


@pytest.fixture
def send_known(cluster, bo):
    """As a node that asks first: by digest where these bytes were accepted; says whether they were."""

    def sent(data: bytes, at) -> bool:
        sha256 = hashlib.sha256(data).hexdigest()
        if not Receipt.objects.filter(sha256=sha256, reading__isnull=False).exists():
            return False
        intake.take_in_known(
            actor=actor_for(bo),
            cluster=cluster,
            sha256=sha256,
            file_name="ibstat.txt",
            node_name="sn-n01",
            collected_at=at,
        )
        return True

    return sent


def effects_of(receipt: Receipt) -> set[str]:
    return {effect["what"] for effect in receipt.effects}


def driver_of(node) -> str:
    facts = NodeFact.objects.filter(node=node, component="gpu_driver", until__isnull=True)
    return facts.get(kind="nvidia_smi_xml").value


def test_a_report_reaches_the_node_and_leads_back_to_its_bytes(send, node):
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    assert receipt.state == ReceiptState.APPLIED
    assert "node_versions" in effects_of(receipt)
    fact = NodeFact.objects.filter(node=node, until__isnull=True).first()
    assert fact.sha256 == receipt.sha256
    assert Evidence.objects.filter(sha256=fact.sha256).exists()


@pytest.mark.parametrize("name", ["SN-N01", "sn-n01.example.com", "pod-17"])
def test_a_node_is_found_by_its_other_names(send, cluster, node, name):
    NodeAlias.objects.create(cluster=cluster, node=node, name="pod-17")
    assert send(corpus.read(corpus.XML), name).state == ReceiptState.APPLIED


def test_a_benchmark_is_about_the_domain_it_was_sent_for(send, domain, node):
    receipt = send(corpus.read(corpus.ALL_REDUCE), "sn")
    assert receipt.state == ReceiptState.APPLIED
    assert BenchmarkRun.objects.get(domain=domain).sha256 == receipt.sha256


def test_a_benchmark_that_is_on_record_is_not_said_to_be_recorded_again(send, domain, node):
    first = send(corpus.read(corpus.ALL_REDUCE), "sn")
    again = send(corpus.read(corpus.ALL_REDUCE), "sn")
    assert effects_of(first) == {"benchmark_run", "benchmark_collective_needed"}
    assert effects_of(again) == {"benchmark_run_known", "benchmark_collective_needed"}
    assert BenchmarkRun.objects.count() == 1


def test_a_report_of_a_node_sent_for_a_domain_is_unmatched(send, domain):
    assert send(corpus.read(corpus.XML), "sn").state == ReceiptState.UNMATCHED


def test_a_report_that_names_no_node_is_unmatched(send, node):
    assert send(corpus.read(corpus.XML)).state == ReceiptState.UNMATCHED


@pytest.mark.parametrize(
    "path",
    [corpus.ALL_REDUCE, "ibstat/h100-some-down-polling.txt", corpus.KERNEL_LOG],
)
def test_what_needs_a_node_or_a_domain_waits_until_one_is_named(send, domain, path):
    receipt = send(corpus.read(path))
    assert (receipt.state, receipt.effects) == (ReceiptState.UNMATCHED, [])


def test_a_benchmark_without_a_domain_is_recorded_once_that_is_said(send, bo, domain, node):
    waiting = send(corpus.read(corpus.ALL_REDUCE))
    told = intake.assign_node(actor=actor_for(bo), receipt_id=waiting.pk, node_name="sn")
    assert told.state == ReceiptState.APPLIED
    assert BenchmarkRun.objects.get().domain == domain


def test_a_benchmark_of_a_known_domain_that_holds_no_run_is_not_said_to_lack_it(send, domain):
    failed = send(corpus.read("nccl-tests/failed-no-cuda-device.log"), "sn")
    assert (failed.state, failed.kind) == (ReceiptState.APPLIED, "nccl_tests")


def test_an_unknown_node_leaves_the_report_waiting_and_it_attaches_when_the_node_appears(
    send, cluster, domain, run_jobs
):
    receipt = send(corpus.read(corpus.XML), "sn-n09")
    assert receipt.state == ReceiptState.UNMATCHED
    assert not NodeFact.objects.exists()
    assert attach(run_jobs) == {"attached": 0, "waiting": 1}
    node = factories.node(cluster, "sn-n09", domain=domain)
    assert attach(run_jobs) == {"attached": 1, "waiting": 0}
    receipt.refresh_from_db()
    assert receipt.state == ReceiptState.APPLIED
    assert driver_of(node) == "570.86.15"
    assert attach(run_jobs) == {"attached": 0, "waiting": 0}


def attach(run_jobs) -> dict[str, int]:
    enqueue("portal.attach_unmatched", actor=actors.system())
    return run_jobs("portal.attach_unmatched")[0].result


@pytest.mark.parametrize(
    ("said", "made"),
    [("SN-N09", "sn-n09"), ("sn-n09.example.com", "sn-n09"), ("sn-n09", "sn-n09.example.com")],
)
def test_a_waiting_report_finds_its_node_by_other_forms_of_its_name(send, cluster, said, made, run_jobs):
    send(corpus.read(corpus.XML), said)
    send(corpus.read(corpus.XML), "sn-n0")
    factories.node(cluster, made)
    assert attach(run_jobs) == {"attached": 1, "waiting": 1}


def test_a_waiting_report_finds_an_alias_and_a_waiting_benchmark_its_domain(send, cluster, run_jobs):
    send(corpus.read(corpus.XML), "pod-17")
    send(corpus.read(corpus.ALL_REDUCE), "SN")
    node = factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"))
    NodeAlias.objects.create(cluster=cluster, node=node, name="pod-17")
    assert attach(run_jobs) == {"attached": 2, "waiting": 0}


def test_a_node_of_another_cluster_attaches_nothing(send, other_cluster, run_jobs):
    send(corpus.read(corpus.XML), "sn-n09")
    factories.node(other_cluster, "sn-n09")
    assert attach(run_jobs) == {"attached": 0, "waiting": 1}


def test_waiting_reports_are_looked_at_every_few_minutes(run_jobs):
    assert recurring()["portal.attach_unmatched"] == 300


def test_somebody_says_which_node_it_is_about(send, node, bo):
    receipt = send(corpus.read(corpus.XML))
    told = intake.assign_node(actor=actor_for(bo), receipt_id=receipt.pk, node_name=" sn-n01 ")
    assert (told.state, told.node_name) == (ReceiptState.APPLIED, "sn-n01")
    event = AuditEvent.objects.get(action="evidence.node_assigned")
    assert event.object_id == str(receipt.pk)
    with pytest.raises(Conflict):
        intake.assign_node(actor=actor_for(bo), receipt_id=receipt.pk, node_name="sn-n02")


def test_who_may_not_operate_does_not_say_it(send, vic, eve):
    receipt = send(corpus.read(corpus.XML))
    with pytest.raises(NotAllowed):
        intake.assign_node(actor=actor_for(vic), receipt_id=receipt.pk, node_name="sn-n01")
    with pytest.raises(Missing):
        intake.assign_node(actor=actor_for(eve), receipt_id=receipt.pk, node_name="sn-n01")


def test_a_node_list_reaches_each_node_that_it_names(send, cluster, domain, run_jobs):
    receipt = send(corpus.read(corpus.KUBERNETES))
    assert receipt.state == ReceiptState.UNMATCHED
    names = [node["name"] for node in receipt.reading.facts["node_list"]]
    nodes = [factories.node(cluster, name, domain=domain) for name in names[:3]]
    assert attach(run_jobs) == {"attached": 1, "waiting": 0}
    receipt.refresh_from_db()
    assert receipt.state == ReceiptState.APPLIED
    assert {effect["node"] for effect in receipt.effects if effect["what"] != "topology"} == {
        str(node.pk) for node in nodes
    }


def test_the_same_report_again_confirms_and_is_no_second_observation(send, node):
    data = corpus.read(corpus.XML)
    send(data, "sn-n01")
    before = list(HealthState.objects.values_list("rule", "device", "recent"))
    again = send(data, "sn-n01")
    assert before
    assert effects_of(again) == {"node_versions_same", "node_health"}
    assert list(HealthState.objects.values_list("rule", "device", "recent")) == before


def test_the_same_bytes_later_are_another_observation_until_health_is_settled(send, send_known, node):
    """A link that is down prints the same each time; so does one that is up again."""
    up = corpus.read("ibstat/h100-all-active.txt")
    down = up.replace(b"State: Active", b"State: Down", 1)
    begin = clock.now() - timedelta(hours=6)
    states = []
    for minute, data in enumerate([up, up, up, down, down, up, up, up, up, up]):
        at = begin + timedelta(minutes=2 * minute)
        send_known(data, at) or send(data, "sn-n01", collected_at=at, file_name="ibstat.txt")
        states.append(HealthState.objects.get(rule="port-down", device="mlx5_0/1").verdict)
    assert states == ["pass"] * 4 + ["fail"] * 2 + ["pass"] * 4
    assert Receipt.objects.filter(times__gt=1).count() == 2  # where health is settled they are only counted


@pytest.mark.parametrize(
    ("ahead", "told"), [(timedelta(hours=2), {"clock_ahead"}), (timedelta(minutes=4), set())]
)
def test_a_clock_that_runs_ahead_is_told_of_at_the_delivery(send, node, ahead, told):
    receipt = send(corpus.read(corpus.XML), "sn-n01", collected_at=clock.now() + ahead)
    assert effects_of(receipt) & {"clock_ahead"} == told
    assert driver_of(node) == "570.86.15"


def test_an_older_report_that_arrives_late_overwrites_nothing(send, node):
    now = clock.now()
    send(corpus.read(corpus.XML), "sn-n01", collected_at=now)
    older = corpus.read(corpus.XML).replace(b"570.86.15", b"535.161.08").replace(b"GPU-", b"GPU-f")
    receipt = send(older, "sn-n01", collected_at=now - timedelta(days=3))
    assert receipt.state == ReceiptState.APPLIED
    assert driver_of(node) == "570.86.15"
    assert effects_of(receipt) == {"outdated"}
    assert receipt.older_than == now.replace(microsecond=0)
    assert not HardwareChange.objects.exists()


def test_a_first_report_is_never_older_than_what_is_on_record_however_old_it_is(send, node):
    receipt = send(corpus.read(corpus.XML), "sn-n01", collected_at=clock.now() - timedelta(days=300))
    assert (receipt.older_than, effects_of(receipt)) == (None, {"node_versions", "node_health"})


def test_another_machine_and_board_under_the_same_name_are_noticed(send, node):
    for serial in ("BRD-42-007", "BRD-99-001"):
        receipt = send(
            version_outputs.DMIDECODE.replace("BRD-42-007", serial)
            .replace("SYS-77-001", serial.replace("BRD", "SYS"))
            .encode(),
            "sn-n01",
        )
    node.refresh_from_db()
    assert (node.serial, node.system_serial) == ("BRD-99-001", "SYS-99-001")
    assert effects_of(receipt) == {"hardware_changed"}
    assert set(HardwareChange.objects.values_list("slot", "before", "after", "sha256")) == {
        ("board", "BRD-42-007", "BRD-99-001", receipt.sha256),
        ("system", "SYS-42-007", "SYS-99-001", receipt.sha256),
    }
    assert Part.objects.get().serial == "BRD-42-007"


def test_cards_that_another_node_reports_too_are_told_at_the_receipt(send, node, cluster):
    twin = factories.node(cluster, "sn-n02", accelerators=8)
    report = corpus.read(corpus.XML).replace(b"GPU-0", b"GPU-f")
    assert "hardware_twin" not in effects_of(send(report, "sn-n01"))
    receipt = send(report, "sn-n02")
    told = [effect["label"] for effect in receipt.effects if effect["what"] == "hardware_twin"]
    assert told == ["sn-n02 · sn-n01"]
    assert {change.node for change in HardwareChange.objects.all()} == {node, twin}


def test_other_accelerators_than_are_on_record_are_told_where_the_node_is_shown(
    send, node, cluster, bo, client_of, api
):
    assert "accelerators_other" not in effects_of(send(corpus.read(corpus.XML), "sn-n01"))
    Accelerator.objects.filter(node=node).update(model="nvidia-gb200")
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    told = [effect["label"] for effect in receipt.effects if effect["what"] == "accelerators_other"]
    assert told == ["sn-n01 · NVIDIA H100 80GB HBM3 ≠ GB200 (per GPU, NVL72)"]
    (fault,) = api(bo).get(f"/api/v1/hardware-faults/{cluster.slug}/").json()
    assert (fault["node"], fault["verdict"], fault["code"]) == ("sn-n01", "fail", "accelerators_other")
    browser, home = client_of(bo), f"/clusters/{cluster.slug}"
    for page in (f"{home}/nodes/{node.pk}/", f"{home}/topology/?domain={node.domain_id}&node={node.pk}"):
        assert b"reports NVIDIA H100 80GB HBM3; on record is GB200" in browser.get(page).content, page
    assert b"The accelerators of 1 node are not as on record" in browser.get(f"{home}/").content
    (summary,) = domain_summaries([cluster])[cluster.pk]
    assert summary.verdict is Verdict.FAIL
    Accelerator.objects.filter(node=node).update(model="nvidia-h100-sxm5-80gb")
    assert api(bo).get(f"/api/v1/hardware-faults/{cluster.slug}/").json() == []


def test_of_reports_that_name_other_accelerators_the_one_that_counts_is_held_against_the_record(send, node):
    send(corpus.read(corpus.COLLECT_ENV).replace(b"NVIDIA H100 80GB HBM3", b"NVIDIA GB200"), "sn-n01")
    send(corpus.read(corpus.XML), "sn-n01")
    (counts,) = reported_versions([node.pk])[node.pk]["gpu_model"].values
    assert counts == "NVIDIA H100 80GB HBM3"
    assert hardware_faults([node.pk]) == {}
    Accelerator.objects.filter(node=node).update(model="nvidia-gb200")
    assert hardware_faults([node.pk])[node.pk].found == counts


def test_serial_numbers_that_were_refused_change_nothing(send, node):
    send(version_outputs.DMIDECODE.encode(), "sn-n01")
    send(version_outputs.DMI_GREP.encode(), "sn-n01")
    node.refresh_from_db()
    assert (node.serial, node.system_serial) == ("BRD-42-007", "SYS-77-001")
    assert not HardwareChange.objects.exists()


def test_a_report_from_a_clock_that_runs_ahead_outdates_nothing_that_follows(send, node):
    send(corpus.read(corpus.XML), "sn-n01", collected_at=clock.now() + timedelta(days=300_000))
    swapped = corpus.read(corpus.XML).replace(b"570.86.15", b"575.51.03").replace(b"GPU-", b"GPU-f")
    receipt = send(swapped, "sn-n01", collected_at=clock.now())
    assert "hardware_changed" in effects_of(receipt)
    assert driver_of(node) == "575.51.03"


def test_where_an_owner_fails_no_owner_has_written(send, node, monkeypatch):
    def stumble(delivery):
        raise RuntimeError("in the middle")

    monkeypatch.setattr(owners, "OWNERS", (*owners.OWNERS, stumble))
    with pytest.raises(RuntimeError):
        send(corpus.read(corpus.XML), "sn-n01")
    for model in (Receipt, Evidence, EvidenceReading, NodeFact, HealthState, Job):
        assert not model.objects.exists(), model


def test_where_an_owner_refuses_the_file_is_refused(send, node, monkeypatch):
    def refuse(delivery):
        raise Invalid("a run has at most 10,000 sizes", code="too_many_sizes")

    monkeypatch.setattr(owners, "OWNERS", (*owners.OWNERS, refuse))
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    assert (receipt.state, receipt.refusal_code) == (ReceiptState.REFUSED, "too_many_sizes")
    assert not NodeFact.objects.exists()


CHATTER = b"[10000.000000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"


def test_a_log_of_50_mb_is_accepted_at_once_and_read_by_a_job(send, node, run_jobs):
    log = corpus.read(corpus.KERNEL_LOG)
    data = log + CHATTER * 700_000 + log.replace(b"Sun Feb 23 ", b"Mon Feb 24 ")  # not the same lines again
    receipt = send(data, "sn-n01")
    assert receipt.size_bytes > 50_000_000
    assert (receipt.state, receipt.kind, receipt.reading) == (ReceiptState.STORED, "kernel_log", None)
    (job,) = run_jobs("portal.read_receipt")
    receipt.refresh_from_db()
    assert (job.state, receipt.job) == (JobState.SUCCEEDED, job)
    assert (job.result["state"], receipt.state) == (ReceiptState.APPLIED, ReceiptState.APPLIED)
    assert receipt.reading.facts["xid_counts"] == {"119": 2 * log.count(b": 119, ")}
    assert (job.done, job.total) == (len(data) // 2**20,) * 2


def test_a_large_file_that_cannot_be_read_is_refused_by_its_job(send, settings, run_jobs):
    settings.EVIDENCE_INLINE_BYTES = 1000
    receipt = send(corpus.read(corpus.XML)[:900] + b"<" * 4000, "sn-n01", kind="nccl_tests")
    assert receipt.state == ReceiptState.STORED
    (job,) = run_jobs("portal.read_receipt")
    receipt.refresh_from_db()
    assert (job.state, receipt.state) == (JobState.SUCCEEDED, ReceiptState.REFUSED)
    assert job.result["refusal"] == receipt.refusal
    assert not Evidence.objects.exists()


def test_a_large_file_that_its_owner_refuses_is_refused_by_its_job(
    send, node, settings, run_jobs, monkeypatch
):
    def refuse(delivery):
        raise Conflict("sealed", code="sealed")

    monkeypatch.setattr(owners, "OWNERS", (refuse,))
    settings.EVIDENCE_INLINE_BYTES = 1000
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    (job,) = run_jobs("portal.read_receipt")
    receipt.refresh_from_db()
    assert (job.state, receipt.refusal_code) == (JobState.SUCCEEDED, "sealed")


def test_a_job_whose_bytes_are_lost_fails_and_says_so(send, node, settings, run_jobs):
    settings.EVIDENCE_INLINE_BYTES = 1000
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    store.discard(receipt.sha256)
    (job,) = run_jobs("portal.read_receipt")
    receipt.refresh_from_db()
    assert (job.state, job.problem["code"], receipt.state) == (JobState.FAILED, "bytes_gone", "stored")


def test_killed_after_reading_the_job_goes_on_where_it_was(send, node, settings, run_jobs, monkeypatch):
    settings.EVIDENCE_INLINE_BYTES = 1000
    receipt = send(corpus.read(corpus.XML), "sn-n01")
    apply = intake.apply_receipt

    def killed(**kwargs):
        raise RuntimeError("between reading and applying")

    monkeypatch.setattr(intake, "apply_receipt", killed)
    (job,) = run_jobs("portal.read_receipt")
    assert (job.state, NodeFact.objects.count()) == (JobState.FAILED, 0)
    monkeypatch.setattr(intake, "apply_receipt", apply)
    enqueue("portal.read_receipt", actor=actors.system(), receipt_id=receipt.pk)
    run_jobs("portal.read_receipt")
    receipt.refresh_from_db()
    assert receipt.state == ReceiptState.APPLIED
    assert EvidenceReading.objects.count() == 1


def test_the_same_file_at_the_same_moment_is_kept_once_and_delivered_twice(
    committed_database, cluster, bo, evidence_dir
):
    domain = factories.domain(cluster, "sn")
    factories.node(cluster, "sn-n01", domain=domain, accelerators=8)
    gate, results = threading.Barrier(4), []

    def deliver() -> None:
        gate.wait()
        try:
            receipt = intake.take_in(
                actor=actor_for(bo), cluster=cluster, chunks=[corpus.read(corpus.XML)], node_name="sn-n01"
            )
            results.append(receipt.state)
        finally:
            connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [ReceiptState.APPLIED] * 4
    assert (Evidence.objects.count(), EvidenceReading.objects.count()) == (1, 1)
    assert sorted(Receipt.objects.values_list("repeated", flat=True)) == [False, True, True, True]
    assert len([path for path in evidence_dir.rglob("*") if path.is_file()]) == 1


def test_a_sweep_beside_deliveries_never_takes_bytes_that_a_row_names(
    committed_database, cluster, bo, evidence_dir, monkeypatch
):
    """The sweep looks at every file, however young, while the same bytes are delivered and refused."""
    monkeypatch.setattr(store, "not_young", lambda: [path.stem for path in evidence_dir.glob("??/*.gz")])
    over, wrong = threading.Event(), []

    def sweep() -> None:
        try:
            while not over.is_set():
                evidence.sweep()
        finally:
            connection.close()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    for _ in range(12):
        receipt = intake.take_in(
            actor=actor_for(bo), cluster=cluster, chunks=[corpus.read(corpus.KERNEL_LOG)], node_name="x"
        )
        if not store.path_of(receipt.sha256).exists():
            wrong.append(receipt.pk)
        evidence.refuse(receipt_id=receipt.pk, error=Invalid("again", code="again"))
    over.set()
    sweeper.join()
    assert wrong == []


TWO_HOSTS = {
    "syslog": (
        b"Nov 30 04:05:06 sn-n01 kernel: [12345.678901] NVRM: Xid (PCI:0000:3b:00): 63, pid=1, row remapped\n"
        b"Nov 30 04:05:07 sn-n02 kernel: [22345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=2, GPU has fallen off\n"
        b"Nov 30 04:05:09 localhost kernel: [2.5] NVRM: Xid (PCI:0000:86:00): 13, pid=3, Graphics Exception\n"
    ),
    "metrics": (
        b'DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1",Hostname="sn-n01"} 0\n'
        b'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",Hostname="sn-n01",DCGM_FI_DRIVER_VERSION="570.1"} 40\n'
        b'DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-2",Hostname="sn-n02"} 79\n'
        b'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-2",Hostname="sn-n02",DCGM_FI_DRIVER_VERSION="580.1"} 99\n'
    ),
}


@pytest.mark.postgres
def test_a_report_of_new_cards_locks_its_cluster_before_it_writes_to_its_node(send, node):
    with CaptureQueriesContext(connection) as asked:
        send(corpus.read(corpus.XML), "sn-n01")
    done = [
        query["sql"] for query in asked if "NO KEY UPDATE" in query["sql"] or 'UPDATE "fleet_' in query["sql"]
    ]
    assert 'FROM "fleet_cluster"' in done[0]
    assert any(sql.startswith('UPDATE "fleet_node"') for sql in done)


@pytest.mark.parametrize("form", TWO_HOSTS)
def test_what_a_file_says_of_other_hosts_is_not_held_against_the_node(send, node, domain, form):
    factories.node(node.cluster, "sn-n02", domain=domain, accelerators=8)
    receipt = send(TWO_HOSTS[form], "sn-n01")
    told = {effect["what"]: effect["label"] for effect in receipt.effects}
    assert told["other_hosts"] == "sn-n02"
    codes = set(FaultRecord.objects.values_list("node__name", "code"))
    assert codes == ({("sn-n01", 63), ("sn-n01", 13)} if form == "syslog" else set())
    assert not NodeFact.objects.exists()


def test_a_single_host_that_is_called_otherwise_than_the_node_is_the_node(send, node):
    receipt = send(TWO_HOSTS["syslog"].splitlines(keepends=True)[1], "sn-n01")
    assert [effect["what"] for effect in receipt.effects] == ["node_health"]
    assert FaultRecord.objects.get().node == node
