"""What people do at the gate: answer, waive, sign. None of it by token."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.queries import token_makers
from apps.audit.services import decision
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing, NotAllowed, Stale
from apps.core.reasons import require_reason, says_something
from apps.core.rights import Right
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.launches import queries
from apps.launches.engine.checklist import parse_items
from apps.launches.engine.standing import STANDING_WORDS, Standing
from apps.launches.models import Answer, Launch, LaunchState, SignOff, Waiver
from apps.launches.services.launches import lock, locked, not_in_state, note, tell


@decision
def answer_item(*, actor: Actor, launch_id: Any, item: str, verdict: str, text: str) -> Answer:
    """A person answers a manual item: pass, warn or fail, and what it rests on.

    Raises Invalid (item, verdict, text), Conflict where the launch is over, NotAllowed.
    """
    person_id = actor.require_person_present()
    launch = _open(actor, launch_id)
    if not (
        actor.may(Right.OPERATE, launch.cluster.scope_id) or actor.may(Right.SIGN, launch.cluster.scope_id)
    ):
        raise NotAllowed(_("this needs the right to operate or to sign"), code="role")
    manual = {one.key for one in parse_items(launch.template.items) if one.manual}
    errors = []
    if item not in manual:
        errors.append(
            FieldError(
                pointer="/item", message=say("say one of %(manual)s", manual=", ".join(sorted(manual)))
            )
        )
    if verdict not in (Verdict.PASS, Verdict.WARN, Verdict.FAIL):
        errors.append(FieldError(pointer="/verdict", message=_("say pass, warn or fail")))
    if not says_something(text):
        errors.append(FieldError(pointer="/note", message=_("say what you saw")))
    if errors:
        raise Invalid(errors[0].message, errors=errors)
    answer = Answer.objects.create(
        launch=launch, item=item, verdict=verdict, note=text.strip(), person_id=person_id, at=clock.now()
    )
    note(actor, "launch.answered", launch, after={"item": item, "verdict": verdict}, reason=text)
    return answer


@decision
def answer_items(*, actor: Actor, launch_id: Any, answers: Mapping[str, tuple[str, str]]) -> list[Answer]:
    """Several items at once, all or none: item to verdict and text. Raises as answer_item."""
    return [
        answer_item(actor=actor, launch_id=launch_id, item=item, verdict=verdict, text=text)
        for item, (verdict, text) in answers.items()
    ]


@decision
def ask_waiver(*, actor: Actor, launch_id: Any, item: str, reason: str, expires_at: datetime) -> Waiver:
    """Ask for an item to be let pass until a time, within the longest time of the settings.

    Raises Invalid, Conflict, NotAllowed.
    """
    person_id = actor.require_person_present()
    launch = _open(actor, launch_id)
    actor.require(Right.OPERATE, launch.cluster.scope_id)
    errors = []
    if item not in {one.key for one in parse_items(launch.template.items)}:
        errors.append(FieldError(pointer="/item", message=_("there is no such item")))
    if not says_something(reason):
        errors.append(FieldError(pointer="/reason", message=_("a reason is needed")))
    if expires_at <= clock.now():
        errors.append(FieldError(pointer="/expires_at", message=_("say a time to come")))
    elif expires_at > clock.now() + timedelta(hours=settings.WAIVER_LONGEST_HOURS):
        longest = say("at most %(hours)s hours from now", hours=settings.WAIVER_LONGEST_HOURS)
        errors.append(FieldError(pointer="/expires_at", message=longest))
    if errors:
        raise Invalid(errors[0].message, errors=errors)
    waiver = Waiver.objects.create(
        launch=launch,
        item=item,
        reason=reason.strip(),
        requested_by_id=person_id,
        requested_at=clock.now(),
        expires_at=expires_at,
    )
    note(
        actor,
        "launch.waiver_asked",
        launch,
        after={"item": item, "expires_at": expires_at.isoformat()},
        reason=reason,
    )
    return waiver


@decision
def approve_waiver(*, actor: Actor, waiver_id: int) -> Waiver:
    """A second person lets an item pass. Raises NotAllowed (four_eyes, role), Conflict."""
    person_id = actor.require_person_present()
    waiver = _waiver(actor, waiver_id)
    if person_id == waiver.requested_by_id:
        raise NotAllowed(_("a second person must approve: you asked for it"), code="four_eyes")
    moved = Waiver.objects.filter(
        pk=waiver_id, approved_at__isnull=True, revoked_at__isnull=True, expires_at__gt=clock.now()
    ).update(approved_by_id=person_id, approved_at=clock.now())
    if not moved:
        raise Conflict(_("the waiver is decided or over"), code="waiver_state")
    waiver.refresh_from_db()
    note(actor, "launch.waived", waiver.launch, after={"item": waiver.item}, reason=waiver.reason)
    return waiver


@decision
def revoke_waiver(*, actor: Actor, waiver_id: int, reason: str) -> Waiver:
    """Take a waiver back. Raises Conflict where it is over, NotAllowed."""
    actor.require_person_present()
    waiver = _waiver(actor, waiver_id)
    require_reason(reason)
    if not Waiver.objects.filter(pk=waiver_id, revoked_at__isnull=True).update(revoked_at=clock.now()):
        raise Conflict(_("the waiver was revoked already"), code="waiver_state")
    waiver.refresh_from_db()
    note(actor, "launch.waiver_revoked", waiver.launch, before={"item": waiver.item}, reason=reason)
    return waiver


@decision
def sign_launch(*, actor: Actor, evaluation_id: Any, digest: str, go: bool, comment: str = "") -> SignOff:
    """Sign one evaluation, named by its digest: GO (only where it waits for that) or NO-GO (with a comment).

    Raises NotAllowed (role, person_required, reauthenticate, four_eyes), Stale where the digest is another,
    Conflict where the evaluation no longer stands or is no GO.
    """
    person_id = actor.require_person_present()
    lock(queries.evaluation_for(actor, evaluation_id).launch_id)
    evaluation = queries.evaluation_for(actor, evaluation_id)
    launch = evaluation.launch
    actor.require(Right.SIGN, launch.cluster.scope_id)
    _require_second_person(launch, person_id)
    now = clock.now()
    actor.require_recent_password(now=now, within_s=settings.REAUTHENTICATE_AFTER_S)
    if not go or comment:
        require_reason(comment, pointer="/comment")
    if evaluation.digest != digest:
        raise Stale(_("this is not the evaluation that you have seen"), digest=evaluation.digest)
    _require_signable(launch, evaluation, go=go, now=now)
    try:
        with transaction.atomic():
            signed = SignOff.objects.create(
                evaluation=evaluation,
                person_id=person_id,
                evaluation_digest=digest,
                go=go,
                comment=comment.strip(),
                at=now,
            )
    except DatabaseError as error:
        raise _refusal(error) from error
    note(
        actor,
        "launch.signed",
        launch,
        after={"evaluation": str(evaluation.pk), "digest": digest, "go": go},
        reason=comment,
    )
    tell("launch.signed", launch, {"evaluation": str(evaluation.pk), "digest": digest, "go": go})
    return signed


def _require_second_person(launch: Launch, person_id: int) -> None:
    """Raises NotAllowed (four_eyes) for who opened or edited the launch, by hand or by a token."""
    if person_id == launch.opened_by_id:
        raise NotAllowed(_("a second person must sign: you opened this launch"), code="four_eyes")
    if person_id in token_makers(launch.opened_by_id):
        raise NotAllowed(_("a second person must sign: your token opened this launch"), code="four_eyes")
    editor_ids = queries.editors_of([launch])[launch.pk]
    if any(person_id == one or person_id in token_makers(one) for one in editor_ids):
        raise NotAllowed(
            _("a second person must sign: you edited this launch, or your token did"), code="four_eyes"
        )


def _refusal(error: DatabaseError) -> Exception:
    """What the database refused: SQLite reports its triggers as integrity errors too, so the words decide."""
    if "four eyes" in str(error):
        return NotAllowed(
            _("a second person must sign: you edited this launch, or your token did"), code="four_eyes"
        )
    if isinstance(error, IntegrityError):
        return Conflict(_("you have signed this evaluation already"), code="signed_twice")
    return error


def _require_signable(launch: Launch, evaluation: Any, *, go: bool, now: datetime) -> None:
    decided = queries.decision_on(launch, evaluation, now=now)
    # While the job runs a new evaluation can be signed, so that a requeue may start; what runs is not signed against.
    if not (launch.state == LaunchState.OPEN or (launch.state == LaunchState.RUNNING and go)):
        raise not_in_state(launch)
    signable = {Standing.NEEDS_SIGNOFF, Standing.GO}
    if go and decided.standing not in signable:
        raise Conflict(
            say(
                "the gate is %(standing)s, it cannot be signed GO", standing=STANDING_WORDS[decided.standing]
            ),
            code="gate_closed",
            standing=decided.standing.value,
            changed=list(decided.changed),
        )


def _waiver(actor: Actor, waiver_id: int) -> Waiver:
    """A waiver of an open launch that the actor may decide on. Raises Missing, NotAllowed, Conflict."""
    rows = Waiver.objects.select_related("launch__cluster", "launch__domain").filter(pk=waiver_id)
    for launch_id in rows.values_list("launch_id", flat=True):
        lock(launch_id)
    waiver = rows.first()
    if waiver is None or not actor.may(Right.READ, waiver.launch.cluster.scope_id):
        raise Missing(_("there is no such waiver, or you may not see it"))
    actor.require(Right.SIGN, waiver.launch.cluster.scope_id)
    if waiver.launch.state != LaunchState.OPEN:
        raise not_in_state(waiver.launch)
    return waiver


def _open(actor: Actor, launch_id: Any) -> Launch:
    launch = locked(actor, launch_id)
    if launch.state != LaunchState.OPEN:
        raise not_in_state(launch)
    return launch
