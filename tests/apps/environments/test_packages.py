"""Components whose packages a team names, read from lists of dpkg, rpm, pip and conda."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.catalogue import services as catalogue
from apps.catalogue.engine.components import Component, laid_over, shipped_components
from apps.catalogue.engine.overlays import Confidence, Kind
from apps.catalogue.engine.versions import Scheme
from apps.core.errors import Invalid
from apps.environments.engine.facts import component_facts
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from tests import factories

HEAD = "Desired=Unknown/Install/Remove/Purge/Hold\n||/ Name Version\n+++-=====-=======-====-====\n"
DPKG = HEAD + "ii  libfoo2:amd64  1:2.21.5-1+cuda12.4  amd64  Foo\nii  bash  5.1-6ubuntu1  amd64  shell\n"
RPM = "bash-5.1.8-9.el9.x86_64\nlibfoo2-2.21.5-1.el9.x86_64\nglibc-2.34-1.el9.x86_64\n"
PIP = "Package    Version\n---------- -------\nFoo.Core   2.21.5\ntorch      2.8.0\n"
FREEZE = "foo-core==2.21.5\nnumpy==1.26.4\ntorch==2.8.0\n-e git+https://example.org/x.git#egg=x\n"
CONDA = (
    "# packages in environment at /opt/conda:\n#\n# Name                    Version                   Build  Channel\n"
    "foo_core         2.21.5          py310_0    conda-forge\npytorch    2.8.0    py3.10_cuda12.8_0    pytorch\n"
)
PIP_JSON = '[{"name": "foo-core", "version": "2.21.5"}, {"name": "torch", "version": "2.8.0"}]\n'
CONDA_JSON = """[
  {
    "build_string": "py310_0",
    "name": "foo-core",
    "version": "2.21.5"
  }
]
"""
COLLECT_ENV = (
    "PyTorch version: 2.8.0\nIs debug build: False\n\n[pip3] foo-core==2.21.5\n[conda] Could not collect\n"
)


def stated(text: str, *packages: str, scheme: Scheme = Scheme.DOTTED_NUMERIC) -> list[tuple[str, str]]:
    """Standing and version of the component `foo` in a text."""
    foo = Component(id="foo", label="Foo", scheme=scheme, packages=packages)
    with laid_over(lambda: {**shipped_components(), "foo": foo}):
        facts = component_facts(read(Source.of_text(text)))
    return [(fact.standing.value, fact.value) for fact in facts if fact.component == "foo"]


@pytest.mark.parametrize("text", [DPKG, RPM, PIP, FREEZE, CONDA, PIP_JSON, CONDA_JSON, COLLECT_ENV])
def test_a_component_is_found_by_the_name_of_its_package(text: str) -> None:
    assert stated(text, "libfoo2", "foo-core") == [("declared", "2.21.5")]


def test_a_name_may_end_in_anything_and_other_names_do_not_count() -> None:
    assert stated(DPKG, "libfoo*") == [("declared", "2.21.5")]
    assert stated(DPKG, "libfoo", "foo2", "lib.oo2") == []


def test_a_scheme_that_knows_revisions_keeps_the_whole_text() -> None:
    assert stated(DPKG, "libfoo2", scheme=Scheme.DEBIAN) == [("declared", "1:2.21.5-1+cuda12.4")]
    assert stated(RPM, "libfoo2", scheme=Scheme.OPAQUE) == [("declared", "2.21.5-1.el9")]


def test_versions_that_stand_side_by_side_are_all_stated() -> None:
    assert stated(RPM + "libfoo2-2.30.7-1.el9.x86_64\n", "libfoo2") == [
        ("declared", "2.21.5"),
        ("declared", "2.30.7"),
    ]


@pytest.mark.parametrize("text", [PIP, FREEZE, CONDA])
def test_lists_of_python_packages_state_the_frameworks(text: str) -> None:
    reading = read(Source.of_text(text))
    assert (reading.kind, reading.facts["torch"]) == ("python_packages", "2.8.0")
    assert ("torch", "2.8.0") in {(fact.component, fact.value) for fact in component_facts(reading)}


def test_a_package_with_two_versions_is_warned_of() -> None:
    reading = read(Source.of_text(FREEZE + "torch==2.9.0\n"))
    assert [(one.code, one.line) for one in reading.warnings] == [("package_repeated", 5)]
    assert reading.facts["torch"] == "2.8.0"


def test_json_says_whose_list_it_is_and_what_is_no_package_in_it() -> None:
    assert read(Source.of_text(CONDA_JSON)).facts["manager"] == "conda"
    reading = read(Source.of_text(PIP_JSON.replace("]", ', {"name": "bar"}]')))
    assert (reading.facts["manager"], reading.facts["packages"]) == ("pip", 2)
    assert [one.code for one in reading.warnings] == ["package_not_understood"]


def test_json_that_is_cut_is_refused() -> None:
    with pytest.raises(Unreadable):
        read(Source.of_text(PIP_JSON[:60]))


def test_what_is_no_package_is_warned_of() -> None:
    reading = read(Source.of_text(PIP + "ERROR something broke here\n"))
    assert [one.code for one in reading.warnings] == ["package_not_understood"]


@pytest.fixture
def team_component(db: None, ada: Any, actor_for: Callable[..., Any]) -> None:
    for path, value in (("name", "Foo"), ("packages", "libfoo2, foo-core"), ("scheme", "dotted_numeric")):
        catalogue.set_figure(
            actor=actor_for(ada),
            scope_id=None,
            kind=Kind.COMPONENT,
            entry="foo",
            path=path,
            value=value,
            source="our packaging",
            confidence=Confidence.MEASURED,
        )


@pytest.mark.parametrize("value", ["lib foo", "foo,,bar", "*", "../x"])
def test_odd_names_of_packages_are_refused(
    value: str, team_component: None, ada: Any, actor_for: Any
) -> None:
    with pytest.raises(Invalid):
        catalogue.set_figure(
            actor=actor_for(ada),
            scope_id=None,
            kind=Kind.COMPONENT,
            entry="foo",
            path="packages",
            value=value,
            source="x",
            confidence=Confidence.MEASURED,
        )


def test_the_command_knows_components_of_the_team(team_component: None, tmp_path: Path) -> None:
    file, out = tmp_path / "dpkg.txt", StringIO()
    file.write_text(DPKG)
    call_command("read_evidence", "--components", str(file), stdout=out)
    (answer,) = (json.loads(line) for line in out.getvalue().splitlines())
    assert {"component": "foo", "value": "2.21.5", "standing": "declared", "count": None} in answer[
        "components"
    ]


@pytest.mark.django_db
def test_a_node_reports_a_component_of_the_team(
    team_component: None, cluster: Any, bo: Any, api: Any, client_of: Any
) -> None:
    node = factories.node(cluster, "n1")
    caller = api(factories.bearer(bo, "read", "evidence:write"))
    sent = caller.post(
        f"/api/v1/clusters/{cluster.slug}/evidence/?node=n1", DPKG.encode(), content_type="text/plain"
    )
    assert sent.json()["state"] == "applied"
    told = caller.get(f"/api/v1/nodes/{node.pk}/reported-versions/").json()
    assert "2.21.5" in json.dumps([one for one in told if one["component"] == "foo"])
    listed = {one["id"]: one["read_from"] for one in caller.get("/api/v1/components/").json()}
    assert listed["foo"] == ["collect_env", "package_list", "python_packages"]


@pytest.mark.parametrize("text", [DPKG, RPM, PIP, FREEZE, CONDA])
def test_a_list_that_stands_there_twice_counts_each_package_once(text: str) -> None:
    once, twice = read(Source.of_text(text)), read(Source.of_text(text * 2))

    assert twice.facts == once.facts


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PIP + "nvidia-nccl-cu11 2.20.5\nnvidia-nccl-cu12 2.21.5\n", 6),
        (FREEZE + "nvidia-nccl-cu12==2.21.5\nnvidia-nccl-cu13==2.28.3\n", 6),
        (CONDA + "torch   2.9.0   pypi_0   pypi\n", 5),
    ],
)
def test_two_packages_of_one_component_in_different_versions_are_said(text: str, line: int) -> None:
    warnings = read(Source.of_text(text)).warnings

    assert [(one.code, one.line) for one in warnings] == [("versions_differ", line)]
