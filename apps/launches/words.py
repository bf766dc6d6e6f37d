"""Words of launches for people: what each item asks, what each group is, and what an input is called."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ITEMS: dict[str, str | Promise] = {
    "nodes_free": _("All nodes are free"),
    "nodes_healthy": _("All nodes are healthy"),
    "no_open_change": _("No change is under way"),
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
    "people": _("People"),
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
