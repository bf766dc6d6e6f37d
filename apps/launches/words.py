"""Words of launches for people: what each item asks and what was found, what groups and inputs are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.speech import listed, said
from apps.core.texts import of_row
from apps.environments.words import label_of
from apps.fleet.models import HoldKind
from apps.health.words import reason_text

ITEMS: dict[str, str | Promise] = {
    "nodes_free": _("All nodes are free"),
    "nodes_healthy": _("All nodes are healthy"),
    "no_open_change": _("No change is under way"),
    "upkeep_done": _("No upkeep is overdue"),
    "matrix_locked": _("An environment matrix is locked"),
    "no_drift": _("All nodes match the matrix"),
    "job_environment": _("The job's environment is clean"),
    "benchmark_accepted": _("The benchmark is fresh and accepted"),
    "plan_fits": _("The plan fits the memory"),
    "placement_sound": _("Groups stay where links are fast"),
    "topology_labels": _("Topology labels are present"),
    "timeouts_sane": _("Time-outs follow the measured baseline"),
    "checkpoint_readable": _("The last checkpoint is complete and readable"),
    "storage_and_loading": _("Storage and data loading were checked"),
}
GROUPS: dict[str, str | Promise] = {
    "inventory": _("Inventory"),
    "environment": _("Environment"),
    "fabric": _("Fabric"),
    "collective": _("Collective"),
    "storage": _("Storage and checkpoint"),
    "scheduler": _("Scheduler"),
}
INPUTS: dict[str, str | Promise] = {
    "launch": _("the launch itself was edited"),
    "matrix": _("another matrix is in force"),
    "versions": _("a node reports other versions"),
    "nodes": _("a node changed its state"),
    "holds": _("a hold was taken or released"),
    "changes": _("a change began or ended"),
    "benchmark": _("there is another benchmark"),
    "answers": _("an item was answered again"),
    "waivers": _("a waiver was given or is over"),
    "newer_evaluation": _("there is a newer evaluation"),
}
ORDER_OF_VERDICTS = ("fail", "unknown", "warn", "waived", "pass")
# What a check found, by its code; the values are those that the check gives with it.
FOUND: dict[str, str | Promise] = {
    "held_by_change": _("The nodes are held by a change."),
    "no_change": _("No change is under way."),
    "change_under_way": _("Under way: %(changes)s"),
    "faulty": _("Faulty: %(names)s"),
    "sub_healthy": _("Sub-healthy: %(names)s"),
    "accelerators_missing": _("Fewer accelerators are reported than are on record: %(names)s"),
    "accelerators_other": _("Other accelerators are reported than are on record: %(names)s"),
    "accelerators_unclear": _("Reports of accelerators contradict each other or the record: %(names)s"),
    "unknown": _("Nothing is known of the health of %(names)s."),
    "upkeep_done": _("No upkeep of cooling or fittings is overdue."),
    "upkeep_overdue": _("Overdue: %(names)s"),
    "no_matrix": _("No environment matrix is locked for this domain."),
    "locked": _("%(matrix)s is in force."),
    "not_declared": _("What the job exports was not declared."),
    "nothing_set": _("No variable is set: the libraries' defaults apply."),
    "no_benchmark": _("There is no all-reduce over all accelerators of this domain."),
    "benchmark_old": _("busbw %(busbw)s is %(share)s of theory, but older than 14 days."),
    "benchmark_of_another_matrix": _("busbw %(busbw)s is %(share)s of theory, but it ran on %(matrix)s."),
    "no_plan": _("The launch has no plan."),
    "no_groups": _("Without a plan there are no groups."),
    "plan_not_computed": _("The plan is not computed yet."),
    "plan_of_other_size": _("Planned for %(planned)s accelerators; the launch has %(cards)s."),
    "does_not_fit": _("The memory does not suffice."),
    "fits": _("%(plan)s fits."),
    "groups_inside": _("All TP and EP groups stay inside their domain."),
    "groups_outside": _(
        "Groups that leave their domain: %(n)s, such as %(dimension)s group %(group)s over %(places)s."
    ),
    "groups_outside_sub_domain": _(
        "Groups that leave their sub-domain: %(n)s, such as %(dimension)s group %(group)s over %(places)s."
    ),
    "not_answered": _("Nobody has answered yet."),
}
_SPEED = _("busbw %(busbw)s is %(share)s of theory.")


def found_in(item: Mapping[str, Any]) -> str:
    """The sentence of one evaluated item in the reader's language; the kept English one where there is no other."""
    code, values = item["code"], item.get("values") or {}
    if "template" in values:
        return said(values)
    if code == "held" and "kinds" in values:
        return _not_free(values["kinds"])
    if "causes" in values:
        return str(FOUND[code]) % {"names": _ailing(values)}
    if "findings" in values:
        return _drift(values)
    if "settings" in values:
        return _settings(values)
    if "n" in values and code in ("free", "healthy", "no_drift", "settings_checked"):
        return _counted(code, values)
    sentence = FOUND.get(code, _SPEED if "busbw" in values else None)
    try:
        return str(sentence) % values if sentence else str(item["message"])
    except KeyError:  # kept before its values were
        return str(item["message"])


def _counted(code: str, values: Mapping[str, Any]) -> str:
    n = values["n"]
    sentences = {
        "free": ngettext("%(n)s node is free.", "%(n)s nodes are free.", n),
        "healthy": ngettext("%(n)s node is healthy.", "%(n)s nodes are healthy.", n),
        "no_drift": ngettext("%(n)s node matches %(matrix)s.", "%(n)s nodes match %(matrix)s.", n),
        "settings_checked": ngettext("%(n)s setting, nothing found.", "%(n)s settings, nothing found.", n),
    }
    return sentences[code] % {**values, "n": f"{n:,}"}


def _and_more(number: int) -> str:
    return ngettext("and %(n)s more", "and %(n)s more", number) % {"n": f"{number:,}"}


def _not_free(kinds: Mapping[str, str]) -> str:
    names = {kind.value: kind.label for kind in HoldKind} | {"life_cycle": _("in repair or retired")}
    what = listed((f"{names.get(kind, kind)}: {nodes}" for kind, nodes in kinds.items()), "; ")
    return gettext("Not free: %(what)s") % {"what": what}


def _ailing(values: Mapping[str, Any]) -> str:
    """Nodes that are not well, each with what ails it where that is known."""
    named = []
    for cause in values["causes"]:
        reasons = listed(reason_text(code) for code in cause["reasons"])
        named.append(f"{cause['node']} ({reasons})" if reasons else cause["node"])
    if more := values["more"]:
        named.append(_and_more(more))
    return listed(named)


def _settings(values: Mapping[str, Any]) -> str:
    """What is wrong with the job's environment."""
    found = [f"{row['name']}: {said(of_row(row, 'why'))}" for row in values["settings"]]
    if more := values["more"]:
        found.append(_and_more(more))
    return listed(found, "; ")


def _drift(values: Mapping[str, Any]) -> str:
    sentences = {
        "loaded_differs": gettext(
            "%(node)s: %(component)s %(found)s is loaded, its package declares %(expected)s"
        ),
        "contradiction": gettext(
            "%(node)s: reports of %(component)s contradict each other: %(found)s, but %(expected)s"
        ),
    }
    told = [
        (sentences.get(finding.get("kind", "")) or _held_against(finding))
        % (
            finding
            | {
                "component": label_of(finding["component"]),
                "found": finding["found"] or gettext("not reported"),
            }
        )
        for finding in values["findings"]
    ]
    if not told:
        return gettext("Nothing is asked for.")
    if more := values["more"]:
        told.append(_and_more(more))
    return listed(told, "; ")


def _held_against(finding: Mapping[str, str]) -> str:
    """The sentence of a version that is not what is asked for; records once kept a ? where no version is."""
    if finding.get("reason") == "report_too_old":
        return gettext("%(node)s: the report that %(component)s is %(found)s is too old to count")
    if finding["expected"] not in ("", "?"):
        return gettext("%(node)s: %(component)s is %(found)s, asked for is %(expected)s")
    if finding.get("reason", "not_in_matrix") == "not_in_matrix":
        return gettext("%(node)s: %(component)s is %(found)s, the matrix names no version of it")
    return gettext(
        "%(node)s: %(component)s is %(found)s, all nodes are to run one version, and none has the majority"
    )
