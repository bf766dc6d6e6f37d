"""Role × endpoint: who may do what over REST. An endpoint that is missing here fails the last test."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core import clock
from apps.core.actor import system
from apps.fleet.api.urls import urlpatterns
from apps.fleet.models import Hold, HoldKind, NodeAlias, PartKind
from apps.fleet.services import add_spare
from apps.fleet.services.imports import receive_import
from tests import factories

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "bo": 200, "ada": 200}
FIRST = {"If-Match": '"v1"'}
PLACE = {"rack": "R1", "position": "", "serial": ""}
BUILD = {"cluster": "hall-1", "name": "new", "template": "8-mesh", "accelerator_model": "nvidia-gb200"}
HOLD = {"node_id": "{node}", "kind": "quarantine", "reason": "x"}
ROWS = {"cluster": "hall-1", "rows": {"nodes": [{"name": "n9"}]}}
MIX = {"jobs": [{"name": "a", "cards": 1, "count": 1, "duration_s": 60}]}
SPARE = {"cluster": "hall-1", "kind": "accelerator", "serial": "S9"}
EDIT = {"name": "Hall", "description": "", "owner_team": ""}

# name of the address, method, body, status by person; eve of another cluster gets `hidden` where it is one object
TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("clusters", "get", None, READ | {"eve": 200}),
    ("clusters", "post", {"name": "New"}, {"vic": 403, "bo": 403, "ada": 201, "eve": 403}),
    ("cluster", "get", None, READ | {"eve": 404}),
    ("cluster", "put", EDIT, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("layout_templates", "get", None, READ | {"eve": 200}),
    ("layout_figures", "post", {}, {"vic": 400, "bo": 400, "ada": 400, "eve": 400}),
    ("domains", "get", None, READ | {"eve": 200}),
    ("domains", "post", BUILD, {"vic": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("domain", "get", None, READ | {"eve": 404}),
    ("domain_fabric", "get", None, {"vic": 400, "bo": 400, "ada": 400, "eve": 404}),
    ("nodes", "get", None, READ | {"eve": 200}),
    ("node", "get", None, READ | {"eve": 404}),
    ("node", "put", PLACE, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("move_node", "post", {"to": "spare", "reason": "x"}, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("holds", "get", None, READ | {"eve": 200}),
    ("holds", "post", HOLD, {"vic": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("release_hold", "post", {"reason": "x"}, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("aliases", "get", None, READ | {"eve": 200}),
    ("aliases", "post", {"node_id": "{node}", "name": "b"}, {"vic": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("alias", "delete", None, {"vic": 403, "bo": 204, "ada": 204, "eve": 404}),
    ("accelerators", "get", None, READ | {"eve": 200}),
    ("switches", "get", None, READ | {"eve": 200}),
    ("links", "get", None, READ | {"eve": 200}),
    ("hardware_changes", "get", None, READ | {"eve": 200}),
    ("parts", "get", None, READ | {"eve": 200}),
    ("parts", "post", SPARE, {"vic": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("part", "get", None, READ | {"eve": 404}),
    ("move_part", "post", {"to": "repair", "reason": "x"}, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("imports", "get", None, READ | {"eve": 200}),
    ("imports", "post", ROWS, {"vic": 403, "bo": 201, "ada": 201, "eve": 404}),
    ("import", "get", None, READ | {"eve": 404}),
    ("import_rows", "get", None, READ | {"eve": 404}),
    ("apply_import", "post", None, {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ("placement_check", "post", {"ranks": ["x"]}, {"vic": 400, "bo": 400, "ada": 400, "eve": 404}),
    ("allocation_what_ifs", "post", MIX, {"vic": 202, "bo": 202, "ada": 202, "eve": 404}),
    ("mixed_split", "post", {"units": 8}, {"vic": 400, "bo": 400, "ada": 400, "eve": 404}),
    ("export", "get", None, READ | {"eve": 404}),
    ("scheduler_file", "get", None, READ | {"eve": 404}),
    ("compare_file", "get", None, {"vic": 404, "bo": 404, "ada": 404, "eve": 404}),  # no such delivery
    ("compare_file", "post", None, {"vic": 403, "bo": 404, "ada": 404, "eve": 404}),
]


@pytest.fixture
def addresses(cluster) -> dict[str, Any]:
    """What stands in the addresses and bodies of the table."""
    domain = factories.domain(cluster)
    node = factories.node(cluster, domain=domain, accelerators=1)
    alias = NodeAlias.objects.create(cluster=cluster, node=node, name="a")
    hold = Hold.objects.create(
        node=node, kind=HoldKind.MAINTENANCE, reason="x", by_label="x", since=clock.now()
    )
    part = add_spare(actor=system(), cluster_id=cluster.pk, kind=PartKind.BOARD, serial="B7")
    row = receive_import(actor=system(), cluster_id=cluster.pk, data=b'{"nodes": [{"name": "n8"}]}')
    return {
        "import": row.pk,
        "import_rows": row.pk,
        "apply_import": row.pk,
        "export": cluster.slug,
        "node": node.pk,
        "cluster": cluster.slug,
        "domain": domain.pk,
        "domain_fabric": domain.pk,
        "move_node": node.pk,
        "release_hold": hold.pk,
        "alias": alias.pk,
        "part": part.pk,
        "move_part": part.pk,
    }


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(name, method, body, answers, addresses, statuses_of, api):
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    given = {"<slug:slug>": addresses.get(name, "hall-1"), "<int:pk>": addresses.get(name)}
    for part, value in (given | {"<slug:form>": "hostfile", "<int:receipt_id>": 1}).items():
        route = route.replace(part, str(value))
    if isinstance(body, dict):
        body = {key: addresses["node"] if value == "{node}" else value for key, value in body.items()}

    def send(person):
        return getattr(api(person), method)(f"/api/v1/{route}", body, format="json", headers=FIRST)

    assert answers == statuses_of(answers, send)


def test_lists_hold_nothing_of_other_clusters(addresses, eve, api):
    lists = [
        "domains",
        "nodes",
        "holds",
        "node-aliases",
        "accelerators",
        "switches",
        "links",
        "imports",
        "parts",
    ]
    for name in lists:
        assert api(eve).get(f"/api/v1/{name}/").json()["results"] == []


def test_every_endpoint_is_in_the_table():
    assert {pattern.name for pattern in urlpatterns} == {name for name, *_rest in TABLE}
