"""Words of the catalogue in templates."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.catalogue.forms import CONFIDENCE_WORDS, FIGURE_WORDS

register = template.Library()
_YES_OR_NO = {"yes": _("yes"), "no": _("no")}


@register.filter
def confidence_label(confidence: str) -> str | Promise:
    """How far a figure can be trusted, in words; one that the catalogue does not know as it is."""
    return {str(one): word for one, word in CONFIDENCE_WORDS.items()}.get(confidence, confidence)


@register.filter
def figure_label(path: str) -> str | Promise:
    """A field of a version table in words; one of another kind as it is."""
    return FIGURE_WORDS.get(path, path)


@register.filter
def figure_shown(value: object) -> str | Promise:
    """A value of a version table; what is not known is a question mark."""
    if value is None:
        return "?"
    return _YES_OR_NO.get(str(value), str(value))
