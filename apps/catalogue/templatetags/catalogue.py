"""Words of the catalogue in templates."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.catalogue.words import accelerator_name, confidence_label, figure_label, full_name, source_of

register = template.Library()
_YES_OR_NO = {"yes": _("yes"), "no": _("no")}
register.filter("accelerator_name", accelerator_name)
register.filter("confidence_label", confidence_label)
register.filter("figure_label", figure_label)
register.filter("full_name", full_name)


@register.filter
def source_link(source_id: str, kind: str) -> SafeString:
    """A source of an entry: its title, with its address where that is known."""
    title, url = source_of(kind, source_id)
    if not url:
        return format_html("{}", title)
    return format_html('<a href="{}" rel="noreferrer">{}</a>', url, title)


@register.filter
def figure_shown(value: object) -> str | Promise:
    """A value of a version table; what is not known is a question mark."""
    if value is None:
        return "?"
    return _YES_OR_NO.get(str(value), str(value))
