"""Figures that teams set over the shipped reference."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.accounts.models import Person, Scope


class CatalogueEdit(models.Model):
    """One figure of an accelerator or supernode as a team (or everybody, without a scope) has it."""

    scope = models.ForeignKey(Scope, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12)  # accelerator, supernode
    entry = models.CharField(max_length=80)  # id in the catalogue; a new one makes a new entry
    path = models.CharField(max_length=80)  # dotted path of the field
    value = models.JSONField(null=True)  # null: not known
    source = models.CharField(max_length=300)
    confidence = models.CharField(max_length=20)
    edited_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    edited_label = models.CharField(max_length=200)
    edited_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "kind", "entry", "path"],
                condition=Q(scope__isnull=False),
                name="catalogue_edit_once",
            ),
            models.UniqueConstraint(
                fields=["kind", "entry", "path"],
                condition=Q(scope__isnull=True),
                name="catalogue_edit_once_everywhere",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry} {self.path}"
