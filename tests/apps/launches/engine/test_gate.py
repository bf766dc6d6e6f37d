"""Where a launch stands, and how that is said to machines."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from apps.core.verdicts import Verdict
from apps.launches.engine.checklist import STANDARD, parse_items
from apps.launches.engine.junit import junit
from apps.launches.engine.standing import EXIT_CODES, ExitCode, Standing, standing_of
from apps.launches.queries.checks import CHECKS
from apps.launches.words import GROUPS, ITEMS


@pytest.mark.parametrize(
    ("verdict", "is_stale", "go", "no_go", "standing"),
    [
        (None, False, 0, 0, Standing.PENDING),
        (None, True, 1, 1, Standing.PENDING),
        (Verdict.PASS, True, 1, 0, Standing.UNKNOWN),
        (Verdict.FAIL, True, 0, 0, Standing.UNKNOWN),
        (Verdict.FAIL, False, 1, 0, Standing.NO_GO),
        (Verdict.PASS, False, 1, 1, Standing.NO_GO),
        (Verdict.UNKNOWN, False, 1, 0, Standing.UNKNOWN),
        (Verdict.UNKNOWN, False, 0, 1, Standing.NO_GO),
        (Verdict.PASS, False, 0, 0, Standing.NEEDS_SIGNOFF),
        (Verdict.PASS, False, 1, 0, Standing.GO),
        (Verdict.WARN, False, 1, 0, Standing.GO),
        (Verdict.WAIVED, False, 1, 0, Standing.GO),
        (Verdict.WAIVED, False, 0, 0, Standing.NEEDS_SIGNOFF),
    ],
)
def test_the_standing_follows_from_verdict_age_and_signatures(verdict, is_stale, go, no_go, standing):
    assert (
        standing_of(verdict=verdict, is_stale=is_stale, signed_go=go, signed_no_go=no_go, needed=1)
        is standing
    )


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("is_stale", [False, True])
def test_only_a_fresh_verdict_that_opens_with_all_signatures_is_go(verdict, is_stale):
    for signed in (0, 1, 2):
        found = standing_of(verdict=verdict, is_stale=is_stale, signed_go=signed, signed_no_go=0, needed=2)
        opens = verdict in (Verdict.PASS, Verdict.WARN, Verdict.WAIVED) and not is_stale and signed == 2
        assert (found is Standing.GO) == opens


def test_each_standing_has_its_exit_code_and_only_go_is_zero():
    assert set(EXIT_CODES) == set(Standing)
    assert [standing for standing, code in EXIT_CODES.items() if code == 0] == [Standing.GO]
    assert EXIT_CODES[Standing.PENDING] == EXIT_CODES[Standing.UNKNOWN] == ExitCode.UNKNOWN == 3
    assert EXIT_CODES[Standing.NEEDS_SIGNOFF] == 10


def test_each_item_has_a_name_and_either_a_check_or_a_person():
    assert {item.key for item in STANDARD} == set(ITEMS)
    assert {item.group.value for item in STANDARD} <= set(GROUPS)
    assert {item.key for item in STANDARD if not item.manual} == set(CHECKS)


def test_items_come_back_from_a_template_as_they_were():
    assert parse_items([item.to_json() for item in STANDARD]) == STANDARD


def item(key: str, verdict: str) -> dict[str, str]:
    return {"key": key, "verdict": verdict, "code": "code", "message": f"it is <{verdict}>"}


def test_junit_says_failure_error_and_skipped_and_never_passes_what_is_unknown():
    items = [
        item("a", "pass"),
        item("b", "warn"),
        item("c", "fail"),
        item("d", "unknown"),
        item("e", "waived"),
    ]
    suite = ElementTree.fromstring(junit(items, class_name="hall-1.sn v1", standing="no_go"))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "1"}
    children = {case.get("name"): [child.tag for child in case] for case in suite}
    assert children == {"a": [], "b": ["system-out"], "c": ["failure"], "d": ["error"], "e": ["skipped"]}
    assert {case.get("classname") for case in suite} == {"hall-1.sn v1"}
    assert suite.find("testcase[@name='c']/failure").get("message") == "it is <fail>"
