"""People: joining, roles per scope, leaving; who may decide about whom."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection

from apps.accounts import queries, services
from apps.accounts.models import Invitation, Person, RoleGrant, Token
from apps.accounts.services.invitations import RoleIn
from apps.accounts.services.roles import grant_role_by_email
from apps.audit.models import AuditEvent
from apps.core import actor as actors
from apps.core import clock
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.core.rights import Right, Role
from tests import factories
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
GOOD = "a long enough pass phrase"


def invite(actor, *roles: RoleIn, email: str = "new@example.com"):
    return services.invite(email=email, name="Nia", roles=roles, actor=actor_for(actor))


def test_an_invitation_makes_a_person_with_the_chosen_roles_once(ada, cluster):
    _made, secret = invite(ada, RoleIn(Role.OPERATOR, cluster.scope_id), RoleIn(Role.AUDITOR, None))
    person = services.accept_invitation(secret=secret, name="Nia", password=GOOD)
    assert person.check_password(GOOD)
    rights = actor_for(person)
    assert rights.may(Right.OPERATE, cluster.scope_id)
    assert rights.may(Right.AUDIT, None)
    with pytest.raises(Missing):
        services.accept_invitation(secret=secret, name="Again", password=GOOD)
    assert Person.objects.filter(email="new@example.com").count() == 1


def test_a_link_is_worthless_once_it_is_over_revoked_or_its_inviter_has_left(ada):
    second = factories.person("Zoe", Role.ADMIN)
    over, secret = invite(ada, RoleIn(Role.VIEWER, None))
    Invitation.objects.filter(pk=over.pk).update(expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(Missing):
        services.accept_invitation(secret=secret, name="x", password=GOOD)
    revoked, secret = invite(ada, RoleIn(Role.VIEWER, None))
    services.revoke_invitation(invitation_id=revoked.pk, actor=actor_for(ada))
    with pytest.raises(Missing):
        services.accept_invitation(secret=secret, name="x", password=GOOD)
    _orphan, secret = invite(second, RoleIn(Role.VIEWER, None))
    services.leave(person_id=second.pk, actor=actor_for(ada), reason="left the company")
    with pytest.raises(Missing):
        services.accept_invitation(secret=secret, name="x", password=GOOD)


def test_an_inviter_who_lost_the_right_meanwhile_gives_no_role(ada, eve, other_cluster):
    _made, secret = invite(eve, RoleIn(Role.OPERATOR, other_cluster.scope_id))
    RoleGrant.objects.filter(person=eve, role="admin").delete()
    person = services.accept_invitation(secret=secret, name="Nia", password=GOOD)
    assert not person.grants.exists()


def test_a_weak_password_leaves_the_link_good(ada):
    _made, secret = invite(ada, RoleIn(Role.VIEWER, None))
    for weak in ("short", "password1234", "new@example.com"):
        with pytest.raises(Invalid) as refused:
            services.accept_invitation(secret=secret, name="Nia", password=weak)
        assert refused.value.code == "password"
    services.accept_invitation(secret=secret, name="Nia", password=GOOD)


def test_an_administrator_of_one_scope_gives_roles_only_there(ada, eve, cluster, other_cluster):
    vera = factories.person("Vera", Role.VIEWER, scope=other_cluster.scope)
    services.grant_role(
        person_id=vera.pk, role=Role.OPERATOR, scope_id=other_cluster.scope_id, actor=actor_for(eve)
    )
    with pytest.raises(Missing):
        services.grant_role(
            person_id=vera.pk, role=Role.OPERATOR, scope_id=cluster.scope_id, actor=actor_for(eve)
        )
    with pytest.raises(NotAllowed):
        services.grant_role(person_id=vera.pk, role=Role.OPERATOR, scope_id=None, actor=actor_for(eve))
    with pytest.raises(NotAllowed):
        invite(eve, RoleIn(Role.VIEWER, None))


def test_an_administrator_of_one_scope_neither_sees_nor_touches_people_of_another(ada, bo, eve):
    assert not queries.people_visible_to(actor_for(eve)).filter(pk=bo.pk).exists()
    with pytest.raises(Missing):
        services.leave(person_id=bo.pk, actor=actor_for(eve), reason="x")
    with pytest.raises(Missing):
        services.revoke_role(grant_id=bo.grants.get().pk, actor=actor_for(eve))


def test_somebody_known_by_address_can_be_given_a_role(bo, eve, other_cluster):
    grant = grant_role_by_email(
        email="BO@example.com", role=Role.VIEWER, scope_id=other_cluster.scope_id, actor=actor_for(eve)
    )
    assert grant.person == bo
    with pytest.raises(NotAllowed):
        services.leave(person_id=bo.pk, actor=actor_for(eve), reason="has a role elsewhere too")


@pytest.mark.parametrize("name", ["bo", "chen", "sun", "dana", "vic"])
def test_who_administrates_nowhere_decides_about_nobody(name, request, ada, vic, cluster):
    actor = actor_for(request.getfixturevalue(name))
    for decide in (
        lambda: services.grant_role(
            person_id=vic.pk, role=Role.ADMIN, scope_id=cluster.scope_id, actor=actor
        ),
        lambda: services.leave(person_id=ada.pk, actor=actor, reason="x"),
        lambda: services.create_service_account(
            name="ci", role=Role.VIEWER, scope_id=cluster.scope_id, actor=actor
        ),
        lambda: queries.people_visible_to(actor),
    ):
        with pytest.raises(NotAllowed):
            decide()


def test_leaving_ends_everything_and_keeps_the_row(ada, bo, client_of, api):
    bearer, browser = factories.bearer(bo), client_of(bo)
    assert api(bearer).get("/api/v1/auth-check/").status_code == 200
    services.leave(person_id=bo.pk, actor=actor_for(ada), reason="left the company")
    bo.refresh_from_db()
    assert (bo.is_active, bo.grants.exists()) == (False, False)
    answer = api(bearer).get("/api/v1/auth-check/")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_revoked")
    assert browser.get("/tokens/").status_code == 302
    assert Token.objects.get(person=bo).revoked_at is not None
    event = AuditEvent.objects.get(action="person.left")
    assert "left the company" in event.body
    with pytest.raises(Conflict):
        services.leave(person_id=bo.pk, actor=actor_for(ada), reason="again")


def test_a_superuser_who_leaves_is_none_any_more(ada):
    root = factories.person("Root", is_superuser=True)
    services.leave(person_id=root.pk, actor=actor_for(ada), reason="x")
    root.refresh_from_db()
    assert queries.rights_of(root) == {}


def test_nobody_removes_the_last_administrator(ada):
    grant = ada.grants.get()
    for decide in (
        lambda: services.leave(person_id=ada.pk, actor=actor_for(ada), reason="x"),
        lambda: services.revoke_role(grant_id=grant.pk, actor=actor_for(ada)),
    ):
        with pytest.raises(Conflict) as refused:
            decide()
        assert refused.value.code == "last_admin"
    factories.service_account("ci", Role.ADMIN)
    factories.person("Gone", Role.ADMIN, is_active=False)
    with pytest.raises(Conflict):
        services.revoke_role(grant_id=grant.pk, actor=actor_for(ada))
    factories.person("Zoe", Role.ADMIN)
    services.revoke_role(grant_id=grant.pk, actor=actor_for(ada))


@pytest.mark.parametrize("role", [Role.APPROVER, Role.SIGNER, Role.ADMIN])
def test_a_service_account_never_gets_a_role_that_decides(ada, role):
    account = services.create_service_account(
        name="ci", role=Role.OPERATOR, scope_id=None, actor=actor_for(ada)
    )
    with pytest.raises(NotAllowed) as refused:
        services.grant_role(person_id=account.pk, role=role, scope_id=None, actor=actor_for(ada))
    assert refused.value.code == "service_account"
    assert not account.has_usable_password()


def test_the_same_role_is_given_once(ada, bo, cluster):
    with pytest.raises(Conflict) as refused:
        services.grant_role(
            person_id=bo.pk, role=Role.OPERATOR, scope_id=cluster.scope_id, actor=actor_for(ada)
        )
    assert refused.value.code == "granted"


def test_a_name_can_be_erased_after_leaving_and_the_trail_still_verifies(ada, bo):
    from apps.audit.queries import shown, verify

    services.change_password(current=factories.PASSWORD, new=GOOD, actor=actor_for(bo))
    with pytest.raises(Conflict):
        services.erase_name(person_id=bo.pk, actor=actor_for(ada), reason="asked for it")
    services.leave(person_id=bo.pk, actor=actor_for(ada), reason="x")
    services.erase_name(person_id=bo.pk, actor=actor_for(ada), reason="asked for it")
    event = AuditEvent.objects.get(action="person.password_changed")
    assert shown([event])[0].actor == f"erased {bo.pk}"
    assert verify().intact


def test_a_password_is_changed_by_who_knows_it(bo):
    with pytest.raises(Invalid) as refused:
        services.change_password(current="wrong", new=GOOD, actor=actor_for(bo))
    assert refused.value.code == "password_wrong"
    services.change_password(current=factories.PASSWORD, new=GOOD, actor=actor_for(bo))
    bo.refresh_from_db()
    assert bo.check_password(GOOD)
    bodies = " ".join(AuditEvent.objects.values_list("body", flat=True))
    assert GOOD not in bodies


def test_the_first_administrator_gets_a_random_password_that_holds(capsys, database):
    from django.core.management import CommandError, call_command

    call_command("create_admin", "root@example.com", "--name", "Root")
    said = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    person = Person.objects.get(email="root@example.com")
    assert person.check_password(said["password"])
    assert actor_for(person).may(Right.ADMIN, None)
    assert AuditEvent.objects.filter(via="command").count() == 2
    with pytest.raises(CommandError):
        call_command("create_admin", "root@example.com")


@pytest.mark.parametrize(
    ("field", "value"), [("language", "xx"), ("time_zone", "Mars/Olympus"), ("name", ""), ("name", "a\nb")]
)
def test_odd_preferences_are_refused_at_their_field(bo, field, value):
    values = {"name": "Bo", "language": "", "time_zone": "", "shortcuts": True, field: value}
    with pytest.raises(Invalid) as refused:
        services.save_preferences(**values, actor=actor_for(bo))
    assert refused.value.errors[0].pointer == f"/{field}"


def test_the_system_is_no_person(ada):
    with pytest.raises(NotAllowed):
        services.change_password(current="x", new=GOOD, actor=actors.system())


@pytest.mark.postgres
def test_two_administrators_cannot_remove_each_other_at_once(committed_database, ada):
    zoe = factories.person("Zoe", Role.ADMIN)
    ready, outcomes = threading.Barrier(2), []

    def remove(who: Person, whom: Person) -> None:
        actor = actor_for(who)
        ready.wait(timeout=30)
        try:
            services.leave(person_id=whom.pk, actor=actor, reason="race")
            outcomes.append("left")
        except (Conflict, NotAllowed) as refused:
            outcomes.append(refused.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=remove, args=pair) for pair in ((ada, zoe), (zoe, ada))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["last_admin", "left"]
    assert Person.objects.filter(is_active=True).count() == 1
