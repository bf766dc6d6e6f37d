"""What formats and policies are called, for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.fit import Fit, Pattern, Purpose
from apps.fleet.engine.graph import TopologyKind
from apps.fleet.engine.layout import Layout, Shape
from apps.fleet.engine.outcomes import Fate
from apps.fleet.models import Domain

SCHEDULER_FORMATS = {
    "slurm_block": _("Slurm topology.conf, block"),
    "slurm_tree": _("Slurm topology.conf, tree"),
    "slurm_yaml": _("Slurm topology.yaml"),
    "hypernode": _("Volcano HyperNode"),
    "kueue": _("Kueue Topology and node labels"),
    "kubectl_labels": _("kubectl label script"),
    "nccl_hints": _("NCCL topology hints"),
    "hostfile": _("Hostfile by sub-domain"),
}
LAYOUTS: dict[str, str | Promise] = {
    "8-mesh": _("8-card node, full mesh"),
    "8-switched": _("8-card node, one switch layer"),
    "72-as-9x8": _("72 accelerators, 9 nodes of 8"),
    "72-as-18x4": _("72 accelerators, 18 nodes of 4"),
    "144-as-4x36": _("144 accelerators, 18 nodes of 8, 4 sub-domains of 36"),
    "144-as-6x24": _("144 accelerators, 18 nodes of 8, 6 sub-domains of 24"),
    "384-as-48x8": _("384 accelerators, 48 nodes of 8"),
}
SHAPE_WORDS = {
    Shape.FULL_MESH: _("full mesh"),
    Shape.SINGLE_LAYER: _("one switch layer"),
    Shape.TWO_LAYER: _("sub-domains and an upper layer"),
    Shape.FAT_TREE: _("fat tree"),
    Shape.RING: _("ring"),
    Shape.TORUS: _("torus, two or three sides"),
}
TOPOLOGY_WORDS: dict[str, str | Promise] = {shape.value: word for shape, word in SHAPE_WORDS.items()} | {
    TopologyKind.LEAF_SPINE: _("leaf and spine"),
    TopologyKind.TORUS_2D: _("torus of two sides"),
    TopologyKind.TORUS_3D: _("torus of three sides"),
    TopologyKind.FREE: _("as its links are on record"),
}
WORK: dict[tuple[Pattern, Purpose], str | Promise] = {
    (Pattern.ALL_REDUCE, Purpose.TRAINING): _("dense all-reduce, training"),
    (Pattern.ALL_REDUCE, Purpose.INFERENCE): _("dense all-reduce, inference"),
    (Pattern.ALL_TO_ALL, Purpose.TRAINING): _("MoE all-to-all, training"),
    (Pattern.ALL_TO_ALL, Purpose.INFERENCE): _("MoE all-to-all, inference"),
}
_ALL_TO_ALL = _("An all-to-all keeps up %(share)s of the injection rate; at least %(limit)s is needed.")
FATES_TO_COME: dict[Fate, str | Promise] = {
    Fate.ERROR: _("has an error"),
    Fate.CREATED: _("to create"),
    Fate.UPDATED: _("to update"),
    Fate.REMOVED: _("to take away"),
    Fate.SKIPPED: _("to pass over"),
    Fate.UNCHANGED: _("unchanged"),
}
FATES: dict[Fate, str | Promise] = FATES_TO_COME | {
    Fate.CREATED: _("created"),
    Fate.UPDATED: _("updated"),
    Fate.REMOVED: _("taken away"),
    Fate.SKIPPED: _("passed over"),
}
FIT_REASONS: dict[str, str | Promise] = {
    "not_connected": _("Some endpoints are not joined."),
    "oversubscribed": _("Switch level %(level)s is %(ratio)s:1, above %(limit)s:1."),
    "oversubscribed_within_rule": _("Switch level %(level)s is %(ratio)s:1, within %(limit)s:1."),
    "neighbours_suffice": _("A ring all-reduce talks to neighbours only, so bisection does not limit it."),
    "far_apart": _("Up to %(links)s links between two endpoints: small messages wait for the way."),
    "pair_is_narrow": _(
        "One pair sees %(pair)s of the %(whole)s of an endpoint: groups smaller than the mesh get their share "
        "of the links only."
    ),
    "full_all_to_all": _ALL_TO_ALL,
    "reduced_all_to_all": _ALL_TO_ALL,
    "narrow_all_to_all": _ALL_TO_ALL,
}


def layout_title(layout: Layout) -> str | Promise:
    """What a layout is called; one of somebody's own keeps its title."""
    return LAYOUTS.get(layout.key, layout.title)


def layout_said(domain: Domain) -> str | Promise:
    """The layout that a domain was built with; what its fabric is where that is no ready one."""
    return LAYOUTS.get(domain.layout) or TOPOLOGY_WORDS.get(domain.topology, domain.topology)


def fits_said(fits: Iterable[Fit]) -> list[dict[str, Any]]:
    """Judgements of a fabric with their reasons in the reader's language."""
    return [
        {
            "work": WORK[fit.pattern, fit.purpose],
            "verdict": fit.verdict,
            "reasons": [
                {"verdict": reason.verdict, "said": str(FIT_REASONS[reason.code]) % reason.values}
                for reason in fit.reasons
            ],
        }
        for fit in fits
    ]
