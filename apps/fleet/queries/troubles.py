"""Where clusters and nodes have trouble. This app counts nodes in quarantine; apps above register what they know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from apps.fleet.models import Cluster, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that is wrong with a cluster or a node, or not known of it.

    state: how it looks. url: where to read more; link: what that is called. about: what follows from it.
    """

    state: str
    word: str | Promise
    url: str
    link: str = ""
    about: str = ""


_Teller = Callable[[Sequence[Cluster]], Mapping[int, Sequence[Trouble]]]
_NodeTeller = Callable[[Node], Sequence[Trouble]]
_tellers: list[_Teller] = []
_node_tellers: list[_NodeTeller] = []


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


def register_node_troubles(tell: _NodeTeller) -> None:
    """Add a function that gives the troubles of one node, for its page and where it is selected."""
    _node_tellers.append(tell)


def troubles_of_node(node: Node) -> list[Trouble]:
    """What everybody who knows of nodes has to tell of this one."""
    return [trouble for tell in _node_tellers for trouble in tell(node)]
