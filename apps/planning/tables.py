"""The list of plans, and the layouts that a search found."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import django_tables2 as tables
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.catalogue.words import accelerator_name
from apps.core.templatetags.components import icon, state, verdict, when
from apps.core.units import show_bytes, show_seconds, show_share
from apps.planning.found import CHOICES, show_cost, show_energy
from apps.planning.input_words import shown_value
from apps.planning.models import Plan, PlanVersion
from apps.planning.words import FOUND_NAMES

_NUMBER = {"td": {"class": "number"}, "th": {"class": "number"}}
_PHRASE = {"td": {"class": "phrase"}}  # of several words, with room for some of them beside each other
_ON_SCREEN = {"td": {"class": "no-print"}, "th": {"class": "no-print"}}


class PlanTable(tables.Table):
    """Plans with what came out of their newest version."""

    name = tables.Column(verbose_name=_("Plan"), attrs=_PHRASE)
    fits = tables.Column(verbose_name=_("Fits"), orderable=False, empty_values=())
    tokens_per_s = tables.Column(verbose_name=_("Tokens/s"), orderable=False, empty_values=(), attrs=_NUMBER)
    mfu = tables.Column(verbose_name="MFU", orderable=False, empty_values=(), attrs=_NUMBER)
    system = tables.Column(verbose_name=_("System"), orderable=False, empty_values=(), attrs=_PHRASE)
    newest = tables.Column(verbose_name=_("Newest version"), orderable=False, empty_values=())
    launch_version = tables.Column(verbose_name=_("Launch plan"), orderable=False)
    created_by = tables.Column(verbose_name=_("By"), accessor="created_by__name", order_by="created_by__name")
    created_at = tables.Column(verbose_name=_("Since"))

    class Meta:
        model = Plan
        fields = ("name", "fits", "tokens_per_s", "mfu", "system", "newest", "launch_version")
        fields += ("created_by", "created_at")
        order_by = "-created_at"

    def render_name(self, record: Plan) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("planning:plan", args=[record.pk]), record.name)

    def render_fits(self, record: Any) -> SafeString:
        newest = _newest(record)
        return standing_of(newest) if newest else verdict(None)

    def render_tokens_per_s(self, record: Any) -> str:
        figure = _figure(record, "tokens_per_s")
        return "—" if figure is None else f"{figure:,.0f}"

    def render_mfu(self, record: Any) -> str:
        figure = _figure(record, "mfu")
        return "—" if figure is None else show_share(figure)

    def render_system(self, record: Any) -> str:
        newest = _newest(record)
        system = newest.input["system"] if newest else {}
        return f"{system.get('accelerators', '?')} × {accelerator_name(system.get('accelerator', '?'))}"

    def render_newest(self, record: Any) -> SafeString | str:
        newest = _newest(record)
        if newest is None:
            return "—"
        url = reverse("planning:version", args=[record.pk, newest.number])
        return format_html('<a href="{}">v{}</a>', url, newest.number)

    def render_launch_version(self, value: PlanVersion) -> str:
        return f"v{value.number}"

    def render_created_at(self, value: datetime) -> SafeString:
        return when(value, show="relative")


class FoundTable(tables.Table):
    """Layouts that a search found, best first; each can become a version of its own."""

    place = tables.Column(verbose_name=_("No."), attrs=_NUMBER)
    take = tables.Column(
        verbose_name=_("Version"), orderable=False, empty_values=(), accessor="place", attrs=_ON_SCREEN
    )
    pareto = tables.Column(verbose_name=_("Unbeaten"))
    accelerators = tables.Column(verbose_name=_("Accelerators"), attrs=_NUMBER)
    tp = tables.Column(verbose_name="TP", attrs=_NUMBER)
    pp = tables.Column(verbose_name="PP", attrs=_NUMBER)
    vpp = tables.Column(verbose_name="VPP", attrs=_NUMBER)
    dp = tables.Column(verbose_name="DP", attrs=_NUMBER)
    cp = tables.Column(verbose_name="CP", attrs=_NUMBER)
    ep = tables.Column(verbose_name="EP", attrs=_NUMBER)
    micro_batch = tables.Column(verbose_name=_("Micro"), attrs=_NUMBER)
    zero = tables.Column(verbose_name="ZeRO", attrs=_NUMBER)
    recompute = tables.Column(verbose_name=_("Recompute"))
    placement = tables.Column(verbose_name=_("Order of ranks"))
    step_s = tables.Column(verbose_name=_("Step"), attrs=_NUMBER)
    tokens_per_s = tables.Column(verbose_name=_("Tokens/s"), attrs=_NUMBER)
    mfu = tables.Column(verbose_name="MFU", attrs=_NUMBER)
    peak_bytes = tables.Column(verbose_name=_("Memory"), attrs=_NUMBER)
    headroom = tables.Column(verbose_name=_("Free"), attrs=_NUMBER)
    cost_per_million_tokens = tables.Column(verbose_name=_("Cost"), attrs=_NUMBER)
    energy_j_per_token = tables.Column(verbose_name=_("Energy"), attrs=_NUMBER)

    class Meta:
        attrs = {"class": "table table-many table-stacked"}

    def __init__(self, *args: Any, take_url: str = "", priced: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.take_url, self.priced = take_url, priced
        if not take_url:
            self.columns.hide("take")
        for name in self._same():
            if name in self.base_columns:
                self.columns.hide(name)

    def same_rows(self) -> list[dict[str, Any]]:
        """What all layouts have in common; the table says it once instead of in every row."""
        return [
            {"name": FOUND_NAMES[name], "value": shown_value(name, value)}
            for name, value in self._same().items()
        ]

    def _same(self) -> dict[str, Any]:
        rows = list(self.data.data)
        return {name: rows[0][name] for name in CHOICES if len({row[name] for row in rows}) == 1}

    def render_recompute(self, value: str) -> str | Promise:
        return shown_value("recompute", value)

    def render_step_s(self, value: float) -> str:
        return show_seconds(value)

    def render_tokens_per_s(self, value: float) -> str:
        return f"{value:,.0f}"

    def render_mfu(self, value: float) -> str:
        return show_share(value)

    def render_peak_bytes(self, value: float) -> str:
        return show_bytes(value)

    def render_headroom(self, value: float) -> str:
        return show_share(value)

    def render_cost_per_million_tokens(self, value: float) -> str:
        return show_cost(value, priced=self.priced)

    def render_energy_j_per_token(self, value: float) -> str:
        return show_energy(value)

    def render_pareto(self, value: bool) -> SafeString | str:
        return icon("circle-check", label=_now("unbeaten in speed and memory")) if value else ""

    def render_take(self, record: dict[str, Any]) -> SafeString:
        values = {"url": self.take_url, "place": record["place"]}
        return render_to_string("planning/_take.html", values, self.request)


def standing_of(version: PlanVersion) -> SafeString:
    """Whether a version fits; while it is not computed, where its job stands."""
    if version.fits is not None:
        return verdict(
            "pass" if version.fits else "fail", label=_now("fits") if version.fits else _now("does not fit")
        )
    if version.done_at is not None:
        return verdict("waived", label=_now("search"))
    return state(version.job.shown_state if version.job else None)


def _newest(plan: Any) -> PlanVersion | None:
    return plan.newest_versions[0] if plan.newest_versions else None


def _figure(plan: Any, key: str) -> float | None:
    newest = _newest(plan)
    return newest.result.get(key) if newest and newest.result else None
