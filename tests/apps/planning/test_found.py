"""What a search found: filtered by the address beside sorting, best by number of accelerators, and taken as it is."""

from __future__ import annotations

import csv
import re
from copy import deepcopy

import pytest
from django.http import QueryDict

from apps.core.errors import Invalid
from apps.planning import services
from apps.planning.found import CHOICES, FoundFilter, found_rows, listed_note
from apps.planning.services.computing import answer_to
from tests.apps.planning.documents import SEARCH, too_large
from tests.callers import actor_for

FEWER = SEARCH | {"limits": {"min_accelerators": 2}, "top": 40}
PLACE = re.compile(r'name="place" value="(\d+)"')


@pytest.fixture(scope="module")
def rows():
    return found_rows(answer_to(deepcopy(FEWER)))


def chosen(rows, address):
    return FoundFilter(QueryDict(address), rows).chosen()


def test_without_filters_all_are_shown(rows):
    assert chosen(rows, "") == rows and not FoundFilter(QueryDict("sort=-tp"), rows).is_used


@pytest.mark.parametrize("name", CHOICES)
def test_each_choice_leaves_the_layouts_that_have_it(name, rows):
    wanted = rows[-1][name]
    found = chosen(rows, f"{name}={wanted}")
    assert found and all(row[name] == wanted for row in found)
    assert len(found) == sum(row[name] == wanted for row in rows)


def test_filters_go_together(rows):
    found = chosen(rows, f"tp={rows[0]['tp']}&recompute={rows[0]['recompute']}&pareto=true&min_free=50")
    for row in found:
        assert (row["tp"], row["recompute"]) == (rows[0]["tp"], rows[0]["recompute"])
        assert row["pareto"] and row["headroom"] >= 0.5


def test_what_all_have_alike_is_no_choice(rows):
    wanted = FoundFilter(QueryDict(), rows)
    assert "cp" not in wanted.fields and "tp" in wanted.fields
    assert "cp" in FoundFilter(QueryDict("cp=1"), rows).fields, "unless the address asks for it"


@pytest.mark.parametrize(
    "address", ["tp=many", "tp=3", "min_free=-1", "min_free=NaN", "pareto=perhaps", "zero=%00"]
)
def test_what_cannot_be_asked_is_said_at_its_field_and_filters_nothing(rows, address):
    wanted = FoundFilter(QueryDict(address), rows)
    assert wanted.chosen() == rows
    assert list(wanted.errors) == [address.partition("=")[0]]


def test_an_unknown_name_is_refused_with_those_that_are_known(rows):
    with pytest.raises(Invalid, match=r"unknown filter: beauty; known: accelerators, cp"):
        FoundFilter(QueryDict("beauty=1"), rows)


@pytest.fixture
def searched(db, cluster, bo, run_jobs):
    version = services.create_plan(
        actor=actor_for(bo), scope_id=cluster.scope_id, name="wide", document=deepcopy(FEWER)
    )
    run_jobs()
    version.refresh_from_db()
    return version


def address_of(version):
    return f"/plans/{version.plan_id}/versions/{version.number}/"


def test_the_page_filters_and_sorts_by_its_address(searched, bo, client_of):
    browser = client_of(bo)
    found = {row["place"]: row for row in found_rows(searched.result)}
    count = found[1]["accelerators"]
    text = browser.get(address_of(searched), {"accelerators": count, "sort": "-step_s"}).content.decode()
    places = [int(place) for place in PLACE.findall(text)]
    assert places and all(found[place]["accelerators"] == count for place in places)
    steps = [found[place]["step_s"] for place in places]
    assert steps == sorted(steps, reverse=True)
    assert f"{len(places)} of {len(found)} that are listed." in text
    assert '<input type="hidden" name="sort" value="-step_s">' in text, "filtering keeps the order"
    assert f"?accelerators={count}&amp;sort=tp" in text, "and sorting keeps the filters"


def test_many_layouts_are_cut_into_pages_and_their_json_left_to_the_file(
    searched, bo, client_of, monkeypatch
):
    monkeypatch.setattr("apps.planning.page.MOST_IN_TEXT", 25)
    browser, count = client_of(bo), len(searched.result["best"])
    pages = [
        browser.get(address_of(searched), {"per_page": 25, "page": page}).content.decode() for page in (1, 2)
    ]
    places = [[int(place) for place in PLACE.findall(text)] for text in pages]
    assert places == [list(range(1, 26)), list(range(26, count + 1))] and 25 < count <= 50
    assert all("The result is long" in text and '"feasible"' not in text for text in pages)


def test_the_page_says_when_nothing_is_left(searched, bo, client_of):
    text = client_of(bo).get(address_of(searched), {"min_free": 100}).content.decode()
    assert "No layout fits these filters" in text and "Why the others fail" in text


def test_the_page_refuses_a_name_that_is_no_filter(searched, bo, client_of):
    assert client_of(bo).get(address_of(searched), {"beauty": 1}).status_code == 400


def test_the_best_with_each_number_of_accelerators_stand_side_by_side(searched, bo, client_of):
    text = client_of(bo).get(address_of(searched)).content.decode()
    section = text.partition("By number of accelerators</caption>")[2].partition("</table>")[0]
    counts = [int(count) for count in re.findall(r'<th scope="row" class="number">(\d+)</th>', section)]
    assert counts == [8, 4, 2]


def test_a_layout_on_fewer_accelerators_becomes_a_version_on_as_many(searched, bo, run_jobs):
    rows = found_rows(searched.result)
    place = next(row["place"] for row in rows if row["accelerators"] == 4)
    taken = services.take_found(actor=actor_for(bo), plan_id=searched.plan_id, number=1, place=place)
    assert taken.input["system"]["accelerators"] == 4
    run_jobs()
    taken.refresh_from_db()
    assert taken.result["iteration_time_s"] == rows[place - 1]["step_s"]
    assert taken.fits


def test_the_page_says_that_only_the_best_are_listed(searched, bo, client_of):
    text = client_of(bo).get(address_of(searched)).content.decode()
    listed, feasible = len(searched.result["best"]), searched.result["feasible"]
    assert listed < feasible
    assert f"The best {listed} of {feasible:,} are listed, with the best on each number" in text
    assert f"The filters choose among the {listed} that are listed" in text


@pytest.mark.parametrize(
    ("feasible", "counts", "note"),
    [
        (2, (8, 8), ""),
        (5830, (8, 8), "The best 2 of 5,830 are listed."),
        (3, (8, 4), "The best 2 of 3 are listed, with the best on each number of accelerators among them."),
    ],
)
def test_what_is_listed_is_said_unless_it_is_all(feasible, counts, note):
    assert listed_note({"feasible": feasible}, [{"accelerators": count} for count in counts]) == note


def test_the_csv_holds_what_the_filters_of_the_page_leave(searched, bo, client_of):
    browser, address = client_of(bo), address_of(searched)
    page = browser.get(address, {"accelerators": 4, "sort": "-step_s", "tp": ""}).content.decode()
    link = re.search(r'href="([^"]*export\.csv[^"]*)"', page).group(1)
    assert link == f"{address}export.csv?accelerators=4"
    assert "CSV, filtered" in page
    got = list(csv.DictReader(browser.get(link).content.decode().splitlines()))
    shown = [row for row in found_rows(searched.result) if row["accelerators"] == 4]
    assert [int(row["place"]) for row in got] == [row["place"] for row in shown]


def test_without_filters_the_csv_holds_all_that_are_listed(searched, bo, client_of):
    text = client_of(bo).get(f"{address_of(searched)}export.csv").content.decode()
    assert len(text.splitlines()) == 1 + len(searched.result["best"])


def test_the_csv_refuses_a_name_that_is_no_filter(searched, bo, client_of):
    assert client_of(bo).get(f"{address_of(searched)}export.csv", {"beauty": 1}).status_code == 400


def test_a_search_that_finds_nothing_says_how_near_it_came_and_what_would_help(make, run_jobs, bo, client_of):
    asked = deepcopy(SEARCH) | {"limits": {"zero": [0], "recompute": ["none"]}}
    asked["model"] |= too_large()["model"]
    asked["system"] |= {"accelerators": 4, "domain_size": 4}
    version = make(asked)
    run_jobs()
    version.refresh_from_db()
    assert version.result["feasible"] == 0 and version.result["nearest"]
    text = client_of(bo).get(address_of(version)).content.decode()
    assert "How near it came" in text and "Too much by" in text
    assert "Recompute whole layers" in text and "8 accelerators" in text
    assert "Accelerators with at least" in text


def test_a_search_that_finds_something_does_not(searched, bo, client_of):
    assert "nearest" not in searched.result
    assert "How near it came" not in client_of(bo).get(address_of(searched)).content.decode()
