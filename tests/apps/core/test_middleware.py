"""What every request is held to before a view sees it."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    "address",
    ["/search/?q=a%00b", "/launches/?cluster=%00", "/?%00=1", "/clusters/a%00b/", "/api/v1/nodes/?name=%00"],
)
def test_an_address_that_no_database_can_look_for_is_refused(address: str, ada: Any, client_of: Any) -> None:
    assert client_of(ada).get(address).status_code in (400, 404)


def test_a_form_with_a_text_that_no_database_can_keep_is_refused(ada: Any, client_of: Any) -> None:
    answer = client_of(ada).post("/preferences/", {"name": "A\x00da", "language": "en", "time_zone": "UTC"})
    assert answer.status_code == 400
    assert "NUL" in answer.content.decode()
