"""Version tables as a team has them: rows changed, added and given back, by whom, and what they decide."""

from __future__ import annotations

from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.catalogue import queries, services
from apps.catalogue.engine.overlays import VERSION_TABLES, Confidence, Kind
from apps.catalogue.engine.version_tables import shipped_tables
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.environments import queries as environments
from apps.environments import services as matrices
from tests import factories

pytestmark = pytest.mark.django_db
TOO_OLD = "component,rule,values\ngpu_driver,exact,570.86.15\ncuda_of_torch,exact,13.0\n"
OTHER_NCCL = "component,rule,values\ntorch,exact,2.8.0+cu126\nnccl,exact,2.29.7\n"


@pytest.fixture
def set_row(cluster: Any, ada: Any, actor_for: Any) -> Any:
    def row(kind: Kind, entry: str, path: str, value: object, **more: Any) -> Any:
        asked = {"scope_id": cluster.scope_id, "source": "vendor's notice", "actor": actor_for(ada), **more}
        said = {"kind": kind, "entry": entry, "path": path, "value": value}
        return services.set_figure(**said, **asked, confidence=Confidence.VENDOR_DOC)

    return row


def draft(text: str, cluster: Any, actor: Any) -> Any:
    domain = factories.domain(cluster, "sn")
    return matrices.draft_from_file(actor=actor, domain_id=domain.pk, text=text, file_format="csv")


def verdicts(version: Any) -> dict[str, str]:
    return {one.rule: one.verdict.value for one in environments.compatibility_of(version)}


def test_a_changed_floor_decides_about_the_lock_in_that_cluster_alone(
    set_row: Any, cluster: Any, other_cluster: Any, ada: Any, bo: Any, eve: Any, actor_for: Any
) -> None:
    version = draft(TOO_OLD, cluster, actor_for(bo))
    elsewhere = draft(TOO_OLD, other_cluster, actor_for(eve))
    assert verdicts(version)["driver-runs-cuda-of-torch"] == "fail"

    edit = set_row(Kind.CUDA_MAJOR, "13", "min_driver", "570.26")

    locked = matrices.lock_matrix(actor=actor_for(bo), version_id=version.pk, expected_version=1)
    assert (locked.state, locked.override_reason) == ("locked", "")
    assert verdicts(elsewhere)["driver-runs-cuda-of-torch"] == "fail"
    services.clear_figure(actor=actor_for(ada), edit_id=edit.pk)
    assert verdicts(version)["driver-runs-cuda-of-torch"] == "fail"


def test_an_ended_branch_and_a_pin_are_a_teams_to_say(
    set_row: Any, cluster: Any, bo: Any, actor_for: Any
) -> None:
    version = draft(
        "component,rule,values\ngpu_driver,exact,580.95.05\ntorch,exact,2.8.0\nnccl,exact,2.29.7\n",
        cluster,
        actor_for(bo),
    )
    before = verdicts(version)

    set_row(Kind.BRANCH, "580", "is_ended", "yes")
    set_row(Kind.TORCH, "2.8.0", "nccl", "2.29.7")

    after = verdicts(version)
    assert (before["driver-branch-is-supported"], after["driver-branch-is-supported"]) == ("pass", "warn")
    assert (before["torch-nccl-pin"], after["torch-nccl-pin"]) == ("warn", "pass")


def test_a_build_that_no_table_knows_has_pins_once_a_team_adds_it(
    set_row: Any, cluster: Any, bo: Any, actor_for: Any
) -> None:
    version = draft(OTHER_NCCL, cluster, actor_for(bo))
    assert "torch-nccl-pin" not in verdicts(version)

    set_row(Kind.TORCH, "2.8.0+cu126", "default_cuda", "12.6")
    set_row(Kind.TORCH, "2.8.0+cu126", "nccl", "2.27.3")

    assert verdicts(version)["torch-nccl-pin"] == "warn"


def test_a_new_toolkit_stands_among_the_shipped_ones(set_row: Any, cluster: Any) -> None:
    set_row(Kind.TOOLKIT, "12.7.0", "driver", "565.57.01")

    kits = [kit.version for kit in queries.version_tables_for(cluster.scope_id).toolkits]

    assert kits[kits.index("12.7.0") - 1 : kits.index("12.7.0") + 2] == ["12.8.0", "12.7.0", "12.6.3"]
    assert queries.version_tables_for(None) is shipped_tables()


@pytest.mark.parametrize(
    ("kind", "entry", "path", "value", "pointer"),
    [
        (Kind.CUDA_MAJOR, "13", "min_driver", "new enough", "/value"),
        (Kind.CUDA_MAJOR, "13.0", "min_driver", "580.65.06", "/entry"),
        (Kind.CUDA_MAJOR, "1\N{FULLWIDTH DIGIT THREE}", "min_driver", "580.65.06", "/entry"),
        (Kind.BRANCH, "5\N{ARABIC-INDIC DIGIT EIGHT}0", "eol", "2028-07", "/entry"),
        (Kind.BRANCH, "580", "eol", "soon", "/value"),
        (Kind.BRANCH, "580", "is_ended", True, "/value"),
        (Kind.TORCH, "nightly", "nccl", "2.29.7", "/entry"),
        (Kind.TORCH, "2.8.0", "cuda_builds", "12.6; 12.8", "/value"),
        (Kind.TOOLKIT, "12.8.0", "colour", "red", "/path"),
    ],
)
def test_odd_rows_are_refused(
    kind: Kind, entry: str, path: str, value: object, pointer: str, set_row: Any
) -> None:
    with pytest.raises(Invalid) as refusal:
        set_row(kind, entry, path, value)
    assert [one.pointer for one in refusal.value.errors] == [pointer]


def test_a_row_needs_a_source_and_leaves_a_trace(set_row: Any) -> None:
    with pytest.raises(Invalid):
        set_row(Kind.CUDA_MAJOR, "13", "min_driver", "580.95.05", source=" ")
    set_row(Kind.CUDA_MAJOR, "13", "min_driver", "580.95.05")
    event = AuditEvent.objects.get(action="catalogue.figure.set")
    assert "580.95.05" in event.body and "vendor's notice" in event.body


def test_only_who_administrates_a_cluster_sets_its_rows(
    set_row: Any, cluster: Any, other_cluster: Any, bo: Any, vic: Any, eve: Any, actor_for: Any
) -> None:
    row = (Kind.CUDA_MAJOR, "13", "min_driver", "570.26")
    for person, error in ((bo, NotAllowed), (vic, NotAllowed), (eve, Missing)):
        with pytest.raises(error):
            set_row(*row, actor=actor_for(person))
    assert set_row(*row, actor=actor_for(eve), scope_id=other_cluster.scope_id).pk
    with pytest.raises(NotAllowed):
        set_row(*row, actor=actor_for(eve), scope_id=None)


def test_a_row_that_holds_for_everybody_is_not_a_clusters_to_take_back(
    set_row: Any, eve: Any, actor_for: Any
) -> None:
    edit = set_row(Kind.CUDA_MAJOR, "13", "min_driver", "570.26", scope_id=None)
    with pytest.raises(NotAllowed):
        services.clear_figure(actor=actor_for(eve), edit_id=edit.pk)


@pytest.mark.parametrize("kind", VERSION_TABLES)
def test_each_table_has_its_page_and_rows_a_page_of_their_own(
    kind: Kind, cluster: Any, vic: Any, client_of: Any
) -> None:
    client = client_of(vic)
    page = client.get(f"/catalogue/versions/{kind}/?cluster={cluster.slug}")
    entry = queries.entries_for(None, kind)[0]
    assert page.status_code == 200
    assert f"/catalogue/{kind}/{entry.id}/" in page.content.decode()
    assert client.get(f"/catalogue/{kind}/{entry.id}/").status_code == 200
    assert client.get("/catalogue/versions/accelerator/").status_code == 404


def test_the_pages_add_change_and_take_back(cluster: Any, ada: Any, client_of: Any) -> None:
    client, page = client_of(ada), "/catalogue/torch/2.8.0/"
    body = {
        "value": "2.29.7",
        "source": "our image",
        "confidence": "measured",
        "scope": str(cluster.scope_id),
    }
    sent = client.post(page, body | {"path": "nccl"})
    assert sent.url == f"{page}?cluster={cluster.slug}"
    assert "our image" in client.get(sent.url).content.decode()
    new = body | {"entry": "2.8.0+cu126", "path": "default_cuda", "value": "12.6"}
    added = client.post("/catalogue/versions/torch/", new)
    assert client.get(added.url).status_code == 200
    edit = queries.entry_for(cluster.scope_id, Kind.TORCH, "2.8.0").figures[1].edit
    cleared = client.post(f"/catalogue/edits/{edit.pk}/clear/")
    assert cleared.url == f"/catalogue/versions/torch/?cluster={cluster.slug}"
    assert queries.entry_for(cluster.scope_id, Kind.TORCH, "2.8.0").edited == 0


@pytest.mark.parametrize(
    ("person", "post", "delete"),
    [("vic", 403, 403), ("bo", 403, 403), ("ada", 201, 204), ("eve", 404, 404)],
)
def test_each_role_gets_its_answer_over_rest(
    person: str, post: int, delete: int, cluster: Any, set_row: Any, request: Any, api: Any
) -> None:
    edit = set_row(Kind.BRANCH, "590", "is_ended", "yes")
    caller = api(request.getfixturevalue(person))
    body = {"cluster": cluster.slug, "kind": "branch", "entry": "595", "path": "eol", "value": "2027-03"}
    body |= {"source": "vendor's notice", "confidence": "vendor_doc"}
    assert caller.get("/api/v1/catalogue/version-tables/").status_code == 200
    assert caller.post("/api/v1/catalogue/edits/", body, format="json").status_code == post
    assert caller.delete(f"/api/v1/catalogue/edits/{edit.pk}/").status_code == delete


def test_no_token_sets_a_row(cluster: Any, ada: Any, api: Any) -> None:
    caller = api(factories.bearer(ada, "read", "fleet:write"))
    body = {"cluster": cluster.slug, "kind": "cuda_major", "entry": "13", "path": "min_driver"}
    body |= {"value": "1.0", "source": "x", "confidence": "recalled"}
    assert caller.post("/api/v1/catalogue/edits/", body, format="json").status_code == 403


def test_the_list_over_rest_says_what_was_set_and_by_what_source(
    cluster: Any, set_row: Any, vic: Any, api: Any
) -> None:
    set_row(Kind.CUDA_MAJOR, "13", "min_driver", "580.95.05")
    listed = api(vic).get(f"/api/v1/catalogue/version-tables/?cluster={cluster.slug}").json()
    (row,) = [one for one in listed if (one["kind"], one["id"]) == ("cuda_major", "13")]
    assert {one["kind"] for one in listed} == {"cuda_major", "toolkit", "branch", "torch"}
    assert {key: row["figures"][0][key] for key in ("value", "shipped", "source")} == {
        "value": "580.95.05",
        "shipped": "580.65.06",
        "source": "vendor's notice",
    }


def test_locking_reads_the_tables_in_one_query(cluster: Any, set_row: Any, count_queries: Any) -> None:
    set_row(Kind.CUDA_MAJOR, "13", "min_driver", "580.95.05")
    set_row(Kind.TORCH, "2.8.0", "nccl", "2.29.7")
    assert count_queries(lambda: queries.version_tables_for(cluster.scope_id)) == 1


def test_a_floor_that_is_not_known_is_unknown_and_no_pass(
    set_row: Any, cluster: Any, bo: Any, actor_for: Any
) -> None:
    version = draft(TOO_OLD, cluster, actor_for(bo))
    set_row(Kind.CUDA_MAJOR, "13", "min_driver", "")
    assert verdicts(version)["driver-runs-cuda-of-torch"] == "unknown"


def test_a_broken_row_still_blocks_the_lock(set_row: Any, cluster: Any, bo: Any, actor_for: Any) -> None:
    version = draft(TOO_OLD.replace("13.0", "12.8"), cluster, actor_for(bo))
    assert verdicts(version)["driver-runs-cuda-of-torch"] == "pass"
    set_row(Kind.CUDA_MAJOR, "12", "min_driver", "575.51.03")
    with pytest.raises(Conflict) as refused:
        matrices.lock_matrix(actor=actor_for(bo), version_id=version.pk, expected_version=1)
    assert refused.value.code == "rules_broken"


def test_the_page_of_a_version_leads_to_the_table_that_a_rule_looked_into(
    cluster: Any, bo: Any, actor_for: Any, client_of: Any
) -> None:
    version = draft(TOO_OLD, cluster, actor_for(bo))
    page = client_of(bo).get(f"/environment/versions/{version.pk}/").content.decode()
    assert f"/catalogue/versions/cuda_major/?cluster={cluster.slug}" in page
