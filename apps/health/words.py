"""Words of health for people: action classes, detailed actions, rules, and why a proposal waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from apps.core.texts import Text, joined
from apps.health.engine.actions import class_of
from apps.health.engine.diagnose import Symptom
from apps.health.engine.faults import KIND_NAMES
from apps.health.engine.knowledge import Cause, KnowledgeItem
from apps.health.engine.thresholds import HealthRule

Word = str | Promise

ACTION_CLASSES: Mapping[str, Word] = {
    "none": _("nothing to do now"),
    "unknown": _("not described: keep the log, ask the vendor"),
    "restart_app": _("restart the job"),
    "reset": _("drain and reset the GPU"),
    "reboot": _("power cycle the node, or else reboot it"),
    "drain_repair": _("drain and repair"),
    "contact_vendor": _("contact the vendor, expect a replacement"),
}
# Detailed actions whose class alone would say something else than the code's own text does.
_ACTIONS: Mapping[str, Word] = {
    "follow_linked": _("look at the Xid that it follows from"),
    "investigate_software": _("look at the program, CUDA and the driver, then restart the job"),
    "update_software": _("bring driver or firmware to the version that is needed"),
    "follow_workflow": _("find the link and its cause, then drain and reset the GPU"),
    "check_mechanicals": _("drain; check power leads, seating, cables and cooling"),
}
CAUSES: Mapping[str, Word] = {
    "application": _("application"),
    "driver": _("driver"),
    "gpu_memory": _("GPU memory"),
    "hardware": _("hardware"),
    "informational": _("for information"),
    "nvlink": "NVLink",
    "pcie_bus": _("PCIe bus"),
    "system_memory": _("host memory"),
    "thermal": _("temperature"),
}
UNITS: Mapping[str, Word] = {
    "flag": _("0 or 1"),
    "level": _("level"),
    "errors": _("errors"),
    "share of the limit": _("share of the limit"),
    "share of the widest": _("share of the widest"),
    "share of the fastest": _("share of the fastest"),
    "share of what is due": _("share of what is due"),
    "links": _("links"),
    "GPUs": _("GPUs"),
    "code": _("code"),
    "rows": _("rows"),
    "count": _("count"),
}
SEVERITY_VERDICTS: Mapping[str, str] = {"critical": "fail", "warning": "warn", "info": "pass"}
SEVERITIES: Mapping[str, Word] = {
    "critical": _("critical"),
    "warning": _("to be watched"),
    "info": _("no effect on service"),
}
STEPS: Mapping[str, Word] = {
    "quarantine": _("quarantine: no new jobs"),
    "sub_healthy": _("sub-healthy: no new long jobs"),
    "none": _("leave it"),
}
HELD_BACK: Mapping[str, Word] = {
    "": "",
    "policy": _("a person decides: the cluster's policy sets nothing by itself"),
    "person": _("a person has decided on this node"),
    "share": _("too many nodes of the domain are out already"),
}
DIRECTIONS: Mapping[str, Word] = {"above": _("above"), "below": _("below")}
_RULES: Mapping[str, tuple[Word, Word]] = {
    "gpu-temperature": (
        _("GPU temperature"),
        _("Clocks are lowered near the limit; the slowest GPU sets the pace of the job."),
    ),
    "memory-temperature": (_("GPU memory temperature"), _("Hot memory throttles and wears out.")),
    "npu-temperature": (_("NPU temperature"), _("Clocks are lowered near the limit.")),
    "power-at-limit": (
        _("Power above its limit"),
        _("The reading stays above the set limit; the sensor or the limit is wrong."),
    ),
    "row-remap-failed": (
        _("Row remapping failed"),
        _("No spare rows are left for a damaged one; the GPU is to be replaced."),
    ),
    "row-remap-pending": (
        _("Row remapping waits for a reset"),
        _("A damaged row is replaced at the next reset only."),
    ),
    "uncorrectable-rows": (
        _("Rows remapped after uncorrectable errors"),
        _("Many of them announce a failing memory stack."),
    ),
    "pages-pending": (
        _("Page retirement waits for a reset"),
        _("A damaged page is retired at the next reset only."),
    ),
    "ecc-double-bit": (_("Uncorrectable memory errors"), _("Data was lost since the last reset.")),
    "sram-threshold": (
        _("Too many SRAM errors"),
        _("The GPU counts more uncorrectable SRAM errors than its maker allows; it is to be replaced."),
    ),
    "memory-unrepairable": (
        _("Memory that cannot be repaired"),
        _("The repairs that the GPU has are used up; it is to be replaced."),
    ),
    "repair-pending": (
        _("A repair waits for a reset"),
        _("A damaged part is replaced at the next reset only."),
    ),
    "pcie-width": (
        _("PCIe link narrower than built"),
        _("Host copies and RDMA of this GPU run at that share of the rate."),
    ),
    "pcie-replays": (_("PCIe replays"), _("The link repeats packets; seating or signal quality is poor.")),
    "gpus-missing": (_("GPUs that do not answer"), _("The driver attached more GPUs than answer now.")),
    "driver-not-answering": (
        _("GPU driver does not answer"),
        _("Without the driver no GPU of the node can be used, or even be counted."),
    ),
    "fabric-not-ready": (
        _("NVLink fabric not ready"),
        _("CUDA does not start on NVSwitch systems until the fabric is registered."),
    ),
    "fabric-manager-down": (
        _("Fabric manager does not run"),
        _(
            "Without it no GPU reaches another through the NVSwitches; jobs fall back to PCIe or do not start."
        ),
    ),
    "recovery-asked": (
        _("The driver asks for a recovery"),
        _("The driver reports that the GPU needs a reset or a reboot."),
    ),
    "nvlink-inactive": (
        _("NVLinks that are down"),
        _("Each lost link takes its share of the bandwidth of every ring through this GPU."),
    ),
    "nvlink-slow": (
        _("NVLinks slower than they are built"),
        _("A link that was trained at a lower rate halves what the domain reaches."),
    ),
    "nvlink-errors": (
        _("NVLink errors"),
        _("Repeated packets cost bandwidth and announce a failing link."),
    ),
    "port-down": (
        _("Network port not active"),
        _("A rail is missing; collectives across nodes slow down or fail."),
    ),
    "port-slow": (
        _("Network port slower than the others"),
        _("Cable or transceiver came up at a lower rate."),
    ),
    "optical-power": (
        _("Optical power close to its least"),
        _("A dirty or ageing transceiver loses packets first, then the link."),
    ),
    "diagnostic-failed": (_("DCGM diagnostic failed"), _("The vendor's own test does not pass.")),
    "diagnostic-warned": (_("DCGM diagnostic warned"), _("The vendor's own test has a remark.")),
    "npu-health": (
        _("NPU health"),
        _("The NPU reports itself as Warning (1), Alarm (2) or Critical (3)."),
    ),
    "last-xid": (_("An Xid was reported"), _("The kernel log of the node tells which and when.")),
}


def action_word(action: str, action_class: str) -> Word:
    """What is to be done about a fault: its detailed action in words, or those of a class that goes beyond it."""
    detailed = _ACTIONS.get(action) if class_of(action) == action_class else None
    return detailed or ACTION_CLASSES.get(action_class, action_class)


def rule_title(rule_id: str, default: str = "") -> Word:
    """The rule's name for people; its id where nobody has named it."""
    return _RULES.get(rule_id, (default or rule_id, ""))[0]


def rule_why(rule: HealthRule) -> Word:
    """Why the rule matters."""
    return _RULES.get(rule.id, ("", rule.why))[1]


def reason_text(code: str) -> Word:
    """A reason of a proposal in words: `rule:port-down` by the rule's name, `xid:79` as Xid 79."""
    kind, _colon, rest = code.partition(":")
    return rule_title(rest) if kind == "rule" else f"{KIND_NAMES.get(kind, kind)} {rest}"


def reasons_said(codes: Iterable[str]) -> Text:
    """Reasons of a proposal as a sentence that a hold keeps: English, and said in the reader's language later."""
    with override("en"):
        return joined(", ", [Text(str(reason_text(code)).strip()) for code in codes])


def told_item(item: KnowledgeItem) -> dict[str, Any]:
    """An item of the knowledge in the reader's language."""
    language = get_language() or "en"
    return {
        "id": item.id,
        "title": item.title.in_language(language),
        "text": item.text.in_language(language),
        "xids": sorted(item.xids),
        "phrases": [" … ".join(phrase) for phrase in item.phrases],
        "causes": [_told_cause(cause, language) for cause in item.causes],
    }


def told_symptom(symptom: Symptom) -> dict[str, Any]:
    """What a log shows: the item, the lines that show it, and its causes with the lines that speak for each."""
    language = get_language() or "en"
    return told_item(symptom.item) | {
        "count": symptom.count,
        "sightings": symptom.sightings,
        "causes": [_told_cause(one.cause, language) | {"evidence": one.evidence} for one in symptom.causes],
    }


def _told_cause(cause: Cause, language: str) -> dict[str, Any]:
    return {
        "id": cause.id,
        "weight": cause.weight,
        "text": cause.text.in_language(language),
        "check_first": cause.check.in_language(language),
        "remedy": cause.remedy.in_language(language),
    }
