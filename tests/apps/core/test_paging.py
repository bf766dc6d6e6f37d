"""Pages of lists: cursors that nobody was given."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import urlencode

import pytest

from tests import factories


def _cursor(**parts: str) -> str:
    return b64encode(urlencode(parts).encode()).decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "cursor",
    ["zzz", _cursor(p="\x00"), _cursor(p="soon"), _cursor(p="1e400"), _cursor(o="many")],
)
def test_a_cursor_that_was_never_given_is_refused(cursor, bo, api):
    caller = api(factories.bearer(bo))
    for path in ("clusters", "changes", "evidence-receipts"):
        answer = caller.get(f"/api/v1/{path}/", {"cursor": cursor})
        assert (answer.status_code, answer.json()["code"]) == (400, "cursor")


@pytest.mark.django_db
def test_a_position_behind_the_last_row_gives_an_empty_page(bo, api):
    answer = api(factories.bearer(bo)).get("/api/v1/clusters/", {"cursor": _cursor(p="-" + "9" * 30)})
    assert (answer.status_code, answer.json()["results"]) == (200, [])
