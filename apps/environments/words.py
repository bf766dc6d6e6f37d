"""Words of environments for people: components, rules, and why something came out as it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.components import RuleKind, component, components, shipped_components
from apps.core.speech import listed, said
from apps.environments.engine.compat import Relation, RuleResult
from apps.environments.engine.compat.tables import version_table_of
from apps.environments.engine.job_env import JobEnvFinding
from apps.environments.engine.matrix_diff import EntryChange
from apps.environments.engine.rules import MatrixEntry

Word = str | Promise
_MOST_EXPECTED = 6  # versions of a list that a rule is held against

# Labels that describe; names of products stay as they are.
_LABELS: Mapping[str, Word] = {
    "gpu_driver": _("GPU driver"),
    "cuda_driver_api": _("CUDA of the driver"),
    "gpu_model": _("GPU model"),
    "gpu_count": _("Accelerators"),
    "gpu_memory": _("GPU memory"),
    "gpu_vbios": _("GPU VBIOS"),
    "gsp_firmware": _("GSP firmware"),
    "inforom_image": _("InfoROM image"),
    "ecc_mode": _("ECC mode"),
    "mig_mode": _("MIG mode"),
    "persistence_mode": _("Persistence mode"),
    "fabric_manager": _("Fabric manager"),
    "nvswitch_firmware": _("NVSwitch firmware"),
    "nic_firmware": _("NIC firmware"),
    "cuda_runtime": _("CUDA runtime"),
    "cuda_of_torch": _("CUDA that PyTorch was built with"),
    "os": _("Operating system"),
    "host_os": _("Host operating system"),
    "kernel": _("Kernel"),
    "container_image": _("Container image"),
    "container_runtime": _("Container runtime"),
    "amdgpu_driver": _("amdgpu driver"),
    "hip_runtime": _("HIP runtime"),
    "npu_driver": _("NPU driver"),
    "npu_firmware": _("NPU firmware"),
    "hygon_driver": _("DCU driver"),
    "gaudi_driver": _("Gaudi driver"),
    "gaudi_firmware": _("Gaudi firmware"),
    "metax_driver": _("MetaX kernel driver"),
    "bmc_firmware": _("BMC firmware"),
    "host_bios": _("Host BIOS"),
}
AREAS: Mapping[str, Word] = {
    "hardware": _("Hardware"),
    "firmware": _("Firmware"),
    "driver": _("Drivers"),
    "library": _("Libraries"),
    "framework": _("Frameworks"),
    "system": _("System"),
    "setting": _("Settings"),
    "tool": _("Tools"),
}
RULES: Mapping[str, Word] = {
    "exact": _("exactly"),
    "same_branch": _("same branch as"),
    "at_least": _("at least"),
    "one_of": _("one of"),
    "uniform": _("the same everywhere"),
    "not_checked": _("not checked"),
}
SCHEMES: Mapping[str, Word] = {
    "dotted_numeric": _("dotted numbers"),
    "nccl": "NCCL",
    "cuda": "CUDA",
    "debian": "Debian",
    "kernel": _("Linux kernel"),
    "ofed": "OFED",
    "vbios_hex": _("hexadecimal"),
    "pep440": "PEP 440",
    "rc_suffix": _("numbers with RC"),
    "os_release": _("name and release"),
    "opaque": _("plain text"),
}
SWITCHES: Mapping[str, Word] = {"yes": _("yes"), "no": _("no")}
REASONS: Mapping[str, Word] = {
    "as_asked": _("as asked for"),
    "other_version": _("another version"),
    "other_branch": _("another branch"),
    "too_old": _("older than asked for"),
    "not_in_list": _("none of those allowed"),
    "units_differ": _("the node's own units differ"),
    "not_the_majority": _("not what most nodes run"),
    "no_majority": _("no version is run by most nodes"),
    "not_reported": _("the node does not report it"),
    "not_in_matrix": _("the matrix does not ask for it"),
    "form_not_understood": _("the version is of an unknown form"),
    "intent_not_understood": _("what the matrix asks for is of an unknown form"),
    "not_comparable": _("the two versions cannot be compared"),
    "nothing_asked": _("the matrix does not say which version"),
    "report_too_old": _("the report is too old"),
    "reports_contradict": _("two kinds of reports contradict each other"),
}
FINDING_KINDS: Mapping[str, Word] = {
    "drift": _("differs from the matrix"),
    "loaded_differs": _("loads another version than its package declares"),
    "contradiction": _("two kinds of reports contradict each other"),
    "no_intent": _("no matrix asks for anything"),
}
DRAFT_NOTES: Mapping[str, Word] = {
    "tie": _("as many nodes run one version as another: choose"),
    "minority": _("some nodes run another version"),
    "missing": _("some nodes do not report it"),
    "units_differ": _("units of one node differ"),
    "unknown_form": _("a version of unknown form"),
    "few": _("fewer than half of the nodes report it"),
}
RULE_REASONS: Mapping[str, Word] = {
    "holds": _("holds"),
    "broken": _("broken"),
    "not_stated": _("cannot be told: a version is not stated"),
    "not_in_table": _("cannot be told: the version is not in the table"),
    "not_comparable": _("cannot be told: the versions cannot be compared"),
}
# What a rule wants, where the bare versions would read as their opposite or as that very version.
_WANTED: Mapping[Relation, Word] = {
    Relation.ABSENT: _("none at all"),
    Relation.CONTAINS: _("with %(versions)s"),
    Relation.LACKS: _("not: %(versions)s"),
    Relation.OTHER_BRANCH: _("none of the branches %(versions)s"),
    Relation.AT_LEAST: _("at least %(versions)s"),
    Relation.BELOW: _("older than %(versions)s"),
}
STANDINGS: Mapping[str, Word] = {"declared": _("declared"), "loaded": _("loaded")}


def label_of(component_id: str) -> Word:
    """The component's name for people: as somebody set it, translated where it describes, else as shipped."""
    known, shipped = component(component_id), shipped_components().get(component_id)
    if shipped is not None and known.label != shipped.label:
        return known.label
    return _LABELS.get(component_id) or known.label


def components_called(text: str) -> list[str]:
    """Ids of components whose name holds the text, in any case, in the reader's language or as the catalogue has it."""
    wanted = text.casefold()
    return [
        one.id
        for one in components().values()
        if any(wanted in str(name).casefold() for name in (label_of(one.id), one.label))
    ]


def remedies_of(kind: str, reason: str) -> Word:
    """What to do about a finding."""
    return _REMEDY_OF_KIND.get(kind) or _REMEDIES.get(reason) or _("Look at the evidence of the node.")


_REMEDY_OF_KIND: Mapping[str, Word] = {
    "loaded_differs": _(
        "Find which library the process loads (LD_LIBRARY_PATH, a wheel that brings its own, a preload), "
        "and remove the one that is not wanted."
    ),
    "contradiction": _(
        "Report both kinds again. If they still disagree, one of them looks at another installation, "
        "such as a container instead of the host."
    ),
    "no_intent": _("Draft a matrix from what the nodes report, and lock it. Until then the gate stays shut."),
}
_BACK_TO_MATRIX = _(
    "Bring the node back to the version of the matrix by a change, or draft a new version of the matrix "
    "if the other version is wanted."
)
_REMEDIES: Mapping[str, Word] = {
    "other_version": _BACK_TO_MATRIX,
    "other_branch": _BACK_TO_MATRIX,
    "too_old": _("Update the node to the version asked for, or a newer one."),
    "not_in_list": _BACK_TO_MATRIX,
    "units_differ": _(
        "Bring all units of the node to one version; a card that was swapped brings its own firmware."
    ),
    "not_the_majority": _("Bring the node to what the others run; inside one domain it must be identical."),
    "no_majority": _("Decide which version the domain shall run, and ask for it in the matrix."),
    "not_reported": _("Run the collector on the node; if the component is gone, install it again."),
    "not_in_matrix": _("Add it to the matrix, or remove it from the node."),
    "form_not_understood": _("Look at the evidence: the tool may print an error instead of a version."),
    "intent_not_understood": _("Correct the version in a new draft of the matrix."),
    "not_comparable": _("Ask for a version written as the nodes report it."),
    "nothing_asked": _("Choose a version in a new draft of the matrix."),
    "report_too_old": _("Run the collector on the node, and look why it stopped."),
}


def intent_text(entry: MatrixEntry | None) -> str:
    """What a matrix asks of a component, as one text: the rule, and the versions where it names any."""
    if entry is None:
        return ""
    rule = str(RULES.get(entry.rule.value, entry.rule.value))
    return f"{rule} {entry.expected}".strip() if entry.rule is not RuleKind.EXACT else entry.expected or rule


def diff_rows(changes: Iterable[EntryChange], newer: Iterable[MatrixEntry]) -> list[dict[str, str]]:
    """Rows for the diff tag: what changed, and what stayed."""
    changed = {change.component: change for change in changes}
    rows = [
        {
            "key": str(label_of(name)),
            "old": intent_text(change.before),
            "new": intent_text(change.after),
            "kind": change.kind.value,
        }
        for name, change in changed.items()
    ]
    same = [entry for entry in newer if entry.component not in changed]
    return rows + [
        {
            "key": str(label_of(entry.component)),
            "old": intent_text(entry),
            "new": intent_text(entry),
            "kind": "same",
        }
        for entry in same
    ]


def rule_rows(results: Iterable[RuleResult]) -> list[dict[str, Any]]:
    """Rules between components for a page: verdict, what was found and expected, why; the worst first."""
    order = ("fail", "unknown", "warn", "waived", "pass")
    rows = [
        {
            "id": result.rule,
            "title": said(result.definition.title),
            "verdict": result.verdict.value,
            "reason": RULE_REASONS.get(result.reason.value, result.reason.value),
            "component": label_of(result.clause.component),
            "found": listed(result.found),
            "expected": _wanted(result),
            "expected_all": listed(result.expected) if len(result.expected) > _MOST_EXPECTED else "",
            "why": said(result.definition.why),
            "remedy": said(result.definition.remedy),
            "source": result.definition.source,
            "version_table": version_table_of(result.clause.table),
        }
        for result in results
    ]
    return sorted(rows, key=lambda row: order.index(row["verdict"]))


def _wanted(result: RuleResult) -> str:
    """What a rule wants of a component, in words; empty where the versions to hold it against are not known."""
    relation = result.clause.relation
    versions = _cut(_matching_first(result.expected, result.found))
    if not versions and relation is not Relation.ABSENT:
        return ""
    return str(_WANTED.get(relation, "%(versions)s")) % {"versions": versions}


def _matching_first(expected: Sequence[str], found: Sequence[str]) -> list[str]:
    """A list that would be cut, with what the found versions are or belong to in front (570 for 570.124.06)."""
    if len(expected) <= _MOST_EXPECTED:
        return list(expected)
    return sorted(expected, key=lambda one: not any(_belongs(version, one) for version in found))


def _belongs(version: str, listed: str) -> bool:
    return version == listed or version.startswith(f"{listed}.") or listed.startswith(f"{version}.")


def _cut(versions: Sequence[str]) -> str:
    more = " …" if len(versions) > _MOST_EXPECTED else ""
    return listed(versions[:_MOST_EXPECTED]) + more


def job_finding_rows(findings: Iterable[JobEnvFinding]) -> list[dict[str, Any]]:
    """Findings about a job's environment, the worst first."""
    order = ("fail", "warn", "info")
    rows = [
        {
            "line": one.line,
            "name": one.name,
            "value": one.value,
            "severity": one.severity.value,
            "why": said(one.why),
            "instead": said(one.instead),
            "others": [name for name in one.suggestions if name not in said(one.instead)],
        }
        for one in findings
    ]
    return sorted(rows, key=lambda row: (order.index(row["severity"]), row["line"]))
