"""In Simplified Chinese what engines and data files say is Chinese, on pages and in forms; over REST it is English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from apps.benchmarks.engine.acceptance import AcceptanceReason
from apps.benchmarks.words import REASONS as BENCHMARK_REASONS
from apps.catalogue.engine.fault_codes import xid_codes
from apps.core import clock
from apps.core.errors import Invalid, PortalError
from apps.core.hostlist import expand
from apps.core.rights import NEEDED, Right
from apps.core.speech import said
from apps.core.texts import Text
from apps.environments.engine.compat import built_in_rules
from apps.environments.engine.exchange import from_csv
from apps.environments.engine.job_env import check_text
from apps.evidence.engine.reading import Reading
from apps.fleet.engine import life_cycle
from apps.fleet.engine.layout_values import from_values
from apps.fleet.engine.rank_maps import from_hostfile
from apps.fleet.services import imports
from apps.health import services as health
from apps.health.models import FaultRecord
from apps.launches.engine.standing import STANDING_WORDS, Standing
from apps.launches.models import Launch
from apps.launches.queries.checks.environments import job_environment
from apps.launches.queries.checks.subject import Subject
from apps.launches.words import found_in
from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.engine.rules import REASONS
from apps.planning.services import create_plan
from tests import factories
from tests.apps.planning.engine.plans import LLAMA_70B, changed
from tests.callers import actor_for, client_of

HAN = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"(?:\b[a-z]{2,}\b[ ,;:]+){3,}")  # more than names of fields and tools in a row
# One replica on 144 cards in a deep pipeline, with a reserve that it breaks: several warnings at once.
TIGHT = changed(
    LLAMA_70B, accelerators=144, domain_size=36, tp=8, pp=18, dp=1, micro_batch=4, global_batch=32
)


@pytest.fixture
def _chinese() -> Iterator[None]:
    with translation.override("zh-hans"):
        yield


def chinese(person: Any) -> Client:
    client = client_of(person)
    client.cookies["language"] = "zh-hans"
    return client


def untranslated(texts: Iterable[str]) -> list[str]:
    """Those that are not said in Chinese."""
    return [text for text in texts if not HAN.search(said(text)) or ENGLISH.search(said(text))]


def refusals(error: PortalError) -> list[str]:
    return [error.message, *(item.message for item in error.errors)]


@pytest.mark.usefixtures("_chinese")
def test_warnings_and_assumptions_of_a_plan_are_said_in_chinese() -> None:
    found = estimate(read_plan(TIGHT))

    cited = re.compile(r"et al\.")
    assert len(found.warnings) >= 2
    assert untranslated(one.message for one in found.warnings) == []
    assert untranslated(one.source for one in found.assumptions if not cited.search(one.source)) == []


@pytest.mark.usefixtures("_chinese")
def test_reasons_of_rejection_are_said_in_chinese() -> None:
    assert untranslated(sentence for _pointer, sentence in REASONS.values()) == []


@pytest.mark.usefixtures("_chinese")
def test_what_a_plan_may_not_hold_is_said_in_chinese() -> None:
    wrong = changed(LLAMA_70B, tp=0, accelerator="none-such", zero="two")
    with pytest.raises(Invalid) as refused:
        read_plan(wrong)

    assert len(refused.value.errors) >= 3
    assert untranslated(refusals(refused.value)) == []


@pytest.mark.usefixtures("_chinese")
def test_findings_about_a_jobs_environment_are_said_in_chinese() -> None:
    text = "\n".join(
        [
            "NCCL_IB_DISABLE=1",
            "NCCL_P2P_LEVEL=LOCAL",
            "NCCL_SOCKET_IFNAM=eth0",
            "NCCL_BUFFSIZE=4M",
            "NCCL_IB_TIMEOUT=99",
            "NCCL_IB_HCA=mlx5_1",
            "NCCL_DEBUG=info",
            "NCCL_DEBUG=WARN",
            "NCCL_TIMEOUT=100",
            "PYTORCH_CUDA_ALLOC_CONF=max_split:1,max_split_size_mb:x",
        ]
    )
    findings = check_text(text, nccl_version="2.10.3").findings

    assert len(findings) >= 9
    assert untranslated(one.why for one in findings) == []
    assert [one for one in findings if ENGLISH.search(said(one.instead))] == []


@pytest.mark.usefixtures("_chinese")
@pytest.mark.django_db
def test_what_the_gate_finds_in_a_jobs_environment_is_said_in_chinese(cluster: Any) -> None:
    domain = factories.domain(cluster, "sn")
    launch = Launch(cluster=cluster, domain=domain, job_environment="NCCL_IB_DISABLE=1\nNCCL_IB_TIMEOUT=99\n")
    subject = Subject(launch=launch, nodes=(), matrix=None, now=clock.now())
    found = job_environment(subject)
    item = {"code": found.code, "message": found.message, "values": json.loads(json.dumps(found.values))}

    assert "RDMA is off" in item["message"]
    assert "RDMA 已关闭" in found_in(item) and "超出范围" in found_in(item)


@pytest.mark.usefixtures("_chinese")
def test_rules_between_components_are_said_in_chinese() -> None:
    rules = built_in_rules()

    assert untranslated(text for rule in rules for text in (rule.title, rule.why, rule.remedy) if text) == []


@pytest.mark.usefixtures("_chinese")
def test_what_xids_mean_is_said_in_chinese() -> None:
    codes = xid_codes().values()

    assert untranslated(text for one in codes for text in (one.title, one.meaning, one.note) if text) == []


@pytest.mark.usefixtures("_chinese")
def test_what_is_thought_of_a_benchmark_is_said_in_chinese() -> None:
    assert {reason.value for reason in AcceptanceReason} <= set(BENCHMARK_REASONS)
    assert untranslated(BENCHMARK_REASONS.values()) == []


@pytest.mark.usefixtures("_chinese")
def test_rights_and_standings_have_chinese_words() -> None:
    assert set(NEEDED) == set(Right) and set(STANDING_WORDS) == set(Standing)
    assert untranslated(NEEDED.values()) == []
    assert {said(word) for word in STANDING_WORDS.values()} == {"待定", "GO", "NO-GO", "待签核", "未知"}


@pytest.mark.usefixtures("_chinese")
@pytest.mark.parametrize(
    "refuse",
    [
        lambda: expand("sn[01-"),
        lambda: from_csv("component,rule\nnccl,sometimes\n"),
        lambda: from_values({"shape": "mesh", "accelerators": -1, "colour": 1}),
        lambda: from_hostfile("n1 slots=x\n", slots_default=1),
    ],
    ids=["host list", "matrix file", "layout", "hostfile"],
)
def test_what_is_wrong_with_an_input_is_said_in_chinese(refuse: Any) -> None:
    with pytest.raises(Invalid) as refused:
        refuse()

    assert untranslated(refusals(refused.value)) == []


@pytest.mark.usefixtures("_chinese")
def test_states_within_a_sentence_are_said_in_chinese() -> None:
    text = life_cycle.refusal(now="retired", to="repair", holds=frozenset())

    assert isinstance(text, Text) and text == "a node that is retired can become spare"
    assert said(text) == "“已退役”的节点可变为：备用"


@pytest.mark.django_db
def test_the_page_of_a_plan_is_chinese_and_rest_is_english(bo: Any, cluster: Any, run_jobs: Any) -> None:
    made = create_plan(actor=actor_for(bo), scope_id=cluster.scope_id, name="计划", document=TIGHT)
    run_jobs()
    address = f"/plans/{made.plan_id}/versions/{made.number}/"
    page = chinese(bo).get(address).content.decode()
    warnings = chinese(bo).get(f"/api/v1{address}").json()["result"]["warnings"]

    assert "只有一个副本，因此没有梯度 all-reduce" in page
    assert "<li>there is one replica" not in page
    assert "there is one replica, so no gradients are all-reduced" in [one["message"] for one in warnings]
    assert {"code", "message"} <= set(warnings[0])


@pytest.mark.django_db
def test_a_plan_that_kept_no_templates_shows_its_english(bo: Any, cluster: Any, run_jobs: Any) -> None:
    made = create_plan(actor=actor_for(bo), scope_id=cluster.scope_id, name="old", document=TIGHT)
    run_jobs()
    made.refresh_from_db()
    made.result["warnings"] = [{"code": "gone", "message": "uses 97.0% of what a card had then"}]
    made.save()

    page = chinese(bo).get(f"/plans/{made.plan_id}/versions/{made.number}/").content.decode()

    assert "uses 97.0% of what a card had then" in page


@pytest.mark.django_db
def test_the_page_of_a_fault_is_chinese(bo: Any, cluster: Any) -> None:
    node = factories.node(cluster, "n0", domain=factories.domain(cluster, "sn"))
    events = [{"code": 79, "pci": "0000:1b:00", "line": 1, "at": "", "text": "Xid 79", "count": 1}]
    reading = Reading(kind="kernel_log", facts={"events": events}, parser_version=1)
    health.record_reading(node_id=node.pk, reading=reading, sha256="a" * 64, at=clock.now())
    address = reverse("health:fault", args=[FaultRecord.objects.get().pk])

    page = chinese(bo).get(address).content.decode()

    assert "GPU 从总线上丢失" in page and "驱动无法再通过 PCIe 访问该 GPU。" in page
    assert "fell off the bus" not in page


@pytest.mark.django_db
def test_the_check_of_a_jobs_environment_answers_in_chinese(bo: Any, cluster: Any) -> None:
    sent = {"text": "NCCL_SOCKET_IFNAM=eth0\nNCCL_IB_DISABLE=1\n"}

    page = chinese(bo).post(reverse("environments:job_check"), sent).content.decode()

    assert "都不读取 NCCL_SOCKET_IFNAM" in page
    assert "it has no effect" not in page


@pytest.mark.django_db
def test_rows_that_an_import_refuses_are_shown_in_chinese(bo: Any, cluster: Any) -> None:
    data = json.dumps({"nodes": [{"name": "n1", "domain": "nowhere"}, {"name": "n2", "index": "x"}]}).encode()
    row = imports.receive_import(actor=actor_for(bo), cluster_id=cluster.pk, data=data)

    page = chinese(bo).get(reverse("fleet:import", args=[cluster.slug, row.pk])).content.decode()

    assert "机队和本次导入中都没有域 nowhere" in page
    assert "neither in the fleet" not in page


@pytest.mark.django_db
def test_a_file_that_is_refused_is_refused_in_chinese(bo: Any, cluster: Any, tmp_path: Path) -> None:
    address = reverse("portal:hand_in", args=[cluster.slug])

    unknown = chinese(bo).post(address, {"text": "no tool prints this"}, follow=True).content.decode()
    broken = chinese(bo).post(
        address, {"text": "<nvidia_smi_log><gpu", "kind": "nvidia_smi_xml"}, follow=True
    )

    assert "这不是门户认识的工具的输出" in unknown
    assert "nvidia-smi XML：" in broken.content.decode()


@pytest.mark.django_db
def test_error_pages_are_chinese(bo: Any, vic: Any, cluster: Any) -> None:
    unknown = chinese(vic).get(reverse("fleet:topology", args=["none"]))
    filtered = chinese(vic).get(reverse("health:overview") + "?colour=red")

    assert (unknown.status_code, filtered.status_code) == (404, 400)
    assert "没有集群" in unknown.content.decode()
    assert "未知的筛选条件：colour" in filtered.content.decode()
