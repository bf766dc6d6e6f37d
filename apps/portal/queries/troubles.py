"""What pages of the fleet get from the floors above it: domains not fit to train, nodes that drift or are at odds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.verdicts import Verdict
from apps.environments.queries import hardware_faults, open_findings
from apps.fleet.models import Cluster, Node
from apps.fleet.queries.troubles import Trouble, register_node_troubles, register_troubles
from apps.portal.queries.cluster_summary import domain_summaries
from apps.portal.words import AT_ODDS


def register() -> None:
    """Offer all of them; called once, when the app starts."""
    register_troubles(_unfit_domains)
    register_node_troubles(_other_hardware)
    register_node_troubles(_drift)


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
    about = _(
        "Either the inventory is wrong, or a node reports under another one's name. While it is so, a launch on "
        "it is GO only by a waiver."
    )
    return [Trouble(state=fault.verdict.value, word=word, url=url, link=_("What it reported"), about=about)]


def _drift(node: Node) -> list[Trouble]:
    """How many findings of the newest drift check are open on the node, by verdict, the worst first."""
    counts = Counter(finding.verdict for finding in open_findings(node_ids=[node.pk]))
    url = reverse("environments:node", args=[node.pk])
    return [
        Trouble(state=verdict.value, word=_drifting(verdict, n), url=url, link=_("Versions and findings"))
        for verdict in (Verdict.FAIL, Verdict.UNKNOWN, Verdict.WARN)
        if (n := counts[verdict.value])
    ]


def _drifting(verdict: Verdict, n: int) -> str:
    sentences = {
        Verdict.FAIL: ngettext("Drift: %(n)d finding fails", "Drift: %(n)d findings fail", n),
        Verdict.UNKNOWN: ngettext(
            "Drift: %(n)d finding cannot be judged", "Drift: %(n)d findings cannot be judged", n
        ),
        Verdict.WARN: ngettext("Drift: %(n)d finding warns", "Drift: %(n)d findings warn", n),
    }
    return sentences[verdict] % {"n": n}
