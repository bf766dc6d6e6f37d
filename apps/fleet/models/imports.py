"""Files of rows that were handed in."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.fleet.models.inventory import Cluster
from apps.jobs.models import Job


class ImportState(models.TextChoices):
    WAITING = "waiting", _("waits for a worker")
    PLANNED = "planned", _("looked at")
    REFUSED = "refused", _("refused")
    APPLIED = "applied", _("applied")


class BulkImport(models.Model):
    """A file of rows that was handed in: what it would do to a cluster, and whether that was done."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    content = models.BinaryField()  # gzip
    form = models.CharField(max_length=4, blank=True)  # csv, json, yaml; empty: recognise it
    table = models.CharField(max_length=12, blank=True)  # what a CSV file holds; empty: its head line tells
    mode = models.CharField(max_length=6)  # create, upsert, skip
    columns = models.JSONField(null=True)  # name in the CSV file → our column; null: the names are ours
    state = models.CharField(max_length=8, choices=ImportState.choices, default=ImportState.WAITING)
    apply_at_once = models.BooleanField(default=False)  # without a look at the plan first
    row_count = models.PositiveIntegerField(null=True)
    head = models.JSONField(default=list)  # column names of a CSV file
    counts = models.JSONField(default=dict)  # table → {created, updated, removed, unchanged, skipped, errors}
    outcome = models.BinaryField(null=True)  # gzip of JSON: what becomes of each row
    plan_digest = models.CharField(max_length=64, blank=True)
    problem = models.JSONField(null=True)  # {"code", "detail", "errors"}: why the file cannot be read
    asked_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    asked_label = models.CharField(max_length=200)
    asked_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True)
    applied_label = models.CharField(max_length=200, blank=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")  # the newest one
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["cluster", "-id"], name="fleet_import_newest")]

    def __str__(self) -> str:
        return self.file_name or f"import {self.pk}"

    @property
    def shown_state(self) -> str:
        """The state of the status language that looks like it."""
        if self.state == ImportState.PLANNED:
            return "fail" if self.error_count else "draft"
        return {"waiting": "queued", "refused": "failed", "applied": "done"}[self.state]

    @property
    def error_count(self) -> int:
        return sum(one["errors"] for one in self.counts.values())

    @property
    def changes_anything(self) -> bool:
        return any(one["created"] or one["updated"] or one.get("removed") for one in self.counts.values())
