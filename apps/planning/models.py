"""Plans: what a team wants to train where, each version of what came out, and what was measured afterwards."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.accounts.models import Person, Scope
from apps.fleet.models import Domain
from apps.jobs.models import Job


class Plan(models.Model):
    """A plan through all its versions; about a domain of the fleet, or about hardware that nobody owns yet."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=120)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    launch_version = models.ForeignKey("PlanVersion", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["scope", "name"], name="planning_plan_name")]

    def __str__(self) -> str:
        return self.name


class PlanVersion(models.Model):
    """One question to the planner and its answer; the input is the command's contract, kept as it was asked."""

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    input = models.JSONField()  # {"model", "system", "parallel"} or a search
    input_digest = models.CharField(max_length=64)
    result = models.JSONField(null=True)
    fits = models.BooleanField(null=True)  # None: not computed (yet)
    job = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="+")
    engine_version = models.CharField(max_length=20, blank=True)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["plan", "number"], name="planning_version_number")]

    def __str__(self) -> str:
        return f"{self.plan} v{self.number}"


class MeasuredStep(models.Model):
    """The time of a step that was measured on a domain with the layout of a version; withdrawn, it counts no more."""

    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(PlanVersion, on_delete=models.PROTECT, related_name="measured_steps")
    measured_s = models.FloatField()
    predicted_s = models.FloatField()  # by the engine of that time, without any calibration
    engine_version = models.CharField(max_length=20)
    source = models.CharField(max_length=300)  # where the figure is from: a job, a log
    noted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    noted_at = models.DateTimeField()
    withdrawn_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(measured_s__gt=0, predicted_s__gt=0), name="planning_step_above_zero"
            )
        ]

    def __str__(self) -> str:
        return f"{self.measured_s:g} s with {self.version}"

    @property
    def ratio(self) -> float:
        """Measured over predicted."""
        return self.measured_s / self.predicted_s
