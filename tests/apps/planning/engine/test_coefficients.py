"""The coefficients say where they come from, and the fit covers exactly those that say fitted."""

from __future__ import annotations

import pytest

from apps.planning.engine.coefficients import Coefficients, document, shipped_coefficients
from scripts import calibrate_intervals, fit_planning


def test_every_coefficient_has_unit_meaning_and_origin() -> None:
    for name, row in document()["coefficients"].items():
        assert row["unit"] and row["what"], name
        assert row["origin"] in ("fitted", "stated"), name
        assert row["origin"] == "fitted" or row["source"], name


def test_fit_and_calibration_cover_what_says_fitted() -> None:
    fitted = {name for name, row in document()["coefficients"].items() if row["origin"] == "fitted"}
    assert fitted == {*fit_planning.FREE, *calibrate_intervals.WIDTHS}


def test_shares_lie_between_zero_and_one() -> None:
    for name, row in document()["coefficients"].items():
        if row["unit"] == "share":
            assert 0.0 < getattr(shipped_coefficients(), name) < 1.0, name


def test_a_file_with_other_coefficients_is_refused() -> None:
    rows = dict(document()["coefficients"])
    rows.pop("wave_share")
    with pytest.raises(ValueError, match="wave_share"):
        Coefficients.from_document({"coefficients": rows})
