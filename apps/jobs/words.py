"""What kinds of work are called."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

KINDS: dict[str, str | Promise] = {
    "audit.checkpoint": _("Checkpoint of the audit trail"),
    "audit.verify": _("Verification of the audit trail"),
    "environments.check_drift": _("Drift check of a domain"),
    "environments.check_due": _("Drift checks that are due"),
    "environments.thin_history": _("Removal of old history of versions"),
    "evidence.sweep": _("Removal of left-over uploads"),
    "evidence.thin": _("Thinning of old raw files"),
    "fleet.apply_import": _("Import of a fleet file"),
    "fleet.plan_import": _("Look at a fleet file"),
    "fleet.play_what_if": _("Allocation what-if"),
    "health.forget_stale": _("Nodes not observed for too long"),
    "jobs.deliver_webhook": _("Delivery of a webhook message"),
    "jobs.tidy": _("Removal of rows that served their time"),
    "launches.evaluate": _("Evaluation of a launch"),
    "planning.ask": _("Computation for a page"),
    "planning.estimate": _("Computation of a plan"),
    "planning.study": _("Computation of a study"),
    "portal.attach_unmatched": _("Deliveries whose node exists by now"),
    "portal.fetch_metrics": _("Metrics from Prometheus"),
    "portal.read_receipt": _("Reading of a large file"),
}

# Parts of the portal that ask for work themselves.
_ASKERS: dict[str, str | Promise] = {"schedule": _("the schedule"), "intake": _("the intake")}


def kind_name(kind: str) -> str | Promise:
    """What a kind of work is called; one that has no words as it is."""
    return KINDS.get(kind, kind)


def asker_name(label: object) -> str | Promise:
    """Who asked for a job: a person's name as it is, a part of the portal in words."""
    return _ASKERS.get(str(label), str(label))
