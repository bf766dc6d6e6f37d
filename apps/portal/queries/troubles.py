"""What pages of the fleet get from the floors above it: domains not fit to train, nodes at odds with the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import ngettext

from apps.core.verdicts import Verdict
from apps.environments.queries import hardware_faults
from apps.fleet.models import Cluster, Node
from apps.fleet.queries.troubles import Trouble, register_node_troubles, register_troubles
from apps.portal.queries.cluster_summary import domain_summaries
from apps.portal.words import AT_ODDS


def register() -> None:
    """Offer both; called once, when the app starts."""
    register_troubles(_unfit_domains)
    register_node_troubles(_other_hardware)


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


def _other_hardware(node: Node) -> list[Trouble]:
    """Where the accelerators that the node reports are others, or not as many, as are on record."""
    fault = hardware_faults([node.pk]).get(node.pk)
    if fault is None:
        return []
    word = AT_ODDS[fault.code] % {"found": fault.found, "held_against": fault.held_against}
    url = f"{reverse('evidence:receipts')}?{urlencode({'cluster': node.cluster.slug, 'node': node.name})}"
    return [Trouble(state=fault.verdict.value, word=word, url=url)]
