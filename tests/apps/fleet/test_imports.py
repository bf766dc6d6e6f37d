"""Bulk imports: looked at first, applied whole or not at all; what is exported imports again unchanged."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils.translation import override

from apps.audit.models import AuditEvent
from apps.core.actor import system
from apps.core.errors import Conflict, Invalid, NotAllowed, Stale, TooLarge
from apps.core.speech import said
from apps.fleet import services, tasks
from apps.fleet.engine import importing
from apps.fleet.engine.importing import Mode
from apps.fleet.engine.tables import SCHEMAS, Table
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.forms.imports import NODES_EXAMPLE
from apps.fleet.models import (
    Accelerator,
    BulkImport,
    Domain,
    HoldKind,
    ImportState,
    Link,
    Node,
    SubDomain,
)
from apps.fleet.queries import imports as queries
from apps.fleet.queries import topology
from apps.fleet.queries.exports import export
from apps.fleet.queries.fabric import fabric_of, layout_of
from apps.fleet.queries.layers import Colours
from apps.fleet.queries.link_graph import link_graph_of
from apps.fleet.services import import_looks, imports
from apps.jobs.running import RunningJob
from tests import factories

pytestmark = pytest.mark.django_db

NODES = b"name,domain,index,rack\nn1,,0,R1\nn2,,1,R1\n"
FLEET = {
    "domains": [{"name": "d1", "sub_domains": ["a", "b"], "accelerator_model": "h100"}],
    "nodes": [{"name": "n1", "domain": "d1", "aliases": ["n1.example"]}],
    "accelerators": [{"node": "n1", "index": 0, "sub_domain": "a"}, {"node": "n1", "index": 1}],
    "switches": [{"name": "s1", "domain": "d1", "tier": 1}, {"name": "s2", "tier": 2}],
    "links": [
        {"upper": "s1", "lower": "n1/0", "unidirectional_bytes_per_s": 5e10},
        {"upper": "s2", "lower": "s1", "unidirectional_bytes_per_s": 5e10, "optical": True},
    ],
    "parts": [
        {"kind": "accelerator", "serial": "A7", "uuid": "GPU-7", "stage": "repair", "note": "RMA 4711"},
        {"kind": "board", "serial": "B7", "stage": "removed", "node": "n1", "slot": "board"},
    ],
}


@pytest.fixture
def receive(cluster, bo, actor_for):
    def received(data: bytes | dict, **values) -> BulkImport:
        data = json.dumps(data).encode() if isinstance(data, dict) else data
        return imports.receive_import(actor=actor_for(bo), cluster_id=cluster.pk, data=data, **values)

    return received


@pytest.fixture
def apply(bo, actor_for):
    def applied(row: BulkImport) -> BulkImport:
        return imports.apply_import(actor=actor_for(bo), import_id=row.pk, expected_version=row.version)

    return applied


def test_a_look_writes_nothing(receive):
    row = receive(NODES)
    assert (row.state, row.counts["nodes"]["created"], Node.objects.count()) == (ImportState.PLANNED, 2, 0)
    assert not AuditEvent.objects.filter(action="fleet.imported").exists()


def test_every_table_is_written_in_the_order_in_which_they_refer_to_each_other(receive, apply):
    apply(receive(FLEET))
    card = Accelerator.objects.select_related("sub_domain", "node__domain").get(index=0)
    assert (card.sub_domain.name, card.node.domain.name, card.node.aliases.get().name) == (
        "a",
        "d1",
        "n1.example",
    )
    assert sorted(link.lower_end for link in Link.objects.all()) == ["n1/0", "s1"]


def test_one_event_tells_counts_and_digests(receive, apply):
    row = apply(receive(FLEET))
    event = AuditEvent.objects.get(action="fleet.imported")
    assert row.sha256 in event.body
    assert '"created":1' in event.body


def test_one_wrong_row_among_thousands_stops_all_and_every_error_is_told(
    cluster, receive, apply, monkeypatch
):
    lines = [f"n{number},d1,{number},R1" for number in range(10_000)]
    lines[7], lines[8] = "n7,nowhere,7,R1", "n8,d1,many,R1"
    data = ("name,domain,index,rack\n" + "\n".join(lines)).encode()
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", len(data))
    factories.domain(cluster, "d1")
    row = receive(data)
    errors = queries.outcomes(row, fate="error")
    assert {(one["row"], one["column"]) for one in errors} == {(9, "domain"), (10, "index")}
    with pytest.raises(Invalid) as refused:
        apply(row)
    assert (refused.value.code, Node.objects.count()) == ("import_rows", 0)


@pytest.mark.parametrize(
    ("mode", "fate"), [(Mode.CREATE, "errors"), (Mode.UPSERT, "updated"), (Mode.SKIP, "skipped")]
)
def test_a_row_that_is_there_already_fares_by_the_mode(mode, fate, cluster, receive):
    factories.node(cluster, "n1", rack="R9")
    assert receive(NODES, mode=mode).counts["nodes"][fate] == 1


def test_updates_change_what_the_file_says_and_nothing_else(cluster, receive, apply):
    node = factories.node(cluster, "n1", rack="R9", serial="X1")
    apply(receive(b"name,rack\nn1,R1\n"))
    node.refresh_from_db()
    assert (node.rack, node.serial, node.version) == ("R1", "X1", 2)


def test_where_the_fleet_moved_on_since_the_look_nothing_is_written(cluster, receive, apply):
    row = receive(NODES)
    factories.node(cluster, "n1")
    with pytest.raises(Conflict) as refused:
        apply(row)
    assert refused.value.code == "import_changed"
    assert Node.objects.count() == 1


def test_an_import_is_applied_once(receive, apply):
    row = apply(receive(NODES))
    with pytest.raises(Conflict):
        apply(row)


def test_a_second_person_who_applies_is_too_late(receive, bo, actor_for):
    row = receive(NODES)
    BulkImport.objects.filter(pk=row.pk).update(version=5)
    with pytest.raises(Stale):
        imports.apply_import(actor=actor_for(bo), import_id=row.pk, expected_version=1)


def test_a_viewer_hands_nothing_in(cluster, vic, actor_for):
    with pytest.raises(NotAllowed):
        imports.receive_import(actor=actor_for(vic), cluster_id=cluster.pk, data=NODES)


def test_a_file_above_the_limit_is_refused(receive, monkeypatch):
    monkeypatch.setattr(imports, "LIMIT_BYTES", 10)
    with pytest.raises(TooLarge):
        receive(NODES)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_is_exported_imports_again_unchanged(form, build, cluster, receive, monkeypatch):
    build("144-as-4x36")
    file = export(cluster, form=form)
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 10**9)
    row = receive(b"".join(file.chunks))
    assert row.error_count == 0
    assert not row.changes_anything
    assert row.counts["links"]["unchanged"] == 3888


@pytest.mark.parametrize("table", list(Table))
def test_each_table_as_csv_imports_again_unchanged(table, cluster, receive, apply):
    apply(receive(FLEET))
    Node.objects.update(rack="=cmd|'/c calc'!A0", serial="-1")
    data = b"".join(export(cluster, form="csv", table=table).chunks)
    row = receive(data, table=table)
    assert (row.error_count, row.changes_anything) == (0, False)


def test_csv_guards_what_a_spreadsheet_would_compute(cluster):
    factories.node(cluster, "n1", rack="=1+1")
    text = b"".join(export(cluster, form="csv", table=Table.NODES).chunks).decode()
    assert next(csv.DictReader(io.StringIO(text)))["rack"] == "'=1+1"


def test_columns_of_another_tool_are_mapped(receive, bo, actor_for):
    row = receive(b"Name,Rack,Tenant\nn1,R1,acme\n", table=Table.NODES)
    assert row.error_count > 0
    mapped = imports.map_columns(
        actor=actor_for(bo),
        import_id=row.pk,
        expected_version=row.version,
        columns={"Name": "name", "Rack": "rack"},
        table=Table.NODES,
    )
    assert (mapped.error_count, mapped.counts["nodes"]["created"]) == (0, 1)


def test_rows_that_are_no_csv_have_no_columns_to_map(cluster, receive, bo, client_of):
    row = receive({"nodes": []})
    answer = client_of(bo).post(f"/clusters/{cluster.slug}/imports/{row.pk}/map/", {"version": row.version})
    assert answer.status_code == 404


def test_a_large_file_is_looked_at_and_applied_by_a_worker(receive, apply, run_jobs, monkeypatch):
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 1)
    row = receive(FLEET)
    assert row.state == ImportState.WAITING
    (job,) = run_jobs()
    row.refresh_from_db()
    assert (row.state, job.result["counts"]["nodes"]["created"], Node.objects.count()) == ("planned", 1, 0)
    apply(row)
    run_jobs()
    row.refresh_from_db()
    assert (row.state, Node.objects.count()) == ("applied", 1)


def test_a_worker_keeps_its_lease_while_it_reads_many_rows(receive, run_jobs, monkeypatch):
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 1)
    monkeypatch.setattr(importing, "TELL_EVERY_ROWS", 2)
    told = []
    monkeypatch.setattr(RunningJob, "progress", lambda self, done, total, phase: told.append(done))
    receive({"nodes": [{"name": f"n{number}"} for number in range(5)]})
    run_jobs()
    assert told == [0, 0, 2, 4, 5]


def test_a_worker_refuses_what_cannot_be_read_and_says_why(receive, run_jobs, monkeypatch):
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 1)
    row = receive(b'{"nodes": [}')
    run_jobs()
    row.refresh_from_db()
    assert (row.state, row.problem["code"]) == ("refused", "bad_json")


def test_applied_at_once_with_a_wrong_row_writes_nothing(receive, run_jobs):
    row = receive(b"name,domain\nn1,\nn2,nowhere\n", apply_at_once=True, table=Table.NODES)
    (job,) = run_jobs()
    row.refresh_from_db()
    assert (row.state, row.error_count, Node.objects.count()) == ("planned", 1, 0)
    assert (job.state, job.problem["code"]) == ("failed", "import_rows")
    assert [error["pointer"] for error in job.problem["errors"]] == ["/nodes/3/domain"]


def test_what_was_looked_at_and_overtaken_is_looked_at_again_and_the_page_says_why(
    cluster, bo, client_of, receive, apply, run_jobs, monkeypatch
):
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 1)
    row = receive(NODES)
    run_jobs()
    row.refresh_from_db()
    apply(row)
    factories.node(cluster, "n1", rack="R9")
    (job,) = run_jobs()
    row.refresh_from_db()
    assert (job.state, job.problem["code"]) == ("failed", "import_changed")
    assert (row.state, row.counts["nodes"]["updated"], Node.objects.count()) == ("planned", 1, 1)
    page = client_of(bo).get(f"/clusters/{cluster.slug}/imports/{row.pk}/").content
    assert b"It was not applied" in page
    assert b"Apply all of it" in page


def test_a_sub_domain_that_still_has_accelerators_does_not_go(receive, apply):
    apply(receive(FLEET))
    row = receive({"domains": [{"name": "d1", "sub_domains": ["b"]}]})
    assert [one["code"] for one in queries.outcomes(row, fate="error")] == ["sub_domain_in_use"]
    with pytest.raises(Invalid):
        apply(row)
    assert SubDomain.objects.count() == 2


def test_a_sub_domain_goes_when_its_accelerators_move_in_the_same_import(receive, apply):
    apply(receive(FLEET))
    cards = [{"node": "n1", "index": 0, "sub_domain": "b"}]
    apply(receive({"domains": [{"name": "d1", "sub_domains": ["b"]}], "accelerators": cards}))
    assert list(SubDomain.objects.values_list("name", flat=True)) == ["b"]


def test_a_node_that_moves_takes_its_accelerators_into_the_sub_domains_of_its_new_domain(receive, apply):
    apply(receive(FLEET))
    move = {"nodes": [{"name": "n1", "domain": "d2"}]}
    row = receive({"domains": [{"name": "d2"}], **move})
    assert [one["code"] for one in queries.outcomes(row, fate="error")] == ["unknown_sub_domain"]
    apply(receive({"domains": [{"name": "d2", "sub_domains": ["a"]}], **move}))
    assert Accelerator.objects.get(index=0).sub_domain.domain.name == "d2"


def test_a_node_in_training_is_not_retired_by_a_file(cluster, receive, apply):
    services.take_holds(
        actor=system(),
        node_ids=[factories.node(cluster, "n1").pk],
        kind=HoldKind.TRAINING,
        owner="x:1",
        reason="x",
    )
    row = receive(b"name,life_cycle\nn1,retired\n")
    assert [one["code"] for one in queries.outcomes(row, fate="error")] == ["life_cycle"]


def test_a_fleet_that_moves_on_while_a_worker_reads_is_looked_at_again(
    cluster, receive, monkeypatch, run_jobs
):
    row = receive(NODES, apply_at_once=True)
    look = import_looks.look

    def slow_look(row: BulkImport, told):
        found = look(row, told)
        factories.node(cluster, "n1", rack="R9")
        return found

    monkeypatch.setattr(tasks, "look", slow_look)
    run_jobs()
    row.refresh_from_db()
    assert (row.state, row.counts["nodes"]["created"], row.counts["nodes"]["updated"]) == ("applied", 1, 1)


def test_a_look_ends_before_the_transaction_begins(receive, monkeypatch, run_jobs):
    receive(NODES, apply_at_once=True)
    depths = []
    look = import_looks.look
    depth = len(connection.savepoint_ids)
    monkeypatch.setattr(
        tasks, "look", lambda *given: depths.append(len(connection.savepoint_ids)) or look(*given)
    )
    run_jobs()
    assert depths == [depth]


def test_what_matters_of_all_tables_comes_before_what_is_as_it_was(receive, apply):
    apply(receive(FLEET))
    rows = FLEET["links"] + [{"upper": "s2", "lower": "n1"}, {"upper": "s2", "lower": "ghost"}]
    found = queries.outcomes(receive(FLEET | {"links": rows}))
    assert [one["fate"] for one in found[:3]] == ["error", "created", "unchanged"]


def test_a_link_with_a_count_of_nothing_is_taken_away(receive, apply):
    apply(receive(FLEET))
    gone = {"links": [{"upper": "s2", "lower": "s1", "count": 0}, {"upper": "s2", "lower": "n1", "count": 0}]}
    row = receive(gone)
    assert [(one["key"], one["row"]) for one in queries.outcomes(row, fate="removed")] == [("s2/s1", 1)]
    apply(row)
    assert [link.lower_end for link in Link.objects.all()] == ["n1/0"]
    assert not receive(gone).changes_anything


def test_a_link_that_goes_and_one_that_comes_make_no_cycle(receive, apply):
    apply(receive(FLEET))
    turned = [
        {"upper": "s2", "lower": "s1", "count": 0},
        {"upper": "s1", "lower": "s2"},
    ]
    tiers = [{"name": "s1", "tier": 3}]
    assert receive({"switches": tiers, "links": turned[1:]}).error_count
    apply(receive({"switches": tiers, "links": turned}))
    assert Link.objects.get(lower__name="s2").unidirectional_bytes_per_s is None


@pytest.mark.parametrize(
    "rows",
    [
        {"nodes": [{"name": "more", "domain": "sn"}]},
        {"accelerators": [{"node": "sn-n01", "index": 8}]},
        {"links": [{"upper": "sn-t1-1", "lower": "sn-n01/0", "unidirectional_bytes_per_s": 1e9}]},
    ],
)
def test_a_domain_that_changed_is_no_longer_judged_by_its_layout(rows, build, receive, apply):
    domain = build("8-switched")
    assert layout_of(domain) == template("8-switched")
    apply(receive(rows))
    domain.refresh_from_db()
    assert layout_of(domain) is None


@pytest.mark.parametrize("layout", TEMPLATES[:3], ids=lambda one: one.key)
@pytest.mark.parametrize("form", ["json", "yaml", "csv"])
def test_what_a_domain_was_built_with_comes_out_and_goes_into_an_empty_cluster(
    layout, form, build, cluster, other_cluster, ada, actor_for
):
    fabric, tables = fabric_of(build(layout=layout)), Table if form == "csv" else [None]
    for table in tables:
        data = b"".join(export(cluster, form=form, table=table and table.value).chunks)
        row = imports.receive_import(
            actor=actor_for(ada), cluster_id=other_cluster.pk, data=data, table=table
        )
        if row.changes_anything:
            imports.apply_import(actor=actor_for(ada), import_id=row.pk, expected_version=row.version)
    assert fabric_of(Domain.objects.get(cluster=other_cluster)) == fabric


def test_a_layout_that_cannot_be_is_an_error_of_its_row(receive):
    row = receive({"domains": [{"name": "d1", "parameters": {"nodes": 0, "shape": "ring"}}]})
    (error,) = queries.outcomes(row, fate="error")
    assert (error["column"], error["code"]) == ("parameters", "bad_value")
    assert "/tiers: is needed" in error["message"]


def test_the_link_graph_of_a_mesh_has_the_names_of_its_nodes(build, cluster):
    domain = build("8-mesh", first_node=7)
    nodes = list(Node.objects.filter(domain=domain))
    picture = topology.picture_of(cluster, domain, topology.nodes_to_draw(cluster, domain), Colours())
    graph = link_graph_of(domain, picture, here="?")
    assert (
        {link.upper.name.split("/")[0] for link in graph.links} == {node.name for node in nodes} == {"sn-n07"}
    )


@pytest.mark.parametrize(
    ("data", "said_of_it"),
    [
        (b'{"nodes": [', "第 1 行：不是有效的 JSON：此处应有一个值"),
        (b'{"nodes": NaN}', "不是有效的 JSON：NaN 不是数字"),
        (b"[" * 100_000, "不是有效的 JSON：嵌套过深"),
        (b"nodes:\n- {name: x\n", "第 3 行：不是有效的 YAML：此处应有 ',' 或 '}'"),
        (b"nodes: []\nnodes: []\n", "第 2 行：键 'nodes' 出现了两次"),
    ],
)
def test_what_the_libraries_say_of_a_file_is_said_in_the_readers_language(data, said_of_it, receive):
    with pytest.raises(Invalid) as refused:
        receive(data)
    with override("zh-hans"):
        assert said(refused.value.message) == said_of_it


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\xff\xfe\x00", "encoding"),
        (b"\x89PNG\r\n\x1a\n", "encoding"),
        (b"name\n\xe9", "encoding"),
        (b'{"nodes": [', "bad_json"),
        (b'{"nodes": [{"name": "a", "rack": "\\ud800"}]}', "unstorable"),
        (b'{"nodes": {"a": 1}}', "import_file"),
        (b'{"racks": []}', "import_file"),
        (b"[1, 2]", "wrong_shape"),
        (b"name,name\nn1,n2\n", "import_file"),
        (b"name,rack\nn1\n", "import_file"),
        (b'name,rack\n"n1,R1\n', "bad_csv"),
        (b"colour,size\n1,2\n", "unknown_table"),
        (b"nodes: !!python/object:os.system [x]", "yaml_tag"),
        (BOMB.encode(), "yaml_too_many_nodes"),
    ],
)
def test_a_file_that_is_no_import_says_why_and_leaves_nothing(data, code, receive):
    with pytest.raises(Invalid) as refused:
        receive(data)
    assert refused.value.code == code
    assert BulkImport.objects.count() == 0


def test_a_file_that_is_not_kept_is_named(receive):
    with pytest.raises(Invalid) as refused:
        receive(BOMB.encode(), file_name="rack7.yaml")
    assert refused.value.message.startswith("rack7.yaml: line 7: more than ")
    with pytest.raises(Invalid) as refused:
        receive(b"name,rack\nn1\n", file_name="rack7.csv")
    assert refused.value.errors[0].message == "rack7.csv: line 2: cells: 1, columns: 2"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ({"nodes": [{"name": "n1", "domain": "d1"}, {"name": "n1", "domain": "d2"}]}, "two_domains"),
        ({"links": [{"upper": "s", "lower": "n1", "unidirectional_bytes_per_s": -1}]}, "bad_value"),
        (
            {
                "switches": [{"name": "a", "tier": 1}, {"name": "b", "tier": 2}],
                "links": [
                    {"upper": "a", "lower": "b", "unidirectional_bytes_per_s": 1},
                    {"upper": "b", "lower": "a", "unidirectional_bytes_per_s": 1},
                ],
            },
            "cycle",
        ),
    ],
)
def test_what_cannot_be_is_named(rows, code, receive):
    row = receive(rows)
    assert code in {one["code"] for one in queries.outcomes(row, fate="error")}


def test_rows_of_one_column_are_csv(receive):
    row = receive(b"name\nsn1-n01\nsn1-n02\n", table=Table.NODES)
    assert (row.form, row.counts["nodes"]["created"]) == ("csv", 2)
    with pytest.raises(Invalid) as refused:
        receive(b"Host name\r\nsn1-n01\r\n")
    assert refused.value.code == "unknown_table"


def test_yaml_is_read(receive):
    assert receive(yaml.safe_dump(FLEET).encode()).counts["links"]["created"] == 2


def test_the_page_looks_maps_and_applies(cluster, bo, client_of):
    client, page = client_of(bo), f"/clusters/{cluster.slug}/imports/"
    sent = client.post(page, {"text": "Name,Place\nn1,R1\n", "table": "nodes", "mode": "upsert"})
    row = BulkImport.objects.get()
    assert sent.url == f"{page}{row.pk}/"
    looked = client.get(sent.url).content
    assert b"unknown column Name" in looked
    assert b"head line" in looked
    client.post(f"{sent.url}map/", {"column_0": "name", "column_1": "rack", "version": str(row.version)})
    row.refresh_from_db()
    client.post(f"{sent.url}apply/", {"version": str(row.version)})
    assert Node.objects.get().rack == "R1"
    assert b"Applied" in client.get(sent.url).content


def test_a_wrong_row_of_a_csv_file_is_told_by_the_line_that_an_editor_shows(cluster, receive, bo, client_of):
    row = receive(b'name,rack,index\n\nn1,"one\nrack",many\n\nn2,R2,\nn2,R3,\n,R4,\n')
    errors = queries.outcomes(row, fate="error")
    assert [(one["row"], one["code"]) for one in errors] == [
        (3, "bad_value"),
        (7, "row_twice"),
        (8, "required"),
    ]
    assert errors[1]["message"] == "n2 stands there already: line 6"
    page = client_of(bo).get(f"/clusters/{cluster.slug}/imports/{row.pk}/").content.decode()
    assert '<th scope="col" class="number">Line</th>' in page
    with pytest.raises(Invalid) as refused:
        receive(b'name,rack\n\nn1,"one\nrack",R3\n')
    assert refused.value.errors[0].message.startswith("line 3: cells: 3")


def test_a_wrong_row_of_a_json_file_is_told_as_entry_of_its_table(cluster, receive, bo, client_of):
    row = receive(b'{"nodes": [{"name": "n1"}, {"name": "n2"}, {"name": "n1"}]}')
    (error,) = queries.outcomes(row, fate="error")
    assert (error["row"], error["message"]) == (3, "n1 stands there already: entry 1")
    page = client_of(bo).get(f"/clusters/{cluster.slug}/imports/{row.pk}/").content.decode()
    assert '<th scope="col" class="number">Entry</th>' in page


def test_the_page_says_what_is_to_be_done_until_it_is_done(cluster, receive, apply, bo, client_of):
    row, client = receive(b"name,rack\nn1,R1\n"), client_of(bo)
    page = f"/clusters/{cluster.slug}/imports/{row.pk}/"
    looked = client.get(page).content.decode()
    assert "To create" in looked
    assert "Created" not in looked
    apply(row)
    done = client.get(page).content.decode()
    assert "Created" in done
    assert "To create" not in done


def test_the_page_keeps_what_is_wrong_and_gives_it_as_csv(cluster, bo, client_of):
    client, page = client_of(bo), f"/clusters/{cluster.slug}/imports/"
    client.post(page, {"text": "name,domain,rack\nn1,=nowhere,\n", "mode": "upsert"})
    row = BulkImport.objects.get()
    assert b"Nothing will be written" in client.get(f"{page}{row.pk}/?fate=error").content
    (line,) = csv.DictReader(io.StringIO(client.get(f"{page}{row.pk}/errors/").content.decode()))
    assert (line["row"], line["column"], line["value"]) == ("2", "domain", "'=nowhere")


def test_a_file_that_cannot_be_read_is_told_in_the_form(cluster, bo, client_of):
    answer = client_of(bo).post(
        f"/clusters/{cluster.slug}/imports/", {"text": '{"racks": []}', "mode": "upsert"}
    )
    assert (answer.status_code, b"there is no table racks" in answer.content) == (400, True)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"text": "host,place\nn1,R1\n"}, "table"),
        ({"text": "name,name\nn1,n2\n"}, "text"),
        ({"text": "mode,mode\nn1,n2\n"}, "text"),
        ({"text": "name,rack\nn1\n"}, "text"),
        ({"text": '{"nodes": ['}, "text"),
        ({"file": SimpleUploadedFile("nodes.csv", b"name,name\nn1,n2\n")}, "file"),
        ({}, "file"),
    ],
)
def test_what_is_wrong_with_a_file_stands_where_it_is_to_be_mended(sent, field, cluster, bo, client_of):
    answer = client_of(bo).post(f"/clusters/{cluster.slug}/imports/", {"mode": "upsert", **sent})
    assert list(answer.context["form"].errors) == [field]


def test_the_page_names_the_columns_that_are_read_and_its_example_goes_in(cluster, bo, client_of, receive):
    page = client_of(bo).get(f"/clusters/{cluster.slug}/imports/").content.decode()
    assert all(column.name in page for schema in SCHEMAS.values() for column in schema.columns)
    assert NODES_EXAMPLE in page
    factories.domain(cluster, name="sn1")
    row = receive(NODES_EXAMPLE.encode())
    assert (row.error_count, row.counts["nodes"]["created"]) == (0, 2)


def test_over_rest_rows_are_looked_at_and_applied_with_the_version_seen(cluster, bo, api):
    caller = api(factories.bearer(bo, "read", "fleet:write"))
    body = {"cluster": cluster.slug, "rows": {"nodes": [{"name": "n1"}]}}
    looked = caller.post("/api/v1/imports/", body, format="json")
    assert (looked.status_code, looked.json()["counts"]["nodes"]["created"]) == (201, 1)
    address = f"/api/v1/imports/{looked.json()['id']}/apply/"
    assert caller.post(address).status_code == 428
    assert caller.post(address, headers={"If-Match": '"v1"'}).json()["state"] == "applied"
    assert caller.get("/api/v1/nodes/?name=n1").json()["results"][0]["name"] == "n1"


def test_over_rest_a_file_is_applied_by_a_worker_where_that_is_asked_for(cluster, bo, api, run_jobs):
    caller = api(factories.bearer(bo, "read", "fleet:write"))
    file = io.BytesIO(json.dumps(FLEET).encode())
    file.name = "fleet.json"
    body = {"cluster": cluster.slug, "file": file, "dry_run": "false"}
    asked = caller.post("/api/v1/imports/", body, format="multipart")
    assert (asked.status_code, Node.objects.count()) == (202, 0)
    run_jobs()
    done = caller.get(asked["Location"]).json()
    assert (done["result"]["state"], Node.objects.count()) == ("applied", 1)


@pytest.mark.parametrize(
    "columns", ["[" * 3000, '{"a": "\\u0000"}', '{"\\ud800": "name"}', "1e400", '{"a": 1}']
)
def test_over_rest_columns_that_cannot_be_kept_are_refused(cluster, bo, api, columns):
    file = io.BytesIO(b"name\nn1\n")
    file.name = "nodes.csv"
    body = {"cluster": cluster.slug, "file": file, "table": "nodes", "columns": columns}
    assert api(bo).post("/api/v1/imports/", body, format="multipart").status_code == 400


def test_over_rest_the_export_of_one_table_is_a_file(cluster, bo, api):
    factories.node(cluster, "n1")
    answer = api(bo).get(f"/api/v1/clusters/{cluster.slug}/export/?form=csv&table=nodes")
    assert b"".join(answer.streaming_content).splitlines()[1].startswith(b"n1,")
    wrong = api(bo).get(f"/api/v1/clusters/{cluster.slug}/export/?form=csv")
    assert (wrong.status_code, wrong.json()["code"]) == (400, "table")
