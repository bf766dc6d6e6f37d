"""What holds for every operation of the API, also for those that are added later."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from apps.planning.studies import STUDIES
from tests import factories

pytestmark = pytest.mark.django_db
PUBLIC = {"/api/v1/", "/api/v1/schema/"}
# these take a body because an address is too short, and keep nothing
COMPUTES_ONLY = {
    "/api/v1/layout-figures/",
    "/api/v1/diagnoses/",
    "/api/v1/job-environment-checks/",
} | {f"/api/v1/planning/{key}/" for key, study in STUDIES.items() if not study.is_long}
UNSAFE = ("post", "put", "patch", "delete")


def operations() -> Iterator[tuple[str, str]]:
    """(address with made-up arguments, method) of everything below /api/v1/."""

    def walk(patterns: list, prefix: str) -> Iterator[tuple[str, URLPattern]]:
        for pattern in patterns:
            whole = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, whole)
            else:
                yield whole, pattern

    for route, pattern in walk(get_resolver().url_patterns, "/"):
        if not route.startswith("/api/v1/"):
            continue
        address = re.sub(r"<(\w+):\w+>", _argument, route)
        address = re.sub(r"\(\?P<\w+>\[0-9a-f\]\{64\}\)", "0" * 64, address).replace("^", "").replace("$", "")
        view = getattr(pattern.callback, "cls", None) or pattern.callback.view_class
        actions = getattr(pattern.callback, "actions", None) or {
            method: method for method in view.http_method_names if hasattr(view, method)
        }
        yield from ((address, method) for method in actions if method not in ("options", "head"))


def _argument(match: re.Match[str]) -> str:
    uuid = "00000000-0000-4000-8000-000000000000"
    return {"int": "1", "uuid": uuid, "slug": "hall-1"}.get(match.group(1), "x")


@pytest.mark.parametrize(("address", "method"), sorted(set(operations())))
def test_nobody_gets_in_without_signing_in(address, method, api):
    answer = getattr(api(None), method)(address)
    if address in PUBLIC:
        assert answer.status_code == 200
    else:
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize(
    ("address", "method"),
    sorted({item for item in operations() if item[1] in UNSAFE and item[0] not in COMPUTES_ONLY}),
)
def test_a_token_that_may_only_read_changes_nothing(address, method, api, ada, cluster):
    caller = api(factories.bearer(ada, "read"))
    answer = getattr(caller, method)(address)
    assert (answer.status_code, answer.json()["code"]) in (
        (403, "token_scope"),
        (403, "person_required"),
    ), answer.content


# what everybody may ask for: their own things and what is only computed; answers may come from either of two roles
FOR_ANY_ROLE = re.compile(
    r"/(tokens|preferences|drift-checks|job-environment-checks|diagnoses|planning|layout-figures|webhook-deliveries|"
    r"placement-check|allocation-what-ifs|mixed-split|jobs|answers|evaluations/$)"
)


@pytest.mark.parametrize(
    ("address", "method"),
    sorted({item for item in operations() if item[1] in UNSAFE and not FOR_ANY_ROLE.search(item[0])}),
)
def test_who_may_only_read_is_told_so_before_the_body_is_looked_at(address, method, api, vic):
    answer = getattr(api(vic), method)(
        address, {"nonsense": True}, format="json", headers={"If-Match": '"v1"'}
    )
    assert answer.status_code in (403, 404), answer.content
