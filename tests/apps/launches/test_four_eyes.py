"""Who had a hand in a launch does not sign it: opened or edited, by themselves or by a token."""

from __future__ import annotations

import uuid
from importlib import import_module

import pytest
from django.apps import apps as installed
from django.db import DatabaseError, transaction

from apps.accounts.models import Token
from apps.core import clock
from apps.core.actor import Via
from apps.core.errors import NotAllowed
from apps.core.rights import Role
from apps.launches import services
from apps.launches.models import Launch, LaunchEditor, SignOff
from apps.launches.queries import decision_of
from apps.portal.queries import needs_me
from tests import factories
from tests.apps.launches.test_gate import sign, standing
from tests.callers import actor_for


def edit(launch, person, *, title="Llama", **fields):
    launch = Launch.objects.get(pk=launch.pk)
    return services.edit_launch(
        actor=actor_for(person, **fields),
        launch_id=launch.pk,
        expected_version=launch.version,
        title=title,
        plan_version_id=launch.plan_id,
        job_environment=launch.job_environment,
    )


@pytest.fixture
def both(sun, cluster):
    """Sun, who signs, may operate too."""
    factories.grant(sun, Role.OPERATOR, scope=cluster.scope)
    return sun


def test_who_edited_a_launch_does_not_sign_it_whoever_edited_it_later(answered, evaluated, both, bo):
    launch = answered()
    edit(launch, both, title="Mine")
    edit(launch, bo, title="Mine, and Bo's")
    evaluation = evaluated(launch)
    for go in (True, False):
        with pytest.raises(NotAllowed) as refused:
            sign(evaluation, both, go=go, comment="why")
        assert refused.value.code == "four_eyes"
    row = {"evaluation": evaluation, "evaluation_digest": evaluation.digest, "go": True, "at": clock.now()}
    with pytest.raises(DatabaseError, match="four eyes"), transaction.atomic():
        SignOff.objects.create(person=both, **row)
    assert standing(launch) == "needs_signoff"
    assert "Sign" not in {item.action for item in needs_me.waiting_for(actor_for(both))}


def test_a_launch_is_not_given_to_another_opener_or_cluster(answered, both):
    launch = Launch.objects.filter(pk=answered().pk)
    for said in ({"opened_by": both}, {"cluster": factories.cluster("elsewhere")}):
        with pytest.raises(DatabaseError, match="who opened a launch stays so"), transaction.atomic():
            launch.update(**said)


def test_a_launch_does_not_go_away_beneath_its_signatures(answered, evaluated, sun):
    sign(evaluated(answered()), sun)
    with pytest.raises(DatabaseError, match="a launch stays"), transaction.atomic():
        Launch.objects.all()._raw_delete("default")
    assert SignOff.objects.get().evaluation.launch == Launch.objects.get()


@pytest.mark.parametrize("said", [{"evaluation_digest": "0" * 64}, {"evaluation_id": uuid.UUID(int=7)}])
def test_the_database_itself_refuses_a_signature_of_what_is_not_there(answered, evaluated, sun, said):
    evaluation = evaluated(answered())
    row = {"evaluation_id": evaluation.pk, "evaluation_digest": evaluation.digest} | said
    with pytest.raises(DatabaseError, match="finished evaluation"), transaction.atomic():
        SignOff.objects.create(person=sun, go=True, at=clock.now(), **row)


def test_the_database_itself_refuses_a_signature_of_an_evaluation_that_is_not_done(answered, bo, sun):
    undone = services.request_evaluation(actor=actor_for(bo), launch_id=answered().pk)
    with pytest.raises(DatabaseError, match="finished evaluation"), transaction.atomic():
        SignOff.objects.create(person=sun, go=True, at=clock.now(), evaluation=undone, evaluation_digest="")


def test_saving_a_launch_as_it_is_is_no_edit(answered, evaluated, both):
    launch = answered()
    edit(launch, both)
    sign(evaluated(launch), both)
    assert standing(launch) == "go"


def test_who_signs_edits_and_takes_the_edit_back_has_no_voice_any_more(answered, evaluated, both):
    launch = answered()
    sign(evaluated(launch), both)
    edit(launch, both, title="Mine")
    edit(launch, both)
    decided = decision_of(Launch.objects.get(pk=launch.pk))
    assert (decided.standing.value, decided.changed) == ("needs_signoff", ())


def test_who_made_the_token_of_the_account_that_edited_a_launch_does_not_sign_it(
    answered, evaluated, sun, cluster
):
    robot = factories.service_account("CI", Role.OPERATOR, scope=cluster.scope)
    factories.bearer(robot, "launch:write")
    Token.objects.filter(person=robot).update(created_by=sun)
    launch = answered()
    edit(launch, robot, title="By CI", via=Via.TOKEN)
    evaluation = evaluated(launch)
    with pytest.raises(NotAllowed) as refused:
        sign(evaluation, sun)
    assert refused.value.code == "four_eyes"
    row = {"evaluation": evaluation, "evaluation_digest": evaluation.digest, "go": True, "at": clock.now()}
    with pytest.raises(DatabaseError, match="four eyes"), transaction.atomic():
        SignOff.objects.create(person=sun, **row)


def test_nobody_is_taken_off_the_list_of_editors(answered, both, ada):
    launch = answered()
    edit(launch, both, title="Mine")
    kept = LaunchEditor.objects.filter(launch=launch, person=both)
    for call in (lambda: kept.update(person=ada), lambda: kept._raw_delete("default")):
        with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
            call()


def test_editors_of_launches_that_were_there_before_come_from_the_audit_trail(
    answered, both, bo, monkeypatch
):
    migration = import_module("apps.launches.migrations.0002_who_edited_a_launch")
    monkeypatch.setattr("apps.launches.services.launches._note_editor", lambda actor, launch: None)
    launch = answered()
    edit(launch, both, title="Mine")
    assert not launch.editors.exists()
    migration.name_editors(installed, None)
    assert list(launch.editors.values_list("person_id", flat=True)) == [bo.pk, both.pk]
