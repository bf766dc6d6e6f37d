"""Pages of environments: what they say, what they let people do, and how many queries they need."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import translation

from apps.environments import queries, services
from apps.environments.filters import FindingFilter
from apps.environments.models import DriftFinding
from tests import factories
from tests.apps.environments.support import check_drift, report

pytestmark = pytest.mark.django_db


@pytest.fixture
def drifted(locked: Any, domain: Any, nodes: Any) -> Any:
    report(nodes[2], nccl="2.25.1")
    return check_drift(domain)


def _page(client: Any, name: str, *args: Any, query: str = "") -> str:
    answer = client.get(reverse(f"environments:{name}", args=args) + query)
    assert answer.status_code == 200, answer.content.decode()[:500]
    return str(answer.content.decode())


def test_the_overview_shows_where_each_domain_stands(drifted: Any, client_of: Any, vic: Any) -> None:
    page = _page(client_of(vic), "overview")

    assert "sn environment v1" in page
    assert "fail" in page


def test_an_overview_without_domains_says_what_to_do(cluster: Any, client_of: Any, vic: Any) -> None:
    assert "No domain yet" in _page(client_of(vic), "overview")
    assert "No domain yet" in _page(client_of(vic), "cluster", cluster.slug)


def test_the_overview_needs_as_many_queries_for_many_domains(
    drifted: Any, domain: Any, client_of: Any, vic: Any, assert_constant_queries: Any
) -> None:
    client = client_of(vic)
    assert_constant_queries(
        lambda: _page(client, "overview"),
        lambda: [factories.domain(domain.cluster) for _ in range(8)],
    )


def test_a_draft_is_locked_on_its_page(draft: Any, domain: Any, client_of: Any, bo: Any) -> None:
    client = client_of(bo)
    assert "Lock this version?" in _page(client, "version", draft.pk)

    client.post(reverse("environments:lock", args=[draft.pk]), {"version": 1})

    draft.refresh_from_db()
    assert draft.state == "locked"


def test_a_version_that_is_retired_leaves_a_domain_that_nothing_is_asked_of(
    locked: Any, domain: Any, client_of: Any, bo: Any, run_jobs: Any
) -> None:
    check_drift(domain)
    client_of(bo).post(
        reverse("environments:retire", args=[locked.pk]), {"version": locked.version, "reason": "wrong"}
    )
    run_jobs("environments.check_drift")

    assert [finding.kind for finding in queries.open_findings(domain=domain)] == ["no_intent"]


def test_a_draft_says_what_it_leaves_out_and_who_reports_it(
    draft_from: Any, client_of: Any, actor_for: Any, bo: Any
) -> None:
    draft = draft_from({"rocm": "6.2.0"}, {}, {}, {})

    said = "reported by 1 of 4 nodes, not asked for"
    assert said in _page(client_of(bo), "version", draft.pk)
    assert {one.rule: one.verdict for one in queries.compatibility_of(draft)}[
        "no-other-stack-beside-nvidia"
    ] == "pass"  # one odd node is not the domain
    services.set_entry(
        actor=actor_for(bo),
        version_id=draft.pk,
        expected_version=1,
        component="rocm",
        rule="exact",
        values=["6.2.0"],
    )
    assert said not in _page(client_of(bo), "version", draft.pk)


def test_what_is_undecided_is_named_as_people_name_it(draft_from: Any, client_of: Any, bo: Any) -> None:
    drivers = ("535.54.03", "535.54.03", "570.86.15", "570.86.15")
    draft = draft_from(*({"gpu_driver": driver} for driver in drivers))
    page = _page(client_of(bo), "version", draft.pk)

    assert ">GPU driver</a>" in page
    assert ">gpu_driver<" not in page


def test_a_version_that_no_id_can_name_is_missing(draft: Any, domain: Any, client_of: Any, bo: Any) -> None:
    address = reverse("environments:draft_from_other", args=[domain.pk])

    assert client_of(bo).post(address, {"from": "9" * 5000}).status_code == 404


def test_a_viewer_sees_no_buttons(draft: Any, client_of: Any, vic: Any) -> None:
    page = _page(client_of(vic), "version", draft.pk)

    assert "Lock this version?" not in page
    assert "Add a component" not in page


def test_broken_rules_are_shown_before_locking_and_need_a_reason(
    draft_from: Any, client_of: Any, bo: Any
) -> None:
    draft = draft_from(*[{"fabric_manager": "565.57.01"}] * 4)
    client = client_of(bo)

    page = _page(client, "version", draft.pk)
    refused = client.post(reverse("environments:lock", args=[draft.pk]), {"version": 1}, follow=True)
    client.post(reverse("environments:lock", args=[draft.pk]), {"version": 1, "reason": "vendor"})

    assert "These versions do not go together" in page
    assert "these versions do not go together" in refused.content.decode()
    draft.refresh_from_db()
    assert (draft.state, draft.override_reason) == ("locked", "vendor")


def test_where_a_rule_only_warns_the_reason_is_optional_and_the_branch_that_ended_is_shown(
    draft: Any, client_of: Any, bo: Any
) -> None:
    draft.entries.filter(component="gpu_driver").update(values=["570.124.06"])

    page = _page(client_of(bo), "version", draft.pk)

    label = page.split('for="lock-reason">')[1].split("</label>")[0]
    assert "Why it is right all the same" in label
    assert "optional" in label
    assert "required" not in page.split('id="lock-reason"')[1].split(">")[0]
    held_against = page.split('data-label="Held against">none of the branches 570')[1].split("</td>")[0]
    assert "<summary" in held_against
    assert "The whole list" in held_against


@pytest.mark.parametrize(("page_of", "link"), [("drift", "All of {}"), ("drift", "for all of {}")])
def test_all_findings_of_a_node_become_one_change(
    drifted: Any, domain: Any, nodes: Any, client_of: Any, bo: Any, page_of: str, link: str
) -> None:
    report(nodes[2], nccl="2.25.1", gpu_driver="560.1.1")
    check_drift(domain)

    page = _page(client_of(bo), page_of, domain.pk)

    query = f"?domain={domain.pk}&amp;node={nodes[2].name}"
    assert f'{query}">{link.format(nodes[2].name)}</a>' in page
    form = client_of(bo).get(reverse("changes:new"), {"domain": domain.pk, "node": nodes[2].name})
    filled = [row["component"].value() for row in form.context["items"].forms if row["component"].value()]
    assert len(filled) == 2


def test_groups_of_identical_nodes_are_columns(locked: Any, nodes: Any, client_of: Any, vic: Any) -> None:
    report(nodes[2], nccl="2.25.1")

    page = _page(client_of(vic), "version", locked.pk)
    only = _page(client_of(vic), "version", locked.pk, query="?only=differences")

    assert "3 nodes" in page
    assert "1 node" in page
    assert '<th scope="row">GPU driver' in page
    assert '<th scope="row">GPU driver' not in only
    assert "2.25.1" in only


def test_an_entry_is_edited_and_removed(draft: Any, client_of: Any, bo: Any) -> None:
    client = client_of(bo)
    _page(client, "entry", draft.pk, "nccl")

    wrong = client.post(
        reverse("environments:entry", args=[draft.pk, "nccl"]),
        {"version": 1, "rule": "exact", "values": "1\n2"},
    )
    client.post(
        reverse("environments:entry", args=[draft.pk, "nccl"]),
        {"version": 1, "rule": "one_of", "values": "2.26.2\n2.27.3"},
    )
    client.post(reverse("environments:remove_entry", args=[draft.pk, "os"]), {"version": 2})

    assert "exactly one version" in wrong.content.decode()
    assert draft.entries.get(component="nccl").values == ["2.26.2", "2.27.3"]
    assert not draft.entries.filter(component="os").exists()


def test_a_file_is_shown_before_it_replaces_entries(draft: Any, client_of: Any, bo: Any) -> None:
    client = client_of(bo)
    place = reverse("environments:import", args=[draft.pk])
    sent = {"file_format": "csv", "text": "component,values\nnccl,2.27.3\n"}

    preview = client.post(place, sent).content.decode()
    before = draft.entries.count()
    client.post(place, {**sent, "confirmed": 1, "version": 1})

    assert "What would change" in preview
    assert (before, draft.entries.count()) == (4, 1)


def test_a_wrong_file_is_refused_with_row_and_column(draft: Any, client_of: Any, bo: Any) -> None:
    answer = client_of(bo).post(
        reverse("environments:import", args=[draft.pk]),
        {"file_format": "csv", "text": "component,rule\nnccl,about\n"},
    )

    assert "row 2, column rule: found &#x27;about&#x27;" in answer.content.decode()
    assert draft.entries.count() == 4


@pytest.mark.parametrize("file_format", ["yaml", "csv"])
def test_what_was_exported_is_imported_again(
    draft: Any, client_of: Any, actor_for: Any, bo: Any, file_format: str
) -> None:
    before = list(draft.entries.values_list("component", "rule", "values"))
    exported = client_of(bo).get(reverse("environments:export", args=[draft.pk]) + f"?as={file_format}")

    services.replace_entries(
        actor=actor_for(bo),
        version_id=draft.pk,
        expected_version=1,
        text=exported.content.decode(),
        file_format=file_format,
    )

    assert list(draft.entries.values_list("component", "rule", "values")) == before


def test_two_versions_are_compared(draft: Any, locked: Any, actor_for: Any, client_of: Any, bo: Any) -> None:
    after = services.draft_from_version(actor=actor_for(bo), version_id=locked.pk)
    services.set_entry(
        actor=actor_for(bo),
        version_id=after.pk,
        expected_version=1,
        component="nccl",
        rule="exact",
        values=["2.27.3"],
    )

    page = _page(client_of(bo), "compare", locked.pk, query=f"?to={after.pk}")

    assert "<del>2.26.2</del>" in page
    assert "<ins>2.27.3</ins>" in page


def test_the_drift_page_names_the_odd_one_with_intended_and_reported(
    drifted: Any, domain: Any, client_of: Any, bo: Any
) -> None:
    page = _page(client_of(bo), "drift", domain.pk)

    assert "The odd one out" in page
    assert "3 nodes run 2.26.2" in page
    assert "Furthest behind" in page
    assert f'domain={domain.pk}&amp;component=nccl">' in page


def test_a_check_is_asked_for_and_its_job_shown(drifted: Any, domain: Any, client_of: Any, vic: Any) -> None:
    answer = client_of(vic).post(reverse("environments:check", args=[domain.pk]), follow=True)

    assert "data-poll" in answer.content.decode()


def test_a_finding_is_assigned_on_the_page(drifted: Any, client_of: Any, bo: Any, chen: Any) -> None:
    finding = DriftFinding.objects.get()

    client_of(bo).post(reverse("environments:assign", args=[finding.pk]), {"owner": chen.pk})

    finding.refresh_from_db()
    assert finding.owner == chen


def test_a_domain_without_a_matrix_has_one_finding_on_page_and_in_the_api(
    nodes: Any, domain: Any, client_of: Any, bo: Any, api: Any
) -> None:
    check_drift(domain)
    client = client_of(bo)
    page = _page(client, "drift", domain.pk)
    (row,) = api(bo).get("/api/v1/drift-findings/").json()["results"]

    assert ("the whole domain" in page, page.count("no matrix asks for anything")) == (True, 2)
    assert (row["node"], row["node_id"], row["kind"], row["verdict"]) == (None, None, "no_intent", "unknown")
    client.post(reverse("environments:assign", args=[row["id"]]), {"owner": bo.pk})
    assert DriftFinding.objects.get().owner == bo


def test_who_reports_a_version_is_listed_within_what_may_be_seen(
    nodes: Any, domain: Any, client_of: Any, vic: Any, eve: Any
) -> None:
    for node in nodes[:3]:
        report(node)
    report(nodes[0], {"nccl": "2.26.2"}, kind="collect_env")  # the same said by two tools is one node
    report(nodes[1], {"nccl": "2.27.3"}, kind="nccl_debug_log")  # what it loads goes before
    query = "?value=2.26.2"

    assert "2 nodes run this version" in _page(client_of(vic), "holders", "nccl", query=query)
    assert "No node runs this version" in _page(client_of(eve), "holders", "nccl", query=query)
    unknown = client_of(vic).get(reverse("environments:holders", args=["no-such-component"]))
    assert unknown.status_code == 404
    elsewhere = _page(client_of(vic), "holders", "nccl", query=query + "&cluster=hall-2")
    assert "No node runs this version" in elsewhere


def test_findings_are_filtered_and_unknown_filters_refused(
    drifted: Any, domain: Any, client_of: Any, vic: Any
) -> None:
    client = client_of(vic)
    assert "No finding is open here." in _page(client, "drift", domain.pk, query="?component=os")
    assert client.get(reverse("environments:drift", args=[domain.pk]) + "?nodes=n3").status_code == 400


@pytest.mark.parametrize(
    ("text", "component"),
    [
        ("gpu_driver", "gpu_driver"),
        ("gpu DRIVER", "gpu_driver"),
        ("驱动", "gpu_driver"),
        ("_driver", "gpu_driver"),
    ],
)
def test_findings_are_found_by_the_name_of_their_component(
    text: str, component: str, drifted: Any, client_of: Any, vic: Any
) -> None:
    finding = DriftFinding.objects.get()
    DriftFinding.objects.filter(pk=finding.pk).update(component=component)
    with translation.override("zh-hans"):
        found = FindingFilter({"component": text}, queryset=DriftFinding.objects.all()).qs
        other = FindingFilter({"component": "nccl"}, queryset=DriftFinding.objects.all()).qs
        assert ([one.pk for one in found], [*other]) == ([finding.pk], [])


def test_a_drift_page_before_the_first_check(domain: Any, client_of: Any, vic: Any) -> None:
    page = _page(client_of(vic), "drift", domain.pk)

    assert "Not checked yet" in page
    assert "No matrix is locked" in page


def test_the_drift_page_needs_as_many_queries_for_many_findings(
    drifted: Any, domain: Any, nodes: Any, client_of: Any, bo: Any, assert_constant_queries: Any
) -> None:
    client = client_of(bo)

    def grow() -> None:
        for node in nodes[:2]:
            report(node, nccl="2.24.1", gpu_driver="565.57.01")
        check_drift(domain)

    assert_constant_queries(lambda: _page(client, "drift", domain.pk), grow)


def test_a_node_shows_its_history_with_evidence(drifted: Any, nodes: Any, client_of: Any, vic: Any) -> None:
    page = _page(client_of(vic), "node", nodes[2].pk, query="?component=nccl")

    assert "2.26.2" in page
    assert "2.25.1" in page
    assert f"sha256={'a' * 64}" in page


def test_strangers_find_nothing(draft: Any, domain: Any, nodes: Any, client_of: Any, eve: Any) -> None:
    client = client_of(eve)
    places = [("version", draft.pk), ("matrix", draft.matrix_id), ("drift", domain.pk), ("node", nodes[0].pk)]
    places += [("export", draft.pk), ("cluster", domain.cluster.slug), ("new_draft", domain.pk)]

    for name, key in places:
        assert client.get(reverse(f"environments:{name}", args=[key])).status_code == 404


def test_only_administrators_set_how_nodes_are_watched(
    cluster: Any, client_of: Any, bo: Any, ada: Any
) -> None:
    place = reverse("environments:policy", args=[cluster.slug])

    assert client_of(bo).get(place).status_code == 403
    sent = {"version": 0, "stale_after_hours": "2", "check_every_minutes": "30"}
    client_of(ada).post(place, sent)

    policy = queries.policy_of(cluster)
    assert (policy.stale_after_s, policy.check_every_s, policy.version) == (7200, 1800, 1)
