"""What formats and policies are called, for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.fit import Fit

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
_ALL_TO_ALL = _("An all-to-all keeps up %(share)s of the injection rate; at least %(limit)s is needed.")
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


def fits_said(fits: Iterable[Fit]) -> list[dict[str, Any]]:
    """Judgements of a fabric with their reasons in the reader's language."""
    return [
        {
            "pattern": fit.pattern,
            "purpose": fit.purpose,
            "verdict": fit.verdict,
            "reasons": [
                {"verdict": reason.verdict, "said": str(FIT_REASONS[reason.code]) % reason.values}
                for reason in fit.reasons
            ],
        }
        for fit in fits
    ]
