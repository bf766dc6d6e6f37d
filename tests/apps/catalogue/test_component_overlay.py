"""Components that people add and edit: one vocabulary of all clusters, by field, by file, around requests and jobs."""

from __future__ import annotations

import pytest

from apps.audit.models import AuditEvent
from apps.catalogue import queries, services
from apps.catalogue.engine.component_files import to_yaml
from apps.catalogue.engine.components import component, components, laid_over, shipped_components
from apps.catalogue.engine.overlays import Confidence, Kind
from apps.catalogue.models import CatalogueEdit
from apps.core.errors import Invalid, NotAllowed
from apps.core.verdicts import Verdict
from apps.environments import services as environments
from apps.environments.queries import newest_check
from tests import factories
from tests.apps.environments.support import check_drift, report

pytestmark = pytest.mark.django_db
URL = "/api/v1/catalogue/components/"


@pytest.fixture
def set_field(ada, actor_for):
    def said(path, value, *, entry="sw_driver", person=ada, scope_id=None):
        return services.set_figure(
            actor=actor_for(person),
            scope_id=scope_id,
            kind=Kind.COMPONENT,
            entry=entry,
            path=path,
            value=value,
            source="vendor's release notes",
            confidence=Confidence.VENDOR_DOC,
        )

    return said


def test_a_new_component_is_read_by_its_own_scheme(set_field):
    set_field("name", "Switch driver")
    set_field("scheme", "dotted_numeric")
    set_field("read_from", "collect_env, package_list")

    with laid_over(queries.components_in_force):
        found = component("sw_driver")

    assert (found.label, found.scheme.value, found.read_from) == (
        "Switch driver",
        "dotted_numeric",
        ("collect_env", "package_list"),
    )
    assert (found.vendor, found.area, found.severity) == ("any", "system", Verdict.FAIL)


def test_without_anything_around_it_the_shipped_ones_hold(set_field):
    set_field("vendor", "Somebody", entry="nccl")

    assert components() is shipped_components()
    with laid_over(queries.components_in_force):
        assert component("nccl").vendor == "Somebody"
    assert component("nccl").vendor == "NVIDIA"


def test_components_in_force_are_read_once_and_only_where_they_are_used(count_queries):
    def used(times):
        with laid_over(queries.components_in_force):
            for _turn in range(times):
                component("nccl")

    assert [count_queries(lambda times=times: used(times)) for times in (0, 1, 5)] == [0, 1, 1]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("scheme", "roman"),
        ("area", "kitchen"),
        ("rule", "perhaps"),
        ("severity", "unknown"),
        ("multiple", True),
        ("branch_depth", 1.5),
        ("read_from", "../etc"),
        ("colour", "red"),
    ],
)
def test_odd_values_are_refused(set_field, path, value):
    with pytest.raises(Invalid):
        set_field(path, value)


def test_a_component_is_no_matter_of_one_cluster(set_field, cluster):
    with pytest.raises(Invalid) as refusal:
        set_field("name", "x", scope_id=cluster.scope_id)
    assert refusal.value.code == "scope"


def test_only_who_operates_every_cluster_sets_components(set_field, bo):
    with pytest.raises(NotAllowed):
        set_field("name", "x", person=bo)


def test_what_is_exported_changes_nothing_when_it_comes_in_again(set_field, ada, actor_for):
    set_field("vendor", "Somebody", entry="nccl")
    before = CatalogueEdit.objects.count()

    text = to_yaml(queries.rows_for(None, Kind.COMPONENT).values())
    edits = services.import_components(actor=actor_for(ada), text=text, source="export")

    assert (edits, CatalogueEdit.objects.count()) == ([], before)


def test_a_file_sets_what_differs_in_one_event(ada, actor_for):
    text = (
        "components:\n- {id: nccl, severity: warn}\n- {id: sw_driver, name: Switch driver, scheme: pep440}\n"
    )

    edits = services.import_components(actor=actor_for(ada), text=text, source="our list")

    assert [(one.entry, one.path) for one in edits] == [
        ("nccl", "severity"),
        ("sw_driver", "name"),
        ("sw_driver", "scheme"),
    ]
    event = AuditEvent.objects.get(action="catalogue.components.imported")
    assert "sw_driver" in event.body


def test_every_fault_of_a_file_is_named_and_nothing_is_set(ada, actor_for):
    text = "components:\n- {id: nccl, scheme: roman}\n- {name: nobody}\n- {id: rccl, colour: red}\n"

    with pytest.raises(Invalid) as refusal:
        services.import_components(actor=actor_for(ada), text=text, source="our list")

    assert [one.pointer for one in refusal.value.errors] == [
        "/components/0/scheme",
        "/components/1",
        "/components/2/colour",
    ]
    assert not CatalogueEdit.objects.exists()


@pytest.mark.parametrize("text", ["", "nonsense", "components: 3", "components: []", "a: &a [*a]"])
def test_a_text_that_is_no_file_of_components_is_refused(ada, actor_for, text):
    with pytest.raises(Invalid):
        services.import_components(actor=actor_for(ada), text=text, source="our list")


def test_a_minor_component_only_warns(set_field, cluster, bo, actor_for):
    set_field("severity", "warn", entry="nccl")
    domain = factories.domain(cluster, "sn")
    node = factories.node(cluster, "n1", domain=domain)
    report(node)
    draft = environments.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)
    environments.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
    report(node, nccl="2.25.1")

    plain = check_drift(domain).verdict
    with laid_over(queries.components_in_force):
        minor = check_drift(domain).verdict

    assert (plain, minor) == ("fail", "warn")


def test_jobs_know_what_was_set(set_field, cluster, bo, actor_for, run_jobs):
    set_field("severity", "warn", entry="nccl")
    domain = factories.domain(cluster, "sn")
    node = factories.node(cluster, "n1", domain=domain)
    report(node)
    draft = environments.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)
    environments.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
    report(node, nccl="2.25.1")
    environments.request_check(actor=actor_for(bo), domain_id=domain.pk)

    run_jobs("environments.check_drift")

    assert newest_check(domain).verdict == "warn"


def test_the_pages_show_edit_and_export_components(ada, vic, client_of):
    sent = {
        "entry": "sw_driver",
        "path": "name",
        "value": "Switch driver",
        "source": "notes",
        "confidence": "vendor_doc",
        "scope": "*",
    }
    answer = client_of(ada).post("/catalogue/components/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/catalogue/component/sw_driver/")
    page = client_of(vic).get("/catalogue/components/").content.decode()
    assert "Switch driver" in page
    assert "Add an entry" not in page
    assert "sw_driver" in client_of(vic).get("/catalogue/components/export/").content.decode()
    assert client_of(vic).get("/catalogue/component/sw_driver/").status_code == 200
    assert client_of(vic).get("/catalogue/components/import/").status_code == 403
    filed = {"text": "components:\n- {id: nccl, severity: warn}\n", "source": "list"}
    assert client_of(ada).post("/catalogue/components/import/", filed)["Location"] == "/catalogue/components/"
    refused = client_of(ada).post("/catalogue/components/import/", filed | {"text": "nonsense"})
    assert refused.status_code == 200


def test_the_api_lists_exports_and_imports_components(ada, bo, vic, api):
    text = api(vic).get(f"{URL}file/").content.decode()
    assert text.startswith("components:\n- id: gpu_driver\n")
    filed = {"text": "components:\n- {id: nccl, vendor: Somebody}\n", "source": "list"}
    assert api(bo).put(f"{URL}file/", filed).status_code == 403
    answer = api(ada).put(f"{URL}file/", filed)
    assert [(one["entry"], one["path"], one["value"]) for one in answer.json()] == [
        ("nccl", "vendor", "Somebody")
    ]
    listed = next(one for one in api(vic).get(URL).json() if one["id"] == "nccl")
    assert (listed["vendor"], listed["kind"], listed["is_shipped"]) == ("Somebody", "component", True)
    everywhere = next(one for one in api(vic).get("/api/v1/components/").json() if one["id"] == "nccl")
    assert everywhere["vendor"] == "Somebody"
