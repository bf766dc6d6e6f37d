"""What happened to boards and cards, and where those are that no node holds."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext

from apps.fleet.models.inventory import Node


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
