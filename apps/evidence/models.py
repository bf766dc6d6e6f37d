"""Raw tool output by digest, each delivery of it, and what was read from it; nodes are only names here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person, Scope
from apps.jobs.models import Job


class Evidence(models.Model):
    """Bytes that arrived, once for each digest, however often they are delivered."""

    sha256 = models.CharField(max_length=64, unique=True)
    size_bytes = models.BigIntegerField()
    stored_at = models.DateTimeField()
    thinned_at = models.DateTimeField(null=True)  # the raw bytes are gone by policy; the reading stays
    pinned = models.BooleanField(default=False)  # a decision rests on it: never thinned

    def __str__(self) -> str:
        return self.sha256[:12]


class EvidenceReading(models.Model):
    """What one version of a parser read from evidence."""

    evidence = models.ForeignKey(Evidence, on_delete=models.CASCADE, related_name="readings")
    kind = models.CharField(max_length=40, db_index=True)
    parser_version = models.PositiveSmallIntegerField()
    facts = models.JSONField()
    warnings = models.JSONField(default=list)  # [{"code", "message", "line", "text"}]
    read_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["evidence", "kind", "parser_version"], name="evidence_read_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.evidence_id}"


class ReceiptState(models.TextChoices):
    STORED = "stored", _("stored")  # kept, waiting to be read by a job
    APPLIED = "applied", _("applied")  # read, and given to the records that it is about
    UNMATCHED = "unmatched", _("unmatched")  # read, but about a node that does not exist (yet)
    REFUSED = "refused", _("refused")  # not readable; the bytes were not kept


class Receipt(models.Model):
    """One delivery of a file: who handed in what, for which node, and what became of it."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+")
    received_at = models.DateTimeField(db_index=True)
    file_name = models.CharField(max_length=255, blank=True)
    node_name = models.CharField(max_length=255, blank=True)
    collected_at = models.DateTimeField(null=True)
    sha256 = models.CharField(max_length=64, db_index=True)
    size_bytes = models.BigIntegerField()
    kind = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=10, choices=ReceiptState.choices)
    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, null=True, related_name="receipts")
    reading = models.ForeignKey(EvidenceReading, on_delete=models.PROTECT, null=True, related_name="+")
    refusal_code = models.CharField(max_length=40, blank=True)
    refusal = models.CharField(max_length=500, blank=True)
    refusal_kept = models.JSONField(
        default=dict, blank=True
    )  # what it takes to say the refusal in another language
    effects = models.JSONField(default=list)  # [{"what": "node_versions", "label": "sn-n07", "node": "7"}]
    job = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="+")  # reads a large file
    person = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    via = models.CharField(max_length=20)
    by_label = models.CharField(max_length=200)
    repeated = models.BooleanField(default=False)  # the same bytes were here before
    # The same report again, by the same caller within a day, is counted here instead of making a row.
    times = models.PositiveIntegerField(default=1)
    last_received_at = models.DateTimeField(null=True)  # of the newest that was counted; null: of none
    last_said_at = models.DateTimeField(null=True)  # when that was collected, at the latest when it arrived

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["scope", "-id"], name="evidence_scope_newest"),
            models.Index(fields=["scope", "node_name", "kind", "-id"], name="evidence_node_newest"),
            models.Index(fields=["scope"], condition=Q(state="unmatched"), name="evidence_unmatched"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="refused", evidence__isnull=True) | ~Q(state="refused"),
                name="evidence_refused_keeps_nothing",
            )
        ]

    def __str__(self) -> str:
        return self.file_name or self.sha256[:12]

    @property
    def refusal_row(self) -> dict[str, Any]:
        """The refusal as a row that pages say in the reader's language."""
        return {"message": self.refusal, **self.refusal_kept}

    @property
    def warning_count(self) -> int:
        """How many warnings its reading has; lists have them counted by the database (queries.receipts_visible)."""
        counted: int | None = getattr(self, "warnings_counted", None)
        if counted is None:
            counted = len(self.reading.warnings) if self.reading is not None else 0
        return counted

    @property
    def older_than(self) -> datetime | None:
        """When what is on record was collected, where this was collected before and so changed nothing."""
        said = next((effect["label"] for effect in self.effects if effect["what"] == "outdated"), None)
        return datetime.fromisoformat(said) if said else None


class KeepPolicy(models.Model):
    """How long a cluster keeps raw bytes; without a row, and for kinds without a number, the portal's setting holds."""

    scope = models.OneToOneField(Scope, on_delete=models.CASCADE, related_name="+")
    keep_days = models.PositiveIntegerField(null=True)  # 0: for good; null: as the portal's setting says
    kinds = models.JSONField(default=dict)  # kind of evidence to its own number of days
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name_plural = "keep policies"

    def __str__(self) -> str:
        return f"keep policy of {self.scope_id}"
