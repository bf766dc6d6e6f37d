"""Giving and taking roles, each in a scope or everywhere."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts import queries
from apps.accounts.models import Person, PersonKind, RoleGrant, Scope
from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict, Missing, NotAllowed
from apps.core.rights import Right, Role

FOR_PEOPLE_ONLY = (Role.APPROVER, Role.SIGNER, Role.ADMIN)


@decision
def grant_role(*, person_id: int, role: Role, scope_id: int | None, actor: Actor) -> RoleGrant:
    """Give a role in a scope, or everywhere (None); an administrator of one scope gives roles only there.

    Raises NotAllowed (role, service_account), Missing, and Conflict (granted, left).
    """
    actor.require(Right.ADMIN, scope_id)
    person = queries.person(person_id, actor=actor)
    return add_grant(person=person, role=role, scope_id=scope_id, actor=actor)


@decision
def grant_role_by_email(*, email: str, role: Role, scope_id: int | None, actor: Actor) -> RoleGrant:
    """As grant_role, for somebody whom an administrator of one scope does not see yet, but knows."""
    actor.require(Right.ADMIN, scope_id)
    person = Person.objects.filter(email=email.strip().lower(), is_active=True).first()
    if person is None:
        raise Missing(_("nobody has this address; invite them"))
    return add_grant(person=person, role=role, scope_id=scope_id, actor=actor)


def add_grant(*, person: Person, role: Role, scope_id: int | None, actor: Actor) -> RoleGrant:
    """The grant itself, inside of a decision that has checked the actor's right."""
    if not person.is_active:
        raise Conflict(_("this person has left"), code="left")
    if person.kind == PersonKind.SERVICE and role in FOR_PEOPLE_ONLY:
        raise NotAllowed(_("a service account cannot approve, sign or administrate"), code="service_account")
    if scope_id is not None and not Scope.objects.filter(pk=scope_id).exists():
        raise Missing()
    try:
        with transaction.atomic():
            grant = RoleGrant.objects.create(
                person=person, role=role.value, scope_id=scope_id, granted_by_id=actor.person_id
            )
    except IntegrityError as error:
        raise Conflict(_("this role is given already"), code="granted") from error
    record(actor=actor, action="role.granted", on=person, scope_id=scope_id, after={"role": role.value})
    return grant


@decision
def revoke_role(*, grant_id: int, actor: Actor, reason: str = "") -> None:
    """Take a role away. Raises Missing, NotAllowed (role) and Conflict (last_admin)."""
    grant = queries.grants_visible_to(actor).filter(pk=grant_id).select_related("person").first()
    if grant is None:
        raise Missing()
    actor.require(Right.ADMIN, grant.scope_id)
    if grant.role == Role.ADMIN and grant.scope_id is None:
        require_another_admin(besides=grant.person_id)
    record(
        actor=actor,
        action="role.revoked",
        on=grant.person,
        scope_id=grant.scope_id,
        before={"role": grant.role},
        reason=reason,
    )
    grant.delete()


def require_another_admin(*, besides: int) -> None:
    """Raises Conflict (last_admin) where nobody else would administrate everywhere.

    The rows of all such administrators are locked, so that two cannot remove each other at once.
    """
    grants = RoleGrant.objects.filter(role=Role.ADMIN.value, scope__isnull=True).order_by("pk")
    holders = {grant.person_id for grant in grants.select_for_update()}
    people = Person.objects.filter(is_active=True, kind=PersonKind.PERSON).exclude(pk=besides).order_by("pk")
    others = people.filter(pk__in=holders) | people.filter(is_superuser=True)
    if not list(others.select_for_update()):
        raise Conflict(_("somebody must stay who administrates everywhere"), code="last_admin")
