"""Template tags of the page parts; docs/ui.md shows each with an example. A builtin of every template.

Small parts are put together here, since lists show hundreds of them; larger ones are templates in
templates/components. The block tags are in page_blocks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.forms import BaseForm, BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.core import drawings, page_blocks, speech, status, units
from apps.core.paging import PAGE_SIZES
from apps.core.rights import Right
from apps.core.role_names import roles_with
from apps.core.views import THEME_COOKIE, THEMES

register = template.Library()
page_blocks.register_on(register)
drawings.register_on(register)

register.filter("bytes", units.show_bytes)
register.filter("binary_bytes", units.show_binary_bytes)
register.filter("bandwidth", units.show_bandwidth)
register.filter("seconds", units.show_seconds)
register.filter("share", units.show_share)
register.filter("minus", units.with_minus)
register.filter("said", speech.said)
register.filter("listed", speech.listed)


@register.simple_tag
def icon(name: str, *, size: str = "", label: str = "") -> SafeString:
    """An icon of the sprite. size: small or large; label: only where no word stands beside it."""
    classes = f"icon icon-{size}" if size else "icon"
    href = f"{static('icons.svg')}#{name.replace('/', '-')}"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"></use></svg>', classes, label, href
        )
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}"></use></svg>', classes, href)


@register.simple_tag
def verdict(value: Any, *, label: str = "", big: bool = False) -> SafeString:
    """A verdict as icon, word and colour. label: a word that says more than the verdict's own."""
    return _chip(status.sign_of(value), label=label, big=big)


@register.simple_tag
def state(value: Any, *, label: str = "", big: bool = False) -> SafeString:
    """The state of anything as icon, word and colour."""
    return _chip(status.sign_of(value), label=label, big=big)


@register.filter
def tone(value: Any) -> str:
    """The tone of a verdict or state, for a class name such as tone-fail."""
    return status.sign_of(value).tone.value


@register.filter
def grouped(count: int) -> str:
    """A count such as 10,000."""
    return f"{count:,}"


@register.filter
def in_cluster(url: str, cluster: Any) -> str:
    """The address of a list within the chosen cluster; of all clusters where none is chosen. No address stays none."""
    return f"{url}?cluster={cluster.slug}" if url and cluster else url


@register.filter
def roles_carrying(right: str) -> list[str]:
    """Names of the roles that carry a right, for a page that refuses somebody."""
    return [str(name) for name in roles_with(Right(right))]


def _chip(sign: status.Sign, *, label: str, big: bool) -> SafeString:
    size = " chip-big" if big else ""
    return format_html(
        '<span class="chip tone-{}{}">{}<span>{}</span></span>',
        sign.tone.value,
        size,
        icon(sign.icon, size="" if big else "small"),
        label or sign.word,
    )


@register.simple_tag
def when(
    at: datetime | None, *, show: str = "both", none: str = "", to_the_second: bool = False
) -> SafeString:
    """A time in the reader's zone with its offset, and how long ago. show: both, absolute or relative."""
    if at is None:
        return format_html('<span class="soft">{}</span>', none or "—")
    local = timezone.localtime(at)
    absolute = f"{local:{'%Y-%m-%d %H:%M:%S' if to_the_second else '%Y-%m-%d %H:%M'}} {_offset(local)}"
    machine = f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    relative = naturaltime(at)
    if show == "absolute":
        return format_html('<time class="when" datetime="{}">{}</time>', machine, absolute)
    if show == "relative":
        return format_html(
            '<time class="when" datetime="{}" title="{}">{}</time>', machine, absolute, relative
        )
    return format_html(
        '<time class="when" datetime="{}"><span>{}</span> <span class="soft">{}</span></time>',
        machine,
        absolute,
        relative,
    )


def _offset(at: datetime) -> str:
    text = at.strftime("%z")
    return f"{text[:3]}:{text[3:5]}"


@register.simple_tag
def copy(text: Any, *, label: str = "") -> SafeString:
    """A button that copies a text; it is there only where a script can do so."""
    return format_html(
        '<button type="button" class="copy only-script" data-copy="{}" aria-label="{}">{}</button>',
        text,
        label or _("Copy"),
        icon("copy", size="small"),
    )


@register.simple_tag
def digest(value: str | None) -> SafeString:
    """The first characters of a digest, with a button that copies all of it."""
    if not value:
        return mark_safe('<span class="soft">—</span>')
    plain = value.removeprefix("sha256:")
    return format_html(
        '<span class="digest"><code title="{}">{}</code>{}</span>',
        plain,
        plain[:12],
        copy(plain, label=_("Copy the whole digest")),
    )


@register.simple_tag
def quantity(value: Any, unit: str = "", *, digits: int | None = None) -> SafeString:
    """A number with its unit; what is not known is a question mark. digits: after the point."""
    if value is None:
        return format_html('<span class="quantity soft" title="{}">?</span>', _("not known"))
    text = f"{value:z,.{digits}f}" if digits is not None else f"{value:,}" if _is_number(value) else value
    if _is_number(value):
        text = units.with_minus(text)
    if not unit:
        return format_html('<span class="quantity">{}</span>', text)
    return format_html('<span class="quantity">{}<span class="unit">{}</span></span>', text, unit)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@register.simple_tag
def progress(done: int | None, total: int | None, *, label: str = "", unit: str = "") -> SafeString:
    """A bar with its figures; without a total it only says that something is going on."""
    name = label or _("Progress")
    if not total:
        return format_html('<span class="progress-line"><progress aria-label="{}"></progress></span>', name)
    return format_html(
        '<span class="progress-line"><progress value="{}" max="{}" aria-label="{}"></progress>'
        '<span class="progress-figures">{} / {}{}</span></span>',
        done or 0,
        total,
        name,
        grouped(done or 0),
        grouped(total),
        format_html(" {}", unit) if unit else "",
    )


@register.inclusion_tag("components/stat.html")
def stat(
    *,
    label: str,
    value: Any,
    unit: str = "",
    verdict: Any = None,
    age: datetime | None = None,
    note: str = "",
    url: str = "",
) -> dict[str, Any]:
    """One figure of a dashboard: number, unit, verdict, how old it is, and where it comes from."""
    return {
        "label": label,
        "value": value,
        "unit": unit,
        "verdict": verdict,
        "age": age,
        "note": note,
        "url": url,
    }


@register.inclusion_tag("components/pager.html", takes_context=True)
def pager(context: Context, page: Any) -> dict[str, Any]:
    """Where one is in a list, with links that keep the filters of the address."""
    return {
        "request": context["request"],
        "page": page,
        "sizes": PAGE_SIZES,
        "numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1),
        "gap": page.paginator.ELLIPSIS,
    }


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, *, unit: str = "") -> dict[str, Any]:
    """A form field with label, help and errors. unit: shown behind it."""
    kind = getattr(bound.field.widget, "input_type", "")
    return {"field": bound, "unit": unit, "kind": kind}


@register.simple_tag
def fields(form: BaseForm) -> SafeString:
    """All fields of a form, one under the other; hidden ones too."""
    hidden = format_html_join("", "{}", ((bound,) for bound in form.hidden_fields()))
    shown = format_html_join(
        "",
        "{}",
        ((render_to_string("components/field.html", field(bound)),) for bound in form.visible_fields()),
    )
    return hidden + shown


@register.inclusion_tag("components/form_errors.html")
def form_errors(form: BaseForm) -> dict[str, Any]:
    """What is wrong in a form, with links to the fields; it takes the focus when the page opens."""
    return {
        "form": form,
        "wrong": [bound for bound in form if bound.errors],
        "count": sum(len(errors) for errors in form.errors.values()),
    }


@register.inclusion_tag("components/diff.html")
def diff(rows: Sequence[Any], *, old: str = "", new: str = "", subject: str = "") -> dict[str, Any]:
    """What differs, key by key. Rows have key, old, new, and kind: added, removed, changed or same."""
    differing = [row for row in rows if _kind(row) != "same"]
    same = [row for row in rows if _kind(row) == "same"]
    return {
        "differing": differing,
        "same": same,
        "old": old or _("before"),
        "new": new or _("after"),
        "subject": subject or _("component"),
    }


def _kind(row: Any) -> str:
    return str(row["kind"] if isinstance(row, dict) else row.kind)


@register.inclusion_tag("components/chart.html")
def chart(
    figure: dict[str, Any],
    *,
    id: str,
    title: str,
    summary: str,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Any]] = (),
    csv_url: str = "",
    tall: bool = False,
) -> dict[str, Any]:
    """A Plotly figure with its title, one sentence that says what it shows, and the same data as a table.

    figure: {"data": …, "layout": …} as JSON values; colours and fonts come from the theme, so leave them out.
    """
    figures = [
        bool(rows) and all(_reads_as_figure(row[place]) for row in rows) for place in range(len(columns))
    ]
    return {
        "figure": figure,
        "id": id,
        "figure_id": f"{id}-figure",
        "title": title,
        "summary": summary,
        "columns": list(zip(columns, figures, strict=True)),
        "rows": [list(zip(row, figures, strict=True)) for row in rows],
        "csv_url": csv_url,
        "tall": tall,
    }


def _reads_as_figure(cell: Any) -> bool:
    """Whether a cell is a number, written out or not; what is not known may stand among numbers."""
    return cell is None or str(cell).lstrip("+-−")[:1].isdigit() or str(cell) in ("?", "—")


@register.simple_tag(takes_context=True)
def theme(context: Context) -> str:
    """The theme that this browser asked for: light, dark, or auto where it did not."""
    request = context.get("request")
    chosen = request.COOKIES.get(THEME_COOKIE, "") if request else ""
    return chosen if chosen in THEMES else THEMES[0]


@register.simple_tag(takes_context=True)
def nav_class(context: Context) -> str:
    """The class of the shell where this browser keeps the navigation folded to icons."""
    request = context.get("request")
    return "nav-slim" if request and request.COOKIES.get("navigation") == "slim" else ""
