"""Filters of the audit trail, for the page, the API and exports alike."""

from __future__ import annotations

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit import directory
from apps.audit.models import AuditEvent
from apps.core.actor import Via
from apps.core.filtering import MomentFilter, cluster_input
from apps.core.whole_numbers import whole_number

WAYS = [
    (Via.SESSION.value, _("browser")),
    (Via.TOKEN.value, _("token")),
    (Via.COMMAND.value, _("command line")),
    (Via.SYSTEM.value, _("the portal itself")),
]


def _a_time() -> forms.DateTimeInput:
    """A field for a time in the zone of the person who looks."""
    return forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class EventFilter(django_filters.FilterSet):
    """Events by who, what, on which object, where, when, and in which request."""

    actor = django_filters.CharFilter(method="by_actor", label=_("Actor"))
    action = django_filters.CharFilter(method="by_action", label=_("Action"))
    object = django_filters.CharFilter(method="by_object", label=_("Object"))
    cluster = django_filters.CharFilter(method="by_cluster", label=_("Cluster"), widget=cluster_input())
    after = MomentFilter(field_name="at", lookup_expr="gte", label=_("From"), widget=_a_time())
    before = MomentFilter(field_name="at", lookup_expr="lt", label=_("Until"), widget=_a_time())
    request_id = django_filters.CharFilter(label=_("Request"))
    via = django_filters.ChoiceFilter(choices=WAYS, label=_("By way of"))

    class Meta:
        model = AuditEvent
        fields: list[str] = []

    def by_actor(self, events: QuerySet[AuditEvent], name: str, text: str) -> QuerySet[AuditEvent]:
        """A person's id, name or address, a token's key, or another label."""
        ids = directory.known().find_people(text)
        if (actor_id := whole_number(text)) is not None:
            ids |= {actor_id}
        return events.filter(Q(actor_id__in=ids) | Q(actor_label__icontains=text))

    def by_action(self, events: QuerySet[AuditEvent], name: str, text: str) -> QuerySet[AuditEvent]:
        """An action, or the beginning of some: change. or change.approved."""
        return events.filter(action__startswith=text)

    def by_object(self, events: QuerySet[AuditEvent], name: str, text: str) -> QuerySet[AuditEvent]:
        """A type and id, fleet.node:12, or part of the label."""
        kind, _, number = text.partition(":")
        exact = Q(object_type=kind, object_id=number) if number else Q(object_type=kind)
        return events.filter(exact | Q(object_label__icontains=text))

    def by_cluster(self, events: QuerySet[AuditEvent], name: str, slug: str) -> QuerySet[AuditEvent]:
        return events.filter(scope_id=directory.known().find_scope(slug) or -1)
