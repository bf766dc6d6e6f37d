"""Secrets of other systems are kept so that only the portal's own key opens them."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.sealed import CannotOpen, seal, unseal


def test_what_is_sealed_shows_nothing_and_opens_again() -> None:
    sealed = seal("päss wörd", purpose="metrics")
    assert "päss" not in sealed
    assert unseal(sealed, purpose="metrics") == "päss wörd"


def test_sealed_for_one_purpose_it_opens_for_no_other() -> None:
    with pytest.raises(CannotOpen):
        unseal(seal("secret", purpose="metrics 1"), purpose="metrics 2")


def test_an_older_key_still_opens_where_it_is_kept(settings: Any) -> None:
    sealed = seal("secret", purpose="metrics")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key of the portal"
    settings.SECRET_KEY_FALLBACKS = [old]
    assert unseal(sealed, purpose="metrics") == "secret"

    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(CannotOpen):
        unseal(sealed, purpose="metrics")


@pytest.mark.parametrize("text", ["", "no token", "gAAAA", "ü"])
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(CannotOpen):
        unseal(text, purpose="metrics")
