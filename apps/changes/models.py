"""Changes of what nodes run: asked for, approved by somebody else, rolled out in stages, and rolled back."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.core.texts import Text, of_row, say
from apps.environments.models import MatrixVersion
from apps.fleet.models import Cluster, Domain, Node


class ChangeState(models.TextChoices):
    DRAFT = "draft", _("draft")
    SUBMITTED = "submitted", _("submitted")
    APPROVED = "approved", _("approved")
    RUNNING = "running", _("running")
    VERIFYING = "verifying", _("verifying")
    DONE = "done", _("done")
    REFUSED = "refused", _("refused")
    FAILED = "failed", _("failed")
    ROLLED_BACK = "rolled_back", _("rolled back")
    CANCELLED = "cancelled", _("cancelled")


class ChangeKind(models.TextChoices):
    DRIVER = "driver", _("driver")
    FIRMWARE = "firmware", _("firmware")
    NCCL = "nccl", _("NCCL")
    FRAMEWORK = "framework", _("framework")
    SYSTEM = "system", _("operating system")
    SCHEDULER = "scheduler", _("scheduler policy")
    TOPOLOGY = "topology", _("topology")
    EXPANSION = "expansion", _("expansion")
    ROLLBACK = "rollback", _("rollback")


class Change(models.Model):
    """One change of some nodes of a domain; a rollback is one too, of its own kind."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=ChangeKind.choices)
    title = models.CharField(max_length=200)
    title_said = models.JSONField(null=True)  # template and values, where the portal wrote the title
    reason = models.TextField()
    back_out = models.TextField(blank=True)  # how to get back, in words
    state = models.CharField(max_length=12, choices=ChangeState.choices, default=ChangeState.DRAFT)
    content_digest = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(default=1)  # of the content: each edit is one, and voids approvals
    edited_at = models.DateTimeField(null=True)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    requester = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    last_editor = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    executor = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.TextField(blank=True)
    reverses = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="rollbacks")
    restores_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")
    origin_label = models.CharField(max_length=200, blank=True)  # what led to it, such as a launch
    origin_path = models.CharField(max_length=200, blank=True, db_index=True)  # and its page
    reviewed_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)
    review = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "state"], name="changes_domain_state")]
        constraints = [
            models.CheckConstraint(
                condition=Q(reviewed_by__isnull=True) | ~Q(reviewed_by=F("requester")),
                name="changes_review_by_another",
            ),
            models.CheckConstraint(
                condition=Q(kind="rollback") | Q(reverses__isnull=True, restores_version__isnull=True),
                name="changes_only_rollbacks_restore",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.title}"

    @property
    def named(self) -> Text:
        """Number and title, as a sentence that can be said in the reader's language where the portal wrote it."""
        title = of_row({"message": self.title, **(self.title_said or {})})
        return say("#%(number)s %(title)s", number=self.pk, title=title)

    @property
    def owner(self) -> str:
        """How holds on nodes name this change."""
        return f"changes.change:{self.pk}"


class ChangeEditor(models.Model):
    """Somebody drafted or edited a change, and so never approves it; one row each, which stays."""

    change = models.ForeignKey(Change, on_delete=models.PROTECT, related_name="editors")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()  # of their first edit

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["change", "person"], name="changes_editor_once")]

    def __str__(self) -> str:
        return f"edit of {self.change_id} by {self.person_id}"


class StageState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("running")
    PASSED = "passed", _("passed")


class Stage(models.Model):
    """A part of the rollout: its nodes change together, and the next stage waits for its gate."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="stages")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=80)
    soak_s = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=8, choices=StageState.choices, default=StageState.WAITING)
    started_at = models.DateTimeField(null=True)
    reached_at = models.DateTimeField(null=True)  # when the last of its nodes reported the target
    passed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["change", "number"], name="changes_stage_number")]

    def __str__(self) -> str:
        return self.name


class Target(models.Model):
    """What one node is to report of one component when the change is done there."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="targets")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="targets")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="+")
    component = models.CharField(max_length=60)
    values = models.JSONField()  # any of these
    before = models.CharField(max_length=300, blank=True)
    reached_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["change", "node", "component"], name="changes_target_once")
        ]
        indexes = [models.Index(fields=["node", "change"], name="changes_target_node")]

    def __str__(self) -> str:
        return f"{self.component} on {self.node_id}"


class Approval(models.Model):
    """Somebody approved (or refused) exactly one content of a change."""

    change = models.ForeignKey(Change, on_delete=models.PROTECT, related_name="approvals")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    content_digest = models.CharField(max_length=64)
    approves = models.BooleanField()
    note = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["change", "person", "content_digest"], name="changes_one_voice_each"
            )
        ]

    def __str__(self) -> str:
        return f"approval of {self.change_id} by {self.person_id}"


class Snapshot(models.Model):
    """What all nodes of a change ran before it started, as the exact text that was hashed."""

    change = models.OneToOneField(Change, on_delete=models.PROTECT, related_name="snapshot")
    taken_at = models.DateTimeField()
    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")
    body = models.TextField()
    digest = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"snapshot {self.digest[:12]}"
