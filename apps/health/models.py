"""What is known of the health of nodes, how a team wants it judged, and the upkeep that is due."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.fleet.models import Cluster, Domain, Node
from apps.health.engine.faults import KIND_NAMES


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
    kind = models.CharField(max_length=10)  # one of FaultKind
    code = models.PositiveIntegerField()
    device = models.CharField(max_length=60, blank=True)
    severity = models.CharField(max_length=10)
    action = models.CharField(max_length=40)
    action_class = models.CharField(max_length=20)
    cordon = models.BooleanField()
    text = models.CharField(max_length=400)
    line = models.PositiveIntegerField()
    count = models.PositiveIntegerField(default=1)
    at_text = models.CharField(max_length=60, blank=True)  # the newest time as the log printed it
    events = models.JSONField(default=list)  # such times of all its events: a log that grows repeats them
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
        return f"{self.name} on {self.node}"

    @property
    def name(self) -> str:
        """What it is called: Xid 79."""
        return f"{KIND_NAMES[self.kind]} {self.code}"


class HealthPolicy(models.Model):
    """What a cluster's team lets happen without asking; without a row nothing does."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="+")
    automatic_quarantine = models.BooleanField(default=False)
    most_share = models.FloatField(default=0.1)  # of a domain's nodes that may be out by themselves, 0 to 1
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name_plural = "health policies"
        constraints = [
            models.CheckConstraint(condition=Q(most_share__gte=0, most_share__lte=1), name="health_share")
        ]

    def __str__(self) -> str:
        return f"policy of {self.cluster_id}"


class MetricsAuth(models.TextChoices):
    """How a Prometheus server is told who asks."""

    NONE = "none", _("without credentials")
    BEARER = "bearer", _("bearer token")
    BASIC = "basic", _("user name and password")


class MetricsSource(models.Model):
    """The Prometheus server that knows the GPU metrics of a cluster, and how the last look at it went."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="+")
    url = models.URLField(max_length=500)  # without /api/v1
    host_label = models.CharField(max_length=60, default="Hostname")  # names the host in each series
    enabled = models.BooleanField(default=True)
    every_s = models.PositiveIntegerField(default=300)  # from one look to the next
    auth = models.CharField(max_length=6, choices=MetricsAuth.choices, default=MetricsAuth.NONE)
    username = models.CharField(max_length=120, blank=True)
    secret = models.TextField(blank=True)  # token or password, sealed (apps.core.sealed); never shown
    asked_at = models.DateTimeField(null=True)
    host_count = models.PositiveIntegerField(default=0)  # hosts of the last answer
    error = models.CharField(max_length=300, blank=True)  # of the last look; empty where it went well
    version = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return f"metrics of {self.cluster_id}"

    @property
    def has_secret(self) -> bool:
        return bool(self.secret)


class RuleSetting(models.Model):
    """A built-in rule switched off or given other limits, in one cluster or (cluster null) in all of them."""

    rule = models.CharField(max_length=60)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, null=True, related_name="+")
    enabled = models.BooleanField(default=True)
    warn = models.FloatField(null=True)
    fail = models.FloatField(null=True)
    reason = models.CharField(max_length=300)
    changed_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "cluster"], condition=Q(cluster__isnull=False), name="health_rule_of_cluster"
            ),
            models.UniqueConstraint(
                fields=["rule"], condition=Q(cluster__isnull=True), name="health_rule_everywhere"
            ),
        ]

    def __str__(self) -> str:
        return self.rule


class Upkeep(models.TextChoices):
    """Recurring work on cooling and fittings."""

    COOLANT_LEVEL = "coolant_level", _("coolant level")
    COOLANT_QUALITY = "coolant_quality", _("coolant concentration")
    FITTINGS = "fittings", _("fittings and hoses")
    COLD_PLATES = "cold_plates", _("cold plates")
    OTHER = "other", _("other")


class MaintenanceTask(models.Model):
    """Upkeep that is due again and again on a cluster or one of its domains, until it is retired."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=20, choices=Upkeep.choices)
    title = models.CharField(max_length=200)
    every_days = models.PositiveIntegerField()
    due_on = models.DateField()
    downgrade_path = models.TextField(blank=True)  # what to do, and at which power, when the cooling fails
    retired_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["due_on", "id"]
        indexes = [models.Index(fields=["cluster", "due_on"], name="health_upkeep_due")]

    def __str__(self) -> str:
        return self.title


class MaintenanceRecord(models.Model):
    """One time that upkeep was done: by whom, and what was found."""

    task = models.ForeignKey(MaintenanceTask, on_delete=models.CASCADE, related_name="records")
    due_on = models.DateField()  # when it was due
    done_on = models.DateField()
    done_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=500)
    recorded_at = models.DateTimeField()

    class Meta:
        ordering = ["-done_on", "-id"]

    def __str__(self) -> str:
        return f"{self.task} on {self.done_on}"
