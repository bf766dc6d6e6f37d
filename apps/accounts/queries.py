"""Questions about people: what somebody may do, and whom a token stands for."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import CharField, Exists, F, OuterRef, Prefetch, Q, QuerySet, Value

from apps.accounts.models import Invitation, Person, PersonKind, RoleGrant, Scope, Token
from apps.core import clock, digest
from apps.core.actor import EVERYWHERE, Actor
from apps.core.errors import Missing, NotAllowed, NotSignedIn
from apps.core.prepared import Prepared
from apps.core.rights import RIGHTS_OF, Right, Role, TokenScope
from apps.core.texts import say

_NO_ROLE = Value("", output_field=CharField())
_TOKEN = re.compile(r"snp_([0-9A-Za-z]{12})\.([0-9A-Za-z]{40})")

# What a token scope lets its bearer do at most, cut with what its owner may do.
_RIGHTS_OF_SCOPE: dict[TokenScope, frozenset[Right]] = {
    TokenScope.READ: frozenset({Right.READ}),
    TokenScope.AUDIT_READ: frozenset({Right.READ, Right.AUDIT}),
}
_RIGHTS_OF_OTHER_SCOPES = frozenset({Right.READ, Right.OPERATE})

_OWNER = ("id", "name", "is_active", "is_superuser")  # what a request asks of the owner of its token
_TOKEN_OF_KEY = Prepared(
    lambda key: Token.objects.filter(key=key).annotate(
        **{f"owner_{name}": F(f"person__{name}") for name in _OWNER}
    )
)
_GRANTS_AND_CLUSTERS = Prepared(
    lambda person_id, token_id: (
        RoleGrant.objects.filter(person_id=person_id)
        .values_list("role", "scope_id")
        .union(
            Token.clusters.through.objects.filter(token_id=token_id).values_list(_NO_ROLE, "scope_id"),
            all=True,
        )
    )
)


def rights_of(person: Person) -> dict[int, frozenset[Right]]:
    """Scope id (EVERYWHERE for all) to the rights that the person's roles give there."""
    return _rights(person, RoleGrant.objects.filter(person=person).values_list("role", "scope_id"))


def _rights(person: Person, grants: Iterable[tuple[str, int | None]]) -> dict[int, frozenset[Right]]:
    if not person.is_active:
        return {}
    if person.is_superuser:
        return {EVERYWHERE: frozenset(Right)}
    held: dict[int, set[Right]] = defaultdict(set)
    for role, scope_id in grants:
        held[scope_id or EVERYWHERE] |= RIGHTS_OF[Role(role)]
    return {scope: frozenset(rights) for scope, rights in held.items()}


def secret_hash(secret: str, *, pepper: int) -> str:
    """HMAC-SHA256 of a token's secret under a numbered pepper, in hex. Raises KeyError for a removed pepper."""
    return hmac.new(settings.TOKEN_PEPPERS[pepper].encode(), secret.encode(), hashlib.sha256).hexdigest()


def token_behind(bearer: str, *, now: datetime) -> Token:
    """The valid token behind a bearer text. Raises NotSignedIn, with the same words for unknown and wrong."""
    match = _TOKEN.fullmatch(bearer.strip())
    token = next(iter(_TOKEN_OF_KEY.objects(key=match.group(1))), None) if match else None
    if match is None or token is None or token.pepper not in settings.TOKEN_PEPPERS:
        raise NotSignedIn(say("the token is not known"), code="token_unknown")
    if not hmac.compare_digest(token.secret_hash, secret_hash(match.group(2), pepper=token.pepper)):
        raise NotSignedIn(say("the token is not known"), code="token_unknown")
    token.person = Person.from_db(None, _OWNER, [getattr(token, f"owner_{name}") for name in _OWNER])
    if token.revoked_at is not None or not token.person.is_active:
        raise NotSignedIn(say("the token was revoked"), code="token_revoked")
    if token.expires_at <= now:
        raise NotSignedIn(say("the token has expired"), code="token_expired")
    return token


def rights_of_token(token: Token) -> dict[int, frozenset[Right]]:
    """The owner's rights, cut to the token's scopes and clusters; approving and signing are never among them."""
    most: frozenset[Right] = frozenset().union(
        *(_RIGHTS_OF_SCOPE.get(scope, _RIGHTS_OF_OTHER_SCOPES) for scope in token.token_scopes)
    )
    grants, clusters = _grants_and_clusters(token)
    own = _rights(token.person, grants)
    if token.all_clusters:
        return {scope: rights & most for scope, rights in own.items()}
    everywhere = own.get(EVERYWHERE, frozenset())
    return {scope_id: (own.get(scope_id, frozenset()) | everywhere) & most for scope_id in clusters}


def _grants_and_clusters(token: Token) -> tuple[list[tuple[str, int | None]], list[int]]:
    """The roles of the token's owner and the clusters of the token, in one query: each request asks for both."""
    rows = _GRANTS_AND_CLUSTERS.rows(person_id=token.person_id, token_id=token.pk)
    return [row for row in rows if row[0]], [scope_id for role, scope_id in rows if not role]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Names of who holds a right somewhere, by name: those who can use it on a thing, and those whom four eyes bar."""

    able: list[str]
    barred: list[str]


def hands_for(right: Right, *, scope_id: int, involved_ids: Iterable[int]) -> Hands:
    """Who can use a right on a thing, where people with a hand in it (themselves or by a token) may not."""
    involved = set(involved_ids)
    makers = Token.objects.filter(person_id__in=involved, person__kind=PersonKind.SERVICE)
    involved |= set(makers.values_list("created_by_id", flat=True))
    holders = people_with(right, scope_id=scope_id)
    return Hands(
        able=[person.name for person in holders if person.pk not in involved],
        barred=[person.name for person in holders if person.pk in involved],
    )


def people_visible_to(actor: Actor) -> QuerySet[Person]:
    """People that the actor administrates: all, or those with a role in one of their scopes; and themselves.

    Raises NotAllowed (role) for who administrates nowhere.
    """
    scope_ids = _administrated(actor)
    if scope_ids is None:
        return Person.objects.all()
    here = RoleGrant.objects.filter(person=OuterRef("pk"), scope_id__in=scope_ids)
    return Person.objects.filter(Exists(here) | Q(pk=actor.person_id))


def person(person_id: int, *, actor: Actor) -> Person:
    """Somebody that the actor administrates, or themselves. Raises Missing and NotAllowed (role)."""
    if person_id == actor.person_id:
        return Person.objects.get(pk=person_id)
    found = people_visible_to(actor).filter(pk=person_id).first()
    if found is None:
        raise Missing()
    return found


def manages(actor: Actor, person: Person) -> bool:
    """Whether the whole of a person is the actor's to administrate: every role of theirs is in the actor's scopes."""
    if actor.may(Right.ADMIN, None):
        return True
    held = set(RoleGrant.objects.filter(person=person).values_list("scope_id", flat=True))
    mine = actor.scope_ids(Right.ADMIN) or frozenset()
    return bool(held) and not person.is_superuser and held <= mine


def managed_person(person_id: int, *, actor: Actor) -> Person:
    """Somebody whose leaving the actor may decide. Raises Missing and NotAllowed (role)."""
    people_visible_to(actor)
    found = person(person_id, actor=actor)
    if not manages(actor, found):
        raise NotAllowed(
            say("this person has roles that are not yours to take"), code="role", right=Right.ADMIN.value
        )
    return found


def administrates_everywhere(person: Person) -> bool:
    """Whether somebody is one of those of whom one must stay."""
    if person.kind != PersonKind.PERSON or not person.is_active:
        return False
    grants = RoleGrant.objects.filter(person=person, role=Role.ADMIN.value, scope__isnull=True)
    return person.is_superuser or grants.exists()


def grants_visible_to(actor: Actor) -> QuerySet[RoleGrant]:
    """Roles given in the scopes that the actor administrates, and their own. Raises nothing."""
    grants = RoleGrant.objects.select_related("person", "scope", "granted_by")
    scope_ids = actor.scope_ids(Right.ADMIN)
    if scope_ids is None:
        return grants
    return grants.filter(Q(scope_id__in=scope_ids) | Q(person_id=actor.person_id))


def grants_of(person: Person) -> QuerySet[RoleGrant]:
    """The roles of somebody, those of everywhere first."""
    return RoleGrant.objects.filter(person=person).select_related("scope").order_by("scope__name", "role")


def with_grants(people: QuerySet[Person], *, actor: Actor) -> QuerySet[Person]:
    """The people with `visible_grants`: their roles as far as the actor may see them."""
    grants = grants_visible_to(actor).order_by("scope__name", "role")
    return people.prefetch_related(Prefetch("grants", queryset=grants, to_attr="visible_grants"))


def scopes_with(right: Right, *, actor: Actor) -> QuerySet[Scope]:
    """Scopes in which the actor holds a right, by name."""
    scope_ids = actor.scope_ids(right)
    scopes = Scope.objects.order_by("name")
    return scopes if scope_ids is None else scopes.filter(pk__in=scope_ids)


def scopes_visible_to(actor: Actor) -> QuerySet[Scope]:
    """Scopes in which the actor may read."""
    return scopes_with(Right.READ, actor=actor)


def scope_by_slug(slug: str, *, actor: Actor) -> Scope:
    """The scope of a cluster. Raises Missing."""
    found = scopes_visible_to(actor).filter(slug=slug).first()
    if found is None:
        raise Missing(say("%(slug)s: there is no such cluster, or you may not see it", slug=slug[:64]))
    return found


def open_invitation(now: datetime) -> Q:
    """Invitations whose link works: not used, not revoked, not over, and their inviter is still here."""
    return Q(
        accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now, invited_by__is_active=True
    )


def invitations_visible_to(actor: Actor) -> QuerySet[Invitation]:
    """Every invitation for administrators of everywhere, else one's own. Raises NotAllowed (role)."""
    invitations = Invitation.objects.select_related("invited_by", "accepted_by").order_by("-pk")
    if _administrated(actor) is None:
        return invitations
    return invitations.filter(invited_by_id=actor.person_id)


def invitation_behind(secret: str) -> Invitation:
    """The open invitation of a link's secret. Raises Missing (invitation)."""
    found = Invitation.objects.filter(
        open_invitation(clock.now()), secret_hash=digest.of_text(secret)
    ).first()
    if found is None:
        raise Missing(say("this link is not valid, or no longer"), code="invitation")
    return found


def tokens_visible_to(actor: Actor) -> QuerySet[Token]:
    """One's own tokens, for administrators of everywhere all, and those of service accounts of one's scopes."""
    tokens = Token.objects.select_related("person", "created_by").prefetch_related("clusters").order_by("-pk")
    scope_ids = actor.scope_ids(Right.ADMIN)
    if scope_ids is None:
        return tokens
    roles = RoleGrant.objects.filter(person=OuterRef("person"))
    elsewhere = roles.filter(Q(scope__isnull=True) | ~Q(scope_id__in=scope_ids))
    managed = Q(Exists(roles), ~Exists(elsewhere), person__kind=PersonKind.SERVICE)
    return tokens.filter(Q(person_id=actor.person_id) | managed)


def token_owner(person_id: int, *, actor: Actor) -> Person:
    """For whom the actor may make a token: themselves, or a service account that they manage.

    Raises Missing, and NotAllowed (not_yours) for another person, who makes their own.
    """
    owner = person(person_id, actor=actor)
    if owner.pk == actor.person_id:
        return owner
    if owner.kind != PersonKind.SERVICE or not manages(actor, owner):
        raise NotAllowed(say("people make their own tokens; this one is not yours to make"), code="not_yours")
    if not owner.is_active:
        raise Missing()
    return owner


def _administrated(actor: Actor) -> frozenset[int] | None:
    """The scopes that the actor administrates, None for all. Raises NotAllowed (role) where there is none."""
    actor.require_anywhere(Right.ADMIN)
    return actor.scope_ids(Right.ADMIN)


def token_makers(person_id: int) -> set[int]:
    """People who made tokens of a service account, and so may have acted through it; nobody for a person."""
    tokens = Token.objects.filter(person_id=person_id, person__kind=PersonKind.SERVICE)
    return set(tokens.values_list("created_by_id", flat=True))
