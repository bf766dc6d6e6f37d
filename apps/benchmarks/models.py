"""Benchmark runs, bound to the nodes and versions that made them, and the baselines among them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.accounts.models import Person
from apps.environments.models import MatrixVersion
from apps.fleet.models import Cluster, Domain, Node


class BenchmarkRun(models.Model):
    """One run of a collective benchmark, as read from the tool's own output."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, null=True, related_name="+")
    nodes = models.ManyToManyField(Node, related_name="+")
    sha256 = models.CharField(max_length=64)  # the evidence
    place = models.PositiveSmallIntegerField(default=0)  # which run of the file
    tool = models.CharField(max_length=40)
    tool_version = models.CharField(max_length=80, blank=True)
    collective = models.CharField(max_length=40, blank=True)  # empty: the output does not say
    collective_stated_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    dtype = models.CharField(max_length=20, blank=True)
    ranks = models.PositiveIntegerField(null=True)
    node_count = models.PositiveIntegerField(null=True)
    gpu_model = models.CharField(max_length=120, blank=True)
    status = models.CharField(max_length=12)  # complete, no_summary, failed
    max_size_bytes = models.BigIntegerField(null=True)
    busbw_bytes_per_s = models.FloatField(null=True)  # at the largest size, the lower of both columns
    wrong_total = models.BigIntegerField(null=True)
    points = models.JSONField(default=list)
    candidates = models.JSONField(
        default=list
    )  # collectives that the figures allow, where the output names none
    doubts = models.JSONField(default=list)  # [{"code", "message"}]: why the figures may be no measurement
    received_at = models.DateTimeField(db_index=True)
    domain_accelerators = models.PositiveIntegerField(null=True)  # of the domain, when the run came
    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")
    versions_digest = models.CharField(max_length=64, blank=True)  # of what the nodes reported at that time

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "-id"], name="benchmarks_newest")]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "sha256", "place"], name="benchmarks_run_once")
        ]

    def __str__(self) -> str:
        return f"{self.collective or self.tool} × {self.ranks or '?'}"


class Baseline(models.Model):
    """The run that later ones of a domain and collective are compared with; at most one is in force."""

    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, related_name="+")
    collective = models.CharField(max_length=40)
    run = models.ForeignKey(BenchmarkRun, on_delete=models.PROTECT, related_name="+")
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    set_at = models.DateTimeField()
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "collective"],
                condition=Q(replaced_at__isnull=True),
                name="benchmarks_one_baseline",
            )
        ]

    def __str__(self) -> str:
        return f"baseline of {self.collective} in {self.domain_id}"
