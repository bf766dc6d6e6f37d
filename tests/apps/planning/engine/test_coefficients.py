"""The coefficients say where they come from, and the fit covers exactly those that say fitted."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from apps.planning.engine.coefficients import Coefficients, document, shipped_coefficients

ROOT = Path(__file__).resolve().parents[4]


def test_every_coefficient_has_unit_meaning_and_origin() -> None:
    for name, row in document()["coefficients"].items():
        assert row["unit"] and row["what"], name
        assert row["origin"] in ("fitted", "stated"), name
        assert row["origin"] == "fitted" or row["source"], name


def test_the_fit_covers_what_says_fitted() -> None:
    spec = importlib.util.spec_from_file_location("fit_planning", ROOT / "scripts" / "fit_planning.py")
    assert spec is not None and spec.loader is not None
    fit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fit)
    fitted = {name for name, row in document()["coefficients"].items() if row["origin"] == "fitted"}
    assert fitted == set(fit.FREE) | {"interval_spread", "interval_moe"}


def test_shares_lie_between_zero_and_one() -> None:
    for name, row in document()["coefficients"].items():
        if row["unit"] == "share":
            assert 0.0 < getattr(shipped_coefficients(), name) < 1.0, name


def test_a_file_with_other_coefficients_is_refused() -> None:
    rows = dict(document()["coefficients"])
    rows.pop("wave_share")
    with pytest.raises(ValueError, match="wave_share"):
        Coefficients.from_document({"coefficients": rows})
