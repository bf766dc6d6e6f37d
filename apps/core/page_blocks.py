"""Template tags that surround content: cards, facts, tabs, time lines, banners, snippets, dialogs."""

from __future__ import annotations

import re
from datetime import datetime
from textwrap import dedent
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.http import HttpRequest
from django.template import Context, Library
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from apps.core import status

# A word with something at which browsers break lines, or a digest; a longer one is data, such as JSON in one line.
_WORD = re.compile(r"(?<!\S)(?=\S*[-/?]|\S{40})\S{1,160}(?!\S)")


def _part(name: str, **values: Any) -> SafeString:
    return render_to_string(f"components/{name}.html", values)


def card(
    content: SafeString,
    *,
    title: str = "",
    icon: str = "",
    subtitle: str = "",
    url: str = "",
    action: str = "",
    flush: bool = False,
    id: str = "",
) -> SafeString:
    """A titled box. url and action: a link in its head; flush: no padding, for tables."""
    return _part(
        "card",
        content=content,
        title=title,
        icon=icon,
        subtitle=subtitle,
        url=url,
        action=action,
        flush=flush,
        id=id,
    )


def facts(content: SafeString) -> SafeString:
    """A strip of facts about an object; holds fact blocks."""
    return format_html('<dl class="facts">{}</dl>', content)


def fact(content: SafeString, *, label: str) -> SafeString:
    """One fact: a label, and what the block holds."""
    return format_html('<div class="fact"><dt>{}</dt><dd>{}</dd></div>', label, content)


def tabs(content: SafeString, *, label: str) -> SafeString:
    """Tabs that are pages of their own; holds tab tags. label: what they belong to."""
    return format_html('<nav class="tabs" aria-label="{}"><ul>{}</ul></nav>', label, content)


def tab(
    context: Context, *, label: str, url: str, active: bool | None = None, beneath: bool = False
) -> SafeString:
    """One tab; it is the current one where the page has its address, perhaps with more filters, or lies beneath it.

    beneath: also for a page whose address goes on from the tab's.
    """
    request = context.get("request")
    current = (
        active
        if active is not None
        else bool(request and (_is_shown(request, url) or (beneath and request.path.startswith(url))))
    )
    return format_html(
        '<li><a href="{}"{}>{}</a></li>',
        url,
        mark_safe(' aria-current="page"') if current else "",
        label,
    )


def _is_shown(request: HttpRequest, url: str) -> bool:
    """Whether the page is the one of an address: same path, and at least the same query."""
    wanted = urlsplit(url)
    asked = [request.GET.get(name) == value for name, value in parse_qsl(wanted.query)]
    return request.path == wanted.path and all(asked)


def nothing(
    content: SafeString,
    *,
    title: str,
    icon: str = "circle-dashed",
    url: str = "",
    action: str = "",
    curl: str = "",
) -> SafeString:
    """An empty list: what belongs here, why there is none, one action, and one line for a terminal."""
    return _part(
        "nothing",
        content=content,
        title=title,
        icon=icon,
        url=url,
        action=action,
        curl=curl,
    )


def banner(content: SafeString, *, standing: Any, title: str = "") -> SafeString:
    """The one verdict of a page, large; for a gate GO or NO-GO."""
    sign = status.sign_of(standing)
    return _part("banner", content=content, sign=sign, title=title)


def callout(content: SafeString, *, tone: str = "neutral", title: str = "") -> SafeString:
    """A remark that somebody must see before going on. tone: of the status language."""
    sign = status.Sign(status.Tone(tone), "", "info-circle" if tone == "neutral" else "")
    return _part("callout", content=content, sign=sign, title=title)


def snippet(content: SafeString, *, label: str, wrap: bool = False) -> SafeString:
    """A command or file to copy, such as a curl line. label: what it is. wrap: lines break, at blanks only."""
    text = SafeString(dedent(str(content).strip("\n")).strip())
    return _part("snippet", content=_whole_words(text) if wrap else text, label=label, wrap=wrap)


def _whole_words(text: SafeString) -> SafeString:
    """Plain text whose words do not break at hyphens or slashes; one too long to be scrolled stays as it is."""
    if "<" in text:
        return text
    return SafeString(_WORD.sub(r'<span class="whole">\g<0></span>', text))


def timeline(content: SafeString, *, label: str) -> SafeString:
    """What happened, newest first; holds event blocks and days."""
    return format_html('<ol class="events" aria-label="{}">{}</ol>', label, content)


def event(
    content: SafeString,
    *,
    at: datetime | None,
    title: str,
    state: Any = None,
    url: str = "",
    who: str = "",
    icon: str = "",
) -> SafeString:
    """One thing that happened: when, what, by whom, and more in the block."""
    sign = status.sign_of(state) if state is not None else status.Sign(status.Tone.NEUTRAL, "", icon)
    return _part("event", content=content, at=at, title=title, sign=sign, state=state, url=url, who=who)


def side_panel(content: SafeString, *, title: str, close_url: str = "") -> SafeString:
    """Details beside a view; close_url is the same page without a selection."""
    return _part("side_panel", content=content, title=title, close_url=close_url)


def dialog(content: SafeString, *, id: str, title: str, tone: str = "neutral") -> SafeString:
    """A dialog; a button with command="show-modal" commandfor="ID" opens it."""
    return _part("dialog", content=content, id=id, title=title, tone=tone)


def legend(content: SafeString, *, target: str, label: str) -> SafeString:
    """A legend that is a filter too; holds legend_item blocks. target: id of the view that it filters."""
    return format_html(
        '<div class="value-legend" role="group" aria-label="{}" data-filter="{}">{}</div>',
        label,
        target,
        content,
    )


def legend_item(content: SafeString, *, value: str) -> SafeString:
    """One entry of a legend; parts of the view with this word in data-value stay when it is chosen."""
    return format_html(
        '<button type="button" data-value="{}" aria-pressed="false">{}</button>', value, content
    )


def register_on(register: Library) -> None:
    """Make the blocks tags of a library."""
    for block in (
        card,
        facts,
        fact,
        tabs,
        nothing,
        banner,
        callout,
        snippet,
        timeline,
        event,
        side_panel,
        dialog,
        legend,
        legend_item,
    ):
        register.simple_block_tag(block)
    register.simple_tag(takes_context=True)(tab)
