"""API tokens: made once, shown once, revoked, and their last use."""

from __future__ import annotations

import secrets
import string
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from apps.accounts import queries
from apps.accounts.models import Scope, Token
from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing
from apps.core.rights import TokenScope
from apps.core.texts import say

DEFAULT_DAYS, LONGEST_DAYS = 90, 365
_ALPHABET = string.ascii_letters + string.digits


@decision
def create_token(
    *,
    name: str,
    person_id: int,
    scopes: Sequence[TokenScope],
    cluster_scope_ids: Sequence[int] | None,
    days: int = DEFAULT_DAYS,
    actor: Actor,
) -> tuple[Token, str]:
    """A token for oneself or for a service account that one manages; gives it and its bearer text.

    The bearer text, snp_<key>.<secret>, is kept nowhere. cluster_scope_ids None: every cluster of the owner,
    those of later too; a list names at least one, since a token for none would be good for nothing. Raises
    NotAllowed (person_required, role), Missing, Invalid (name, scopes, clusters, days).
    """
    creator = actor.require_person_present()
    owner = queries.token_owner(person_id, actor=actor)
    clusters = _clusters(cluster_scope_ids, actor)
    _check(name, scopes, clusters, days)
    key, secret = _random(12), _random(40)
    pepper = max(settings.TOKEN_PEPPERS)
    token = Token.objects.create(
        key=key,
        secret_hash=queries.secret_hash(secret, pepper=pepper),
        pepper=pepper,
        name=name.strip(),
        person=owner,
        created_by_id=creator,
        scopes=sorted({scope.value for scope in scopes}),
        all_clusters=clusters is None,
        expires_at=clock.now() + timedelta(days=days),
    )
    token.clusters.set(clusters or [])
    record(actor=actor, action="token.created", on=token, after=_facts(token))
    return token, f"snp_{key}.{secret}"


@decision
def revoke_token(*, token_id: int, actor: Actor, reason: str = "") -> Token:
    """Make a token worthless at once. Raises NotAllowed (person_required), Missing, Conflict (token_state)."""
    actor.require_person_present()
    token = queries.tokens_visible_to(actor).filter(pk=token_id).first()
    if token is None:
        raise Missing()
    if not Token.objects.filter(pk=token_id, revoked_at__isnull=True).update(revoked_at=clock.now()):
        raise Conflict(say("the token was revoked already"), code="token_state")
    token.refresh_from_db()
    record(actor=actor, action="token.revoked", on=token, reason=reason)
    return token


def note_use(token: Token, *, now: datetime) -> None:
    """Remember the day of the last use; writes once a day at most."""
    today = now.date()
    if token.last_used_on != today:
        Token.objects.filter(pk=token.pk).exclude(last_used_on=today).update(last_used_on=today)


def _clusters(scope_ids: Sequence[int] | None, actor: Actor) -> list[Scope] | None:
    """The scopes of the ids, as far as the actor sees them. Raises Missing."""
    if scope_ids is None:
        return None
    wanted = set(scope_ids)
    found = list(queries.scopes_visible_to(actor).filter(pk__in=wanted))
    if len(found) != len(wanted):
        raise Missing(say("there is no such cluster, or you may not see it"))
    return found


def _check(name: str, scopes: Sequence[TokenScope], clusters: Sequence[Scope] | None, days: int) -> None:
    errors = []
    if not 1 <= len(name.strip()) <= 120 or not name.isprintable():
        errors.append(FieldError(pointer="/name", code="name", message=say("1 to 120 printable characters")))
    if not scopes:
        errors.append(FieldError(pointer="/scopes", code="scopes", message=say("choose at least one")))
    if clusters is not None and not clusters:
        message = say("name at least one; null is every cluster of the owner")
        errors.append(FieldError(pointer="/clusters", code="clusters", message=message))
    if not 1 <= days <= LONGEST_DAYS:
        errors.append(
            FieldError(
                pointer="/days",
                code="days",
                message=say("1 to %(longest_days)s days", longest_days=LONGEST_DAYS),
            )
        )
    if errors:
        raise Invalid(say("the token is not valid"), code=errors[0].code, errors=errors)


def _facts(token: Token) -> dict[str, object]:
    return {
        "key": token.key,
        "person_id": token.person_id,
        "scopes": token.scopes,
        "clusters": None if token.all_clusters else sorted(token.clusters.values_list("pk", flat=True)),
        "expires_at": token.expires_at.isoformat(),
    }


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
