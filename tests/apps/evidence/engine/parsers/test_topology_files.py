"""Topology files of schedulers and libraries read by their structure, and what does not hold together is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source


def reading(text: str) -> Reading:
    return read(Source.of_text(text))


def codes(found: Reading) -> list[tuple[str, int | None]]:
    return [(warning.code, warning.line) for warning in found.warnings]


class TestSlurmConf:
    def test_names_in_any_case_comments_and_joined_lines(self) -> None:
        found = reading(
            "# s1=rack leaf one\n"
            'SWITCHNAME=s1 nodes="n[08-10,12]"  # the first\n'
            "switchname = s2 Nodes=m1-[1-2]n[1-2] LinkSpeed=400\n"
            "SwitchName=top \\\n"
            "  Switches=s[1-2]\n"
        )
        assert (found.kind, found.warnings) == ("slurm_topology_conf", ())
        assert found.facts["switch_list"] == [
            {
                "name": "s1",
                "real_name": "rack leaf one",
                "children": [],
                "nodes": ["n08", "n09", "n10", "n12"],
                "link_speed": None,
            },
            {
                "name": "s2",
                "real_name": None,
                "children": [],
                "nodes": ["m1-1n1", "m1-1n2", "m1-2n1", "m1-2n2"],
                "link_speed": "400",
            },
            {"name": "top", "real_name": None, "children": ["s1", "s2"], "nodes": [], "link_speed": None},
        ]
        assert (found.facts["roots"], found.facts["levels"]) == (["top"], 2)

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("SwitchName=s2 Nodes=n[5-", "bad_host_list"),
            ("SwitchName=s2 Nodes=n[1-999999999]", "too_many_names"),
            ("SwitchName=s2 Nodes=m1, m2", "bad_host_list"),
            ("SwitchName=s1 Nodes=m1", "defined_twice"),
            ("SwitchName=s2 Nodes=n2", "node_twice"),
            ("SwitchName=s2", "empty"),
            ("SwitchName=s2 Switches=s9", "child_not_defined"),
            ("SwitchName=s2 Switches=s2", "ring"),
            ("Include more.conf", "include"),
            ("PartitionName=gpu Nodes=n1", "line_not_understood"),
            ("Nodes=n7", "line_not_understood"),
            ("BlockName=b1 Nodes=m[1-2]", "two_kinds"),
        ],
    )
    def test_what_does_not_hold_together_is_named(self, line: str, code: str) -> None:
        found = reading(f"SwitchName=s1 Nodes=n[1-3]\n{line}\n")
        assert code in {warning.code for warning in found.warnings}
        assert found.facts["switch_list"][0]["nodes"] == ["n1", "n2", "n3"]

    def test_what_scontrol_shows_reads_like_the_file(self) -> None:
        tree = reading(
            "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2]\nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n3\n"
            "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[1-2]\n"
        )
        assert (tree.warnings, tree.facts["nodes"], tree.facts["roots"]) == ((), 3, ["top"])
        blocks = reading(
            "BlockName=b0 BlockIndex=0 Nodes=10.0.0.1,10.0.0.2 BlockSize=2\n"
            "BlockName=b1 BlockIndex=1 Nodes=10.0.0.3,10.0.0.4 BlockSize=2\n"
            "AggregatedBlock=b[0-1] BlockIndex=2 Nodes=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4 BlockSize=4\n"
        )
        assert (blocks.warnings, blocks.facts["blocks"], blocks.facts["nodes"]) == ((), 2, 4)
        assert blocks.facts["block_sizes"] == [2, 4]

    def test_several_roots_are_a_forest(self) -> None:
        found = reading("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=b\n")
        assert (found.warnings, found.facts["roots"], found.facts["levels"]) == ((), ["a", "c"], 2)

    def test_names_of_all_lines_together_are_bounded(self) -> None:
        text = "".join(f"SwitchName=s{n} Nodes=a{n}[00000-99999]\n" for n in range(12))
        with pytest.raises(Unreadable, match="more than 1000000 names in all"):
            reading(text)

    def test_a_last_line_without_an_end_may_be_cut(self) -> None:
        assert codes(reading("BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n")) == [
            ("last_line_not_ended", None)
        ]


class TestSlurmYaml:
    def test_lists_words_of_truth_and_options_of_a_flat_topology(self) -> None:
        found = reading(
            "- topology: a\n  cluster_default: yes\n  tree:\n    switches:\n"
            "      - {switch: top, children: [l1, l2]}\n"
            "      - {switch: l1, nodes: ['n[01-02]', n03]}\n      - {switch: l2, nodes: 7}\n"
            "- topology: b\n  flat:\n    alpha_step_rank: true\n"
        )
        assert (found.kind, found.warnings) == ("slurm_topology_yaml", ())
        assert found.facts["topologies"] == [
            {"name": "a", "kind": "tree", "cluster_default": True, "switches": 3, "nodes": 4},
            {"name": "b", "kind": "flat", "cluster_default": None},
        ]
        tree, flat = found.facts["structures"]
        assert [switch["nodes"] for switch in tree["switches"]] == [[], ["n01", "n02", "n03"], ["7"]]
        assert (tree["roots"], flat["options"]) == (["top"], {"alpha_step_rank": "true"})

    @pytest.mark.parametrize(
        ("entry", "code"),
        [
            ("- topology: b", "kind"),
            ("- topology: a\n  flat: true", "name"),
            (
                "- topology: b\n  block: {block_sizes: [x], blocks: [{block: b1, nodes: m1}]}",
                "value_not_understood",
            ),
            ("- topology: b\n  ring: {rings: []}", "value_not_understood"),
            ("- topology: b\n  ring: {rings: [{ring: r, nodes: 'n[1'}]}", "bad_host_list"),
            (
                "- topology: b\n  block: {blocks: [{block: x, nodes: n1}, {block: y, nodes: n1}]}",
                "node_twice",
            ),
            ("- name: b", "not_a_topology"),
        ],
    )
    def test_what_does_not_hold_together_is_named(self, entry: str, code: str) -> None:
        found = reading(f"- topology: a\n  flat: true\n{entry}\n")
        assert code in {warning.code for warning in found.warnings}


HYPERNODE = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: NAME}
spec:
  tier: TIER
  members:
  - {type: TYPE, selector: {exactMatch: {name: MEMBER}}}
"""


def hypernode(name: str, tier: str, kind: str, member: str) -> str:
    return (
        HYPERNODE.replace("NAME", name).replace("TIER", tier).replace("TYPE", kind).replace("MEMBER", member)
    )


class TestHyperNode:
    def test_a_list_with_other_objects_in_json(self) -> None:
        members = [
            {"type": "Node", "selector": {"regexMatch": {"pattern": "^gpu-[0-9]+$"}}},
            {"type": "Node", "selector": {"exactMatch": {"name": "cpu-1"}}},
        ]
        item = {
            "apiVersion": "topology.volcano.sh/v1alpha1",
            "kind": "HyperNode",
            "metadata": {"name": "rack"},
            "spec": {"tier": 1, "tierName": "rack", "members": members},
        }
        found = reading(json.dumps({"kind": "List", "items": [item, {"kind": "Queue"}]}))
        assert (found.kind, found.warnings, found.facts["acceptable"]) == ("hypernode", (), True)
        assert (found.facts["leaf_nodes"], found.facts["other_kinds"]) == (None, ["Queue"])
        assert found.facts["hypernode_list"][0]["members"][0]["pattern"] == "^gpu-[0-9]+$"

    @pytest.mark.parametrize(
        ("second", "reason"),
        [
            (hypernode("top", "1", "HyperNode", "leaf"), "whose tier is not above"),
            (hypernode("leaf", "1", "Node", "n2"), "defined 2 times"),
            (hypernode("top", "2", "HyperNode", "top"), "ring"),
            (hypernode("top", "two", "HyperNode", "leaf"), "no number from 1 on"),
            (hypernode("other", "1", "Node", "n1"), "a member of leaf and of other"),
            (hypernode("top", "2", "Rack", "leaf"), "type of a member is Rack"),
            (hypernode("top", "2", "HyperNode", "''"), "needs one selector"),
        ],
    )
    def test_what_cannot_work_is_not_acceptable_for_a_reason(self, second: str, reason: str) -> None:
        found = reading(f"{hypernode('leaf', '1', 'Node', 'n1')}---\n{second}")
        assert found.facts["acceptable"] is False
        assert any(reason in refusal for refusal in found.facts["refusals"])

    def test_a_member_that_is_not_in_the_file_may_be_in_the_cluster(self) -> None:
        found = reading(hypernode("top", "2", "HyperNode", "leaf"))
        assert (found.facts["acceptable"], codes(found)) == (True, [("member_not_defined", None)])


def test_kueue_topologies_of_older_versions_read_too() -> None:
    found = reading(
        "kind: Topology\napiVersion: kueue.x-k8s.io/v1alpha1\nmetadata: {name: gke}\n"
        "spec: {levels: [{nodeLabel: block}, {nodeLabel: rack}]}\n---\nkind: Topology\n"
        "apiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {name: gke}\nspec: {levels: []}\n"
    )
    assert (found.kind, found.facts["api_version"]) == ("kueue_topology", "kueue.x-k8s.io/v1alpha1")
    assert found.facts["topologies"] == {"gke": ["block", "rack"]}
    assert [code for code, _ in codes(found)] == ["name", "two_versions"]


def node(name: str, labels: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, **more}


class TestKubernetesNodes:
    def test_one_node_alone(self) -> None:
        found = reading(json.dumps(node("a", {"nvidia.com/gpu.product": "H100-MIG-1g.10gb-SHARED"})))
        assert (found.kind, found.facts["names"], codes(found)) == ("k8s_nodes", ["a"], [("counts_parts", 1)])
        assert found.facts["node_list"][0]["gpu_product_base"] == "H100"

    def test_a_bare_map_of_labels(self) -> None:
        found = reading(
            '{"kubernetes.io/hostname":"a","nvidia.com/gpu.count":"8","nvidia.com/gpu.product":"B200"}'
        )
        assert (found.kind, found.facts["names"], found.warnings) == ("k8s_nodes", ["a"], ())
        assert found.facts["gpu_count_labels"] == [8]

    @pytest.mark.parametrize("resource", ["amd.com/gpu", "huawei.com/Ascend910", "habana.ai/gaudi"])
    def test_resources_of_other_vendors_are_gpus_too(self, resource: str) -> None:
        labels = {"amd.com/gpu.product-name": "MI300X", "amd.com/gpu.driver-version": "6.10.5"}
        found = reading(json.dumps(node("a", labels, status={"capacity": {"cpu": "8", resource: "16"}})))
        assert (found.facts["gpu_capacity"], found.facts["driver_versions"]) == ([16], {"a": "6.10.5"})

    def test_what_does_not_hold_together_is_named(self) -> None:
        labels = {
            "nvidia.com/cuda.driver-version.full": "570.1.2",
            "nvidia.com/cuda.driver.major": "560",
            "nvidia.com/gpu.clique": "no clique",
        }
        nodes = [node("a", labels), node("a", {}), {"kind": "Pod"}]
        document = {"kind": "List", "metadata": {"continue": "token"}, "items": nodes}
        assert [code for code, _ in codes(reading(json.dumps(document)))] == [
            "list_continues",
            "labels_differ",
            "value_not_understood",
            "repeated_node",
            "not_a_node",
        ]

    def test_a_list_without_nodes_is_unreadable(self) -> None:
        with pytest.raises(Unreadable, match="no Kubernetes node"):
            reading('{"kind": "NodeList", "items": []}')


def test_older_topograph_models_read_too() -> None:
    found = reading(
        'topology: "topology/tree"\nswitches:\n- name: top\n  metadata: {region: west}\n  switches: [l1,l2]\n'
        "- name: l1\n  capacity_blocks: [cb1]\n- name: l2\n  capacity_blocks: [cb2]\ncapacity_blocks:\n"
        "- {name: cb1, type: GB200, nvlink: nvl1, nodes: [n1, n2]}\n"
        "- {name: cb2, type: GB200, nvlink: nvl2, nodes: ['n[3-6]']}\n"
    )
    assert (found.kind, found.warnings) == ("topograph_model", ())
    assert (found.facts["blocks"], found.facts["levels"]) == ({"nvl1": 2, "nvl2": 4}, 2)
    assert [block["switch"] for block in found.facts["block_list"]] == ["l1", "l2"]


class TestRocmJson:
    def test_keys_of_newer_versions_and_text_before_the_json(self) -> None:
        card = {
            "Device Name": "AMD Instinct MI300X",
            "VBIOS version": "113-M3",
            "Unique ID": "0xab",
            "PCI Bus": "0:1",
        }
        text = json.dumps({"card0": card, "system": {"Driver Version": "6.10.5"}})
        found = reading(f"WARNING: AMD GPU device(s) is/are in a low-power state.\n\n{text}\n")
        assert (found.kind, found.warnings) == ("rocm_smi_json", ())
        facts = found.facts
        assert (facts["models"], facts["vbios"], facts["driver_version"]) == (
            ["AMD Instinct MI300X"],
            ["113-M3"],
            "6.10.5",
        )

    @pytest.mark.parametrize("wrap", [lambda gpus: gpus, lambda gpus: {"gpu_data": gpus}])
    def test_amd_smi_before_and_since_rocm_7(self, wrap: Any) -> None:
        gpu = {
            "gpu": 0,
            "asic": {"market_name": "AMD Instinct MI300X", "asic_serial": "0x6F", "device_id": "0x74a1"},
            "bus": {"bdf": "0000:83:00.0"},
            "vbios": {"part_number": "113-M3000100-102"},
            "driver": {"name": "amdgpu", "version": "6.12.12"},
            "vram": {"size": {"value": 196592, "unit": "MB"}},
        }
        found = reading(json.dumps(wrap([gpu, {**gpu, "gpu": 1}])))
        assert (found.kind, found.warnings, found.facts["cards"]) == ("rocm_smi_json", (), ["gpu0", "gpu1"])
        assert (found.facts["driver_version"], found.facts["vbios"]) == ("6.12.12", ["113-M3000100-102"])
        assert found.facts["card_list"][0]["vram_total_bytes"] == 196592 * 2**20

    def test_metrics_of_amd_smi_are_read_with_their_units(self) -> None:
        gpu = {
            "gpu": 0,
            "usage": {"gfx_activity": {"value": 97, "unit": "%"}},
            "power": {"socket_power": {"value": 738, "unit": "W"}, "gfx_voltage": "N/A"},
            "temperature": {"edge": "N/A", "hotspot": {"value": 81, "unit": "C"}, "mem": "66 C"},
            "pcie": {"replay_count": 4},
            "mem_usage": {
                "total_vram": {"value": 196592, "unit": "MB"},
                "used_vram": {"value": 284, "unit": "MB"},
            },
        }
        found = reading(json.dumps({"gpu_data": [gpu, {"gpu": 1, "usage": "N/A", "power": "N/A"}]}))
        assert (found.kind, found.warnings) == ("rocm_smi_json", ())
        card, silent = found.facts["card_list"]
        assert (card["utilisation_percent"], card["power_w"], card["pcie_replay_count"]) == (97, 738, 4)
        assert (card["temp_edge_c"], card["temp_junction_c"], card["temp_memory_c"]) == (None, 81, 66)
        assert (card["vram_total_bytes"], card["vram_used_bytes"]) == (196592 * 2**20, 284 * 2**20)
        assert {value for key, value in silent.items() if key not in ("name", "firmware")} == {None}


GRAPH = """\
<?xml version="1.0"?>
<!-- <system version="9"> </system> -->
<system version="2">
  <cpu numaid="0" host_hash="0x1f" arch="arm64" vendor="ARM">
    <pci busid="0008:01:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="0" sm="100" rank="0" gdr="1">
        <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>
        <nvlink target="0009:01:00.0" count="2" tclass="0x030200"/>
        <c2c bw="200000" count="1"/>
      </gpu>
    </pci>
    <pci busid="0009:01:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="100" rank="1" gdr="1">
        <nvlink target="0008:01:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:03:00.0" class="0x020700" link_speed="64.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="800000" port="1" guid="0x1" gdr="1"/></nic>
    </pci>
  </cpu>
</system>
"""


class TestNcclTopology:
    def test_the_graph_has_links_of_every_kind_and_what_they_hang_from(self) -> None:
        found = reading(GRAPH)
        assert (found.kind, found.warnings) == ("nccl_topo_xml", ())
        facts = found.facts
        assert (facts["gpus"], facts["nics"], facts["nvlinks"], facts["c2c_links"]) == (2, 1, 3, 1)
        assert facts["link_speeds"] == ["32.0 GT/s PCIe", "64.0 GT/s PCIe"]
        assert [(gpu["bus_id"], gpu["numa_id"], len(gpu["links"])) for gpu in facts["gpu_list"]] == [
            ("0008:01:00.0", "0", 3),
            ("0009:01:00.0", "0", 1),
        ]
        assert [(net["name"], net["speed_mbps"], net["bus_id"]) for net in facts["net_list"]] == [
            ("mlx5_0", 800000, "0000:03:00.0")
        ]

    def test_a_link_that_is_not_there_from_both_sides_is_named(self) -> None:
        found = reading(GRAPH.replace('target="0008:01:00.0" count="2"', 'target="0008:01:00.0" count="1"'))
        assert {code for code, _ in codes(found)} == {"link_not_mutual"}

    def test_without_classes_only_elements_within_tell_what_a_device_is(self) -> None:
        told = reading(GRAPH.replace(' class="0x030200"', "").replace(' class="0x020700"', ""))
        assert (told.facts["gpus"], told.facts["nics"], told.warnings) == (2, 1, ())
        bare = reading('<system version="1"><cpu numaid="0"><pci busid="0000:03:00.0"/></cpu></system>')
        assert (bare.facts["gpus"], bare.facts["nics"]) == (None, None)
        assert codes(bare) == [("class_missing", 1)]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (GRAPH[: GRAPH.index("</system>\n", 60)], "is not closed"),
            (GRAPH.replace("</gpu>", "</gpv>", 1), "line 10: no valid XML"),
            ('<!DOCTYPE s [<!ENTITY x "y">]>' + GRAPH, "entities"),
            (GRAPH.replace("arm64", "&x;"), "line 4: no valid XML"),
            (GRAPH.replace("<nic>", "<pci>" * 50).replace("</nic>", "</pci>" * 50), "deeper than 40 levels"),
            ('<system version="1"><cpu numaid="0"/></system>', "neither PCI devices nor GPUs"),
        ],
    )
    def test_a_graph_that_is_cut_or_not_safe_is_unreadable(self, text: str, reason: str) -> None:
        with pytest.raises(Unreadable, match=reason):
            reading(text)


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=s1 Nodes=n[1-4],\\\nn[08-10]\n",
        "SwitchName=s1 Nodes=n[1-4]\\\n,n[08-10] # as Slurm joins them\n",
        "SwitchName=s1\\\nNodes=n[1-4],n[08-10]\n",
        "SwitchName=s1 \\\n  Nodes=n[1-4],n[08-\\  \n10]\n",
    ],
)
def test_a_list_may_go_on_in_the_next_line(text: str) -> None:
    found = reading(text)

    assert (found.facts["nodes"], found.warnings) == (7, ())
