"""What is known of the health of nodes: settled observations of each rule, and faults."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.accounts.models import Person
from apps.fleet.models import Node


class HealthState(models.Model):
    """What one rule says of one device of a node: its last observations and what they settled to."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=60)
    device = models.CharField(max_length=60, blank=True)
    recent = models.JSONField(default=list)  # verdicts, oldest first, as many as the hysteresis looks at
    verdict = models.CharField(max_length=8)
    value = models.FloatField(null=True)
    detail = models.CharField(max_length=200, blank=True)
    observed_at = models.DateTimeField()
    since = models.DateTimeField()  # when the verdict became what it is
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "rule", "device"], name="health_state_once")]
        indexes = [models.Index(fields=["node", "verdict"], name="health_state_verdict")]

    def __str__(self) -> str:
        return f"{self.rule} of {self.node_id}: {self.verdict}"


class FaultRecord(models.Model):
    """A fault that a node's log reported, folded over repetitions until somebody or a repair resolves it."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10)  # xid or sxid
    code = models.PositiveIntegerField()
    device = models.CharField(max_length=60, blank=True)
    severity = models.CharField(max_length=10)
    action = models.CharField(max_length=40)
    action_class = models.CharField(max_length=20)
    cordon = models.BooleanField()
    text = models.CharField(max_length=400)
    line = models.PositiveIntegerField()
    count = models.PositiveIntegerField(default=1)
    at_text = models.CharField(max_length=60, blank=True)  # the time as the log printed it
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    sha256 = models.CharField(max_length=64)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    resolution = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-last_seen_at", "-id"]
        indexes = [models.Index(fields=["node", "resolved_at"], name="health_open_faults")]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "kind", "code", "device"],
                condition=Q(resolved_at__isnull=True),
                name="health_open_fault_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.code} on {self.node_id}"
