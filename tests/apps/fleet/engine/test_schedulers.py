"""Scheduler formats: what goes out and comes in again is the same fleet, and real files are read."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from apps.core.errors import Invalid
from apps.evidence.engine.registry import read as read_evidence
from apps.evidence.engine.source import Source
from apps.fleet.engine.description import FleetDescription, Node, Part, Switch, described, natural_order, only
from apps.fleet.engine.diff import differences
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.rank_maps import from_hostfile
from apps.fleet.engine.schedulers import (
    hints,
    hostfile,
    hypernode,
    k8s_nodes,
    kubectl_labels,
    kueue_topology,
    labels,
    nccl_hints,
    slurm_topology_conf,
    slurm_topology_yaml,
    topograph_model,
    topograph_netq,
)
from apps.fleet.engine.schedulers.forest import Beneath
from apps.fleet.engine.schedulers.reading import read_fleet
from apps.fleet.engine.schedulers.writing import write_fleet
from apps.fleet.engine.templates import template
from tests.apps.fleet.engine.fleets import nested_fleets, small_fleet, tangled_fleets

CORPUS = Path(__file__).parents[3] / "corpus"


def facts_of(text: str, kind: str) -> dict[str, Any]:
    reading = read_evidence(Source.of_text(text))
    assert reading.kind == kind
    return reading.facts


def corpus_facts(name: str) -> dict[str, Any]:
    return read_evidence(Source.of_bytes((CORPUS / name).read_bytes())).facts


def split_fleet() -> FleetDescription:
    layout = template("144-as-4x36")
    assert layout is not None
    return describe(layout, domain="d1")


def kubernetes_nodes(fleet: FleetDescription) -> dict[str, Any]:
    """What `kubectl get nodes -o json` shows once the labels are on the nodes."""
    made = labels.node_labels(fleet)
    notes = labels.lines_of_nodes(fleet, made)
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": node.name,
                "labels": {"nvidia.com/gpu.product": node.model, **made.of_node[node.name]},
                "annotations": {labels.ANNOTATION: "\n".join(notes.get(node.name, []))},
            },
            "status": {"capacity": {"nvidia.com/gpu": str(node.cards)}},
        }
        for node in fleet.nodes
    ]
    return facts_of(json.dumps({"apiVersion": "v1", "kind": "NodeList", "items": items}), "k8s_nodes")


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets())
def test_a_slurm_tree_comes_back_as_it_went_out(fleet: FleetDescription) -> None:
    export = slurm_topology_conf.write(fleet, plugin=slurm_topology_conf.Plugin.TREE)
    back = slurm_topology_conf.read(facts_of(export.text, "slurm_topology_conf"))
    assert back == only(fleet, export.says)
    assert export.says == fleet.says


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets())
def test_slurm_blocks_come_back_as_they_went_out(fleet: FleetDescription) -> None:
    export = slurm_topology_conf.write(fleet)
    back = slurm_topology_conf.read(facts_of(export.text, "slurm_topology_conf"))
    assert back == only(fleet, export.says)
    assert Part.DOMAINS in export.says


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets())
def test_topology_yaml_comes_back_with_domains_sub_domains_and_switches(fleet: FleetDescription) -> None:
    export = slurm_topology_yaml.write(fleet)
    back = slurm_topology_yaml.read(facts_of(export.text, "slurm_topology_yaml"))
    assert back == only(fleet, export.says)
    assert export.says >= {Part.NODES, Part.DOMAINS, Part.SWITCHES}


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets())
def test_hypernodes_come_back_as_they_went_out(fleet: FleetDescription) -> None:
    export = hypernode.write(fleet)
    facts = facts_of(export.text, "hypernode")
    assert facts["acceptable"] is True
    assert hypernode.read(facts) == only(fleet, export.says)
    assert export.says >= {Part.NODES, Part.DOMAINS, Part.SWITCHES}


@settings(max_examples=40, deadline=None)
@given(fleet=nested_fleets())
def test_node_labels_come_back_as_they_went_out(fleet: FleetDescription) -> None:
    facts = kubernetes_nodes(fleet)
    assert k8s_nodes.read(facts) == fleet


@settings(max_examples=20, deadline=None)
@given(fleet=nested_fleets())
def test_a_kueue_topology_over_labelled_nodes_is_the_same_fleet(fleet: FleetDescription) -> None:
    topology = facts_of(kueue_topology.write(fleet).text, "kueue_topology")
    back = kueue_topology.read(topology, of_node=k8s_nodes.labels_of_nodes(kubernetes_nodes(fleet)))
    assert back == only(fleet, fleet.says - {Part.CARDS, Part.MODELS})


@settings(max_examples=60, deadline=None)
@given(fleet=tangled_fleets())
def test_what_no_tree_holds_comes_back_from_every_format_as_it_went_out(fleet: FleetDescription) -> None:
    for form in ("slurm_tree", "slurm_block", "slurm_yaml", "hypernode"):
        export = write_fleet(fleet, form=form)
        reading = read_evidence(Source.of_text(export.text))
        assert read_fleet(reading.kind, reading.facts) == fleet, form
        assert export.says == fleet.says
        assert "\n\n" not in export.text  # a note of several lines stands line by line
    kubernetes = kubernetes_nodes(fleet)
    assert k8s_nodes.read(kubernetes) == fleet
    topology = facts_of(write_fleet(fleet, form="kueue").text, "kueue_topology")
    back = kueue_topology.read(topology, of_node=k8s_nodes.labels_of_nodes(kubernetes))
    parts = fleet.says - {Part.CARDS, Part.MODELS}
    assert only(back, parts) == only(fleet, parts)
    assert Part.MODELS not in back.says
    assert back.problems == ()


def test_the_label_script_is_valid_shell_and_labels_every_node() -> None:
    export = kubectl_labels.write(small_fleet())
    assert subprocess.run(["sh", "-n"], input=export.text.encode(), check=False).returncode == 0
    commands = [line for line in export.text.splitlines() if line.startswith("kubectl")]
    assert commands[0] == (
        "kubectl label node d1-n1 topology.supernode-portal/switch-tier-2=spine.1 "
        "topology.supernode-portal/switch-tier-1=leaf-1 topology.supernode-portal/domain=d1 --overwrite"
    )
    assert len(commands) == 4


def test_a_switch_whose_name_is_no_label_value_stands_in_an_annotation_and_is_said() -> None:
    fleet = described(
        says=[Part.NODES, Part.CARDS, Part.MODELS, Part.SWITCHES],
        nodes=[Node(name="n1", cards=8, model="NVIDIA-H200")],
        switches=[Switch(name="rack:one", tier=1, nodes=("n1",))],
    )
    made = labels.node_labels(fleet)
    assert made.of_node["n1"] == {}
    assert [note.code for note in made.notes] == ["bad_label_value", "switches_kept_beside"]
    assert k8s_nodes.read(kubernetes_nodes(fleet)) == fleet


RAILS = described(
    says=[Part.NODES, Part.CARDS, Part.SWITCHES],
    nodes=[Node(name=f"n{number}", cards=8) for number in (1, 2, 3)],
    switches=[
        Switch(name="rail-1", tier=1, nodes=("n1", "n2")),
        Switch(name="rail-2", tier=1, nodes=("n1", "n2")),
    ],
)


def test_a_switch_that_somebody_edited_is_as_the_file_has_it_and_contradicts_it_again() -> None:
    text = slurm_topology_conf.write(RAILS, plugin=slurm_topology_conf.Plugin.TREE).text
    edited = text.replace("SwitchName=rail-2 Nodes=n[1-2]", "SwitchName=rail-2 Nodes=n[2-3]")
    assert edited != text
    fleet = slurm_topology_conf.read(facts_of(edited, "slurm_topology_conf"))
    assert [one.nodes for one in fleet.switches] == [("n1", "n2"), ("n2", "n3")]
    assert [(one.code, one.subject) for one in fleet.problems] == [("node_twice", "n2")]


@pytest.mark.parametrize(
    "line",
    [
        "switch rail-2 tier 1: nodes n[1-99999999]",
        "switch rail-2 tier many: nodes n1",
        "switch rail-2: nodes n1",
        "switch rail-2 tier 1 nodes n1",
        "switch rail-2 tier 1: nodes n[2",
    ],
)
def test_a_line_of_a_switch_that_says_nothing_sensible_is_passed_over(line: str) -> None:
    assert hints.filled(RAILS, [line]) == RAILS


def test_the_label_script_puts_nodes_of_two_sub_domains_and_their_switches_in_annotations() -> None:
    split = split_fleet()
    nodes = [replace(node, model="NVIDIA-H200") for node in split.nodes]
    fleet = described(
        says=[*split.says, Part.MODELS, Part.SWITCHES],
        domains=split.domains,
        nodes=nodes,
        switches=[Switch(name="leaf-1", tier=1, nodes=("d1-n01", "d1-n05"))],
    )
    script = kubectl_labels.write(fleet).text
    kubectl = 'kubectl() { [ "$1" = annotate ] && printf "%s|%s\\n" "$3" "${4#*=}"; true; }\n'
    done = subprocess.run(["sh"], input=(kubectl + script).encode(), capture_output=True, check=True)
    assert "d1-n05|nodes d1-n05: accelerators 4/d1-s1,4/d1-s2 domain d1\n" in done.stdout.decode()
    assert "switch leaf-1 tier 1: nodes d1-n[01,05]" in done.stdout.decode()
    assert k8s_nodes.read(kubernetes_nodes(fleet)) == fleet
    topology = facts_of(kueue_topology.write(fleet).text, "kueue_topology")
    of_node = k8s_nodes.labels_of_nodes(kubernetes_nodes(fleet))
    assert differences(fleet, kueue_topology.read(topology, of_node=of_node)) == ()


def test_sub_domains_that_split_nodes_are_left_out_everywhere_and_said() -> None:
    fleet = split_fleet()
    for export in (
        slurm_topology_conf.write(fleet),
        slurm_topology_yaml.write(fleet),
        hypernode.write(fleet),
        kueue_topology.write(fleet),
        kubectl_labels.write(fleet),
    ):
        assert [note.code for note in export.notes] == ["split_nodes"]
        assert "d1-n05, d1-n14" in export.notes[0].message
        for_scheduler = [line for line in export.text.splitlines() if "accelerators" not in line]
        assert not any("d1-s1" in line for line in for_scheduler)


@pytest.mark.parametrize("format_", [slurm_topology_conf, slurm_topology_yaml, hypernode])
def test_a_node_in_two_sub_domains_or_in_no_domain_comes_back_as_it_went_out(format_) -> None:
    split = split_fleet()
    nodes = [*split.nodes, Node(name="spare", cards=4, model="NVIDIA-H200")]
    fleet = described(says=[*split.says, Part.MODELS], domains=split.domains, nodes=nodes)
    export = format_.write(fleet)
    assert format_.read(facts_of(export.text, format_.KIND)) == fleet
    assert export.says == fleet.says


@pytest.mark.parametrize(
    "line",
    [
        "nodes d1-n[01-99999999]: accelerators 8",
        "nodes d1-n[9-1]: accelerators 8",
        "nodes d1-n01: accelerators 99999999",
        "nodes d1-n01: accelerators 2000",
        "nodes d1-n01: accelerators 8/",
        "nodes d1-n01: accelerators many",
        "nodes d1-n01: memory 8",
        "nodes d1-n[1-1000]: accelerators 1024",
        "nodes d1-n01: accelerators 4 models 3/a",
        "nodes d1-n01: accelerators 4 models a,b,c,d",
        "nodes d1-n01: accelerators 4 models 1024/a,1024/a",
        "nodes d1-n01: accelerators 2 slots s[0-2]",
        "nodes d1-n01: accelerators 2 slots s[3,1]",
        "nodes d1-n01: accelerators 2 slots first,second",
        "domain d1: sub-domains x[1-99999999]",
        "domain d1 sub-domains x",
    ],
)
def test_a_comment_that_says_nothing_sensible_is_passed_over(line: str) -> None:
    seen = described(says=[Part.NODES], nodes=[Node(name="d1-n01")])
    assert hints.filled(seen, [line]) == seen


def test_what_lines_name_is_counted_line_by_line_also_where_they_repeat_it() -> None:
    twice = ["nodes q[1-50000]: accelerators 0"] * 2
    assert "r1" not in hints.named([*twice, "nodes r1: accelerators 0"])
    homes = ["domain d: sub-domains x[1-49999]"] * 2
    seen = hints.filled(described(says=[Part.NODES]), [*homes, "domain e:"])
    assert [one.name for one in seen.domains] == ["d"]


def test_a_line_of_another_number_of_accelerators_than_kubernetes_counts_says_nothing_of_slots() -> None:
    node = Node(name="n1", cards=3, models=("a", "b", "a"), slots=(0, 1, 5))
    facts = kubernetes_nodes(described(says=[Part.NODES, Part.CARDS, Part.MODELS], nodes=[node]))
    facts["node_list"][0]["gpu_capacity"] = 4
    [read] = k8s_nodes.read(facts).nodes
    assert (read.cards, read.models, read.slots) == (4, (), ())


def test_a_node_without_the_operators_labels_takes_nothing_from_the_others() -> None:
    node = Node(name="n1", cards=8, model="NVIDIA-H200")
    facts = kubernetes_nodes(described(says=[Part.NODES], nodes=[node, Node(name="n2", cards=8)]))
    facts["node_list"][1] |= {
        "gpu_product_base": None,
        "gpu_capacity": None,
        "labels": {labels.CLIQUE: "c.1"},
    }
    read = k8s_nodes.read(facts)
    assert [(one.cards, one.model) for one in read.nodes] == [(8, "NVIDIA-H200"), (None, "")]
    recorded = described(says=read.says, nodes=[node, replace(node, name="n2")], domains=read.domains)
    assert {one.code for one in differences(recorded, read)} <= {"node_domain"}


def test_more_accelerators_than_a_node_can_have_are_a_problem_and_no_rows() -> None:
    facts = kubernetes_nodes(described(says=[Part.NODES], nodes=[Node(name="n1", cards=999_999_999)]))
    read = k8s_nodes.read(facts)
    assert [(one.code, one.subject) for one in read.problems] == [("too_many_accelerators", "n1")]
    assert read.nodes[0].cards is None


def test_a_ring_in_lines_of_switches_is_a_problem_of_the_file() -> None:
    seen = hints.filled(RAILS, ["switch a tier 1: switches b", "switch b tier 2: switches a"])
    assert [(one.code, one.subject) for one in seen.problems] == [("cycle", "a"), ("cycle", "b")]
    assert seen.switches == RAILS.switches


def test_what_is_beneath_switches_is_known_however_deep() -> None:
    chain = [Switch(name=f"s{n}", tier=n + 1, switches=(f"s{n - 1}",) if n else ()) for n in range(400)]
    beneath = Beneath([replace(chain[0], nodes=("n2", "n1")), *chain[1:], Switch(name="idle", tier=1)])
    assert (beneath["s399"], beneath["idle"]) == ({"n1", "n2"}, frozenset())
    assert (beneath.bits("s399") == beneath.bits("s0"), beneath.bits("idle"), len(beneath)) == (True, 0, 401)


def test_names_of_any_length_have_their_place_in_natural_order() -> None:
    names = ["n2", "n10", "n" + "9" * 5_000, "n01", "n1", "n0"]
    order = natural_order(names)
    assert order == ("n0", "n01", "n1", "n2", "n10", names[2])


def test_what_the_format_itself_says_holds_against_a_comment() -> None:
    text = slurm_topology_conf.write(small_fleet()).text
    edited = text.replace("BlockName=d2 Nodes=d2-n[1-2]", "BlockName=d2 Nodes=d2-n1,new")
    assert edited != text
    back = slurm_topology_conf.read(facts_of(edited, "slurm_topology_conf"))
    assert [(node.name, node.domain, node.cards) for node in back.nodes] == [
        ("d1-n1", "d1", 8),
        ("d1-n2", "d1", 8),
        ("d2-n1", "d2", 8),
        ("new", "d2", None),
    ]
    assert Part.CARDS not in back.says


def test_blocks_of_sub_domains_are_sized_up_to_the_domain() -> None:
    layout = template("144-as-6x24")
    assert layout is not None
    text = slurm_topology_conf.write(describe(layout, domain="d1")).text
    assert "BlockName=d1-s1 Nodes=d1-n[01-03]" in text
    assert text.splitlines()[-2:] == ["BlockSizes=3,6,12", "# nodes d1-n[01-18]: accelerators 8"]


def test_a_switch_tier_that_cuts_a_domain_is_left_out_of_nested_formats() -> None:
    fleet = small_fleet()
    cut = described(
        says=fleet.says,
        domains=fleet.domains,
        nodes=fleet.nodes,
        switches=[Switch(name="leaf-1", tier=1, nodes=("d1-n1",))],
    )
    export = hypernode.write(cut)
    assert [note.code for note in export.notes] == ["tier_not_nested", "switches_kept_beside"]
    assert "leaf-1" not in [document["metadata"]["name"] for document in yaml.safe_load_all(export.text)]


def test_names_that_volcano_refuses_are_refused_before() -> None:
    fleet = small_fleet()
    renamed = described(
        says=fleet.says,
        domains=fleet.domains,
        nodes=fleet.nodes,
        switches=[
            Switch(name="d1", tier=1, nodes=("d1-n1", "d1-n2")),
            Switch(name="Leaf_2", tier=1, nodes=("d2-n1", "d2-n2")),
        ],
    )
    with pytest.raises(Invalid) as caught:
        hypernode.write(renamed)
    assert {error.code for error in caught.value.errors} == {"name_twice", "bad_object_name"}


def test_a_hostfile_goes_by_domain_and_gives_every_card_a_rank() -> None:
    fleet = split_fleet()
    export = hostfile.write(fleet)
    assert len(from_hostfile(export.text, slots_default=1)) == 144
    assert "# domain d1, sub-domain d1-s2" in export.text
    assert "# d1-n05 goes on in d1-s2" in export.text


def test_nccl_hints_are_shell_that_sets_the_domain_by_host_name(tmp_path: Path) -> None:
    layout = template("144-as-6x24")
    assert layout is not None
    export = nccl_hints.write(describe(layout, domain="d1"))
    script = f'hostname() {{ echo d1-n04; }}\n{export.text}\necho "$NCCL_MNNVL_ENABLE $NCCL_CUMEM_ENABLE"'
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True, env={})
    assert done.stdout.decode().strip() == "1 1"


def test_a_node_alone_needs_no_nccl_hint() -> None:
    layout = template("8-switched")
    assert layout is not None
    assert "export" not in nccl_hints.write(describe(layout, domain="d1")).text


def test_a_real_three_level_tree_is_read() -> None:
    fleet = slurm_topology_conf.read(corpus_facts("slurm-topology/tree-3level-400nodes.conf"))
    assert (len(fleet.nodes), len(fleet.switches), fleet.problems) == (400, 23, ())
    assert {switch.tier for switch in fleet.switches} == {1, 2, 3}
    assert fleet.nodes[0].name == "peta10000"


def test_the_real_names_that_topograph_writes_are_kept() -> None:
    tree = slurm_topology_conf.read(corpus_facts("slurm-topology/topograph-tree-96nodes.conf"))
    assert {one.name: one.real_name for one in tree.switches}["switch.3.1"] == "core"
    blocks = slurm_topology_conf.read(corpus_facts("slurm-topology/topograph-block-96nodes.conf"))
    assert (blocks.domains[0].name, blocks.domains[0].real_name) == ("rack11", "nvl-1-1")


def test_a_foreign_topology_yaml_gives_its_first_tree_and_its_blocks() -> None:
    fleet = slurm_topology_yaml.read(corpus_facts("slurm-topology/all-kinds.yaml"))
    assert [switch.name for switch in fleet.switches] == ["s1", "s2", "sw_root"]
    assert [domain.name for domain in fleet.domains] == ["b1", "b2", "b3", "b4"]


def test_foreign_hypernodes_are_switches_of_their_tier() -> None:
    fleet = hypernode.read(corpus_facts("volcano-hypernode/tree-exact-8nodes.yaml"))
    assert {one.name: one.tier for one in fleet.switches} == {
        **dict.fromkeys(("s0", "s1", "s2", "s3"), 1),
        **dict.fromkeys(("s4", "s5"), 2),
        "s6": 3,
    }
    assert len(fleet.nodes) == 8


def test_members_chosen_by_label_are_a_problem_and_no_nodes() -> None:
    fleet = hypernode.read(corpus_facts("volcano-hypernode/label-match-rack.yaml"))
    assert fleet.nodes == ()
    assert [one.code for one in fleet.problems] == ["members_by_selector"]


def test_cliques_and_topograph_tiers_of_real_nodes_are_domains_and_switches() -> None:
    fleet = k8s_nodes.read(corpus_facts("k8s-nodes/constructed-gb200-2racks.json"))
    assert len(fleet.domains) == 2
    assert {one.tier for one in fleet.switches} == {1, 2}
    assert fleet.nodes[0].cards == 4
    assert fleet.nodes[0].model == "NVIDIA-GB200"


def test_nodes_without_accelerators_are_no_part_of_the_fleet() -> None:
    facts = kubernetes_nodes(small_fleet())
    control_plane = {
        **facts["node_list"][0],
        "name": "control-1",
        "labels": {"kubernetes.io/hostname": "control-1"},
        **dict.fromkeys(("gpu_capacity", "gpu_count_label", "gpu_product", "gpu_product_base")),
    }
    fleet = k8s_nodes.read({**facts, "node_list": [*facts["node_list"], control_plane]})
    assert fleet == small_fleet()


def test_a_node_named_twice_beneath_one_switch_is_a_problem() -> None:
    text = "SwitchName=leaf Nodes=n1,n1\n"
    fleet = slurm_topology_conf.read(facts_of(text, "slurm_topology_conf"))
    assert [one.message for one in fleet.problems] == ["node n1 is named 2 times, beneath leaf"]


def test_a_kueue_level_that_no_node_carries_is_a_missing_tier() -> None:
    topology = corpus_facts("kueue-topology/sample-gpu-queues.yaml")
    nodes = corpus_facts("k8s-nodes/constructed-gb200-2racks.json")
    fleet = kueue_topology.read(topology, of_node=k8s_nodes.labels_of_nodes(nodes))
    assert [one.subject for one in fleet.problems] == [
        "cloud.provider.com/topology-block",
        "cloud.provider.com/topology-rack",
    ]
    assert kueue_topology.read(topology).says == frozenset()


def test_a_topograph_model_has_switches_and_nvlink_domains() -> None:
    fleet = topograph_model.read(corpus_facts("topograph/model-nvl72.yaml"))
    assert len(fleet.nodes) == 72
    assert [domain.name for domain in fleet.domains] == ["nvl-1-1", "nvl-1-2", "nvl-2-1", "nvl-2-2"]
    assert {one.name: one.tier for one in fleet.switches}["core"] == 3
    assert fleet.problems == ()


def test_netq_nodes_are_in_the_domain_of_their_uuid() -> None:
    fleet = topograph_netq.read(corpus_facts("topograph/netq-compute-nodes.json"))
    assert [(node.name, node.cards) for node in fleet.nodes] == [("node1", 4), ("node2", 4)]
    assert len({node.domain for node in fleet.nodes}) == 1


BROKEN_TREE = """
SwitchName=root Switches=leaf[1-3]
SwitchName=leaf1 Nodes=n[1-2]
SwitchName=leaf2 Nodes=n[2-3]
SwitchName=a Switches=b
SwitchName=b Switches=a
"""


def test_what_contradicts_itself_in_a_tree_is_named() -> None:
    fleet = slurm_topology_conf.read(facts_of(BROKEN_TREE, "slurm_topology_conf"))
    assert [(one.code, one.subject) for one in fleet.problems] == [
        ("unknown_switch", "leaf3"),
        ("node_twice", "n2"),
        ("cycle", "a"),
        ("cycle", "b"),
    ]


def test_a_hypernode_tier_left_out_is_named() -> None:
    documents = list(yaml.safe_load_all(hypernode.write(small_fleet()).text))
    for document in documents:
        document["spec"].pop("tierName")
        if document["spec"]["tier"] == 3:
            document["spec"]["tier"] = 7
    fleet = hypernode.read(facts_of(yaml.safe_dump_all(documents), "hypernode"))
    assert [one.code for one in fleet.problems] == ["missing_tier"]


def test_an_empty_fleet_gives_files_and_no_fault() -> None:
    empty = described(says=[Part.NODES])
    assert slurm_topology_conf.write(empty).text == ""
    assert hypernode.write(empty).text == ""
    assert yaml.safe_load(slurm_topology_yaml.write(empty).text) == []
