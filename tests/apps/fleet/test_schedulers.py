"""Scheduler files: out with notes, in with the differences before anything changes."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from apps.core import clock
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.evidence.models import Evidence, EvidenceReading, Receipt, ReceiptState
from apps.fleet import services
from apps.fleet.engine.schedulers.writing import FORMATS
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, Switch
from apps.fleet.queries.schedulers import comparison_of, scheduler_file
from apps.fleet.services.imports import apply_import
from apps.fleet.services.schedulers import import_from_file
from apps.fleet.words import SCHEDULER_FORMATS
from tests import factories
from tests.support import corpus

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(build) -> Domain:
    return build("72-as-18x4")


@pytest.fixture
def delivered(cluster):
    """A file that was handed in and read."""

    def deliver(text: str, *, node: str = "", to=cluster) -> Receipt:
        reading = read(Source.of_bytes(text.encode()))
        evidence, _is_new = Evidence.objects.get_or_create(
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            defaults={"size_bytes": 1, "stored_at": clock.now()},
        )
        row, _is_new = EvidenceReading.objects.get_or_create(
            evidence=evidence,
            kind=reading.kind,
            parser_version=1,
            defaults={"facts": reading.facts, "read_at": clock.now()},
        )
        return Receipt.objects.create(
            scope=to.scope,
            received_at=clock.now(),
            file_name="topology.conf",
            node_name=node,
            sha256=evidence.sha256,
            size_bytes=1,
            kind=reading.kind,
            state=ReceiptState.APPLIED,
            evidence=evidence,
            reading=row,
            via="session",
            by_label="Bo",
        )

    return deliver


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_offered_on_the_page_and_over_rest(form, domain, cluster, vic, client_of, api):
    assert form in SCHEDULER_FORMATS
    page = client_of(vic).get(f"/clusters/{cluster.slug}/schedulers/?form={form}")
    assert page.context["problem"] is None
    answer = (
        api(vic).get(f"/api/v1/clusters/{cluster.slug}/scheduler-files/{form}/?domain={domain.pk}").json()
    )
    download = client_of(vic).get(f"/clusters/{cluster.slug}/schedulers/{form}/")
    assert answer["text"] == download.content.decode()


def test_an_unknown_format_is_an_error_that_lists_the_known(cluster, vic, api):
    answer = api(vic).get(f"/api/v1/clusters/{cluster.slug}/scheduler-files/pbs/")
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_format")


def test_what_went_out_comes_in_without_a_difference(domain, cluster, bo, actor_for, delivered):
    receipt = delivered(scheduler_file(cluster, form="slurm_block").text)
    assert comparison_of(actor_for(bo), cluster, receipt.pk).differences == ()


def test_every_difference_is_shown_before_anything_changes(
    domain, cluster, bo, actor_for, delivered, client_of
):
    text = scheduler_file(cluster, form="slurm_block").text
    receipt = delivered(text.replace("sn-n[01-18]", "sn-n[01-17],sn-n99"))
    codes = {one.code for one in comparison_of(actor_for(bo), cluster, receipt.pk).differences}
    assert {"node_missing", "unknown_node"} <= codes
    page = client_of(bo).get(f"/clusters/{cluster.slug}/topology-files/{receipt.pk}/")
    assert b"sn-n99" in page.content
    assert not Node.objects.filter(name="sn-n99").exists()


def test_a_file_is_brought_in_as_an_import_that_is_looked_at(domain, cluster, bo, actor_for, delivered):
    text = scheduler_file(cluster, form="slurm_block").text
    receipt = delivered(text.replace("sn-n[01-18]", "sn-n[01-18],sn-n99"))
    actor = actor_for(bo)
    row = import_from_file(actor=actor, cluster_id=cluster.pk, receipt_id=receipt.pk)
    assert (row.counts["nodes"]["created"], Node.objects.filter(name="sn-n99").exists()) == (1, False)
    apply_import(actor=actor, import_id=row.pk, expected_version=row.version)
    assert Node.objects.get(name="sn-n99").domain == domain


def test_a_file_that_contradicts_itself_is_not_brought_in(domain, cluster, bo, client_of, delivered):
    receipt = delivered("SwitchName=s1 Nodes=sn-n[01-04]\nSwitchName=s2 Nodes=sn-n[04-08]\n")
    client, page = client_of(bo), f"/clusters/{cluster.slug}/topology-files/{receipt.pk}/"
    assert b"contradicts itself" in client.get(page).content
    answer = client.post(f"{page}import/")
    assert answer.url == page


def test_a_file_of_another_cluster_is_not_compared(domain, cluster, other_cluster, ada, api, delivered):
    receipt = delivered(scheduler_file(cluster, form="slurm_block").text)
    answer = api(ada).get(f"/api/v1/clusters/{other_cluster.slug}/topology-files/{receipt.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (400, "other_cluster")


def test_aliases_of_nodes_are_known_in_files(domain, cluster, bo, actor_for, delivered):
    node = Node.objects.get(name="sn-n18")
    services.add_alias(actor=actor_for(bo), node_id=node.pk, name="odd-one")
    text = scheduler_file(cluster, form="slurm_block").text.replace("sn-n[01-18]", "sn-n[01-17],odd-one")
    assert comparison_of(actor_for(bo), cluster, delivered(text).pk).differences == ()


def test_a_stray_node_is_no_part_of_a_domain_file(domain, cluster):
    factories.node(cluster, "stray")
    assert "stray" not in scheduler_file(cluster, form="hostfile", domain=domain).text


TREE = """SwitchName=core Switches=leaf[1-2]
SwitchName=leaf1 Nodes=sn-n[01-09]
SwitchName=leaf2 Nodes=sn-n[10-18]
"""


@pytest.fixture
def bring_in(cluster, ada, actor_for):
    """Looks at a file that was handed in, and applies it."""

    def bring(receipt: Receipt, to=cluster) -> None:
        actor = actor_for(ada)
        row = import_from_file(actor=actor, cluster_id=to.pk, receipt_id=receipt.pk)
        apply_import(actor=actor, import_id=row.pk, expected_version=row.version)

    return bring


def test_switches_of_a_file_are_news_where_none_is_on_record(domain, cluster, bo, actor_for, delivered):
    found = comparison_of(actor_for(bo), cluster, delivered(TREE).pk)
    assert [one.subject for one in found.differences] == ["core", "leaf1", "leaf2"]


def test_a_tree_that_came_in_goes_out_as_it_was(domain, cluster, delivered, bring_in):
    bring_in(delivered(TREE))
    text = scheduler_file(cluster, form="slurm_tree").text
    assert text == f"{TREE}# nodes sn-n[01-18]: accelerators 4 domain sn model nvidia-gb200\n"


@pytest.mark.parametrize("form", ["slurm_tree", "slurm_block", "slurm_yaml", "hypernode"])
@pytest.mark.parametrize("layout", ["72-as-18x4", "144-as-6x24", "144-as-4x36"])
def test_what_goes_out_comes_into_an_empty_cluster_as_the_same_fleet(
    layout, form, build, cluster, other_cluster, delivered, bring_in
):
    build(layout)
    build("8-mesh", name="alone")
    stray = factories.node(cluster, "stray", accelerators=4)
    Accelerator.objects.filter(node=stray, index=3).update(model="nvidia-l4")
    Accelerator.objects.filter(node=stray, index=1).delete()  # an empty slot
    Accelerator.objects.filter(node__name="sn-n02", index=0).update(sub_domain=None)
    bring_in(delivered(TREE))
    idle = [Switch.objects.create(cluster=cluster, name=f"idle-{tier}", tier=tier) for tier in (1, 2)]
    Link.objects.create(upper=idle[1], lower=idle[0])
    factories.domain(cluster, "later", sub_domains=2)
    went_out = scheduler_file(cluster, form=form).text
    before = fleet_of(cluster)
    bring_in(delivered(went_out))
    assert fleet_of(cluster) == before
    bring_in(delivered(went_out, to=other_cluster), to=other_cluster)
    assert scheduler_file(other_cluster, form=form).text == went_out
    assert fleet_of(other_cluster) == before
    assert {"idle-1", "idle-2"} <= {name for name, _tier in fleet_of(other_cluster)["switches"]}


def fleet_of(cluster: Cluster) -> dict[str, set[tuple[object, ...]]]:
    """What a scheduler may know of a cluster, as it is on record."""
    cards = Accelerator.objects.filter(node__cluster=cluster)
    network = cluster.switches.filter(domain=None)
    links = Link.objects.filter(upper__in=network)
    return {
        "nodes": set(cluster.nodes.values_list("name", "domain__name")),
        "accelerators": set(cards.values_list("node__name", "index", "model", "sub_domain__name")),
        "homes": set(cluster.domains.values_list("name", "sub_domains__name")),
        "switches": set(network.values_list("name", "tier")),
        "beneath": set(links.values_list("upper__name", "lower__name", "node__name")),
    }


def test_a_node_that_hangs_elsewhere_and_a_tier_that_is_gone_are_told_then_taken_over(
    domain, cluster, bo, actor_for, delivered, bring_in
):
    bring_in(delivered(TREE.replace("=core Switches", "=core Switches=spine\nSwitchName=spine Switches")))
    changed = TREE.replace("[01-09]", "[01-08]").replace("[10-18]", "[09-18]")
    receipt = delivered(changed)
    codes = {one.code for one in comparison_of(actor_for(bo), cluster, receipt.pk).differences}
    assert codes == {"switch_missing", "switch_tier", "switch_nodes", "switch_switches"}
    bring_in(receipt)
    assert scheduler_file(cluster, form="slurm_tree").text.startswith(f"{changed}# nodes ")


def test_a_node_in_another_sub_domain_moves_with_its_accelerators(build, cluster, delivered, bring_in):
    build("144-as-6x24")
    changed = scheduler_file(cluster, form="slurm_block").text.replace("[01-03]", "[01-02,04]")
    changed = changed.replace("[04-06]", "[03,05-06]")
    bring_in(delivered(changed))
    assert scheduler_file(cluster, form="slurm_block").text == changed


def test_nodes_whose_sub_domains_would_be_lost_are_told_until_their_accelerators_are_there(
    cluster, bo, actor_for, delivered
):
    text = "# half=sub-domain-of:sn\nBlockName=half Nodes=n[1-4]\nBlockSizes=4\n"
    receipt, actor = delivered(text), actor_for(bo)
    first = comparison_of(actor, cluster, receipt.pk).differences[0]
    assert (first.code, first.subject) == ("no_accelerators", "n1, n2, n3, …")
    for place in range(1, 5):
        factories.node(cluster, f"n{place}", accelerators=8)
    codes = {one.code for one in comparison_of(actor, cluster, receipt.pk).differences}
    assert "no_accelerators" not in codes


def test_a_domain_without_sub_domains_beside_one_with_is_a_block_of_its_own(domain, build, cluster):
    build("144-as-6x24", name="halved")
    assert (
        "BlockName=sn Nodes=sn-n[01-18]\nBlockSizes=3,6,12\n"
        in scheduler_file(cluster, form="slurm_block").text
    )


@pytest.mark.parametrize(
    ("product", "told"),
    [
        ("NVIDIA-GB200", []),
        ("NVIDIA-B200", ["nvidia-b200-sxm-180gb"]),
        *((other, [other]) for other in ("NVIDIA-H100-80GB-HBM3", "NVIDIA-RTX-6000-Ada", "NVIDIA-X9")),
    ],
)
def test_the_word_of_a_tool_for_a_model_is_that_of_the_catalogue(
    product, told, domain, cluster, bo, actor_for, delivered, bring_in
):
    labels = {"nvidia.com/gpu.product": product, "topology.supernode-portal/domain": "sn"}
    items = [
        {
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"capacity": {"nvidia.com/gpu": "4"}},
        }
        for name in ("sn-n01", "sn-n99")
    ]
    receipt = delivered(json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": items}))
    found = comparison_of(actor_for(bo), cluster, receipt.pk)
    assert [one.theirs for one in found.differences if one.code == "node_model"] == told
    bring_in(receipt)
    models = set(Accelerator.objects.filter(node__name="sn-n99").values_list("model", flat=True))
    assert models == {told[0] if told else "nvidia-gb200"}


def test_links_among_the_cards_of_a_node_are_held_against_its_layout(
    build, cluster, bo, actor_for, delivered
):
    build("8-mesh", name="m")
    text = corpus.read("nccl-topo-xml/mi300x8-dump-xgmi-8nic.xml").decode()
    same, actor = delivered(text, node="m-n01"), actor_for(bo)
    assert comparison_of(actor, cluster, same.pk).differences == ()
    fewer = delivered(re.sub(r"<xgmi [^>]*>", "", text, count=1), node="m-n01")
    assert comparison_of(actor, cluster, fewer.pk).has_problems


def test_a_kueue_topology_is_held_against_the_labels_of_the_nodes(
    domain, cluster, bo, actor_for, delivered, bring_in
):
    bring_in(delivered("SwitchName=leaf1 Nodes=sn-n[01-18]\n"))
    actor, ours = actor_for(bo), scheduler_file(cluster, form="kueue").text
    assert comparison_of(actor, cluster, delivered(ours).pk).differences == ()
    short = "".join(line for line in ours.splitlines(keepends=True) if not line.endswith("/domain\n"))
    (missing,) = comparison_of(actor, cluster, delivered(short).pk).differences
    assert (missing.code, missing.ours) == ("missing_tier", "topology.supernode-portal/domain")
    other = comparison_of(actor, cluster, delivered(ours.replace("/domain", "/block")).pk)
    assert other.has_problems
    assert "topology.supernode-portal/block" in {one.subject for one in other.differences}
