"""Measured steps: noted with a source, withdrawn with a reason, and what they do to later predictions."""

from __future__ import annotations

from math import exp, log

import pytest

from apps.audit.models import AuditEvent
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.planning import queries, services
from apps.planning.engine.calibration import NOISE_SPREAD, PRIOR_SPREAD, Observation, calibrate
from apps.planning.models import MeasuredStep
from tests.apps.benchmarks.runs import domain_of
from tests.apps.planning.documents import SEARCH, small
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(cluster, bo, run_jobs):
    """A computed version for a domain of eight."""
    domain = domain_of(cluster, nodes=1)
    made = services.create_plan(
        actor=actor_for(bo),
        scope_id=cluster.scope_id,
        name="plan",
        document=small(),
        domain_id=domain.pk,
    )
    run_jobs()
    made.refresh_from_db()
    return made


@pytest.fixture
def note(version, bo):
    def noted(ratio=1.1, **fields):
        values = {"measured_s": ratio * version.result["iteration_time_s"], "source": "job 7"} | fields
        return services.note_measured_step(actor=actor_for(bo), plan_id=version.plan_id, number=1, **values)

    return noted


def test_a_measured_step_stands_beside_what_was_predicted(version, note):
    step = note(1.1)
    assert step.predicted_s == pytest.approx(version.result["iteration_time_s"])
    assert step.ratio == pytest.approx(1.1) and step.engine_version == version.engine_version
    assert AuditEvent.objects.filter(action="plan.step_measured").count() == 1


def test_without_measurements_the_factor_is_one(cluster):
    domain = domain_of(cluster, nodes=1)
    assert queries.calibration_of(domain).step_scale == 1.0
    assert "measured" not in queries.system_of(domain)


def test_one_measurement_moves_the_factor_by_its_weight_against_the_prior(version, note):
    note(1.1)
    weight = (1 / NOISE_SPREAD**2) / (1 / NOISE_SPREAD**2 + 1 / PRIOR_SPREAD**2)
    assert queries.calibration_of(version.plan.domain).step_scale == pytest.approx(exp(weight * log(1.1)))


def test_later_plans_for_the_domain_use_the_factor_and_name_it(version, note):
    note(1.1)
    measured = queries.system_of(version.plan.domain)["measured"]
    assert measured["step_scale"] > 1 and measured["source"] == "measured here: noted step times (1)"


def test_a_step_noted_on_a_calibrated_plan_counts_against_the_plain_prediction(version, note, bo, run_jobs):
    first = note(1.1)
    document = small() | {"system": queries.system_of(version.plan.domain)}
    later = services.revise_plan(actor=actor_for(bo), plan_id=version.plan_id, document=document)
    run_jobs()
    later.refresh_from_db()
    scale = document["system"]["measured"]["step_scale"]
    step = services.note_measured_step(
        actor=actor_for(bo), plan_id=version.plan_id, number=later.number, measured_s=2.0, source="job 8"
    )
    assert step.predicted_s == pytest.approx(later.result["iteration_time_s"] / scale)
    assert first.pk != step.pk


def test_withdrawing_reverses_what_the_step_did(version, note, bo):
    note(1.1)
    before = queries.calibration_of(version.plan.domain)
    wrong = note(2.0)
    assert queries.calibration_of(version.plan.domain).step_scale > before.step_scale
    services.withdraw_measured_step(actor=actor_for(bo), step_id=wrong.pk, reason="another model")
    assert queries.calibration_of(version.plan.domain) == before
    versions = queries.calibration_versions(MeasuredStep.objects.all())
    assert [(one.number, one.withdrawn, one.calibration.runs) for one in versions] == [
        (3, True, 1),
        (2, False, 2),
        (1, False, 1),
    ]


def test_a_step_is_withdrawn_once_and_with_a_reason(note, bo):
    step = note()
    with pytest.raises(Invalid):
        services.withdraw_measured_step(actor=actor_for(bo), step_id=step.pk, reason=" ")
    services.withdraw_measured_step(actor=actor_for(bo), step_id=step.pk, reason="x")
    with pytest.raises(Conflict):
        services.withdraw_measured_step(actor=actor_for(bo), step_id=step.pk, reason="x")


@pytest.mark.parametrize("measured_s", [0.0, 5e-324, -1.0, float("nan"), float("inf"), 90_000.0])
def test_a_time_that_no_step_takes_is_refused(note, measured_s):
    with pytest.raises(Invalid) as refused:
        note(measured_s=measured_s)
    assert refused.value.errors[0].pointer == "/measured_s"


def test_a_figure_without_a_source_is_refused(note):
    with pytest.raises(Invalid) as refused:
        note(source=" ")
    assert refused.value.errors[0].pointer == "/source"


def test_a_search_and_hypothetical_hardware_have_nothing_to_measure(version, cluster, bo, run_jobs):
    actor = actor_for(bo)
    search = services.revise_plan(actor=actor, plan_id=version.plan_id, document=SEARCH)
    unowned = services.create_plan(actor=actor, scope_id=cluster.scope_id, name="dream", document=small())
    for plan_id, number, code in (
        (version.plan_id, search.number, "no_layout"),
        (unowned.plan_id, 1, "no_domain"),
    ):
        with pytest.raises(Conflict) as refused:
            services.note_measured_step(
                actor=actor, plan_id=plan_id, number=number, measured_s=1.0, source="x"
            )
        assert refused.value.code == code


def test_rights_are_those_of_the_plan(version, note, vic, eve):
    step = note()
    with pytest.raises(NotAllowed):
        services.withdraw_measured_step(actor=actor_for(vic), step_id=step.pk, reason="x")
    with pytest.raises(Missing):
        services.withdraw_measured_step(actor=actor_for(eve), step_id=step.pk, reason="x")


def test_the_pages_show_measured_steps_and_take_them_in(version, bo, vic, client_of):
    address = f"/plans/{version.plan_id}/versions/1/"
    answer = client_of(bo).post(f"{address}measured/", {"measured_s": "1.5", "source": "job 7"})
    assert answer["Location"] == address
    assert "job 7" in client_of(vic).get(address).content.decode()
    calibration = f"/plans/calibration/{version.plan.domain_id}/"
    text = client_of(bo).get(calibration).content.decode()
    assert "Withdraw" in text and "How it came about" in text
    assert "Withdraw" not in client_of(vic).get(calibration).content.decode().split("<tbody")[1]
    step = MeasuredStep.objects.get()
    client_of(bo).post(f"/plans/measured-steps/{step.pk}/withdraw/", {"reason": "wrong log"})
    assert "wrong log" in client_of(vic).get(calibration).content.decode()


@pytest.mark.parametrize("figure", ["", "-1", "0", "NaN", "1e400", "soon"])
def test_a_figure_that_is_none_is_said_above_the_version(version, bo, client_of, figure):
    address, browser = f"/plans/{version.plan_id}/versions/1/", client_of(bo)
    answer = browser.post(f"{address}measured/", {"measured_s": figure, "source": "job 7"}, follow=True)
    assert [str(one) for one in answer.context["messages"] if one.level_tag == "error"]
    assert answer.redirect_chain == [(address, 302)] and not MeasuredStep.objects.exists()


def test_withdrawing_asks_for_a_reason_on_the_page(version, note, bo, client_of):
    step = note(1.5)
    answer = client_of(bo).post(f"/plans/measured-steps/{step.pk}/withdraw/", {"reason": " "}, follow=True)
    assert "say why" in answer.content.decode() and answer.status_code == 200
    step.refresh_from_db()
    assert step.withdrawn_at is None


def test_the_calibration_of_another_cluster_does_not_exist_for_eve(version, eve, client_of):
    assert client_of(eve).get(f"/plans/calibration/{version.plan.domain_id}/").status_code == 404


def test_the_calibration_and_how_it_came_about_are_read_over_rest(version, note, bo, api):
    step = note(1.2)
    noted = queries.calibration_of(version.plan.domain)
    services.withdraw_measured_step(actor=actor_for(bo), step_id=step.pk, reason="wrong job")
    answer = api(bo).get(f"/api/v1/domains/{version.plan.domain_id}/calibration/").json()
    assert (answer["step_scale"], answer["runs"]) == (1.0, 0)
    seen = [(one["number"], one["withdrawn"], one["step_scale"], one["runs"]) for one in answer["versions"]]
    assert seen == [(2, True, 1.0, 0), (1, False, noted.step_scale, 1)]


def test_a_list_of_measured_steps_loads_no_answers_of_plans(version, note, bo):
    note(1.1)
    step = queries.measured_steps_visible(actor_for(bo)).get()
    assert step.version.get_deferred_fields() == {"input", "result"}


def test_each_version_of_a_calibration_is_that_of_the_steps_which_counted_then(version, note, bo):
    steps = [note(ratio) for ratio in (1.1, 0.9, 1.3)]
    services.withdraw_measured_step(actor=actor_for(bo), step_id=steps[1].pk, reason="wrong job")
    counted = [steps[:1], steps[:2], steps, [steps[0], steps[2]]]
    seen = queries.calibration_versions(queries.measured_steps_visible(actor_for(bo)))[::-1]
    for one, rows in zip(seen, counted, strict=True):
        wanted = calibrate([Observation(predicted_s=r.predicted_s, measured_s=r.measured_s) for r in rows])
        assert one.calibration.step_scale == pytest.approx(wanted.step_scale)
        assert (one.calibration.spread, one.calibration.runs) == (wanted.spread, wanted.runs)


def test_the_page_of_many_measured_steps_is_cut(version, bo, client_of):
    row = {"version": version, "domain": version.plan.domain, "noted_by": bo, "noted_at": version.done_at}
    MeasuredStep.objects.bulk_create(
        MeasuredStep(measured_s=1.0, predicted_s=1.0, engine_version="1", source=f"job {number:02d}.", **row)
        for number in range(30)
    )
    address = f"/plans/calibration/{version.plan.domain_id}/"
    pages = [client_of(bo).get(address, {"per_page": 25, "page": page}).content.decode() for page in (1, 2)]
    assert [[f"job {number:02d}." in text for number in (29, 5, 4, 0)] for text in pages] == [
        [True, True, False, False],
        [False, False, True, True],
    ]
