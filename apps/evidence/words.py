"""Words for people: which tool makes a kind of evidence, and what a delivery brought about."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.evidence.models import Receipt

# What people type to get it; the same in every language.
KINDS: dict[str, str] = {
    "ascend_versions": "Ascend version.info, npu-smi info -t board",
    "collect_env": "python -m torch.utils.collect_env",
    "dcgm_metrics": "dcgm-exporter",
    "dcgmi_diag": "dcgmi diag",
    "dcgmi_discovery": "dcgmi discovery -l",
    "dmi": "dmidecode -t system -t baseboard",
    "fabric_manager": "nv-fabricmanager --version",
    "hccl_test": "hccl_test",
    "hl_smi": "hl-smi",
    "hypernode": "Volcano HyperNode",
    "ibstat": "ibstat",
    "ibstatus": "ibstatus",
    "ibv_devinfo": "ibv_devinfo",
    "k8s_nodes": "kubectl get nodes -o json",
    "kernel_log": "dmesg",
    "kueue_topology": "Kueue Topology",
    "mx_smi": "mx-smi",
    "nccl_debug_log": "NCCL_DEBUG=INFO",
    "nccl_tests": "nccl-tests",
    "nccl_topo_xml": "NCCL_TOPO_DUMP_FILE",
    "npu_smi": "npu-smi info",
    "nvidia_smi_list": "nvidia-smi -L",
    "nvidia_smi_nvlink": "nvidia-smi nvlink",
    "nvidia_smi_q": "nvidia-smi -q",
    "nvidia_smi_query": "nvidia-smi --query-gpu",
    "nvidia_smi_table": "nvidia-smi",
    "nvidia_smi_topo": "nvidia-smi topo -m",
    "nvidia_smi_xml": "nvidia-smi -q -x",
    "nvswitch_audit": "nvswitch-audit",
    "nvswitch_firmware": "NVSwitch firmware",
    "ofed_info": "ofed_info -s",
    "optical_modules": "mlxlink -m, ethtool -m",
    "package_list": "dpkg -l, rpm -qa",
    "python_packages": "pip list, conda list",
    "rccl_tests": "rccl-tests",
    "rocm_smi_concise": "rocm-smi",
    "rocm_smi_json": "rocm-smi --showall --json",
    "rocm_smi_topo": "rocm-smi --showtopo",
    "slurm_topology_conf": "Slurm topology.conf",
    "slurm_topology_yaml": "Slurm topology.yaml",
    "topograph_model": "Topograph model",
    "topograph_netq": "NetQ, for Topograph",
}

EFFECTS: dict[str, str | Promise] = {
    "node_versions": _("new versions recorded"),
    "node_versions_same": _("the same versions as this tool reported last"),
    "versions_awaited": _("a change under way still waits for"),
    "topology": _("to be compared with the fleet on record"),
    "node_versions_older": _("collected before what is on record; nothing changed"),
    "outdated": _("older than what is on record: kept as evidence, changes nothing; on record is that of"),
    "node_health": _("health observed"),
    "clock_ahead": _("the node's clock runs ahead; its report counts as of now"),
    "hardware_changed": _("hardware was swapped"),
    "hardware_twin": _(
        "the same cards are on record in another node: moved, or one reports under a wrong name"
    ),
    "accelerators_missing": _("fewer accelerators than are on record for the node"),
    "accelerators_other": _("other accelerators than are on record for the node"),
    "accelerators_unclear": _("reports of accelerators contradict each other or the record"),
    "benchmark_run": _("benchmark run recorded"),
    "benchmark_run_known": _("the same file is on record; no new benchmark run"),
    "benchmark_collective_needed": _(
        "its output does not say which collective ran: open the run and state it, until then it counts for nothing"
    ),
    "other_hosts": _("other hosts are in it and were left out; hand in one file for each host"),
    "rollback_done": _("rollback closed"),
}

# Kinds that may be about a whole domain; the others are about one node.
OF_A_DOMAIN = frozenset({"nccl_tests", "rccl_tests"})

# Effects after which somebody has something to do.
ASKS_A_PERSON = frozenset(
    {
        "accelerators_missing",
        "accelerators_other",
        "accelerators_unclear",
        "benchmark_collective_needed",
        "clock_ahead",
        "other_hosts",
    }
)

VIAS: dict[str, str | Promise] = {
    "session": _("in the browser"),
    "token": _("over REST, by token"),
    "command": _("at the server's shell"),
    "system": _("by the portal"),
}


def unmatched_reason(receipt: Receipt) -> str:
    """Why a delivery is unmatched."""
    name, may_be_domain = receipt.node_name, receipt.kind in OF_A_DOMAIN
    if name and may_be_domain:
        return gettext("There is no node or domain %(name)s in this cluster.") % {"name": name}
    if name:
        return gettext("There is no node %(name)s in this cluster.") % {"name": name}
    if receipt.kind == "k8s_nodes":
        return gettext("None of the nodes that it names is in this cluster.")
    if may_be_domain:
        return gettext("It is about a node or a whole domain, and does not say which.")
    return gettext("It is about one node, and does not say which.")


def kind_name(kind: str) -> str:
    """The tool of a kind, or the kind where we have no name for it."""
    return KINDS.get(kind, kind)


def effect_name(what: str) -> str | Promise:
    """What an effect is called."""
    return EFFECTS.get(what, what.replace("_", " "))


def via_name(via: str) -> str | Promise:
    """How a delivery came."""
    return VIAS.get(via, via)
