"""Taking evidence in: kept by digest, read, settled, and thinned. No delivery is a decision: no audit event."""

from apps.evidence.services.deliveries import (
    assign_node,
    parse_collected_at,
    read_receipt,
    receive,
    receive_known,
    refuse,
    settle,
)
from apps.evidence.services.keeping import pin, sweep, thin
from apps.evidence.services.policy import set_keep_policy
from apps.evidence.services.repeats import Said, count_repeats, countable

__all__ = [
    "Said",
    "assign_node",
    "count_repeats",
    "countable",
    "parse_collected_at",
    "pin",
    "read_receipt",
    "receive",
    "receive_known",
    "refuse",
    "set_keep_policy",
    "settle",
    "sweep",
    "thin",
]
