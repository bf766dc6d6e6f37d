"""Pages of health: role × page, what they say, and how many queries they need."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.core import clock
from apps.evidence.engine.reading import Reading
from apps.fleet.models import Hold, HoldKind
from apps.fleet.services import hold_node
from apps.health import services, urls
from apps.health.models import FaultRecord, MaintenanceTask
from apps.health.services import record_reading

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "bo": 200, "eve": 404}
LIST = READ | {"eve": 200}
ADMIN = {"vic": 403, "bo": 403, "ada": 200}

# name of the page, method, status by person
PAGES: list[tuple[str, str, dict[str, int]]] = [
    ("overview", "get", LIST),
    ("fault", "get", READ),
    ("resolve", "post", {"vic": 403, "bo": 302, "eve": 404}),
    ("quarantine", "post", {"vic": 403, "bo": 302, "eve": 404}),
    ("knowledge", "get", LIST),
    ("item", "get", LIST),
    ("diagnose", "get", LIST),
    ("rules", "get", LIST),
    ("rule", "get", ADMIN | {"eve": 403}),
    ("policy", "get", ADMIN | {"eve": 404}),
    ("metrics", "get", ADMIN | {"eve": 404}),
    ("remove_metrics", "post", {"vic": 403, "bo": 403, "ada": 302, "eve": 404}),
    ("fetch_metrics", "post", {"vic": 403, "bo": 403, "ada": 302, "eve": 404}),
    ("upkeep", "get", LIST),
    ("task", "get", READ),
    ("task", "post", {"vic": 403, "bo": 302, "eve": 404}),
    ("retire_upkeep", "post", {"vic": 403, "bo": 302, "eve": 404}),
    ("plan_upkeep", "get", {"vic": 403, "bo": 200, "eve": 404}),
    ("plan_usual_upkeep", "post", {"vic": 403, "bo": 302, "eve": 404}),
]


@pytest.fixture
def there(node: Any, see_xid: Any, actor_for: Any, ada: Any, bo: Any) -> dict[str, list[Any]]:
    """A fault and upkeep; the keys of each page."""
    see_xid(node, 79)
    task = services.plan_upkeep(
        actor=actor_for(bo), cluster_id=node.cluster_id, kind="fittings", title="Hoses", every_days=30
    )
    services.set_metrics_source(
        actor=actor_for(ada),
        cluster_id=node.cluster_id,
        expected_version=0,
        url="https://prometheus.example.com",
        host_label="Hostname",
        enabled=True,
    )
    slug, fault = [node.cluster.slug], [FaultRecord.objects.get().pk]
    return {
        "fault": fault,
        "resolve": fault,
        "quarantine": [node.pk],
        "item": ["comm-init-timeout"],
        "rule": ["gpu-temperature"],
        "policy": slug,
        "metrics": slug,
        "remove_metrics": slug,
        "fetch_metrics": slug,
        "task": [task.pk],
        "retire_upkeep": [task.pk],
        "plan_upkeep": slug,
        "plan_usual_upkeep": slug,
    }


@pytest.mark.parametrize(("name", "method", "answers"), PAGES)
def test_each_role_gets_its_page(
    name: str, method: str, answers: dict[str, int], there: Any, statuses_of: Any, client_of: Any
) -> None:
    sent = {"version": 1, "reason": "x", "resolution": "x", "note": "x"} if method == "post" else {}
    place = reverse(f"health:{name}", args=there.get(name, []))

    found = statuses_of(answers, lambda person: getattr(client_of(person), method)(place, sent))

    assert found == answers


def test_every_page_is_in_the_table() -> None:
    assert {one.name for one in urls.urlpatterns} == {name for name, *_rest in PAGES}


def test_nobody_sees_a_page_without_signing_in(there: Any, client_of: Any) -> None:
    for name, method, _who in PAGES:
        answer = getattr(client_of(None), method)(reverse(f"health:{name}", args=there.get(name, [])))

        assert answer.status_code == 302, name


def _page(client: Any, name: str, *args: Any, query: str = "") -> str:
    answer = client.get(reverse(f"health:{name}", args=args) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_the_overview_shows_faults_figures_and_proposals(
    node: Any, see_xid: Any, see_heat: Any, client_of: Any, bo: Any
) -> None:
    see_xid(node, 79)
    see_heat(node, 95)

    page = _page(client_of(bo), "overview")

    assert "Xid 79" in page
    assert "GPU temperature" in page
    assert "quarantine: no new jobs" in page


def test_a_node_that_is_well_again_is_named_until_its_quarantine_is_lifted(
    nodes: Any, see_heat: Any, actor_for: Any, client_of: Any, bo: Any
) -> None:
    ill, well, free = nodes[:3]
    for node, celsius in ((ill, 95), (well, 40), (free, 40)):
        see_heat(node, celsius)
    for node in (ill, well):
        hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="x")

    page = _page(client_of(bo), "overview")
    named = page.split("nothing speaks for it any more")[1].split("</ul>")[0]

    assert [node.name in named for node in nodes[:3]] == [False, True, False]


def test_a_fault_of_the_fabric_leads_to_what_is_known_of_it(node: Any, client_of: Any, vic: Any) -> None:
    event = {"code": 20034, "pci": "0000:06:00.0", "line": 1, "severity": "Fatal", "text": "LTSSM Fault Up"}
    reading = Reading(kind="kernel_log", facts={"sxid_events": [event]}, parser_version=1)
    record_reading(node_id=node.pk, reading=reading, sha256="a" * 64, at=clock.now())

    page = _page(client_of(vic), "fault", FaultRecord.objects.get().pk)

    assert reverse("health:item", args=["nvswitch-error"]) in page


def test_a_proposal_is_carried_out_by_a_person(there: Any, node: Any, client_of: Any, bo: Any) -> None:
    assert f'id="quarantine-{node.pk}-reason" name="reason" rows="2" required' in _page(
        client_of(bo), "overview"
    )
    client_of(bo).post(reverse("health:quarantine", args=[node.pk]), {"reason": "fell off the bus twice"})

    hold = Hold.objects.get()
    assert (hold.node, hold.kind, hold.automatic) == (node, "quarantine", False)
    assert hold.reason == "fell off the bus twice"
    assert '"reason":"fell off the bus twice"' in AuditEvent.objects.get(action="hold.quarantine.taken").body


def test_a_proposal_without_a_reason_is_not_carried_out(node: Any, client_of: Any, bo: Any) -> None:
    client_of(bo).post(reverse("health:quarantine", args=[node.pk]), {"reason": " "})

    assert not Hold.objects.exists()


def test_a_fault_says_what_it_means_what_to_do_and_where_it_was_read(
    there: Any, client_of: Any, vic: Any
) -> None:
    page = _page(client_of(vic), "fault", *there["fault"])

    assert "What the code means" in page
    assert "power cycle the node, or else reboot it" in page
    assert f"sha256={'a' * 64}" in page


def test_faults_are_filtered_and_unknown_filters_refused(there: Any, client_of: Any, vic: Any) -> None:
    client = client_of(vic)

    assert "No fault matches these filters" in _page(client, "overview", query="?code=13")
    assert client.get(reverse("health:overview") + "?colour=red").status_code == 400


def test_knowledge_speaks_the_reader_s_language(client_of: Any, vic: Any) -> None:
    client = client_of(vic)
    english = _page(client, "knowledge", query="?q=NCCL_SOCKET_IFNAME")
    client.cookies["language"] = "zh-hans"
    chinese = _page(client, "item", "comm-init-timeout")

    assert "Communicator set-up times out" in english
    assert "通信组初始化超时" in chinese


@pytest.mark.parametrize("way", ["text", "file"])
def test_a_log_is_diagnosed_with_lines_and_ranked_causes(client_of: Any, vic: Any, way: str) -> None:
    log = "ok\nTimed out waiting for clients; 7/8 clients joined.\nbind docker0\n"
    sent = {"text": log} if way == "text" else {"file": SimpleUploadedFile("job.log", log.encode())}

    page = client_of(vic).post(reverse("health:diagnose"), sent).content.decode()

    assert "Communicator set-up times out" in page
    assert "<strong>2</strong>" in page


def test_a_binary_file_is_refused_in_the_form(client_of: Any, vic: Any) -> None:
    sent = {"file": SimpleUploadedFile("x.bin", bytes(range(256)) * 20)}

    answer = client_of(vic).post(reverse("health:diagnose"), sent)

    assert answer.status_code == 200
    assert "Communicator" not in answer.content.decode()
    assert answer.context["form"].errors["file"]


def test_a_rule_is_switched_off_on_its_page(client_of: Any, ada: Any) -> None:
    place = reverse("health:rule", args=["gpu-temperature"])
    wrong = client_of(ada).post(place, {"version": 0, "warn": 95, "fail": 90, "reason": "x"})
    client_of(ada).post(place, {"version": 0, "warn": 83, "fail": 90, "reason": "sensors lie"})

    assert "a rule warns before it fails" in wrong.content.decode()
    assert "sensors lie" in _page(client_of(ada), "rules")


def test_upkeep_is_written_down_by_who_did_it(there: Any, client_of: Any, bo: Any) -> None:
    client = client_of(bo)
    client.post(reverse("health:task", args=there["task"]), {"version": 1, "note": "all tight"})

    assert "all tight" in _page(client, "task", *there["task"])


def test_a_hot_node_shows_what_is_to_be_done_when_its_cooling_fails(
    there: Any, nodes: Any, see_heat: Any, client_of: Any, bo: Any
) -> None:
    MaintenanceTask.objects.update(downgrade_path="Cap GPUs at 400 W.")
    cool = _page(client_of(bo), "overview")
    see_heat(nodes[1], 95)

    assert "Cap GPUs at 400 W." not in cool
    assert "Cap GPUs at 400 W." in _page(client_of(bo), "overview")


def test_upkeep_off_the_calendar_keeps_its_page(there: Any, client_of: Any, bo: Any) -> None:
    client, task = client_of(bo), MaintenanceTask.objects.get()
    client.post(reverse("health:task", args=[task.pk]), {"version": 1, "note": "level fine"})
    client.post(reverse("health:retire_upkeep", args=[task.pk]), {"version": 2, "reason": "air-cooled now"})

    page = _page(client, "task", task.pk)
    assert "level fine" in page and "Taken off the calendar" in page
    assert "Write it down" not in page
    assert "Hoses" not in _page(client, "upkeep")


def test_upkeep_is_planned(cluster: Any, client_of: Any, bo: Any) -> None:
    sent = {"kind": "cold_plates", "title": "Rinse", "every_days": 91, "due_on": "", "downgrade_path": "60 %"}

    client_of(bo).post(reverse("health:plan_upkeep", args=[cluster.slug]), sent)

    assert MaintenanceTask.objects.get().downgrade_path == "60 %"


def test_the_overview_needs_as_many_queries_for_many_faults(
    nodes: Any, see_xid: Any, see_heat: Any, client_of: Any, bo: Any, assert_constant_queries: Any
) -> None:
    client = client_of(bo)
    see_xid(nodes[0], 79)
    see_heat(nodes[0], 95)

    def grow() -> None:
        for node in nodes[1:]:
            see_xid(node, 79)
            see_heat(node, 95)

    assert_constant_queries(lambda: _page(client, "overview"), grow)
