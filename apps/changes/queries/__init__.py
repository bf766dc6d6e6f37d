"""Questions about changes, by noun."""

from apps.changes.queries.against import AgainstMatrix, against_matrix
from apps.changes.queries.approvals import (
    approvals_counting,
    approvers_of,
    editors_of,
    given_for,
    involved_in,
    reviewers_of,
)
from apps.changes.queries.changes import (
    change_for,
    changes_visible,
    is_changing,
    open_changes_on,
    snapshot_versions,
    waiting_targets,
    with_node_count,
)
from apps.changes.queries.gates import Wait, gate_of
from apps.changes.queries.inventory import inventory_of
from apps.changes.queries.targets import (
    Difference,
    differences_of,
    not_reaching,
    reaches,
    targets_naming,
    wanted_in,
)
from apps.changes.queries.training import Training, training_on

__all__ = [
    "AgainstMatrix",
    "Difference",
    "Training",
    "Wait",
    "against_matrix",
    "approvals_counting",
    "approvers_of",
    "change_for",
    "changes_visible",
    "differences_of",
    "editors_of",
    "gate_of",
    "given_for",
    "inventory_of",
    "involved_in",
    "is_changing",
    "not_reaching",
    "open_changes_on",
    "reaches",
    "reviewers_of",
    "snapshot_versions",
    "targets_naming",
    "training_on",
    "waiting_targets",
    "wanted_in",
    "with_node_count",
]
