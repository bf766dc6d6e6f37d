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


def test_the_daemon_set_is_without_privileges_and_calls_the_client_as_it_is():
    (document,) = yaml.safe_load_all((FOLDER / "daemonset.yaml").read_text())
    pod = document["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    (call,) = [line for line in container["args"][0].splitlines() if "snp.py" in line]
    options = options_of(shlex.split(call.replace("$NODE_NAME", "sn-n01"))[2:])
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert Path(options.token_file).parent.as_posix() in mounts
    assert Path(options.spool).parent.as_posix() in mounts
    assert {volume["name"] for volume in pod["volumes"]} == {m["name"] for m in container["volumeMounts"]}
