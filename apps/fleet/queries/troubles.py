"""Where each cluster has trouble. This app counts nodes in quarantine; apps above register what they know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from apps.fleet.models import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that is wrong with a cluster, or not known of it. state: how it looks; url: where to read more."""

    state: str
    word: str | Promise
    url: str


_Teller = Callable[[Sequence[Cluster]], Mapping[int, Sequence[Trouble]]]
_tellers: list[_Teller] = []


def register_troubles(tell: _Teller) -> None:
    """Add a function that gives cluster id to its troubles, in as many queries for many clusters as for one."""
    _tellers.append(tell)


def troubles_of(clusters: Sequence[Cluster]) -> dict[int, list[Trouble]]:
    """Cluster id to what everybody who knows of clusters has to tell of it."""
    found: dict[int, list[Trouble]] = {cluster.pk: [] for cluster in clusters}
    for tell in _tellers:
        for pk, troubles in tell(clusters).items():
            found[pk].extend(troubles)
    return found
