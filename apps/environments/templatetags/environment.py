"""What templates of all apps say about components."""

from __future__ import annotations

from django import template

from apps.environments.words import label_of

register = template.Library()
register.filter("component_label", label_of)
