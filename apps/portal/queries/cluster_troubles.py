"""What the list of clusters gets from the floors above it: domains that are not fit to train."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import ngettext

from apps.core.verdicts import Verdict
from apps.fleet.models import Cluster
from apps.fleet.queries.troubles import Trouble, register_troubles
from apps.portal.queries.cluster_summary import domain_summaries


def register() -> None:
    """Offer it; called once, when the app starts."""
    register_troubles(_unfit_domains)


def _unfit_domains(clusters: Sequence[Cluster]) -> dict[int, list[Trouble]]:
    """By the verdict of the overview: how many domains are not fit, not known, fit with a remark."""
    summaries = domain_summaries(clusters)
    found = {}
    for cluster in clusters:
        counts = Counter(one.verdict for one in summaries[cluster.pk])
        url = reverse("portal:cluster", args=[cluster.slug])
        found[cluster.pk] = [
            Trouble(state=verdict.value, word=_counted(verdict, counts[verdict]), url=url)
            for verdict in (Verdict.FAIL, Verdict.UNKNOWN, Verdict.WARN)
            if counts[verdict]
        ]
    return found


def _counted(verdict: Verdict, n: int) -> str:
    sentences = {
        Verdict.FAIL: ngettext("%(n)d domain not fit", "%(n)d domains not fit", n),
        Verdict.UNKNOWN: ngettext("%(n)d domain not known", "%(n)d domains not known", n),
        Verdict.WARN: ngettext("%(n)d domain with a remark", "%(n)d domains with a remark", n),
    }
    return sentences[verdict] % {"n": n}
