"""What nodes must run, what they report, and where the two differ."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person
from apps.fleet.models import Cluster, Domain, Node


class Matrix(models.Model):
    """An environment matrix of one domain (or of a whole cluster), through all its versions."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    domain = models.ForeignKey(Domain, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "matrices"
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="environments_matrix_name"),
            models.UniqueConstraint(
                fields=["domain"], condition=Q(domain__isnull=False), name="environments_matrix_of_domain"
            ),
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(domain__isnull=True), name="environments_matrix_of_cluster"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MatrixState(models.TextChoices):
    DRAFT = "draft", _("draft")
    LOCKED = "locked", _("locked")
    RETIRED = "retired", _("retired")


class MatrixVersion(models.Model):
    """One version of a matrix; once locked, triggers keep it and its entries as they are."""

    matrix = models.ForeignKey(Matrix, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=MatrixState.choices, default=MatrixState.DRAFT)
    note = models.TextField(blank=True)
    draft_notes = models.JSONField(
        default=list
    )  # [{"kind", "component", "values", "nodes", "of_nodes"}]: to be looked at
    digest = models.CharField(max_length=64, blank=True)  # of the entries, from locking on
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    locked_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    locked_at = models.DateTimeField(null=True)
    override_reason = models.TextField(blank=True)  # why it was locked though a rule is broken
    retired_at = models.DateTimeField(null=True)
    known_good_at = models.DateTimeField(null=True)
    known_good_basis = models.JSONField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["matrix", "number"], name="environments_version_number"),
            models.UniqueConstraint(
                fields=["matrix"], condition=Q(state="locked"), name="environments_one_locked"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.matrix} v{self.number}"


class MatrixEntry(models.Model):
    """What a matrix version asks of one component."""

    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.CASCADE, related_name="entries")
    component = models.CharField(max_length=60)
    rule = models.CharField(max_length=16)
    values = models.JSONField(default=list)
    # How versions are read, where a team says otherwise than the catalogue or the catalogue does not know it.
    scheme = models.CharField(max_length=20, blank=True)
    branch_depth = models.PositiveSmallIntegerField(null=True)
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["matrix_version", "component"], name="environments_entry_once")
        ]

    def __str__(self) -> str:
        return f"{self.component} {self.rule}"


class ObservedVersion(models.Model):
    """What most nodes of a domain ran of a component when a version was locked, and again when it was known-good.

    Rules such as uniform or at_least name no version to go back to; this one does. Once the version is
    known-good, triggers keep the rows.
    """

    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.CASCADE, related_name="observed")
    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="+")
    component = models.CharField(max_length=60)
    values = models.JSONField()  # raw versions, several where units of one node differ
    node_count = models.PositiveIntegerField()  # nodes that ran these
    observed_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["matrix_version", "domain", "component"], name="environments_observed_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.component} in {self.domain_id}"


class EnvironmentPolicy(models.Model):
    """How a cluster's team wants its nodes watched; without a row the portal's defaults hold."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="+")
    stale_after_s = models.PositiveIntegerField()  # a report older than this is unknown
    check_every_s = models.PositiveIntegerField()  # each domain is checked at least this often
    version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name_plural = "environment policies"

    def __str__(self) -> str:
        return f"policy of {self.cluster_id}"


class CompatibilityEdit(models.Model):
    """A rule between components that a team added or set over a shipped one, in one cluster or (null) in all."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, null=True, related_name="+")
    rule = models.CharField(max_length=80)  # id; a new one makes a new rule
    definition = models.JSONField(null=True)  # as in compatibility.yaml without its id; null: switched off
    reason = models.CharField(max_length=300)
    changed_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["rule", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "cluster"],
                condition=Q(cluster__isnull=False),
                name="environments_compat_of_cluster",
            ),
            models.UniqueConstraint(
                fields=["rule"], condition=Q(cluster__isnull=True), name="environments_compat_everywhere"
            ),
        ]

    def __str__(self) -> str:
        return self.rule


class NodeReport(models.Model):
    """The newest report of one kind about a node; an unchanged one only moves its times."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    facts_digest = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)
    reported_at = models.DateTimeField()  # by the node's clock, else when it arrived
    received_at = models.DateTimeField()
    clock_skew_s = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "kind"], name="environments_report_once")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.node_id}"


class NodeFact(models.Model):
    """A version of a component on a node, for as long as reports of one kind kept saying so."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    component = models.CharField(max_length=60)
    standing = models.CharField(max_length=8)  # declared or loaded
    value = models.CharField(max_length=300)
    count = models.PositiveIntegerField(null=True)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    sha256 = models.CharField(max_length=64)  # the evidence that said it first

    class Meta:
        indexes = [models.Index(fields=["node", "component", "-since"], name="environments_fact_history")]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "kind", "component", "standing", "value"],
                condition=Q(until__isnull=True),
                name="environments_fact_current_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.component}={self.value}"


class DriftCheck(models.Model):
    """A comparison of a domain with the matrix in force, with its heat map by identical nodes.

    One that finds the same as the newest row only moves checked_at and counts; so history is by change.
    """

    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="+")
    matrix_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")
    # The whole cluster's, where it held beneath the domain's own.
    wide_version = models.ForeignKey(MatrixVersion, on_delete=models.PROTECT, null=True, related_name="+")
    first_checked_at = models.DateTimeField()
    checked_at = models.DateTimeField()  # the last time that it came out so
    times = models.PositiveIntegerField(default=1)
    verdict = models.CharField(max_length=8)
    input_digest = models.CharField(max_length=64)
    result_digest = models.CharField(max_length=64)
    node_count = models.PositiveIntegerField()
    finding_count = models.PositiveIntegerField()
    components = models.JSONField()
    groups = models.JSONField()  # [{"fingerprint", "verdict", "nodes": [name], "cells": [cell or null]}]
    odd_ones = models.JSONField()
    shortest_boards = models.JSONField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "-id"], name="environments_check_newest")]

    def __str__(self) -> str:
        return f"check {self.pk} of {self.domain_id}"


class DriftFinding(models.Model):
    """A component of a node that does not match, from when it was first seen until it was no more.

    no_intent is of a domain as a whole: it has neither node nor component.
    """

    domain = models.ForeignKey(Domain, on_delete=models.CASCADE, related_name="+")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, null=True, related_name="+")
    component = models.CharField(max_length=60, blank=True)
    kind = models.CharField(max_length=16)  # drift, loaded_differs, contradiction or no_intent
    outcome = models.CharField(max_length=16)
    reason = models.CharField(max_length=40)
    verdict = models.CharField(max_length=8)
    intended = models.CharField(max_length=300, blank=True)
    reported = models.CharField(max_length=300, blank=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "resolved_at"], name="environments_open_findings")]
        constraints = [
            models.UniqueConstraint(
                fields=["node", "component", "kind"],
                condition=Q(resolved_at__isnull=True),
                name="environments_finding_open_once",
            ),
            models.UniqueConstraint(
                fields=["domain", "kind"],
                condition=Q(resolved_at__isnull=True, node__isnull=True),
                name="environments_finding_of_domain_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.component} on {self.node}" if self.node else f"{self.kind} of {self.domain}"
