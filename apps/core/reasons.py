"""Decisions that are not made without a reason, which is a text that can be read."""

from __future__ import annotations

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

LONGEST = 4000  # characters of a reason


def says_something(text: str) -> bool:
    """Whether a text has a sign that can be seen: blanks, zero-width signs and marks of direction are none."""
    return any(sign.isprintable() and not sign.isspace() for sign in text)


def require_reason(text: str, *, pointer: str = "/reason") -> str:
    """The text without blanks around it; a Text that has none stays one. pointer: where it was to be said.

    Raises Invalid where it says nothing, or more than anybody reads.
    """
    if not says_something(text):
        raise Invalid(say("say why"), errors=[FieldError(pointer=pointer, message=say("a reason is needed"))])
    if len(text) > LONGEST:
        too_long = say("at most %(longest)s characters", longest=LONGEST)
        raise Invalid(too_long, errors=[FieldError(pointer=pointer, message=too_long)])
    bare = text.strip()
    return text if bare == text else bare
