"""The list of launches."""

from __future__ import annotations

from datetime import datetime

import django_tables2 as tables
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.core.templatetags.components import state, when
from apps.launches.models import Launch


class LaunchTable(tables.Table):
    """Launches with where they stand; the view joins `standing` to each row of the page."""

    title = tables.Column(
        verbose_name=_("Launch"),
        linkify=("launches:launch", [tables.A("pk")]),
        attrs={"td": {"class": "phrase"}},
    )
    standing = tables.Column(verbose_name=_("Gate"), orderable=False, empty_values=())
    state = tables.Column(verbose_name=_("State"))
    domain = tables.Column(verbose_name=_("Domain"), accessor="domain__name")
    opened_by = tables.Column(verbose_name=_("Opened by"), accessor="opened_by__name")
    opened_at = tables.Column(verbose_name=_("Opened"))

    class Meta:
        model = Launch
        fields = ("title", "standing", "state", "domain", "opened_by", "opened_at")
        order_by = "-opened_at"

    def render_standing(self, record: Launch) -> SafeString | str:
        return state(record.standing) if record.standing else "—"

    def render_state(self, record: Launch) -> SafeString:
        return state(record.state)

    def render_opened_at(self, value: datetime) -> SafeString:
        return when(value)
