"""The audit trail's tables: events that are only ever added, and the head of their chain."""

from __future__ import annotations

from django.db import models


class AuditEvent(models.Model):
    """One decision, as the exact canonical text that was hashed, with columns beside it to search by."""

    seq = models.BigIntegerField(unique=True)
    at = models.DateTimeField(db_index=True)
    action = models.CharField(max_length=80, db_index=True)
    actor_id = models.BigIntegerField(null=True, db_index=True)
    actor_label = models.CharField(max_length=200)
    via = models.CharField(max_length=20)
    object_type = models.CharField(max_length=80)
    object_id = models.CharField(max_length=64)
    object_label = models.CharField(max_length=200)
    scope_id = models.BigIntegerField(null=True, db_index=True)
    request_id = models.CharField(max_length=64, blank=True)
    body = models.TextField()
    prev_hash = models.CharField(max_length=64, unique=True)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["-seq"]
        indexes = [models.Index(fields=["object_type", "object_id"], name="audit_event_object")]

    def __str__(self) -> str:
        return f"{self.seq} {self.action}"


class AuditHead(models.Model):
    """The one row that says where the chain ends; locked for the moment of appending."""

    seq = models.BigIntegerField()
    hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"head at {self.seq}"
