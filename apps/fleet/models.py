"""What the fleet is made of, and the holds on its nodes."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person, Scope
from apps.jobs.models import Job


class Cluster(models.Model):
    """A pool of nodes that one team runs; people's roles hold in its scope."""

    scope = models.OneToOneField(Scope, on_delete=models.PROTECT, related_name="+")
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    owner_team = models.CharField(max_length=120, blank=True)
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Domain(models.Model):
    """A scale-up domain (supernode): accelerators joined so closely that they act as one."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="domains")
    name = models.CharField(max_length=120)
    layout = models.CharField(max_length=40)  # a layout template's id, or "free"
    topology = models.CharField(max_length=40)  # a topology kind of apps.fleet.engine
    parameters = models.JSONField(default=dict)  # what the layout was built with: counts, links, tiers
    accelerator_model = models.CharField(max_length=80)  # an id of the accelerator catalogue
    unidirectional_bytes_per_s = models.FloatField(null=True)  # scale-up, per accelerator, one way
    scale_out_bytes_per_s = models.FloatField(null=True)  # data-centre network, per accelerator, one way
    retired_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="fleet_domain_name")]

    def __str__(self) -> str:
        return self.name


class SubDomain(models.Model):
    """The part of a domain inside which the interconnect is not oversubscribed."""

    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="sub_domains")
    name = models.CharField(max_length=120)
    index = models.PositiveIntegerField()

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["domain", "index"], name="fleet_sub_domain_index")]

    def __str__(self) -> str:
        return self.name


class LifeCycle(models.TextChoices):
    IN_SERVICE = "in_service", _("in service")
    SPARE = "spare", _("spare")
    REPAIR = "repair", _("in repair")
    RETIRED = "retired", _("retired")


class NodeHealth(models.TextChoices):
    HEALTHY = "healthy", _("healthy")
    SUB_HEALTHY = "sub_healthy", _("sub-healthy")
    FAULTY = "faulty", _("faulty")
    UNKNOWN = "unknown", _("unknown")


class NodeQuerySet(models.QuerySet["Node"]):
    def in_use(self) -> NodeQuerySet:
        """Nodes that are not retired."""
        return self.exclude(life_cycle=LifeCycle.RETIRED)

    def under(self, domain: Domain) -> NodeQuerySet:
        return self.filter(domain=domain)


class Node(models.Model):
    """A host. Its accelerators may belong to two sub-domains, so the sub-domain is theirs, not the node's."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="nodes")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, null=True, related_name="nodes")
    name = models.CharField(max_length=255)
    index = models.PositiveIntegerField(default=0)  # its place in the domain
    life_cycle = models.CharField(max_length=12, choices=LifeCycle.choices, default=LifeCycle.IN_SERVICE)
    health = models.CharField(max_length=12, choices=NodeHealth.choices, default=NodeHealth.UNKNOWN)
    rack = models.CharField(max_length=80, blank=True)
    position = models.CharField(max_length=40, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    labels = models.JSONField(default=dict)
    last_reported_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    objects = NodeQuerySet.as_manager()

    class Meta:
        ordering = ["cluster", "index", "name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="fleet_node_name")]
        indexes = [models.Index(fields=["domain", "index"], name="fleet_node_place")]

    def __str__(self) -> str:
        return self.name


class NodeAlias(models.Model):
    """Another name by which reports and schedulers call a node: FQDN, short name, pod, Slurm name."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=255)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="fleet_alias_name")]

    def __str__(self) -> str:
        return self.name


class Accelerator(models.Model):
    """One accelerator in its slot of a node."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="accelerators")
    sub_domain = models.ForeignKey(
        SubDomain, on_delete=models.PROTECT, null=True, related_name="accelerators"
    )
    index = models.PositiveIntegerField()
    model = models.CharField(max_length=120, blank=True)
    uuid = models.CharField(max_length=80, blank=True)
    serial = models.CharField(max_length=80, blank=True)
    bus_id = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["node", "index"]
        constraints = [models.UniqueConstraint(fields=["node", "index"], name="fleet_accelerator_slot")]

    def __str__(self) -> str:
        return f"{self.node_id}/{self.index}"


class Switch(models.Model):
    """A switch of a domain's interconnect or of the scale-out network."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="switches")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, null=True, related_name="switches")
    name = models.CharField(max_length=120)
    tier = models.PositiveSmallIntegerField(default=1)
    index = models.PositiveIntegerField(default=0)
    ports = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["tier", "index", "name"]
        verbose_name_plural = "switches"
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="fleet_switch_name")]

    def __str__(self) -> str:
        return self.name


class Link(models.Model):
    """Cables between a switch and what hangs below it: a node's accelerator, a node, or a lower switch."""

    upper = models.ForeignKey(Switch, on_delete=models.CASCADE, related_name="links_down")
    accelerator = models.ForeignKey(Accelerator, on_delete=models.CASCADE, null=True, related_name="links")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, null=True, related_name="links")
    lower = models.ForeignKey(Switch, on_delete=models.CASCADE, null=True, related_name="links_up")
    count = models.PositiveIntegerField(default=1)
    unidirectional_bytes_per_s = models.FloatField()  # of one cable
    optical = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(accelerator__isnull=False, node__isnull=True, lower__isnull=True)
                | Q(accelerator__isnull=True, node__isnull=False, lower__isnull=True)
                | Q(accelerator__isnull=True, node__isnull=True, lower__isnull=False),
                name="fleet_link_one_lower_end",
            ),
            models.CheckConstraint(
                condition=Q(unidirectional_bytes_per_s__gt=0), name="fleet_link_bandwidth"
            ),
            models.CheckConstraint(
                condition=Q(lower__isnull=True) | ~Q(lower=F("upper")), name="fleet_link_no_loop"
            ),
            models.UniqueConstraint(fields=["upper", "accelerator"], name="fleet_link_accelerator_once"),
            models.UniqueConstraint(fields=["upper", "node"], name="fleet_link_node_once"),
            models.UniqueConstraint(fields=["upper", "lower"], name="fleet_link_lower_once"),
        ]

    def __str__(self) -> str:
        return f"link {self.pk}"

    @property
    def lower_end(self) -> str:
        """What hangs below, by name: a switch, a node, or an accelerator as node/index."""
        if self.accelerator is not None:
            return f"{self.accelerator.node.name}/{self.accelerator.index}"
        return (self.lower or self.node).name  # one of the two, by constraint


class HardwareChange(models.Model):
    """A board or card was seen with another identity in the same place."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="hardware_changes")
    slot = models.CharField(max_length=40)  # "board", or an accelerator's index
    what = models.CharField(max_length=40)  # serial, uuid, model
    before = models.CharField(max_length=200)
    after = models.CharField(max_length=200)
    seen_at = models.DateTimeField()
    sha256 = models.CharField(max_length=64, blank=True)  # the evidence

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.node_id} {self.slot} {self.what}"

    @property
    def sentence(self) -> str:
        """What happened, for people."""
        if self.slot == "board":
            return gettext("The board was seen with another %(what)s") % {"what": self.what}
        values = {"slot": self.slot, "what": self.what}
        return gettext("The card in slot %(slot)s was seen with another %(what)s") % values


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
    def by_hand(self) -> bool:
        return self.kind in BY_HAND

    @property
    def shown_as(self) -> str:
        """The state of a node that is held like this."""
        return _SHOWN_AS.get(HoldKind(self.kind), self.kind)


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
    counts = models.JSONField(default=dict)  # table → {created, updated, unchanged, skipped, errors}
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
        return any(one["created"] or one["updated"] for one in self.counts.values())
