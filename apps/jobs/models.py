"""Work that outlives a request, the times when it is due, and the keys of requests that must not count twice."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person, Scope


class JobState(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    SKIPPED = "skipped", _("skipped")


ACTIVE = (JobState.QUEUED, JobState.RUNNING)


class Job(models.Model):
    """One piece of work that somebody asked for; the row comes first, the message to a worker second."""

    kind = models.CharField(max_length=80, db_index=True)
    arguments = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    requested_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    requested_label = models.CharField(max_length=200)
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    lost = models.PositiveSmallIntegerField(
        default=0
    )  # how often its worker was lost and it was queued again
    lease = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    phase = models.CharField(max_length=120, blank=True)
    cancel_requested = models.BooleanField(default=False)
    result = models.JSONField(null=True)
    result_url = models.CharField(max_length=300, blank=True)
    problem = models.JSONField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "lease_until"], name="jobs_state_lease"),
            models.Index(fields=["scope", "-id"], name="jobs_scope"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "digest"],
                condition=Q(state__in=("queued", "running")),
                name="jobs_active_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state not in ACTIVE

    @property
    def shown_state(self) -> str:
        """The state, and `lost` for what failed because its workers were lost."""
        lost = self.state == JobState.FAILED and (self.problem or {}).get("code") == "lost"
        return "lost" if lost else str(self.state)

    @property
    def elapsed_s(self) -> float | None:
        """Seconds from start to end, None while it is not over."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Schedule(models.Model):
    """Work that is due again and again; missed times are made up for once, not one by one."""

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=80)
    arguments = models.JSONField(default=dict)
    every_s = models.PositiveIntegerField()
    next_due_at = models.DateTimeField(db_index=True)
    enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Heartbeat(models.Model):
    """When a process of a kind was last seen alive."""

    name = models.CharField(max_length=40, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class IdempotencyKey(models.Model):
    """The answer that was given to a request with an Idempotency-Key, to give again."""

    caller = models.CharField(max_length=64)
    method = models.CharField(max_length=8)
    path = models.CharField(max_length=300)
    key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["caller", "method", "path", "key"], name="jobs_idempotency_once")
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.key}"


class WebhookEndpoint(models.Model):
    """An address of the team's own automation that is told of events."""

    name = models.CharField(max_length=120)
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=128)
    previous_secret = models.CharField(max_length=128, blank=True)  # signs too, for a day after a change
    rotated_at = models.DateTimeField(null=True)
    events = models.JSONField(default=list)  # patterns such as "change.*"
    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, null=True, related_name="+")
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(models.Model):
    """One event on its way to one address: at least once, with an id that stays the same."""

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.UUIDField(unique=True)
    event = models.CharField(max_length=80)
    payload = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, db_index=True)
    delivered_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=300, blank=True)
    log = models.JSONField(default=list)  # the newest attempts: [{"at", "status", "error", "duration_s"}]

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}"

    @property
    def state(self) -> str:
        """waiting, delivered, or dead: given up."""
        if self.delivered_at is not None:
            return "delivered"
        return "dead" if self.dead_at is not None else "waiting"
