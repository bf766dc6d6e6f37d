"""Which parameters the addresses of the API take: those that its description names, and no others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from rest_framework.mixins import ListModelMixin

from tests import factories

OF_LISTS = {"limit", "cursor"}
READS = ("GET", "HEAD")


@pytest.fixture(scope="module")
def described() -> dict[tuple[str, str], set[str]]:
    """Path and method to the names of parameters in the address."""
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    return {
        (_bare(path), method.upper()): {
            one["name"] for one in said.get("parameters", []) if one["in"] == "query"
        }
        for path, operations in paths.items()
        for method, said in operations.items()
    }


def _bare(path: str) -> str:
    """The path without the names of what stands in braces, which the description may call otherwise."""
    return re.sub(r"{.*?}", "{}", path)


def _taken(view: Any, method: str) -> set[str]:
    own = set(getattr(view, "parameters", {}).get(method, ()))
    if method in READS and issubclass(view, ListModelMixin):
        filterset = getattr(view, "filterset_class", None)
        own |= OF_LISTS | set(filterset.get_filters() if filterset else ())
    return own


def test_each_operation_takes_the_parameters_that_are_described(described) -> None:
    operations = [
        (_bare(path), method, callback.cls)
        for path, _regex, method, callback in EndpointEnumerator().get_api_endpoints()
        if (_bare(path), method) in described
    ]
    differing = {
        f"{method} {path}": (sorted(described[path, method]), sorted(_taken(view, method)))
        for path, method, view in operations
        if described[path, method] != _taken(view, method)
    }
    assert len(operations) == len(described) and differing == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("get", f"/api/v1/nodes/?{name}=1") for name in ("ordering", "page", "q", "wait", "dry_run")),
        *(("get", "/api/v1/clusters/hall/?fields=name"), ("post", "/api/v1/domains/?dryrun=true")),
    ],
)
def test_what_an_operation_does_not_take_is_refused(method, path, api) -> None:
    factories.cluster("hall")
    answer = getattr(api(factories.person("Ada", "admin")), method)(path)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_filter")
