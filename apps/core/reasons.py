"""Decisions that are not made without a reason."""

from __future__ import annotations

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say


def require_reason(text: str, *, pointer: str = "/reason") -> str:
    """The text without blanks around it. Raises Invalid where nothing is left. pointer: where it was to be said."""
    if not text.strip():
        raise Invalid(say("say why"), errors=[FieldError(pointer=pointer, message=say("a reason is needed"))])
    return text.strip()
