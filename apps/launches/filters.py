"""Filters of launches, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.core.errors import FieldError, Invalid
from apps.core.filtering import of_cluster
from apps.core.hostlist import HostListError, expand
from apps.core.texts import say
from apps.fleet.queries.nodes import MOST_NAMED
from apps.launches.models import Launch, LaunchState
from apps.launches.queries.launches import on_exactly


class LaunchFilter(django_filters.FilterSet):
    """cluster, state; nodes: launches on exactly these nodes, as a node list such as sn[01-18]."""

    cluster = of_cluster()
    state = django_filters.ChoiceFilter(choices=LaunchState.choices, label=_("State"))
    nodes = django_filters.CharFilter(method="on_nodes", label=_("On exactly these nodes"))

    class Meta:
        model = Launch
        fields = ["cluster", "state", "nodes"]

    def on_nodes(self, rows: Any, _name: str, value: str) -> Any:
        try:
            names = expand(value, limit=MOST_NAMED)
        except HostListError as error:
            raise Invalid(
                say("nodes: %(what)s", what=error.message),
                errors=[FieldError(pointer="?nodes", message=error.message)],
            ) from error
        return on_exactly(rows, names)
