"""A team's own figures: laid over the shipped ones, each with source and confidence."""

from __future__ import annotations

import pytest

from apps.audit.models import AuditEvent
from apps.catalogue import queries, services
from apps.catalogue.engine.overlays import FIELDS, Confidence, Kind, rows, shipped_rows
from apps.core.errors import Invalid, Missing, NotAllowed
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def set_figure(cluster, bo, actor_for):
    def figure(
        value, *, path="memory_gb", entry="nvidia-gb200", person=bo, scope_id=cluster.scope_id, **more
    ):
        values = {"source": "data sheet", "confidence": Confidence.MEASURED} | more
        return services.set_figure(
            actor=actor_for(person),
            scope_id=scope_id,
            kind=Kind.ACCELERATOR,
            entry=entry,
            path=path,
            value=value,
            **values,
        )

    return figure


@pytest.mark.parametrize("kind", list(Kind))
def test_every_field_is_one_of_the_shipped_rows(kind):
    row = next(iter(shipped_rows(kind).values()))
    assert {path.split(".")[0] for path in FIELDS[kind]} <= set(row)


def test_a_teams_figure_counts_for_the_team_alone(cluster, other_cluster, set_figure):
    set_figure(100)
    mine = queries.accelerators_for(cluster.scope_id)["nvidia-gb200"]
    others = queries.accelerators_for(other_cluster.scope_id)["nvidia-gb200"]
    assert mine.memory_bytes == 100e9
    assert others.memory_bytes != 100e9


def test_confidence_can_differ_per_figure(cluster, set_figure):
    set_figure(100)
    entry = queries.entry_for(cluster.scope_id, Kind.ACCELERATOR, "nvidia-gb200")
    confidence = {figure.path: figure.confidence for figure in entry.figures}
    assert confidence["memory_gb"] == "measured" != confidence["memory_bandwidth_gb_s"]


def test_a_teams_figure_wins_over_everybodys(cluster, ada, set_figure):
    set_figure(100)
    set_figure(200, person=ada, scope_id=None)
    assert queries.accelerators_for(cluster.scope_id)["nvidia-gb200"].memory_bytes == 100e9
    assert queries.accelerators_for(None)["nvidia-gb200"].memory_bytes == 200e9


def test_what_is_shipped_stays_as_it_is(set_figure):
    before = shipped_rows(Kind.ACCELERATOR)["nvidia-gb200"]["memory_gb"]
    set_figure(before + 1)
    assert shipped_rows(Kind.ACCELERATOR)["nvidia-gb200"]["memory_gb"] == before


def test_a_figure_is_given_back_to_what_is_shipped(cluster, bo, actor_for, set_figure):
    row = set_figure(100)
    services.clear_figure(actor=actor_for(bo), edit_id=row.pk)
    assert queries.accelerators_for(cluster.scope_id) == queries.accelerators_for(None)
    assert [event.action for event in AuditEvent.objects.filter(action__startswith="catalogue.")]


def test_a_new_entry_is_made_by_its_first_figure(cluster, set_figure):
    set_figure(64, entry="house-card")
    part = queries.accelerators_for(cluster.scope_id)["house-card"]
    assert (part.memory_bytes, part.tdp_w, dict(part.dense_flops)) == (64e9, None, {})


def test_a_new_supernode_is_made_too(cluster, bo, actor_for):
    services.set_figure(
        actor=actor_for(bo),
        scope_id=cluster.scope_id,
        kind=Kind.SUPERNODE,
        entry="house-rack",
        path="accelerators",
        value="64",
        source="ours",
        confidence=Confidence.MEASURED,
    )
    assert queries.rows_for(cluster.scope_id, Kind.SUPERNODE)["house-rack"]["accelerators"] == 64


@pytest.mark.parametrize("value", [-1, 0, "many", float("inf"), True, [1]])
def test_a_figure_that_cannot_be_is_refused(value, set_figure):
    with pytest.raises(Invalid) as refused:
        set_figure(value)
    assert refused.value.errors[0].pointer == "/value"


def test_a_figure_needs_a_source_a_known_field_and_a_plain_id(set_figure):
    for wrong in ({"source": " "}, {"path": "colour"}, {"entry": "Two Words"}):
        with pytest.raises(Invalid):
            set_figure(1, **wrong)


def test_a_viewer_and_somebody_elsewhere_set_nothing_here(vic, eve, set_figure):
    with pytest.raises(NotAllowed):
        set_figure(1, person=vic)
    with pytest.raises(Missing):
        set_figure(1, person=eve)


def test_the_pages_show_source_and_confidence_and_set_a_figure(cluster, bo, client_of):
    client, page = client_of(bo), "/catalogue/accelerator/nvidia-gb200/"
    body = {"path": "tdp_w", "value": "1100", "source": "our meter", "confidence": "measured"}
    sent = client.post(page, body | {"scope": str(cluster.scope_id)})
    assert sent.url == f"{page}?cluster={cluster.slug}"
    assert b"our meter" in client.get(sent.url).content
    assert client.get("/catalogue/").status_code == client.get("/catalogue/supernodes/").status_code == 200


def test_over_rest_figures_are_listed_set_and_given_back(cluster, bo, api):
    caller = api(factories.bearer(bo, "read", "fleet:write"))
    body = {"cluster": cluster.slug, "kind": "accelerator", "entry": "nvidia-gb200", "path": "tdp_w"}
    made = caller.post(
        "/api/v1/catalogue/edits/",
        body | {"value": 1100, "source": "our meter", "confidence": "measured"},
        format="json",
    )
    assert made.status_code == 201
    listed = caller.get(f"/api/v1/catalogue/accelerators/?cluster={cluster.slug}").json()
    figures = {one["path"]: one for one in next(e for e in listed if e["id"] == "nvidia-gb200")["figures"]}
    assert (figures["tdp_w"]["value"], figures["tdp_w"]["source"]) == (1100, "our meter")
    assert caller.delete(f"/api/v1/catalogue/edits/{made.json()['id']}/").status_code == 204


@pytest.mark.parametrize(
    ("person", "get", "post", "delete"),
    [("vic", 200, 403, 403), ("bo", 200, 201, 204), ("eve", 200, 404, 404)],
)
def test_each_role_gets_its_answer(person, get, post, delete, cluster, set_figure, request, api):
    edit = set_figure(5, path="tdp_w")
    caller = api(request.getfixturevalue(person))
    body = {"cluster": cluster.slug, "kind": "accelerator", "entry": "x-1", "path": "tdp_w", "value": 1}
    body |= {"source": "x", "confidence": "recalled"}
    assert caller.get("/api/v1/catalogue/accelerators/").status_code == get
    assert caller.get("/api/v1/catalogue/supernodes/").status_code == get
    assert caller.post("/api/v1/catalogue/edits/", body, format="json").status_code == post
    assert caller.delete(f"/api/v1/catalogue/edits/{edit.pk}/").status_code == delete


def test_without_edits_the_rows_are_the_shipped_ones():
    assert rows(Kind.ACCELERATOR, []) == shipped_rows(Kind.ACCELERATOR)
