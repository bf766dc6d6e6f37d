"""Who is acting: values only, so that services and the audit trail need no request and no table of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from apps.core.errors import Missing, NotAllowed
from apps.core.rights import NEEDED, Right, TokenScope
from apps.core.texts import say

EVERYWHERE = 0  # the key of rights that hold in every scope


class Via(StrEnum):
    SESSION = "session"  # a person in a browser
    TOKEN = "token"
    COMMAND = "command"  # somebody at the server's shell
    SYSTEM = "system"  # the portal itself: schedules, automation


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The person, service account or part of the portal that does something.

    rights: scope id to rights there; key EVERYWHERE holds in every scope.
    token_scopes: None without a token; with one, what it is limited to.
    authenticated_at: when the password was last given in this session.
    """

    via: Via
    label: str
    person_id: int | None = None
    rights: Mapping[int, frozenset[Right]] = field(default_factory=dict)
    token_key: str = ""
    token_scopes: frozenset[TokenScope] | None = None
    authenticated_at: datetime | None = None
    ip: str = ""
    user_agent: str = ""
    request_id: str = ""

    def may(self, right: Right, scope_id: int | None) -> bool:
        """Whether the actor holds the right in the scope (None: in every scope)."""
        if right in self.rights.get(EVERYWHERE, frozenset()):
            return True
        return scope_id is not None and right in self.rights.get(scope_id, frozenset())

    def may_anywhere(self, right: Right) -> bool:
        """Whether the actor holds the right in at least one scope."""
        return any(right in held for held in self.rights.values())

    def require_anywhere(self, right: Right) -> None:
        """Raises NotAllowed where the actor holds the right in no scope."""
        if not self.may_anywhere(right):
            raise NotAllowed(NEEDED[right], code="role", right=right.value)

    def require(self, right: Right, scope_id: int | None) -> None:
        """Raises Missing where the scope may not even be seen, NotAllowed where the right is lacking."""
        if self.may(right, scope_id):
            return
        if scope_id is not None and not self.may(Right.READ, scope_id):
            raise Missing()
        raise NotAllowed(NEEDED[right], code="role", right=right.value)

    def require_token_scope(self, scope: TokenScope) -> None:
        """Raises NotAllowed where the actor came by a token that is not meant for this."""
        if self.token_scopes is not None and scope not in self.token_scopes:
            raise NotAllowed(
                say("the token lacks the scope %(value)s", value=scope.value),
                code="token_scope",
                scope=scope.value,
            )

    def require_person_present(self) -> int:
        """The person's id. Raises NotAllowed for tokens, service accounts, commands and the system."""
        if self.via is not Via.SESSION or self.person_id is None:
            raise NotAllowed(
                say("only a person who is signed in can do this, no token"), code="person_required"
            )
        return self.person_id

    def require_recent_password(self, *, now: datetime, within_s: int) -> None:
        """Raises NotAllowed (reauthenticate) where the password was given too long ago."""
        if self.authenticated_at is None or (now - self.authenticated_at).total_seconds() > within_s:
            raise NotAllowed(say("confirm your password first"), code="reauthenticate")

    def scope_ids(self, right: Right) -> frozenset[int] | None:
        """The scopes in which the right is held; None means all of them."""
        if right in self.rights.get(EVERYWHERE, frozenset()):
            return None
        return frozenset(scope for scope, held in self.rights.items() if right in held)


def system(label: str = "portal") -> Actor:
    """The portal itself."""
    return Actor(via=Via.SYSTEM, label=label, rights={EVERYWHERE: frozenset(Right)})


def command(label: str) -> Actor:
    """Somebody at the server's shell, who may do everything but approve and sign."""
    return Actor(via=Via.COMMAND, label=label, rights={EVERYWHERE: frozenset(Right)})
