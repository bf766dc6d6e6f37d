"""docker-compose.yml and the Dockerfile: valid, and in agreement with the settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.project.test_configuration import read_by_settings

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "tests/vendor/compose-spec.json").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
PORTAL = ("migrate", "web", "worker", "beat")


def test_the_file_follows_the_compose_specification():
    Draft7Validator.check_schema(SCHEMA)
    errors = [(list(error.path), error.message) for error in Draft7Validator(SCHEMA).iter_errors(COMPOSE)]
    assert errors == []


def test_the_specification_finds_a_mistake():
    wrong = COMPOSE | {"services": COMPOSE["services"] | {"web": {"image": "x", "port": ["8000"]}}}
    assert not Draft7Validator(SCHEMA).is_valid(wrong)


@pytest.mark.parametrize("service", PORTAL)
def test_every_variable_is_one_that_the_settings_read(service):
    known = set(read_by_settings())
    given = {name.removesuffix("_FILE") for name in COMPOSE["services"][service]["environment"]}
    assert given <= known


@pytest.mark.parametrize("service", PORTAL)
def test_every_secret_file_is_a_secret_of_the_service(service):
    described = COMPOSE["services"][service]
    files = {value for name, value in described["environment"].items() if name.endswith("_FILE")}
    assert files == {f"/run/secrets/{secret}" for secret in described["secrets"]}


@pytest.mark.parametrize("service", PORTAL)
def test_the_portal_has_no_rights_that_it_does_not_need(service):
    described = COMPOSE["services"][service]
    assert described["read_only"] is True
    assert described["cap_drop"] == ["ALL"]
    assert described["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in described


@pytest.mark.parametrize("service", [name for name in COMPOSE["services"] if name != "migrate"])
def test_every_service_that_stays_has_a_health_check_and_comes_back(service):
    described = COMPOSE["services"][service]
    assert described["healthcheck"]["test"]
    assert described["restart"] == "unless-stopped"


def test_only_the_web_is_reachable_and_only_from_this_machine():
    reachable = {name: one["ports"] for name, one in COMPOSE["services"].items() if "ports" in one}
    assert reachable == {"web": ["${PORTAL_BIND:-127.0.0.1:8000}:8000"]}


def test_the_image_runs_as_a_user_without_rights_and_holds_every_folder_that_it_copies():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users[-1] not in ("root", "0")
    assert lines.index(f"USER {users[-1]}") < next(
        i for i, line in enumerate(lines) if line.startswith("CMD")
    )
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {line.split()[1].rstrip("/") for line in lines if line.startswith("COPY ")}
    for source in copied:
        assert (ROOT / source).exists(), source
        assert any(source == path or source.startswith(f"{path}/") for path in kept), source


def test_the_image_is_built_from_a_version_of_python_that_is_tested():
    [version] = re.findall(r"^FROM python:(\d+\.\d+)-", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert version in ("3.11", "3.12", "3.13", "3.14")
