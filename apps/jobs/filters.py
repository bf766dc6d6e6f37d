"""Filters of jobs and deliveries, for pages and API alike."""

from __future__ import annotations

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import WholeNumberFilter, of_cluster
from apps.jobs.models import Job, JobState, WebhookDelivery


class JobFilter(django_filters.FilterSet):
    """Jobs by kind, state and cluster."""

    kind = django_filters.CharFilter(lookup_expr="startswith", label=_("Kind"))
    state = django_filters.ChoiceFilter(choices=JobState.choices, label=_("State"))
    cluster = of_cluster("scope")

    class Meta:
        model = Job
        fields: list[str] = []


class DeliveryFilter(django_filters.FilterSet):
    """Deliveries by endpoint, event, and what became of them."""

    endpoint = WholeNumberFilter(field_name="endpoint_id", label=_("Endpoint"))
    event = django_filters.CharFilter(lookup_expr="startswith", label=_("Event"))
    state = django_filters.ChoiceFilter(
        choices=[("waiting", _("waiting")), ("delivered", _("delivered")), ("dead", _("given up"))],
        method="by_state",
        label=_("State"),
    )

    class Meta:
        model = WebhookDelivery
        fields: list[str] = []

    def by_state(
        self, deliveries: QuerySet[WebhookDelivery], name: str, state: str
    ) -> QuerySet[WebhookDelivery]:
        delivered = state == "delivered"
        if state == "dead":
            return deliveries.filter(dead_at__isnull=False)
        return deliveries.filter(dead_at__isnull=True, delivered_at__isnull=not delivered)
