"""What happened to boards and cards, and where those are that no node holds."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.part_life import MOVES, PartStage
from apps.fleet.models.inventory import Cluster, Node


class HardwareChange(models.Model):
    """A machine, board or card was seen with another identity in the same place, or cards in two nodes at once."""

    TWIN = "twin"  # what: the cards in `after` are on record in the node `before` as well

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="hardware_changes")
    slot = models.CharField(max_length=40)  # "system", "board", "cards", or an accelerator's index
    what = models.CharField(max_length=40)  # serial, uuid, model, twin
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
        if self.what == self.TWIN:
            return gettext(
                "Cards of this node are on record in %(node)s as well: moved, or one reports under a wrong name"
            ) % {"node": self.before}
        if self.slot == "system":
            return gettext("Another machine answers to this name: another %(what)s") % {"what": self.what}
        if self.slot == "board":
            return gettext("The board was seen with another %(what)s") % {"what": self.what}
        values = {"slot": self.slot, "what": self.what}
        return gettext("The card in slot %(slot)s was seen with another %(what)s") % values


class PartKind(models.TextChoices):
    ACCELERATOR = "accelerator", _("accelerator")
    BOARD = "board", _("board")


STAGE_CHOICES = [
    (PartStage.REMOVED.value, _("taken out")),
    (PartStage.SPARE.value, _("spare")),
    (PartStage.REPAIR.value, _("in repair")),
    (PartStage.INSTALLED.value, _("installed")),
    (PartStage.RETIRED.value, _("retired")),
]


class Part(models.Model):
    """A board or card that is, or was, outside of the nodes: on the shelf, in repair (RMA), or back in a node."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=PartKind.choices)
    model = models.CharField(max_length=120, blank=True)
    serial = models.CharField(max_length=120, blank=True)
    uuid = models.CharField(max_length=80, blank=True)
    stage = models.CharField(max_length=12, choices=STAGE_CHOICES)
    node = models.ForeignKey(
        Node, on_delete=models.PROTECT, null=True, related_name="+"
    )  # in it now, or last
    slot = models.CharField(max_length=40, blank=True)  # "board", or an accelerator's index in that node
    note = models.CharField(
        max_length=300, blank=True
    )  # why it stands where it stands, such as an RMA number
    changed_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=~Q(serial="", uuid=""), name="fleet_part_identity"),
            models.UniqueConstraint(
                fields=["cluster", "kind", "serial"], condition=~Q(serial=""), name="fleet_part_serial"
            ),
            models.UniqueConstraint(
                fields=["cluster", "kind", "uuid"], condition=~Q(uuid=""), name="fleet_part_uuid"
            ),
        ]

    def __str__(self) -> str:
        return self.serial or self.uuid

    @property
    def moves(self) -> list[tuple[str, str]]:
        """Stages that somebody may move it to, with their words."""
        words = dict(STAGE_CHOICES)
        return [(to.value, str(words[to.value])) for to in MOVES[PartStage(self.stage)]]
