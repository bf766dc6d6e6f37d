"""Holds: what nodes are kept for."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.core.texts import of_row
from apps.fleet.models.inventory import Node


class HoldKind(models.TextChoices):
    TRAINING = "training", _("training")
    CHANGE = "change", _("change")
    MAINTENANCE = "maintenance", _("maintenance")
    QUARANTINE = "quarantine", _("quarantine")


BY_HAND = (HoldKind.MAINTENANCE, HoldKind.QUARANTINE)  # what somebody takes and lets go of on a node's page
_SHOWN_AS = {HoldKind.CHANGE: "in_change", HoldKind.QUARANTINE: "quarantined"}


class Hold(models.Model):
    """A node is kept for something; training, change and maintenance exclude each other, quarantine does not."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="holds")
    kind = models.CharField(max_length=12, choices=HoldKind.choices)
    owner = models.CharField(max_length=80, blank=True)  # what it is held for, such as "changes.change:12"
    reason = models.CharField(max_length=300)
    reason_said = models.JSONField(null=True)  # template and values, where the portal wrote the reason
    by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    by_label = models.CharField(max_length=200)
    automatic = models.BooleanField(default=False)
    since = models.DateTimeField()
    released_at = models.DateTimeField(null=True)
    released_by_label = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["owner"], name="fleet_hold_owner")]
        constraints = [
            models.UniqueConstraint(
                fields=["node"],
                condition=Q(released_at__isnull=True) & ~Q(kind="quarantine"),
                name="fleet_one_exclusive_hold",
            ),
            models.UniqueConstraint(
                fields=["node"],
                condition=Q(released_at__isnull=True, kind="quarantine"),
                name="fleet_one_quarantine",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of node {self.node_id}"

    @property
    def told_reason(self) -> str:
        """The reason, as a sentence that can be said in the reader's language where the portal wrote it."""
        return of_row({"message": self.reason, **(self.reason_said or {})})

    @property
    def by_hand(self) -> bool:
        return self.kind in BY_HAND

    @property
    def shown_as(self) -> str:
        """The state of a node that is held like this."""
        return _SHOWN_AS.get(HoldKind(self.kind), self.kind)
