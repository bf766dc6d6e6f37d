"""What the fleet is made of."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Scope


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
    serial = models.CharField(max_length=120, blank=True)  # of the board
    system_serial = models.CharField(max_length=120, blank=True)  # of the machine, as its firmware reports it
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
        indexes = [
            models.Index(fields=["uuid"], name="fleet_accelerator_uuid"),
            models.Index(fields=["serial"], name="fleet_accelerator_serial"),
        ]

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
    unidirectional_bytes_per_s = models.FloatField(null=True)  # of one cable; null: not known
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
