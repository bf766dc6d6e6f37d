"""Words of the trail for people: what each recorded action is called, and by which part of the portal it came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apps.core.texts import Text, say

ACTIONS: Mapping[str, Text] = {
    "audit.exported": say("Audit trail exported"),
    "audit.verified": say("Audit trail verified"),
    "benchmark.baseline_set": say("Baseline of a benchmark set"),
    "benchmark.collective_stated": say("Collective of a benchmark stated"),
    "catalogue.components.imported": say("Components of the catalogue imported"),
    "catalogue.figure.cleared": say("Own figure of the catalogue taken back"),
    "catalogue.figure.set": say("Own figure of the catalogue set"),
    "change.approved": say("Change approved"),
    "change.cancelled": say("Change cancelled"),
    "change.done": say("Change done"),
    "change.drafted": say("Change drafted"),
    "change.edited": say("Change edited"),
    "change.failed": say("Change given up"),
    "change.refused": say("Change refused"),
    "change.rolled_back": say("Change rolled back"),
    "change.stage_passed": say("Gate of a stage passed"),
    "change.stage_started": say("Stage of a change started"),
    "change.started": say("Change started"),
    "change.submitted": say("Change handed in for approval"),
    "cluster.created": say("Cluster created"),
    "cluster.edited": say("Cluster edited"),
    "demo.loaded": say("Demonstration loaded"),
    "demo.removed": say("Demonstration removed"),
    "domain.built": say("Domain built"),
    "environment.compatibility_rule_cleared": say("Own compatibility rule taken back"),
    "environment.compatibility_rule_set": say("Compatibility rule set"),
    "environment.policy_set": say("Settings of drift checks changed"),
    "evidence.keep_policy_set": say("Keeping of evidence changed"),
    "evidence.node_assigned": say("Evidence assigned to a node"),
    "fault.resolved": say("Fault resolved"),
    "finding.assigned": say("Finding assigned"),
    "fleet.imported": say("Fleet imported"),
    "health.metrics_source_removed": say("Source of metrics removed"),
    "health.metrics_source_set": say("Source of metrics set"),
    "health.policy_set": say("Settings of quarantine changed"),
    "health.rule_set": say("Health rule changed"),
    "hold.change.taken": say("Nodes held for a change"),
    "hold.maintenance.released": say("Maintenance of a node ended"),
    "hold.maintenance.taken": say("Node held for maintenance"),
    "hold.quarantine.released": say("Quarantine of a node ended"),
    "hold.quarantine.taken": say("Node put into quarantine"),
    "hold.released": say("Hold of nodes released"),
    "hold.training.taken": say("Nodes held for training"),
    "hold.transferred": say("Hold of nodes handed over"),
    "invitation.accepted": say("Invitation accepted"),
    "invitation.created": say("Person invited"),
    "invitation.revoked": say("Invitation revoked"),
    "job.cancelled": say("Job cancelled"),
    "job.retried": say("Job retried"),
    "launch.answered": say("Item of a launch answered"),
    "launch.cancelled": say("Launch cancelled"),
    "launch.edited": say("Launch edited"),
    "launch.evaluated": say("Launch evaluated"),
    "launch.finished": say("Launch finished"),
    "launch.opened": say("Launch opened"),
    "launch.rollback_started": say("Rollback started from a launch"),
    "launch.signed": say("Launch signed"),
    "launch.started": say("Launch started"),
    "launch.waived": say("Item of a launch waived"),
    "launch.waiver_asked": say("Waiver asked for"),
    "launch.waiver_revoked": say("Waiver revoked"),
    "matrix.discarded": say("Draft of a matrix put away"),
    "matrix.drafted": say("Matrix drafted"),
    "matrix.edited": say("Matrix edited"),
    "matrix.known_good": say("Matrix became known-good"),
    "matrix.locked": say("Matrix locked"),
    "matrix.retired": say("Matrix retired"),
    "node.alias.added": say("Other name of a node added"),
    "node.alias.removed": say("Other name of a node removed"),
    "node.edited": say("Node edited"),
    "node.moved": say("Node moved"),
    "part.added": say("Spare part added"),
    "part.moved": say("Part moved"),
    "person.created": say("Person created"),
    "person.erased": say("Personal data erased"),
    "person.left": say("Person left"),
    "person.password_changed": say("Password changed"),
    "person.returned": say("Person returned"),
    "person.signed_in": say("Signed in"),
    "plan.asked": say("Plan asked for"),
    "plan.asked_again": say("Plan asked for again"),
    "plan.chosen": say("Plan chosen for launches"),
    "plan.step_measured": say("Measured step noted"),
    "plan.step_withdrawn": say("Measured step withdrawn"),
    "role.granted": say("Role given"),
    "role.revoked": say("Role taken away"),
    "rollback.done": say("Rollback done"),
    "rollback.failed": say("Rollback given up"),
    "rollback.reviewed": say("Rollback reviewed"),
    "rollback.stage_started": say("Stage of a rollback started"),
    "rollback.started": say("Rollback started"),
    "schedule.changed": say("Schedule changed"),
    "token.created": say("Token created"),
    "token.revoked": say("Token revoked"),
    "upkeep.done": say("Upkeep done"),
    "upkeep.planned": say("Upkeep planned"),
    "upkeep.retired": say("Upkeep retired"),
    "webhook.changed": say("Webhook changed"),
    "webhook.created": say("Webhook created"),
    "webhook.redelivered": say("Webhook message sent again"),
    "webhook.removed": say("Webhook removed"),
    "webhook.secret_rotated": say("Webhook secret changed"),
    "webhook.tested": say("Webhook tested"),
}
# Parts of the portal that act by themselves; a name that is not here stays as it is.
_PARTS: Mapping[str, Text] = {
    "gate": say("the gate"),
    "portal": say("the portal"),
    "schedule": say("the schedule"),
    "intake": say("the intake"),
    "metrics": say("the fetching of metrics"),
    "rollback": say("the rollback"),
}
_JOB = say("job %(number)s")
# Words in the names by which events keep their objects (`__str__` of the models), in English for good.
_OBJECTS: Mapping[str, tuple[Text, ...]] = {
    "accounts.invitation": (say("invitation %(number)s"),),
    "audit.audithead": (say("head at %(seq)s"),),
    "environments.driftfinding": (say("%(component)s on %(node)s"), say("%(kind)s of %(domain)s")),
    "evidence.keeppolicy": (say("keep policy of %(number)s"),),
    "fleet.bulkimport": (say("import %(number)s"),),
    "health.faultrecord": (say("%(fault)s on %(node)s"),),
    "planning.measuredstep": (say("%(seconds)s s with %(plan)s"),),
}


def word_of(action: str) -> str:
    """What an action is called; empty for one that has no word, whose code then stands alone."""
    return ACTIONS.get(action, "")


def actor_of_event(name: str, label: str, via: str) -> Text:
    """Who acted. name: of the person, empty where none did; label: what the trail noted; via: as in core.actor.

    Names are values, so that one that is also a word, such as Sun, is not translated.
    """
    part = (_PARTS.get(label) or _again(_JOB, label) or label) if via == "system" else label
    if via == "session":
        return Text("%(name)s", {"name": name or label})
    if not name:
        return Text("%(part)s", {"part": part})
    if via == "system":
        return say("%(name)s, by %(part)s", name=name, part=part)
    return Text("%(name)s · %(label)s", {"name": name, "label": label})


def object_of_event(object_type: str, label: str) -> Text:
    """What an event is about, by the name that the trail noted; a name that people gave is not translated."""
    found = (_again(template, label) for template in _OBJECTS.get(object_type, ()))
    return next((text for text in found if text), Text("%(label)s", {"label": label}))


def _again(template: Text, label: str) -> Text | None:
    """A noted text as one of its template, so that it can be said in another language; None for another text."""
    match = re.fullmatch(re.sub(r"%\((\w+)\)s", r"(?P<\1>.+)", template), label)
    return Text(template, match.groupdict()) if match else None


def outcome_of(action: str, after: Any) -> str:
    """The state that a decision of the gate came to (go, no_go, needs_signoff, unknown); empty for all others."""
    if not isinstance(after, Mapping):
        return ""
    if action == "launch.signed" and isinstance(after.get("go"), bool):
        return "go" if after["go"] else "no_go"
    return str(after.get("standing", "")) if action == "launch.evaluated" else ""
