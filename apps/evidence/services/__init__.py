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

__all__ = [
    "assign_node",
    "parse_collected_at",
    "pin",
    "read_receipt",
    "receive",
    "receive_known",
    "refuse",
    "settle",
    "sweep",
    "thin",
]
