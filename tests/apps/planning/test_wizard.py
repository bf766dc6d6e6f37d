"""The wizard's fields of training and search: into the document, and back from it for the next version."""

from __future__ import annotations

import re

import pytest

from apps.core.errors import Invalid
from apps.planning import services
from apps.planning.documents import is_search
from apps.planning.form_values import values_of
from apps.planning.forms import PlanForm
from apps.planning.models import PlanVersion
from tests.apps.benchmarks.runs import domain_of
from tests.apps.planning.documents import SEARCH, small
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(wizard, bo, client_of):
    """Sends the wizard; the document of the version made."""

    def sent(address="/plans/new/", **changed):
        answer = client_of(bo).post(address, wizard(**changed))
        assert answer.status_code == 302, answer.content.decode()
        return PlanVersion.objects.latest("pk").input

    return sent


def step_of(document, run_jobs):
    run_jobs()
    return PlanVersion.objects.get(input=document).result["iteration_time_s"]


def test_nothing_said_says_nothing(send):
    parallel = send()["parallel"]
    assert not {"overlap", "gradient_compression", "gradient_dtype"} & set(parallel)


@pytest.mark.parametrize("compression", ["fp16", "int8", "int4"])
def test_gradients_can_be_compressed(send, compression):
    assert send(gradient_compression=compression)["parallel"]["gradient_compression"] == compression


def test_traffic_can_be_hidden_or_exposed(send):
    parallel = send(overlap_tp="exposed", overlap_ep="hidden", gradient_dtype="bf16")["parallel"]
    assert parallel["overlap"] == {"tp": False, "ep": True}
    assert parallel["gradient_dtype"] == "bf16"


def test_what_is_exposed_makes_the_step_longer(send, run_jobs):
    hidden = step_of(send(name="hidden", overlap_dp="hidden"), run_jobs)
    exposed = step_of(send(name="exposed", overlap_dp="exposed"), run_jobs)
    assert exposed > hidden


def test_compression_makes_exposed_gradients_cheaper(send, run_jobs):
    whole, quarter = (
        step_of(send(name=name, overlap_dp="exposed", gradient_compression=name), run_jobs)
        for name in ("none", "int8")
    )
    assert quarter < whole


def test_a_search_is_told_prices_and_with_how_few_it_may_do(send):
    document = send(question="search", objective="cost", min_accelerators=2, accelerator_hour="2.5", kwh="0")
    assert document["prices"] == {"accelerator_hour": 2.5, "kwh": 0.0}
    assert document["limits"] == {"min_accelerators": 2}
    assert document["objective"] == "cost"


@pytest.mark.parametrize(
    ("field", "value"),
    [("min_accelerators", 9), ("min_accelerators", 0), ("accelerator_hour", 0), ("kwh", -1)],
)
def test_what_a_search_cannot_do_is_said_at_its_field(cluster, bo, client_of, field, value):
    sent = {
        "name": "odd", "question": "search", "model_source": "catalogue", "catalogue_model": "llama-3-8b",
        "cluster": cluster.pk, "accelerator": "nvidia-gb200", "accelerators": 8, "domain_size": 8,
        "global_batch": 16, "seq_len": 4096, "precision": "bf16", field: value,
    }  # fmt: skip
    page = client_of(bo).post("/plans/new/", sent).content.decode()
    assert f'id="id_{field}_error"' in page


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("catalogue_model", {"catalogue_model": ""}),
        ("sub_domain_size", {"sub_domain_size": 16}),
        ("convergence_ratio", {"sub_domain_size": 4, "convergence_ratio": 0.5}),
    ],
)
def test_what_no_system_or_catalogue_has_is_said_at_its_field(wizard, bo, client_of, field, changed):
    page = client_of(bo).post("/plans/new/", wizard(**changed)).content.decode()
    assert f'id="id_{field}_error"' in page


def test_what_was_asked_comes_back_filled():
    document = small(overlap={"tp": False, "dp": True}, gradient_compression="int8")
    shown = values_of(document, domain_id=None)
    assert (shown["overlap_tp"], shown["overlap_dp"], shown.get("overlap_pp")) == ("exposed", "hidden", None)
    assert shown["gradient_compression"] == "int8"
    asked = SEARCH | {"prices": {"kwh": 0.1}, "limits": {"min_accelerators": 4}}
    assert {name: values_of(asked, domain_id=None)[name] for name in ("kwh", "min_accelerators")} == {
        "kwh": 0.1,
        "min_accelerators": 4,
    }


def test_the_next_version_keeps_what_the_wizard_does_not_ask(send, cluster, bo):
    said = {"dropout": True, "expert_imbalance": 1.2, "placement": "tp-cp-pp-dp"}
    first = services.create_plan(
        actor=actor_for(bo), scope_id=cluster.scope_id, name="first", document=small(**said)
    )
    parallel = send(f"/plans/{first.plan_id}/revise/", name=None)["parallel"]
    assert {name: parallel[name] for name in said} == said


def test_the_next_search_keeps_its_other_limits(send, cluster, bo):
    limits = {"max_tp": 2, "min_accelerators": 2}
    first = services.create_plan(
        actor=actor_for(bo), scope_id=cluster.scope_id, name="first", document=SEARCH | {"limits": limits}
    )
    document = send(f"/plans/{first.plan_id}/revise/", name=None, question="search")
    assert document["limits"] == {"max_tp": 2}, "the field of the wizard was left empty"


def test_a_part_of_a_domain_can_be_planned_with(send, cluster):
    domain = domain_of(cluster, nodes=2)
    said = {"cluster": None, "accelerator": None, "domain_size": None, "domain": domain.pk}
    assert send(**said, accelerators=8)["system"] == {
        **send(**said, name="whole", accelerators=None)["system"],
        "accelerators": 8,
    }


def test_no_more_than_a_domain_has(cluster, bo):
    domain = domain_of(cluster, nodes=2)
    sent = {
        "name": "odd", "question": "estimate", "model_source": "catalogue", "catalogue_model": "llama-3-8b",
        "domain": domain.pk, "accelerators": 17, "tp": 1, "micro_batch": 1, "global_batch": 16, "seq_len": 4096,
        "precision": "bf16",
    }  # fmt: skip
    form = PlanForm(sent, actor=actor_for(bo))
    assert form.is_valid(), form.errors
    with pytest.raises(Invalid, match="accelerators of the domain: 16"):
        form.document()


def test_all_of_a_domain_stays_all_of_it(cluster):
    document = small() | {"system": {"accelerator": "nvidia-gb200", "accelerators": 8, "domain_size": 8}}
    assert values_of(document, domain_id=1)["accelerators"] is None
    assert values_of(document, domain_id=None)["accelerators"] == 8


def chosen_domain(browser, address):
    return browser.get(address).context["form"]["domain"].value()


def test_the_only_domain_is_chosen_already(cluster, bo, client_of):
    browser = client_of(bo)
    assert chosen_domain(browser, "/plans/new/") is None, "none is there yet"
    domain = domain_of(cluster)
    assert chosen_domain(browser, "/plans/new/") == domain.pk


@pytest.mark.parametrize(("model", "accelerators"), [("llama-3-70b", 144), ("qwen2.5-72b", 72)])
def test_the_wizard_as_it_opens_finds_a_layout_that_fits(
    model, accelerators, cluster, bo, client_of, run_jobs
):
    browser = client_of(bo)
    form = browser.get("/plans/new/").context["form"]
    first = {field.name: field.value() for field in form if field.value() not in (None, "", False)}
    hardware = {
        "cluster": cluster.pk,
        "accelerator": "nvidia-h100-sxm5-80gb",
        "accelerators": 72,
        "domain_size": 8,
    }
    assert browser.post("/plans/new/", first | hardware | {"name": "first"}).status_code == 302
    run_jobs()
    version = PlanVersion.objects.get()
    assert is_search(version.input)
    assert version.result["best"][0]["memory"]["peak_bytes"] < 80e9


def test_of_several_domains_that_of_the_cluster_is_chosen(cluster, other_cluster, ada, client_of):
    here, there = domain_of(cluster), domain_of(other_cluster)
    browser = client_of(ada)
    assert chosen_domain(browser, "/plans/new/") is None
    assert chosen_domain(browser, f"/plans/new/?cluster={other_cluster.slug}") == there.pk
    assert chosen_domain(browser, f"/plans/new/?domain={here.pk}") == here.pk


def test_domains_that_somebody_may_not_plan_for_do_not_count(cluster, other_cluster, bo, client_of):
    own, foreign = domain_of(cluster), domain_of(other_cluster)
    browser = client_of(bo)
    assert chosen_domain(browser, "/plans/new/") == own.pk
    assert chosen_domain(browser, f"/plans/new/?cluster={foreign.cluster.slug}") is None


def test_models_and_accelerators_stand_by_who_made_them(cluster, bo):
    form = PlanForm(actor=actor_for(bo))
    models = dict(form.fields["catalogue_model"].choices)
    assert "Meta" in models and ("llama-3-70b", "Llama 3 70B") in models["Meta"]
    cards = [name for name, _choices in form.fields["accelerator"].choices][1:]
    assert cards == sorted(cards, key=str.casefold) and len(cards) > 1


def test_parts_that_only_one_answer_needs_say_so(cluster, bo, client_of):
    text = client_of(bo).get("/plans/new/").content.decode()
    assert re.findall(r'data-when="([^"]+)"', text) == [
        *("model_source=catalogue", "model_source=config", "model_source=shape"),
        *("domain", "!domain", "question=estimate", "question=search"),
    ]
    assert " hidden>" not in text.partition("<form")[2].partition("data-when")[2], (
        "all is there without a script"
    )
