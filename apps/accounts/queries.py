"""Questions about people: what somebody may do, and whom a token stands for."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import defaultdict
from datetime import datetime

from django.conf import settings

from apps.accounts.models import Person, RoleGrant, Token
from apps.core.actor import EVERYWHERE
from apps.core.errors import NotSignedIn
from apps.core.rights import RIGHTS_OF, Right, Role, TokenScope

_TOKEN = re.compile(r"snp_([0-9A-Za-z]{12})\.([0-9A-Za-z]{40})")

# What a token scope lets its bearer do at most, cut with what its owner may do.
_RIGHTS_OF_SCOPE: dict[TokenScope, frozenset[Right]] = {
    TokenScope.READ: frozenset({Right.READ}),
    TokenScope.AUDIT_READ: frozenset({Right.READ, Right.AUDIT}),
    **{
        scope: frozenset({Right.READ, Right.OPERATE})
        for scope in TokenScope
        if scope not in (TokenScope.READ, TokenScope.AUDIT_READ, TokenScope.GATE_EVALUATE)
    },
    TokenScope.GATE_EVALUATE: frozenset({Right.READ, Right.OPERATE}),
}


def rights_of(person: Person) -> dict[int, frozenset[Right]]:
    """Scope id (EVERYWHERE for all) to the rights that the person's roles give there."""
    if not person.is_active:
        return {}
    if person.is_superuser:
        return {EVERYWHERE: frozenset(Right)}
    held: dict[int, set[Right]] = defaultdict(set)
    for role, scope_id in RoleGrant.objects.filter(person=person).values_list("role", "scope_id"):
        held[scope_id or EVERYWHERE] |= RIGHTS_OF[Role(role)]
    return {scope: frozenset(rights) for scope, rights in held.items()}


def secret_hash(secret: str, *, pepper: int) -> str:
    """HMAC-SHA256 of a token's secret under a numbered pepper, in hex. Raises KeyError for a removed pepper."""
    return hmac.new(settings.TOKEN_PEPPERS[pepper].encode(), secret.encode(), hashlib.sha256).hexdigest()


def token_behind(bearer: str, *, now: datetime) -> Token:
    """The valid token behind a bearer text. Raises NotSignedIn, with the same words for unknown and wrong."""
    match = _TOKEN.fullmatch(bearer.strip())
    token = Token.objects.select_related("person").filter(key=match.group(1)).first() if match else None
    if match is None or token is None or token.pepper not in settings.TOKEN_PEPPERS:
        raise NotSignedIn("the token is not known", code="token_unknown")
    if not hmac.compare_digest(token.secret_hash, secret_hash(match.group(2), pepper=token.pepper)):
        raise NotSignedIn("the token is not known", code="token_unknown")
    if token.revoked_at is not None or not token.person.is_active:
        raise NotSignedIn("the token was revoked", code="token_revoked")
    if token.expires_at <= now:
        raise NotSignedIn("the token has expired", code="token_expired")
    return token


def rights_of_token(token: Token) -> dict[int, frozenset[Right]]:
    """The owner's rights, cut to the token's scopes and clusters; approving and signing are never among them."""
    most: frozenset[Right] = frozenset().union(*(_RIGHTS_OF_SCOPE[scope] for scope in token.token_scopes))
    own = rights_of(token.person)
    if token.all_clusters:
        return {scope: rights & most for scope, rights in own.items()}
    everywhere = own.get(EVERYWHERE, frozenset())
    return {
        scope_id: (own.get(scope_id, frozenset()) | everywhere) & most
        for scope_id in token.clusters.values_list("id", flat=True)
    }


def people_with(right: Right, *, scope_id: int) -> list[Person]:
    """Active people (no service accounts) who hold a right in a scope, by name."""
    roles = [role.value for role, rights in RIGHTS_OF.items() if right in rights]
    grants = RoleGrant.objects.filter(role__in=roles).filter(scope_id=scope_id) | RoleGrant.objects.filter(
        role__in=roles, scope__isnull=True
    )
    people = Person.objects.filter(is_active=True, kind="person")
    return list(
        (people.filter(pk__in=grants.values("person")) | people.filter(is_superuser=True)).order_by("name")
    )


def active_person_ids(person_ids: set[int]) -> set[int]:
    """Those of the ids whose people have not left."""
    return set(Person.objects.filter(pk__in=person_ids, is_active=True).values_list("pk", flat=True))
