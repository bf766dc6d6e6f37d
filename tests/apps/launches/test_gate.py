"""The gate: what holds, what stops it, when it no longer stands, and what a good launch earns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import translation

from apps.accounts.models import RoleGrant, Token
from apps.changes import services as changes
from apps.core import clock
from apps.core.actor import Via
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.core.rights import Role
from apps.environments import services as environments
from apps.environments.models import MatrixVersion, NodeReport
from apps.evidence.models import Evidence
from apps.fleet import services as fleet
from apps.fleet.models import Hold, HoldKind, LifeCycle, Node
from apps.health.models import FaultRecord, HealthState
from apps.health.words import reason_text
from apps.jobs.models import Job, JobState
from apps.launches import queries, services
from apps.launches.models import Evaluation, Launch, SignOff
from apps.launches.queries import decision_of, shown_states
from apps.launches.words import found_in
from tests import factories
from tests.apps.launches.conftest import MANUAL, items_of
from tests.callers import actor_for


def sign(evaluation, person, *, go=True, comment="", digest=None, **fields):
    return services.sign_launch(
        actor=actor_for(person, **fields),
        evaluation_id=evaluation.pk,
        digest=evaluation.digest if digest is None else digest,
        go=go,
        comment=comment,
    )


def standing(launch) -> str:
    return decision_of(Launch.objects.get(pk=launch.pk)).standing.value


def test_where_all_holds_a_signature_opens_the_gate(answered, evaluated, sun):
    launch = answered()
    evaluation = evaluated(launch)
    assert {verdict for verdict, _code in items_of(evaluation).values()} == {"pass"}
    assert standing(launch) == "needs_signoff"
    sign(evaluation, sun, comment="looks right")
    assert standing(launch) == "go"


def test_what_the_nodes_reported_when_it_was_decided_is_kept_for_good(answered, evaluated):
    reports = set(NodeReport.objects.values_list("sha256", flat=True))
    for sha256 in {*reports, "f" * 64}:
        Evidence.objects.create(sha256=sha256, size_bytes=1, stored_at=clock.now())
    evaluated(answered())
    kept = Evidence.objects.filter(pinned=True).values_list("sha256", flat=True)
    assert reports and reports <= set(kept) and "f" * 64 not in kept


def test_an_intent_that_asks_for_nothing_keeps_the_gate_shut(answered, evaluated, matrix, bo):
    launch = answered()
    environments.retire_matrix(
        actor=actor_for(bo), version_id=matrix.pk, expected_version=matrix.version, reason="x"
    )
    evaluation = evaluated(launch)
    drift = next(row for row in evaluation.items if row["key"] == "no_drift")
    assert (drift["verdict"], drift["message"]) == ("unknown", "nothing is asked for")
    assert standing(launch) == "unknown"


def test_what_nobody_answered_keeps_the_gate_shut(opened, evaluated):
    launch = opened()
    found = items_of(evaluated(launch))
    assert {found[item] for item in MANUAL} == {("unknown", "not_answered")}
    assert standing(launch) == "unknown"


def drift(nodes, **_given):
    factories.report(nodes[2], gpu_driver="535.161.08", nccl="2.20.5")


def hold(nodes, bo, **_given):
    fleet.take_holds(
        actor=actor_for(bo), node_ids=[nodes[1].pk], kind=HoldKind.MAINTENANCE, owner="x", reason="fan"
    )


def ill(nodes, **_given):
    Node.objects.filter(pk=nodes[0].pk).update(health="faulty")


def nobody_knows(nodes, **_given):
    Node.objects.filter(pk=nodes[0].pk).update(health="unknown")


def retired(nodes, **_given):
    Node.objects.filter(pk=nodes[3].pk).update(life_cycle=LifeCycle.RETIRED)


def slow(benchmark, **_given):
    benchmark.busbw_bytes_per_s = 400e9
    benchmark.save()


def old(benchmark, **_given):
    benchmark.received_at = clock.now() - timedelta(days=15)
    benchmark.save()


def of_another_matrix(benchmark, domain, **_given):
    benchmark.matrix_version = None
    benchmark.save()


def test_a_benchmark_counts_under_a_matrix_that_was_locked_anew_unchanged(answered, evaluated, bo, matrix):
    drafted = environments.draft_from_version(actor=actor_for(bo), version_id=matrix.pk)
    environments.lock_matrix(actor=actor_for(bo), version_id=drafted.pk, expected_version=drafted.version)

    assert items_of(evaluated(answered()))["benchmark_accepted"][0] == "pass"


def too_large(plan, **_given):
    plan.fits = False
    plan.save()


def of_other_size(plan, **_given):
    plan.input = plan.input | {"system": {"accelerators": 8}}
    plan.save()


def test_a_faulty_node_is_named_with_its_cause_and_where_to_read_of_it(answered, evaluated, nodes, cluster):
    fault = FaultRecord.objects.create(
        node=nodes[0],
        kind="xid",
        code=79,
        severity="critical",
        action="RESTART_BM",
        action_class="reboot",
        cordon=True,
        text="GPU has fallen off the bus",
        line=1,
        first_seen_at=clock.now(),
        last_seen_at=clock.now(),
        sha256="c" * 64,
    )
    settled = {"verdict": "fail", "observed_at": clock.now(), "since": clock.now(), "sha256": "d" * 64}
    HealthState.objects.create(node=nodes[0], rule="port-down", device="ib0", **settled)
    Node.objects.filter(pk__in=[nodes[0].pk, nodes[1].pk]).update(health="faulty")
    row = next(item for item in evaluated(answered()).items if item["key"] == "nodes_healthy")
    assert row["message"] == "faulty: sn-01 (rule:port-down, xid:79), sn-02"
    assert found_in(row) == f"Faulty: sn-01 ({reason_text('rule:port-down')}, Xid 79), sn-02"
    assert [(proof["label"], proof["url"]) for proof in row["proofs"]] == [
        ("Xid 79, sn-01", f"/health/faults/{fault.pk}/"),
        ("health", f"/health/?cluster={cluster.slug}"),
    ]


def test_why_a_plan_cannot_be_placed_is_said_in_the_readers_language(answered, evaluated, plan):
    plan.input = plan.input | {"parallel": {"tp": 3, "ep": 2}}
    plan.save()
    row = next(item for item in evaluated(answered()).items if item["key"] == "placement_sound")
    assert (row["code"], found_in(row)) == ("placement_impossible", row["message"])
    assert "= 3, but there are 4 ranks; expert TP×EP = 6 must divide" in row["message"]
    with translation.override("zh-hans"):
        told = found_in(row)
    assert "= 3，但有 4 个 rank；" in told and "must divide" not in told


@pytest.mark.parametrize(
    ("spoil", "item", "verdict", "code"),
    [
        (drift, "no_drift", "fail", "drift"),
        (hold, "nodes_free", "fail", "held"),
        (ill, "nodes_healthy", "fail", "faulty"),
        (nobody_knows, "nodes_healthy", "unknown", "unknown"),
        (retired, "nodes_free", "fail", "held"),
        (slow, "benchmark_accepted", "fail", "too_slow"),
        (old, "benchmark_accepted", "unknown", "benchmark_old"),
        (of_another_matrix, "benchmark_accepted", "unknown", "benchmark_of_another_matrix"),
        (too_large, "plan_fits", "fail", "does_not_fit"),
        (of_other_size, "plan_fits", "fail", "plan_of_other_size"),
    ],
)
def test_one_thing_that_does_not_hold_stops_the_launch_and_is_named(
    spoil, item, verdict, code, answered, evaluated, nodes, bo, benchmark, plan, domain
):
    launch = answered()
    spoil(nodes=nodes, bo=bo, benchmark=benchmark, plan=plan, domain=domain)
    assert items_of(evaluated(launch))[item] == (verdict, code)
    assert standing(launch) == {"fail": "no_go", "unknown": "unknown"}[verdict]


@pytest.mark.parametrize(
    ("spoil", "changed"),
    [
        (drift, "versions"),
        (hold, "holds"),
        (ill, "nodes"),
        (retired, "nodes"),
        (slow, "benchmark"),
        (too_large, "launch"),
    ],
)
def test_a_go_no_longer_stands_when_an_input_changes(
    spoil, changed, answered, evaluated, sun, nodes, bo, benchmark, plan, domain
):
    launch = answered()
    sign(evaluated(launch), sun)
    assert standing(launch) == "go"
    spoil(nodes=nodes, bo=bo, benchmark=benchmark, plan=plan, domain=domain)
    decided = decision_of(Launch.objects.get(pk=launch.pk))
    assert decided.standing.value == "unknown"
    assert changed in decided.changed


def test_an_edit_of_the_launch_makes_its_evaluation_stale(answered, evaluated, sun, bo, plan):
    launch = answered()
    sign(evaluated(launch), sun)
    edit = {"plan_version_id": plan.pk, "title": "Llama", "job_environment": "export NCCL_DEBUG=WARN\n"}
    who = {"actor": actor_for(bo), "launch_id": launch.pk, "expected_version": launch.version}
    services.edit_launch(**who, **edit | {"job_environment": "export NCCL_P2P_DISABLE=1\n"})
    assert decision_of(Launch.objects.get(pk=launch.pk)).changed == ("launch",)
    with pytest.raises(Stale):
        services.edit_launch(**who, **edit)


def test_an_evaluation_ends_with_its_time(answered, evaluated, sun):
    launch = answered()
    evaluation = evaluated(launch)
    sign(evaluation, sun)
    before, at = evaluation.valid_until - timedelta(seconds=1), evaluation.valid_until
    assert decision_of(launch, now=before).standing.value == "go"
    assert decision_of(launch, now=at).standing.value == "unknown"


def test_an_older_evaluation_is_stale_beside_a_newer_one(answered, evaluated):
    launch = answered()
    first, second = evaluated(launch), evaluated(launch, anew=True)
    assert queries.decision_on(launch, first).changed == ("newer_evaluation",)
    assert queries.decision_on(launch, second).changed == ()


def test_asking_twice_before_a_worker_comes_asks_once(opened, bo):
    launch = opened()
    ask = {"actor": actor_for(bo), "launch_id": launch.pk}
    assert services.request_evaluation(**ask) == services.request_evaluation(**ask)
    assert standing(launch) == "pending"


def test_an_evaluation_whose_job_was_lost_is_unknown_and_can_be_asked_for_again(opened, bo, evaluated):
    launch = opened()
    services.request_evaluation(actor=actor_for(bo), launch_id=launch.pk)
    Job.objects.update(state=JobState.FAILED)
    decided = decision_of(launch)
    assert (decided.standing.value, decided.has_failed) == ("unknown", True)
    evaluated(launch)
    assert decision_of(launch).has_failed is False


def test_evaluating_again_changes_nothing_that_was_written_down(answered, evaluated):
    evaluation = evaluated(answered())
    assert services.evaluate(evaluation_id=str(evaluation.pk)).digest == evaluation.digest
    for call in (
        lambda: Evaluation.objects.filter(pk=evaluation.pk).update(verdict="pass"),
        lambda: Evaluation.objects.filter(pk=evaluation.pk)._raw_delete("default"),
    ):
        with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
            call()


def test_a_signature_names_the_evaluation_that_was_seen(answered, evaluated, sun):
    launch = answered()
    evaluation = evaluated(launch)
    with pytest.raises(Stale):
        sign(evaluation, sun, digest="0" * 64)
    assert not SignOff.objects.exists()


def test_nobody_signs_go_on_what_no_longer_stands(answered, evaluated, sun, nodes):
    evaluation = evaluated(answered())
    drift(nodes)
    with pytest.raises(Conflict) as refused:
        sign(evaluation, sun)
    assert refused.value.code == "gate_closed"
    assert "versions" in refused.value.fields["changed"]


def test_nobody_signs_twice(answered, evaluated, sun):
    evaluation = evaluated(answered())
    sign(evaluation, sun)
    with pytest.raises(Conflict) as refused:
        sign(evaluation, sun)
    assert refused.value.code == "signed_twice"


def test_who_made_the_token_of_the_account_that_opened_a_launch_does_not_sign_it(
    answered, evaluated, sun, cluster
):
    robot = factories.service_account("CI", Role.OPERATOR, scope=cluster.scope)
    factories.bearer(robot, "launch:write")
    Token.objects.filter(person=robot).update(created_by=sun)
    evaluation = evaluated(answered(by=robot))
    with pytest.raises(NotAllowed) as refused:
        sign(evaluation, sun)
    assert refused.value.code == "four_eyes"


def test_who_opened_a_launch_does_not_sign_it_whatever_their_roles(answered, evaluated, bo, sun, cluster):
    for role in (Role.SIGNER, Role.APPROVER, Role.ADMIN):
        factories.grant(bo, role)
    evaluation = evaluated(answered())
    with pytest.raises(NotAllowed) as refused:
        sign(evaluation, bo)
    assert refused.value.code == "four_eyes"
    row = {"evaluation": evaluation, "evaluation_digest": evaluation.digest, "go": True, "at": clock.now()}
    with pytest.raises(DatabaseError, match="four eyes"), transaction.atomic():
        SignOff.objects.create(person=bo, **row)
    SignOff.objects.create(person=sun, **row)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"via": Via.TOKEN}, "person_required"),
        ({"authenticated_at": None}, "reauthenticate"),
    ],
)
def test_signing_needs_a_person_who_gave_the_password_lately(fields, code, answered, evaluated, sun):
    evaluation = evaluated(answered())
    with pytest.raises(NotAllowed) as refused:
        sign(evaluation, sun, **fields)
    assert refused.value.code == code


def test_only_a_signer_of_this_cluster_signs(answered, evaluated, chen, eve):
    evaluation = evaluated(answered())
    with pytest.raises(NotAllowed) as refused:
        sign(evaluation, chen)
    assert refused.value.code == "role"
    with pytest.raises(Missing):
        sign(evaluation, eve)


def test_a_signature_against_it_needs_a_reason_and_shuts_the_gate(answered, evaluated, sun, cluster):
    launch = answered()
    evaluation = evaluated(launch)
    with pytest.raises(Invalid):
        sign(evaluation, sun, go=False)
    sign(evaluation, sun, go=False, comment="the cooling is being repaired")
    sign_too = factories.person("Sia", Role.SIGNER, scope=cluster.scope)
    with pytest.raises(Conflict):
        sign(evaluation, sign_too)
    assert standing(launch) == "no_go"


@pytest.mark.parametrize("lost", ["left", "role"])
def test_a_signature_counts_while_its_giver_may_still_sign(lost, answered, evaluated, sun):
    launch = answered()
    sign(evaluated(launch), sun)
    if lost == "left":
        sun.is_active = False
        sun.save()
    else:
        RoleGrant.objects.filter(person=sun).delete()
    assert standing(launch) == "needs_signoff"


def test_a_job_starts_only_on_go_holds_its_nodes_and_the_matrix_has_earned_known_good(
    answered, evaluated, sun, bo, matrix
):
    launch = answered()
    evaluation = evaluated(launch)
    start = {"actor": actor_for(bo), "launch_id": launch.pk, "expected_version": launch.version}
    with pytest.raises(Conflict) as refused:
        services.start_launch(**start)
    assert refused.value.fields["standing"] == "needs_signoff"
    sign(evaluation, sun)
    launch = services.start_launch(**start)
    assert launch.state == "running"
    assert Hold.objects.filter(owner=launch.owner, released_at__isnull=True).count() == 4
    assert MatrixVersion.objects.get(pk=matrix.pk).known_good_at is not None
    assert standing(launch) == "go"
    again = evaluated(launch, anew=True)
    assert standing(launch) == "needs_signoff"
    with pytest.raises(Conflict):
        sign(again, sun, go=False, comment="too late")
    sign(again, sun)
    assert standing(launch) == "go"
    launch = services.finish_launch(
        actor=actor_for(bo), launch_id=launch.pk, expected_version=launch.version, reason="over"
    )
    assert launch.state == "finished"
    assert (standing(launch), decision_of(launch).exit_code) == ("unknown", 3)
    assert not Hold.objects.filter(released_at__isnull=True).exists()


def test_what_nodes_report_beside_the_matrix_is_said_to_be_asked_for_by_nobody(answered, evaluated, nodes):
    factories.report(nodes[0], kind="ibstat", nic_firmware="28.45.1200")
    row = next(row for row in evaluated(answered()).items if row["key"] == "no_drift")
    assert row["verdict"] == "warn"
    assert row["message"] == "sn-01: nic_firmware is 28.45.1200, the matrix names no version of it"
    assert found_in(row) == "sn-01: NIC firmware is 28.45.1200, the matrix names no version of it"


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_starting_a_launch_that_is_over_says_when_it_ended_and_what_the_next_job_needs(
    answered, evaluated, sun, bo, end
):
    launch = answered()
    sign(evaluated(launch), sun)
    Launch.objects.filter(pk=launch.pk).update(state=end, ended_at=datetime(2026, 11, 30, 8, 5, tzinfo=UTC))
    with pytest.raises(Conflict) as refused:
        services.start_launch(actor=actor_for(bo), launch_id=launch.pk, expected_version=launch.version)
    assert (refused.value.code, refused.value.fields["state"]) == ("launch_state", end)
    assert f"over: {end} on 2026-11-30 08:05 UTC; a next job needs a new launch" in refused.value.message


def test_a_list_says_that_a_launch_runs_and_not_where_its_gate_stands(answered, evaluated, sun, bo):
    waits, runs = answered(), answered()
    for launch in (waits, runs):
        sign(evaluated(launch), sun)
    services.start_launch(actor=actor_for(bo), launch_id=runs.pk, expected_version=runs.version)
    launches = Launch.objects.filter(pk__in=[waits.pk, runs.pk])
    assert decision_of(launches.get(pk=runs.pk)).standing == "go"
    states = shown_states(launches)
    assert states[runs.pk] == "running"
    assert states[waits.pk] != "running"
    launches.update(state="finished")
    assert set(shown_states(launches).values()) == {"finished"}


def test_a_matrix_earns_nothing_by_a_waiver(answered, evaluated, sun, bo, nodes, matrix):
    launch = answered()
    drift(nodes)
    waived(launch, "no_drift", bo, sun)
    sign(evaluated(launch), sun)
    services.start_launch(actor=actor_for(bo), launch_id=launch.pk, expected_version=launch.version)
    assert MatrixVersion.objects.get(pk=matrix.pk).known_good_at is None


def waived(launch, item, asker, giver, *, hours=8.0):
    waiver = services.ask_waiver(
        actor=actor_for(asker),
        launch_id=launch.pk,
        item=item,
        reason="known, harmless",
        expires_at=clock.now() + timedelta(hours=hours),
    )
    return services.approve_waiver(actor=actor_for(giver), waiver_id=waiver.pk)


def test_a_waived_item_lets_pass_and_says_what_it_would_be(answered, evaluated, nodes, bo, sun):
    launch = answered()
    drift(nodes)
    waiver = waived(launch, "no_drift", bo, sun)
    row = next(row for row in evaluated(launch).items if row["key"] == "no_drift")
    assert (row["verdict"], row["waived"], row["waiver"]) == ("waived", "fail", waiver.pk)
    assert standing(launch) == "needs_signoff"


def test_a_waiver_that_ends_or_is_revoked_makes_the_evaluation_stale(
    answered, evaluated, nodes, bo, sun, monkeypatch
):
    launch = answered()
    drift(nodes)
    waiver = waived(launch, "no_drift", bo, sun, hours=1)
    sign(evaluated(launch), sun)
    assert standing(launch) == "go"
    with monkeypatch.context() as later:
        then = clock.now() + timedelta(hours=2)
        later.setattr(clock, "now", lambda: then)
        assert decision_of(launch).changed == ("waivers",)
    services.revoke_waiver(actor=actor_for(sun), waiver_id=waiver.pk, reason="not harmless")
    assert decision_of(launch).standing.value == "unknown"


@pytest.mark.parametrize("lost", ["left", "role"])
def test_a_waiver_counts_while_who_gave_it_may_still_sign(lost, answered, evaluated, nodes, bo, sun):
    launch = answered()
    drift(nodes)
    waived(launch, "no_drift", bo, sun)
    evaluated(launch)
    if lost == "left":
        sun.is_active = False
        sun.save()
    else:
        RoleGrant.objects.filter(person=sun).delete()
    assert decision_of(launch).changed == ("waivers",)
    row = next(row for row in evaluated(launch).items if row["key"] == "no_drift")
    assert row["verdict"] == "fail"


def test_who_asks_for_a_waiver_does_not_approve_it(opened, bo, sun, cluster):
    factories.grant(bo, Role.SIGNER, scope=cluster.scope)
    launch = opened()
    ask = {"actor": actor_for(bo), "launch_id": launch.pk, "item": "no_drift"}
    waiver = services.ask_waiver(**ask, reason="known", expires_at=clock.now() + timedelta(hours=1))
    with pytest.raises(NotAllowed) as refused:
        services.approve_waiver(actor=actor_for(bo), waiver_id=waiver.pk)
    assert refused.value.code == "four_eyes"
    assert services.approve_waiver(actor=actor_for(sun), waiver_id=waiver.pk).approved_by == sun
    with pytest.raises(Conflict):
        services.approve_waiver(actor=actor_for(sun), waiver_id=waiver.pk)


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ({"item": "nothing"}, "/item"),
        ({"reason": " "}, "/reason"),
        ({"expires_at": timedelta(0)}, "/expires_at"),
        ({"expires_at": timedelta(days=15)}, "/expires_at"),
    ],
)
def test_a_waiver_needs_an_item_a_reason_and_an_end(said, pointer, opened, bo):
    values = {"item": "no_drift", "reason": "known", "expires_at": timedelta(hours=1)} | said
    values["expires_at"] += clock.now()
    with pytest.raises(Invalid) as refused:
        services.ask_waiver(actor=actor_for(bo), launch_id=opened().pk, **values)
    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_a_waiver_that_is_not_there_or_not_yours_is_missing(opened, bo, eve, sun):
    launch = opened()
    waiver = services.ask_waiver(
        actor=actor_for(bo),
        launch_id=launch.pk,
        item="no_drift",
        reason="known",
        expires_at=clock.now() + timedelta(hours=1),
    )
    for person, waiver_id in ((sun, waiver.pk + 100), (eve, waiver.pk)):
        with pytest.raises(Missing):
            services.approve_waiver(actor=actor_for(person), waiver_id=waiver_id)


def test_an_answer_cannot_be_changed_only_given_again(answered, evaluated, sun):
    launch = answered()
    first = evaluated(launch)
    services.answer_item(
        actor=actor_for(sun),
        launch_id=launch.pk,
        item="timeouts_sane",
        verdict="fail",
        text="30 s is too short",
    )
    assert "answers" in queries.decision_on(launch, first).changed
    assert items_of(evaluated(launch))["timeouts_sane"] == ("fail", "answered")
    with pytest.raises(DatabaseError, match="kept as they are"), transaction.atomic():
        launch.answers.update(verdict="pass")


def test_an_automatic_item_is_not_answered_by_a_person(opened, bo):
    with pytest.raises(Invalid) as refused:
        services.answer_item(
            actor=actor_for(bo), launch_id=opened().pk, item="no_drift", verdict="pass", text="it is fine"
        )
    assert [error.pointer for error in refused.value.errors] == ["/item"]


def test_a_launch_that_is_over_is_neither_answered_nor_signed(answered, evaluated, bo, sun):
    launch = answered()
    evaluation = evaluated(launch)
    cancel = {"actor": actor_for(bo), "launch_id": launch.pk, "expected_version": launch.version}
    with pytest.raises(Invalid):
        services.cancel_launch(**cancel, reason="")
    services.cancel_launch(**cancel, reason="not today")
    for call in (
        lambda: sign(evaluation, sun),
        lambda: services.request_evaluation(actor=actor_for(bo), launch_id=launch.pk),
        lambda: services.answer_item(
            actor=actor_for(bo), launch_id=launch.pk, item="timeouts_sane", verdict="pass", text="x"
        ),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == "launch_state"


def test_a_change_that_begins_after_the_go_shuts_the_gate(answered, evaluated, sun, bo, chen, nodes, domain):
    launch = answered()
    sign(evaluated(launch), sun)
    content = changes.Content(
        title="New NCCL", reason="why", wishes=(changes.Wish(component="nccl", values=("2.27.3",)),)
    )
    change = changes.draft_change(
        actor=actor_for(bo), domain_id=domain.pk, kind="nccl", content=content, node_ids=[nodes[0].pk]
    )
    assert standing(launch) == "go"
    seen = {"change_id": change.pk}
    change = changes.submit_change(actor=actor_for(bo), **seen, expected_version=change.version)
    change = changes.approve_change(actor=actor_for(chen), **seen, expected_version=change.version)
    changes.start_change(actor=actor_for(bo), **seen, expected_version=change.version)
    assert set(decision_of(launch).changed) == {"changes", "holds"}
    assert items_of(evaluated(launch))["no_open_change"] == ("fail", "change_under_way")


def test_where_a_page_of_launches_stands_needs_as_many_queries_for_many(
    answered, evaluated, sun, assert_constant_queries
):
    def decided() -> set[str]:
        rows = list(Launch.objects.select_related("cluster", "domain", "template", "plan"))
        return {one.standing.value for one in queries.decisions_of(rows).values()}

    def grow(count: int = 4) -> None:
        for _ in range(count):
            sign(evaluated(answered()), sun)

    grow(2)
    assert_constant_queries(decided, grow)
    assert decided() == {"go"}
