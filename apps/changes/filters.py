"""Filters of changes, for pages and API alike."""

from __future__ import annotations

from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _

from apps.changes.engine.states import OPEN, UNDER_WAY
from apps.changes.models import Change, ChangeKind, ChangeState, Target
from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster

SETS = {
    "open": OPEN,
    "under_way": UNDER_WAY,
}


class ChangeFilter(django_filters.FilterSet):
    """cluster, domain, kind, state, node; set: open or under_way; unreviewed: rollbacks that nobody reviewed."""

    cluster = of_cluster()
    domain = WholeNumberFilter(field_name="domain_id", label=_("Domain"))
    kind = django_filters.ChoiceFilter(choices=ChangeKind.choices, label=_("Kind"))
    state = django_filters.ChoiceFilter(choices=ChangeState.choices, label=_("State"))
    node = django_filters.CharFilter(method="on_node", label=_("Node"))
    set = django_filters.ChoiceFilter(
        choices=[("open", _("not over")), ("under_way", _("under way"))], method="in_set", label=_("Set")
    )
    unreviewed = YesNoFilter(method="without_review", label=_("Not reviewed"))

    class Meta:
        model = Change
        fields = ["cluster", "domain", "kind", "state", "node", "set", "unreviewed"]

    def on_node(self, rows: Any, _name: str, value: str) -> Any:
        """Changes with a target on the node of this name."""
        return rows.filter(pk__in=Target.objects.filter(node__name__iexact=value).values("change"))

    def in_set(self, rows: Any, _name: str, value: str) -> Any:
        return rows.filter(state__in=[state.value for state in SETS[value]])

    def without_review(self, rows: Any, _name: str, value: bool) -> Any:
        rollbacks = rows.filter(kind=ChangeKind.ROLLBACK)
        return rollbacks.filter(reviewed_at__isnull=value)
