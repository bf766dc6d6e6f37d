"""What templates of all apps say about components."""

from __future__ import annotations

from django import template

from apps.environments.words import AREAS, RULES, SCHEMES, SWITCHES, Word, intent_text, label_of

register = template.Library()
register.filter("component_label", label_of)
register.filter("intent_text", intent_text)
_FIELDS = {"area": AREAS, "rule": RULES, "scheme": SCHEMES, "multiple": SWITCHES}


@register.filter
def component_word(value: str, field: str) -> Word:
    """What a component's field holds, in words where it holds one of a few."""
    return _FIELDS.get(field, {}).get(value, value)
