"""Errors: one root that knows its status, a stable code, and the fields that say what was wrong where.

Free of Django, so that engines raise them too. The border turns them into a page message or a
problem document; codes are stable and tested, texts are for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


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

    def __init__(
        self, message: str = "", *, code: str = "", errors: Sequence[FieldError] = (), **fields: Any
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.code = code or self.default_code
        self.errors = tuple(errors)
        self.fields = fields
        super().__init__(self.message)


class Invalid(PortalError):
    """The input is not valid."""

    status = 400
    default_code = "invalid"


class OutOfRange(Invalid):
    """A value is outside of what the formula is defined for."""

    default_code = "out_of_range"


class NotSignedIn(PortalError):
    """Sign in first."""

    status = 401
    default_code = "not_signed_in"


class NotAllowed(PortalError):
    """You may not do this."""

    status = 403
    default_code = "not_allowed"


class Missing(PortalError):
    """There is no such object, or you may not see it."""

    status = 404
    default_code = "missing"


class Conflict(PortalError):
    """The object is not in a state in which this can be done."""

    status = 409
    default_code = "conflict"


class Stale(PortalError):
    """The object was changed meanwhile."""

    status = 412
    default_code = "stale"


class TooLarge(PortalError):
    """The upload is larger than allowed."""

    status = 413
    default_code = "too_large"


class WrongMedia(PortalError):
    """This media type is not understood here."""

    status = 415
    default_code = "wrong_media"


class KeyReused(PortalError):
    """The idempotency key was used before with another body."""

    status = 422
    default_code = "key_reused"


class VersionRequired(PortalError):
    """Say which version you have seen (If-Match)."""

    status = 428
    default_code = "version_required"


class TooMany(PortalError):
    """Too many requests; wait a little."""

    status = 429
    default_code = "too_many"


class Busy(PortalError):
    """The portal is busy; try again."""

    status = 503
    default_code = "busy"
