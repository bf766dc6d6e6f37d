"""The list of launches."""

from __future__ import annotations

from typing import Any

import django_tables2 as tables
from django.template import Context, Template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.launches.models import Launch


class LaunchTable(tables.Table):
    """Launches with where they stand; the view joins `standing` to each row of the page."""

    title = tables.Column(verbose_name=_("Launch"), linkify=lambda record: f"/launches/{record.pk}/")
    standing = tables.Column(verbose_name=_("Gate"), orderable=False, empty_values=())
    state = tables.Column(verbose_name=_("State"))
    domain = tables.Column(verbose_name=_("Domain"), accessor="domain__name")
    opened_by = tables.Column(verbose_name=_("Opened by"), accessor="opened_by__name")
    opened_at = tables.Column(verbose_name=_("Opened"))

    class Meta:
        model = Launch
        fields = ("title", "standing", "state", "domain", "opened_by", "opened_at")
        order_by = "-opened_at"

    def render_standing(self, record: Any) -> SafeString | str:
        return _part("{% state value %}", record.standing) if record.standing else "—"

    def render_state(self, record: Any) -> SafeString:
        return _part("{% state value %}", record.state)

    def render_opened_at(self, value: Any) -> SafeString:
        return _part("{% when value %}", value)


def _part(text: str, value: Any) -> SafeString:
    return format_html("{}", Template(text).render(Context({"value": value})))
