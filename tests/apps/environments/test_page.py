"""Which groups of nodes the map shows where there are more of them than columns."""

from __future__ import annotations

from apps.environments.models import DriftCheck
from apps.environments.page import MOST_COLUMNS, heat_map


def test_a_group_that_fails_is_shown_before_those_that_are_fine() -> None:
    verdicts = ["pass"] * (MOST_COLUMNS + 3) + ["fail", "warn", "fail"]
    groups = [
        {"fingerprint": f"{place}", "verdict": verdict, "nodes": [f"n{place:02d}"], "cells": []}
        for place, verdict in enumerate(verdicts)
    ]
    shown = heat_map(DriftCheck(components=[], groups=groups), [], only_differences=False)
    names = [name for column in shown.columns for name in column.nodes]
    assert names == ["n00", "n11", "n13", *(f"n{place:02d}" for place in range(1, MOST_COLUMNS - 2))]
    assert shown.hidden_groups == len(groups) - MOST_COLUMNS
