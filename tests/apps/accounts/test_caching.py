"""What is shown to somebody who is signed in is kept by nobody else."""

from __future__ import annotations

from typing import Any


def test_pages_of_people_and_answers_to_tokens_are_not_kept(ada: Any, client_of: Any, api: Any) -> None:
    for answer in (client_of(ada).get("/"), api(ada).get("/api/v1/jobs/")):
        assert "no-store" in answer["Cache-Control"]
