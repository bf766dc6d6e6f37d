"""Launches of training jobs: the checklist, each evaluation of it, and the people who answer, waive and sign."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.environments.models import MatrixVersion
from apps.fleet.models import Cluster, Domain, Node
from apps.jobs.models import Job
from apps.planning.models import PlanVersion


class ChecklistTemplate(models.Model):
    """One version of a list of items; a launch keeps the version that it was opened with."""

    name = models.CharField(max_length=120)
    number = models.PositiveIntegerField()
    items = models.JSONField()  # as apps.launches.engine.checklist.Item
    sign_offs = models.PositiveSmallIntegerField(default=1)
    valid_s = models.PositiveIntegerField(default=4 * 3600)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["name", "-number"]
        constraints = [models.UniqueConstraint(fields=["name", "number"], name="launches_template_number")]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"


class LaunchState(models.TextChoices):
    OPEN = "open", _("open")
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")


class Launch(models.Model):
    """One training job that wants to start on some nodes of a domain."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200)
    template = models.ForeignKey(ChecklistTemplate, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, null=True, related_name="+")
    job_environment = models.TextField(blank=True)  # what the job exports, as pasted
    state = models.CharField(max_length=10, choices=LaunchState.choices, default=LaunchState.OPEN)
    opened_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-opened_at"]
        indexes = [models.Index(fields=["cluster", "-opened_at"], name="launches_newest")]
        verbose_name_plural = "launches"

    def __str__(self) -> str:
        return self.title

    @property
    def owner(self) -> str:
        """How holds on nodes name this launch."""
        return f"launches.launch:{self.pk}"

    @property
    def is_over(self) -> bool:
        """Whether its job has ended, or never starts."""
        return self.state in (LaunchState.FINISHED, LaunchState.CANCELLED)


class LaunchEditor(models.Model):
    """Somebody opened or edited a launch, or made a token that may have, and so never signs it; rows stay."""

    launch = models.ForeignKey(Launch, on_delete=models.PROTECT, related_name="editors")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()  # of their first edit

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["launch", "person"], name="launches_editor_once")]

    def __str__(self) -> str:
        return f"edit of {self.launch_id} by {self.person_id}"


class LaunchNode(models.Model):
    """A node of a launch, in rank order."""

    launch = models.ForeignKey(Launch, on_delete=models.CASCADE, related_name="nodes")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="+")
    place = models.PositiveIntegerField()

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["launch", "node"], name="launches_node_once")]

    def __str__(self) -> str:
        return f"{self.place}: {self.node_id}"


class Evaluation(models.Model):
    """One evaluation of a launch's checklist. Once done, triggers keep it as it is."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    launch = models.ForeignKey(Launch, on_delete=models.PROTECT, related_name="evaluations")
    job = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()
    requested_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    requested_label = models.CharField(max_length=200)
    done_at = models.DateTimeField(null=True)
    valid_until = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=8, blank=True)
    items = models.JSONField(default=list)
    inputs = models.JSONField(default=dict)  # what it rests on: name to digest
    digest = models.CharField(max_length=64, blank=True)
    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-requested_at"]
        indexes = [models.Index(fields=["launch", "-requested_at"], name="launches_newest_evaluation")]

    def __str__(self) -> str:
        return str(self.pk)


class Answer(models.Model):
    """A person's answer to a manual item; the newest one counts."""

    launch = models.ForeignKey(Launch, on_delete=models.PROTECT, related_name="answers")
    item = models.CharField(max_length=60)
    verdict = models.CharField(max_length=8)
    note = models.TextField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.item}: {self.verdict}"


class Waiver(models.Model):
    """An item is let pass for a while: asked for by one person, approved by another, with a reason and an end."""

    launch = models.ForeignKey(Launch, on_delete=models.PROTECT, related_name="waivers")
    item = models.CharField(max_length=60)
    reason = models.TextField()
    requested_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField()
    approved_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    approved_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True) | ~Q(approved_by=F("requested_by")),
                name="launches_waiver_four_eyes",
            )
        ]

    def __str__(self) -> str:
        return f"waiver of {self.item}"


class SignOff(models.Model):
    """A person signs one evaluation, with everything that it was decided on."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="sign_offs")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    evaluation_digest = models.CharField(max_length=64)
    go = models.BooleanField()
    comment = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "person"], name="launches_one_signature_each")
        ]

    def __str__(self) -> str:
        return f"signature of {self.person_id} on {self.evaluation_id}"
