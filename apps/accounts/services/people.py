"""People and service accounts: joining, preferences, passwords, leaving."""

from __future__ import annotations

import secrets
import zoneinfo
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts import queries
from apps.accounts.models import Invitation, Person, PersonKind, RoleGrant, Token
from apps.accounts.services.roles import add_grant, require_another_admin
from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right, Role
from apps.core.texts import say


def create_person(*, email: str, name: str, password: str | None, kind: str = PersonKind.PERSON) -> Person:
    """The row of somebody new, inside of a decision. password None: nobody can sign in with it.

    Raises Invalid (email, name, password) and Conflict (email_taken).
    """
    email, name = email.strip().lower(), name.strip()
    _check_name(name)
    try:
        validate_email(email)
    except ValidationError as error:
        raise _invalid("/email", "email", " ".join(error.messages)) from error
    person = Person(email=email, name=name, kind=kind)
    if password is not None:
        check_password_rules(password, person)
    person.set_password(password)
    try:
        with transaction.atomic():
            person.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(_("somebody has this address already"), code="email_taken") from error
    return person


@decision
def create_first_admin(*, email: str, name: str, actor: Actor) -> tuple[Person, str]:
    """Somebody who administrates everywhere, with a random password that is given back, and kept nowhere.

    For the server's shell only. Raises Invalid (email, name) and Conflict (email_taken).
    """
    password = secrets.token_urlsafe(15)
    person = create_person(email=email, name=name, password=password)
    record(actor=actor, action="person.created", on=person, after={"kind": person.kind})
    add_grant(person=person, role=Role.ADMIN, scope_id=None, actor=actor)
    return person, password


@decision
def create_service_account(*, name: str, role: Role, scope_id: int | None, actor: Actor) -> Person:
    """An account that acts by tokens only, with a first role, so that administrators of its scope see it.

    Raises NotAllowed (role, service_account), Missing and Invalid (name).
    """
    actor.require(Right.ADMIN, scope_id)
    address = f"service-{secrets.token_hex(6)}@localhost.invalid"
    person = create_person(email=address, name=name, password=None, kind=PersonKind.SERVICE)
    record(actor=actor, action="person.created", on=person, scope_id=scope_id, after={"kind": person.kind})
    add_grant(person=person, role=role, scope_id=scope_id, actor=actor)
    return person


@decision
def leave(*, person_id: int, actor: Actor, reason: str) -> Person:
    """Somebody leaves: sessions end, tokens and invitations of theirs are revoked, roles taken.

    The row stays, because history points at it. Raises Missing, NotAllowed (role), Conflict (left, last_admin).
    """
    person = queries.managed_person(person_id, actor=actor)
    if not person.is_active:
        raise Conflict(_("this person has left already"), code="left")
    if queries.administrates_everywhere(person):
        require_another_admin(besides=person.pk)
    now = clock.now()
    tokens = Token.objects.filter(person=person, revoked_at__isnull=True).update(revoked_at=now)
    invitations = Invitation.objects.filter(
        invited_by=person, accepted_at__isnull=True, revoked_at__isnull=True
    ).update(revoked_at=now)
    grants = RoleGrant.objects.filter(person=person)
    roles = [
        {"role": role, "scope_id": scope_id} for role, scope_id in grants.values_list("role", "scope_id")
    ]
    grants.delete()
    person.is_active, person.is_superuser, person.left_at = False, False, now
    person.set_unusable_password()
    person.save()
    record(
        actor=actor,
        action="person.left",
        on=person,
        before={"roles": roles},
        after={"tokens_revoked": tokens, "invitations_revoked": invitations},
        reason=reason,
    )
    return person


@decision
def erase_name(*, person_id: int, actor: Actor, reason: str) -> Person:
    """Replace name and address of somebody who has left; the trail keeps the id.

    Raises Missing, NotAllowed (role) and Conflict (not_left).
    """
    actor.require(Right.ADMIN, None)
    person = queries.managed_person(person_id, actor=actor)
    if person.is_active:
        raise Conflict(_("only who has left can be erased"), code="not_left")
    person.name = f"erased {person.pk}"
    person.email = f"erased-{person.pk}@localhost.invalid"
    person.save(update_fields=["name", "email"])
    record(actor=actor, action="person.erased", on=person, reason=reason)
    return person


@decision
def change_password(*, current: str, new: str, actor: Actor) -> Person:
    """A person changes their own password; other sessions end.

    Raises NotAllowed (person_required) and Invalid (password_wrong, password).
    """
    person = Person.objects.get(pk=actor.require_person_present())
    if not person.check_password(current):
        raise _invalid("/current", "password_wrong", say("this is not your password"))
    check_password_rules(new, person)
    person.set_password(new)
    person.save(update_fields=["password"])
    record(actor=actor, action="person.password_changed", on=person)
    return person


def save_preferences(*, name: str, language: str, time_zone: str, shortcuts: bool, actor: Actor) -> Person:
    """A person's own name and how they like the pages; no decision, so no event.

    Raises NotAllowed (person_required) and Invalid (name, language, time_zone).
    """
    person_id = actor.require_person_present()
    name = name.strip()
    _check_name(name)
    if language and language not in dict(settings.LANGUAGES):
        raise _invalid("/language", "language", say("a language of the list"))
    if time_zone and time_zone not in zoneinfo.available_timezones():
        raise _invalid("/time_zone", "time_zone", say("a zone such as Asia/Shanghai"))
    values: dict[str, Any] = {"name": name, "language": language, "time_zone": time_zone}
    Person.objects.filter(pk=person_id).update(**values, shortcuts=shortcuts)
    return Person.objects.get(pk=person_id)


@decision
def note_sign_in(*, actor: Actor) -> None:
    """Somebody gave their password: at sign-in, or to confirm it."""
    person = Person.objects.get(pk=actor.require_person_present())
    record(actor=actor, action="person.signed_in", on=person)


def check_password_rules(password: str, person: Person) -> None:
    """Raises Invalid (password) that says what is missing."""
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise Invalid(
            _("the password is not good enough"),
            code="password",
            errors=[
                FieldError(pointer="/password", code="password", message=text) for text in error.messages
            ],
        ) from error


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 120 or not name.isprintable():
        raise _invalid("/name", "name", say("1 to 120 printable characters"))


def _invalid(pointer: str, code: str, message: str) -> Invalid:
    return Invalid(message, code=code, errors=[FieldError(pointer=pointer, code=code, message=message)])
