"""What somebody may do, so that pages offer only what works."""

from __future__ import annotations

from typing import Any

from django import template

from apps.core.pages import actor_of
from apps.core.rights import Right

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], right: str, cluster: Any = None) -> bool:
    """Whether who looks at the page has a right in a cluster; anywhere, where none is named."""
    actor, wanted = actor_of(context["request"]), Right(right)
    return actor.may(wanted, cluster.scope_id) if cluster else actor.may_anywhere(wanted)
