"""Errors: one root that knows its status, a stable code, and the fields that say what was wrong where.

Free of Django, so that engines raise them too. The border turns them into a page message or a
problem document; codes are stable and tested, texts are for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.texts import Text, say


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One thing wrong in the input: where (JSON pointer, or file and row), what, and what would be right."""

    pointer: str
    message: str
    code: str = "invalid"


class PortalError(Exception):
    """Something went wrong."""

    status = 500
    default_code = "error"
    default_text: Text = say("Something went wrong.")

    def __init__(
        self, message: str = "", *, code: str = "", errors: Sequence[FieldError] = (), **fields: Any
    ) -> None:
        self.message = message or self.default_text
        self.code = code or self.default_code
        self.errors = tuple(errors)
        self.fields = fields
        super().__init__(self.message)


class Invalid(PortalError):
    """The input is not valid."""

    status = 400
    default_code = "invalid"
    default_text: Text = say("The input is not valid.")


class Incomplete(Invalid):
    """A request ended before its Content-Length."""

    default_code = "incomplete"
    default_text: Text = say("the upload ended early; nothing of it was taken in")


class OutOfRange(Invalid):
    """A value is outside of what the formula is defined for."""

    default_code = "out_of_range"
    default_text: Text = say("A value is outside of what the formula is defined for.")


class NotSignedIn(PortalError):
    """Sign in first."""

    status = 401
    default_code = "not_signed_in"
    default_text: Text = say("Sign in first.")


class NotAllowed(PortalError):
    """You may not do this."""

    status = 403
    default_code = "not_allowed"
    default_text: Text = say("You may not do this.")


class Missing(PortalError):
    """There is no such object, or you may not see it."""

    status = 404
    default_code = "missing"
    default_text: Text = say("There is no such object, or you may not see it.")


class Conflict(PortalError):
    """The object is not in a state in which this can be done."""

    status = 409
    default_code = "conflict"
    default_text: Text = say("The object is not in a state in which this can be done.")


class Stale(PortalError):
    """The object was changed meanwhile."""

    status = 412
    default_code = "stale"
    default_text: Text = say("The object was changed meanwhile.")


class TooLarge(PortalError):
    """The upload is larger than allowed."""

    status = 413
    default_code = "too_large"
    default_text: Text = say("The upload is larger than allowed.")


class WrongMedia(PortalError):
    """This media type is not understood here."""

    status = 415
    default_code = "wrong_media"
    default_text: Text = say("This media type is not understood here.")


class KeyReused(PortalError):
    """The idempotency key was used before with another body."""

    status = 422
    default_code = "key_reused"
    default_text: Text = say("The idempotency key was used before with another body.")


class VersionRequired(PortalError):
    """Say which version you have seen (If-Match)."""

    status = 428
    default_code = "version_required"
    default_text: Text = say("Say which version you have seen (If-Match).")


class TooMany(PortalError):
    """Too many requests; wait a little."""

    status = 429
    default_code = "too_many"
    default_text: Text = say("Too many requests; wait a little.")


class Busy(PortalError):
    """The portal is busy; try again."""

    status = 503
    default_code = "busy"
    default_text: Text = say("The portal is busy; try again.")
