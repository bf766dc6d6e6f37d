"""The manifests of the collector name the client's own commands and options."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "docs" / "collector"
UNITS = ("snp-collect", "snp-health")


def options_of(arguments: list[str]):
    spec = importlib.util.spec_from_file_location("snp", ROOT / "apps" / "portal" / "client" / "snp.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.parser().parse_args(arguments)


@pytest.mark.parametrize("name", UNITS)
def test_the_units_call_the_client_as_it_is(name):
    (start,) = [
        line.partition("=")[2]
        for line in (FOLDER / f"{name}.service").read_text().splitlines()
        if line.startswith("ExecStart=")
    ]
    words = [word for word in shlex.split(start)[2:] if not word.startswith("$")]
    options = options_of(words)
    assert (options.command, options.health) == ("collect", name == "snp-health")
    assert options.spool.startswith("/var/lib/snp/")
    assert (FOLDER / f"{name}.timer").exists()


CONTAINERS = ("versions", "health")


@pytest.fixture
def pod():
    (document,) = yaml.safe_load_all((FOLDER / "daemonset.yaml").read_text())
    assert document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"]
    return document["spec"]["template"]["spec"]


def container_of(pod, name):
    return next(one for one in pod["containers"] if one["name"] == name)


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_daemon_set_calls_the_client_as_it_is(pod, name):
    container = container_of(pod, name)
    (call,) = [line for line in container["args"][0].splitlines() if "snp.py" in line]
    options = options_of(shlex.split(call.replace("$NODE_NAME", "sn-n01"))[2:])
    assert options.health == (name == "health")
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert Path(options.token_file).parent.as_posix() in mounts
    assert Path(options.spool).parent.as_posix() in mounts
    assert {volume["name"] for volume in pod["volumes"]} == {m["name"] for m in container["volumeMounts"]}
    assert "SNP_DCGM_URL" in {one["name"] for one in container["env"]}


def test_versions_need_no_root_and_health_of_root_only_the_kernel_log(pod):
    versions, health = (container_of(pod, name)["securityContext"] for name in CONTAINERS)
    assert versions["runAsNonRoot"]
    assert versions["capabilities"] == {"drop": ["ALL"]}
    assert health["capabilities"] == {"drop": ["ALL"], "add": ["SYSLOG"]}
    for one in (versions, health):
        assert (one["allowPrivilegeEscalation"], one["readOnlyRootFilesystem"]) == (False, True)


def test_the_health_unit_may_read_the_kernel_log_and_knows_the_exporter():
    lines = (FOLDER / "snp-health.service").read_text().splitlines()
    assert {"AmbientCapabilities=CAP_SYSLOG", "CapabilityBoundingSet=CAP_SYSLOG", "User=snp"} <= set(lines)
    assert any(line.startswith("Environment=SNP_DCGM_URL=http://127.0.0.1:") for line in lines)
