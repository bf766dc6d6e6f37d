"""The list of benchmark runs."""

from __future__ import annotations

from datetime import datetime

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of
from apps.core.templatetags.components import grouped, verdict, when
from apps.core.units import show_bandwidth, show_binary_bytes, show_share

_NUMBER = {"td": {"class": "number"}, "th": {"class": "number"}}


class RunTable(tables.Table):
    """Runs with their verdict and how much of the theory they reached."""

    collective = tables.Column(verbose_name=_("Run"), empty_values=())
    verdict = tables.Column(verbose_name=_("Accepted"), orderable=False, empty_values=())
    busbw_bytes_per_s = tables.Column(verbose_name=_("busbw"), attrs=_NUMBER)
    share = tables.Column(verbose_name=_("Of theory"), orderable=False, empty_values=(), attrs=_NUMBER)
    ranks = tables.Column(verbose_name=_("Ranks"), attrs=_NUMBER)
    max_size_bytes = tables.Column(verbose_name=_("Largest size"), attrs=_NUMBER)
    domain = tables.Column(verbose_name=_("Domain"), accessor="domain__name", order_by="domain__name")
    matrix = tables.Column(
        verbose_name=_("Matrix"),
        accessor="matrix_version",
        orderable=False,
        attrs={"td": {"class": "nowrap"}},
    )
    received_at = tables.Column(verbose_name=_("Received"))

    class Meta:
        model = BenchmarkRun
        fields = ("collective", "verdict", "busbw_bytes_per_s", "share", "ranks", "max_size_bytes")
        fields += ("domain", "matrix", "received_at")
        order_by = "-received_at"

    def render_collective(self, record: BenchmarkRun) -> SafeString:
        return _link(record)

    def render_verdict(self, record: BenchmarkRun) -> SafeString:
        return verdict(acceptance_of(record).verdict)

    def render_busbw_bytes_per_s(self, value: float) -> str:
        return show_bandwidth(value)

    def render_share(self, record: BenchmarkRun) -> str:
        return show_share(acceptance_of(record).share)

    def render_ranks(self, value: int) -> str:
        return grouped(value)

    def render_max_size_bytes(self, value: int) -> str:
        return show_binary_bytes(value)

    def render_received_at(self, value: datetime) -> SafeString:
        return when(value)


def _link(run: BenchmarkRun) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("benchmarks:run", args=[run.pk]), run)
