"""Words of the catalogue in templates."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise

from apps.catalogue.forms import CONFIDENCE_WORDS

register = template.Library()


@register.filter
def confidence_label(confidence: str) -> str | Promise:
    """How far a figure can be trusted, in words; one that the catalogue does not know as it is."""
    return {str(one): word for one, word in CONFIDENCE_WORDS.items()}.get(confidence, confidence)
