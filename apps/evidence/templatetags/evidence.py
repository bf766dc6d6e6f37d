"""What templates of all apps say about kinds of evidence."""

from __future__ import annotations

from django import template

from apps.evidence.words import kind_name

register = template.Library()
register.filter("kind_name", kind_name)


@register.filter
def kind_names(kinds: str) -> str:
    """The tools of several kinds, which commas set apart."""
    return ", ".join(kind_name(kind.strip()) for kind in kinds.split(","))
