"""The demonstration comes through the ordinary services, is marked, and can be removed whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import Person
from apps.audit.models import AuditEvent
from apps.changes.models import Change
from apps.core import actor as actors
from apps.core.errors import Conflict, Missing
from apps.core.rights import Right, Role
from apps.environments.models import MatrixVersion, NodeFact
from apps.environments.queries import known_good, newest_check, open_findings
from apps.evidence.models import Evidence, Receipt
from apps.fleet.models import Accelerator, Cluster, Domain, Node
from apps.jobs.models import Job
from apps.launches.models import Evaluation, Launch, SignOff
from apps.planning.models import PlanVersion
from apps.portal.services import demo, demo_removal
from tests import callers, factories


@pytest.fixture
def loaded(demonstration: Any) -> list[demo.Login]:
    return demonstration.logins


def test_the_demonstration_tells_a_story_that_rests_on_real_output(loaded: list[demo.Login]) -> None:
    domain = Domain.objects.get(cluster__is_demo=True)
    assert Accelerator.objects.filter(node__domain=domain).count() == 144
    assert loaded[0].role.value == "admin"
    good = known_good(domain)
    assert good is not None and good.known_good_basis is not None
    assert PlanVersion.objects.get().fits is True
    system = PlanVersion.objects.get().input["system"]
    assert (system["accelerators"], system["sub_domain_size"], system["convergence_ratio"]) == (144, 36, 2.0)
    assert 0.8 < system["measured"]["scale_up_busbw_gb_s"] / system["scale_up_gb_s"] <= 1.0
    check = newest_check(domain)
    assert check is not None and check.verdict == "fail"
    differing = {finding.node.name for finding in open_findings(domain=domain) if finding.verdict == "fail"}
    assert differing == {"sn-n07"}
    assert not Job.objects.filter(state__in=("queued", "running")).exists()


def test_loading_again_changes_nothing(loaded: list[demo.Login], capsys: Any) -> None:
    before = AuditEvent.objects.count()

    call_command("load_demo")

    assert AuditEvent.objects.count() == before
    assert "load_demo --new-passwords" in capsys.readouterr().out


def test_forgotten_passwords_are_made_anew_and_shown_once(loaded: list[demo.Login], capsys: Any) -> None:
    call_command("load_demo", "--new-passwords")

    told = dict(line.split()[1:3] for line in capsys.readouterr().out.splitlines() if "@demo.example" in line)
    assert set(told) == {login.email for login in loaded}
    for login in loaded:
        person = Person.objects.get(email=login.email)
        assert person.check_password(told[login.email]) and not person.check_password(login.password)
    assert AuditEvent.objects.filter(action="person.password_changed").count() == len(loaded)


def test_without_a_demonstration_there_are_no_passwords_to_make_anew(database: None) -> None:
    with pytest.raises(CommandError, match="no demonstration fleet is loaded"):
        call_command("load_demo", "--new-passwords")


def test_a_load_that_died_midway_is_done_anew_with_people_who_can_sign_in(
    database: None, monkeypatch: Any
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(demo, "_launched", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            demo.load()
    assert Cluster.objects.filter(is_demo=True).exists() and not demo.is_loaded()

    call_command("load_demo")

    assert demo.is_loaded()
    assert Domain.objects.count() == 1 and Launch.objects.count() == 1


def test_the_demonstration_comes_back_after_it_was_removed(loaded: list[demo.Login]) -> None:
    factories.person("Root", email="root@example.com", is_superuser=True)
    demo_removal.remove(actor=actors.command("test"))

    again = demo.load()

    assert [login.name for login in again] == [login.name for login in loaded]
    for login in again:
        person = Person.objects.get(email=login.email)
        assert person.is_active and person.check_password(login.password)


def test_a_portal_whose_demonstration_was_removed_starts_without_it(
    loaded: list[demo.Login], capsys: Any
) -> None:
    factories.person("Root", email="root@example.com", is_superuser=True)
    demo_removal.remove(actor=actors.command("test"))

    call_command("load_demo", "--unless-in-use")

    assert not Cluster.objects.exists()
    assert "is in use" in capsys.readouterr().out


def test_a_portal_with_a_fleet_of_its_own_starts_without_the_demonstration(
    cluster: Cluster, capsys: Any
) -> None:
    call_command("load_demo", "--unless-in-use")

    assert list(Cluster.objects.all()) == [cluster]
    assert "is in use" in capsys.readouterr().out


def test_the_demonstration_is_not_mixed_into_a_real_fleet(cluster: Cluster) -> None:
    with pytest.raises(Conflict) as refused:
        demo.load()

    assert refused.value.code == "real_fleet"
    assert not Person.objects.filter(email__endswith="@demo.example").exists()


def test_removing_leaves_nothing_but_the_trail(loaded: list[demo.Login]) -> None:
    factories.person("Root", email="root@example.com", is_superuser=True)

    scope = Cluster.objects.get().scope
    own, both = (factories.service_account(name, Role.OPERATOR, scope=scope) for name in ("demo", "all"))
    factories.grant(both, Role.OPERATOR)

    demo_removal.remove(actor=actors.command("test"))

    left = dict(Person.objects.values_list("pk", "is_active"))
    assert (left[own.pk], left[both.pk]) == (False, True)
    for model in (Cluster, Domain, Node, NodeFact, MatrixVersion, Change, Launch, Evaluation, SignOff):
        assert not model._base_manager.exists(), model
    assert not Receipt.objects.exists() and not Evidence.objects.exists()
    assert not Person.objects.filter(email__endswith="@demo.example", is_active=True).exists()
    assert AuditEvent.objects.filter(action="demo.removed").exists()


def test_removing_waits_for_another_administrator(loaded: list[demo.Login]) -> None:
    with pytest.raises(CommandError, match="create_admin"):
        call_command("remove_demo")

    assert Cluster.objects.filter(is_demo=True).exists()


def test_without_a_demonstration_there_is_nothing_to_remove(database: None) -> None:
    with pytest.raises(Missing):
        demo_removal.remove(actor=actors.command("test"))


def test_the_auditor_of_the_demonstration_may_verify_the_trail(loaded: list[demo.Login]) -> None:
    dana = Person.objects.get(email="dana@demo.example")

    assert callers.actor_for(dana).may(Right.AUDIT, None)
