"""The placement check on records: page and REST."""

from __future__ import annotations

import pytest

from apps.fleet import services
from apps.fleet.models import Domain, Node

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(build) -> Domain:
    return build("144-as-4x36")


@pytest.fixture
def check(cluster, vic, api, domain):
    def checked(ranks, **sizes):
        body = {"ranks": ranks} | sizes
        return api(vic).post(f"/api/v1/clusters/{cluster.slug}/placement-check/", body, format="json")

    return checked


def test_groups_across_sub_domains_are_named_one_by_one(check):
    answer = check("sn-n[01-18]", tp=8, pp=18).json()
    assert (answer["verdict"], answer["ranks"]) == ("warn", 144)
    named = [(one["dimension"], one["group"], one["where"]) for one in answer["violations"]]
    assert named == [("tp", 4, ["sn-s1", "sn-s2"]), ("tp", 13, ["sn-s3", "sn-s4"])]


def test_a_better_order_is_offered_where_there_is_one(check):
    scattered = [f"sn-n{place % 18 + 1:02d}" for place in range(144)]
    answer = check(scattered, tp=4, dp=36).json()
    better = answer["better"]
    assert len(answer["violations"]) > better["leave_domain"] + better["leave_sub_domain"]
    assert sorted(better["nodes"]) == sorted(scattered)


def test_groups_that_stay_inside_pass(check):
    assert check("sn-n[01-04]", tp=4, dp=8).json()["verdict"] == "pass"


@pytest.mark.parametrize(
    ("ranks", "code"),
    [
        ("sn-n01 slots=8\nsn-n77 slots=8\n", "unknown_host"),
        ({"0": "sn-n01", "2": "sn-n01"}, "hole"),
        ([{"rank": 0, "node": "sn-n01"}, {"rank": 0, "node": "sn-n02"}], "duplicate_rank"),
        ("sn-n01 slots=none\n", "bad_host_line"),
        ("sn-n01 slots=9\n", "too_many_ranks"),
        ("[", "invalid"),
        (7, "wrong_shape"),
    ],
)
def test_a_bad_rank_map_is_named(ranks, code, check):
    answer = check(ranks, dp=8)
    assert answer.status_code == 400
    codes = {error["code"] for error in answer.json()["errors"]}
    assert code in codes, codes


def test_an_entry_of_a_list_that_stands_for_several_nodes_is_expanded(check):
    assert check(["sn-n[01-18]"], tp=8, dp=18).json() == check("sn-n[01-18]", tp=8, dp=18).json()
    mixed = check(["sn-n[01-02]", "sn-n03,sn-n04"], tp=8, dp=4)
    assert (mixed.status_code, mixed.json()["ranks"]) == (200, 32)


def test_a_list_of_plain_names_is_one_rank_each(check):
    assert check(["sn-n01", "sn-n01"], tp=2).json()["ranks"] == 2


@pytest.mark.parametrize("entry", ["sn-n[01-", "sn-n[02-01]", "sn-n[1-9999999]", "sn-n[01-02],sn-n02"])
def test_a_bad_entry_of_a_list_is_named(entry, check):
    answer = check([entry])
    assert (answer.status_code, {error["pointer"] for error in answer.json()["errors"]}) == (400, {"/nodes"})


def test_sizes_that_do_not_multiply_to_the_ranks_are_named(check):
    answer = check("sn-n[01-02]", tp=8, dp=3)
    assert {error["pointer"] for error in answer.json()["errors"]} == {"/ranks"}


def test_pods_and_aliases_are_understood(check, bo, actor_for):
    node = Node.objects.get(name="sn-n02")
    services.add_alias(actor=actor_for(bo), node_id=node.pk, name="host-b")
    pods = [{"name": "worker-1", "node": "host-b"}, {"name": "worker-0", "node": "sn-n01"}]
    assert check(pods, tp=8, dp=2).json()["ranks"] == 16


def test_the_page_colours_the_groups_of_a_whole_domain(domain, cluster, vic, client_of):
    sizes = {"tp": 8, "pp": 18, "dp": 1, "ep": 1, "cp": 1, "per_node": 8, "order": "tp-cp-ep-dp-pp"}
    body = sizes | {"domain": domain.pk, "ranks": "", "dimension": "tp"}
    answer = client_of(vic).post(f"/clusters/{cluster.slug}/placement/", body)
    assert answer.content.decode().count("is-crossing") == 16
    assert answer.context["found"].group_count == 18


def test_the_page_shows_what_is_wrong_with_the_hosts(domain, cluster, vic, client_of):
    sizes = {"tp": 1, "pp": 1, "dp": 1, "ep": 1, "cp": 1, "per_node": 1, "order": "tp-cp-ep-dp-pp"}
    body = sizes | {"ranks": "nowhere", "dimension": "tp"}
    answer = client_of(vic).post(f"/clusters/{cluster.slug}/placement/", body)
    assert b"nowhere is not a node of this fleet" in answer.content
