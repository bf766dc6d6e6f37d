"""The client against the portal itself, over HTTP: push, collect, the spool, and nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from django.core.wsgi import get_wsgi_application
from django.db import connection

from apps.environments.models import NodeFact
from apps.evidence.models import Evidence, Receipt, ReceiptState
from apps.fleet.models import Node
from apps.health.engine.hysteresis import WINDOW
from apps.health.models import HealthState
from tests import factories
from tests.support import corpus

CLIENT = Path(__file__).parents[4] / "apps" / "portal" / "client" / "snp.py"


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


class Portal:
    """The portal on a port that stays the same while it is switched off and on."""

    def __init__(self) -> None:
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def running(self) -> Iterator[None]:
        def application(environ, start_response):
            try:
                yield from django(environ, start_response)
            finally:
                connection.close()

        django = get_wsgi_application()
        with make_server("127.0.0.1", self.port, application, _Server, _Quiet) as server:
            self.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield
            server.shutdown()
            thread.join()


@pytest.fixture
def portal(committed_database, cluster) -> Portal:
    factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)
    portal = Portal()
    with portal.running():
        pass
    return portal


@pytest.fixture
def token(committed_database, bo) -> str:
    return factories.bearer(bo, "evidence:write")


@pytest.fixture
def tools(tmp_path) -> Path:
    """A folder of vendor tools that print what real ones printed, and nothing else on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tool(folder, "nvidia-smi", f'[ "$1" = -q ] && exec /bin/cat {corpus.FOLDER / corpus.XML}; exit 6')
    tool(folder, "python", f"exec /bin/cat {corpus.FOLDER / corpus.COLLECT_ENV}")
    tool(folder, "ibv_devinfo", "echo No IB devices found >&2; exit 255")
    return folder


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def snp(portal, token, tools, tmp_path):
    """Run the client as a node does."""

    def run(command: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        spool = ["--spool", str(tmp_path / "spool")] if command == "collect" else []
        return subprocess.run(
            [sys.executable, str(CLIENT), command, "--node", "sn-n01", *spool, *arguments],
            env={"SNP_URL": portal.url, "SNP_CLUSTER": "hall-1", "SNP_TOKEN": token, "PATH": str(tools)}
            | {"SNP_ROOT": str(tmp_path / "root")}
            | env,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


class _Exporter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/metrics" else 404)
        self.end_headers()
        if self.path == "/metrics":
            self.wfile.write(b'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-0",Hostname="sn-n01"} 41\n')

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


@pytest.fixture
def exporter() -> Iterator[str]:
    """Where something like dcgm-exporter serves the metrics of this node."""
    with HTTPServer(("127.0.0.1", 0), _Exporter) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/metrics"
        server.shutdown()
        thread.join()


def spooled(tmp_path: Path) -> list[str]:
    return sorted(path.name.split("-", 2)[2] for path in (tmp_path / "spool").glob("*.*"))


def states() -> list[tuple[str, str]]:
    return list(Receipt.objects.order_by("id").values_list("file_name", "state"))


def test_pushed_files_are_applied_and_known_bytes_are_not_sent_again(portal, snp, tmp_path):
    path = tmp_path / "nvidia-smi.xml"
    path.write_bytes(corpus.read(corpus.XML))
    begin, done = time.time() - 60, []
    with portal.running():
        for turn in range(WINDOW + 1):
            os.utime(path, (begin + turn, begin + turn))
            done.append(snp("push", str(path)))
        once_more = snp("push", str(path))
    first, *_settling, last = done
    assert (first.returncode, last.returncode) == (0, 0), first.stderr
    assert first.stdout == "nvidia-smi.xml: applied nvidia_smi_xml\n"
    assert Evidence.objects.count() == 1
    assert last.stdout == once_more.stdout == "nvidia-smi.xml: unchanged\n"
    assert (
        sum(Receipt.objects.values_list("times", flat=True)) == WINDOW + 1
    )  # once for each time of the file


def test_the_node_reports_what_its_tools_print(portal, snp, tmp_path, tools):
    with portal.running():
        done = snp("collect", "--python", str(tools / "python"))
    assert done.returncode == 0, done.stderr
    assert sorted(states()) == [("collect-env.txt", "applied"), ("nvidia-smi.xml", "applied")]
    assert NodeFact.objects.filter(node__name="sn-n01", until__isnull=True).exists()
    assert "ibv-devinfo.txt: exit code 255: No IB devices found" in done.stderr
    assert spooled(tmp_path) == []


def file(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_versions_that_only_files_and_packages_state_are_reported(portal, snp, tmp_path, tools):
    root = tmp_path / "root"
    file(
        root, "proc/driver/nvidia-nvswitch/devices/0000:07:00.0/information", "BIOS Version: 96.10.57.00.01\n"
    )
    file(root, "usr/local/Ascend/driver/version.info", "Version=24.1.rc3\nascendhal_version=7.35.23\n")
    file(root, "sys/class/dmi/id/bios_version", "2.4b\n")
    file(root, "sys/class/dmi/id/board_serial", "BRD-42-007\n")
    tool(tools, "nv-fabricmanager", "echo Fabric Manager version is : 570.86.15")
    tool(tools, "ofed_info", "echo MLNX_OFED_LINUX-24.10-0.7.0.0:")
    tool(tools, "dpkg-query", "echo 'ii  nvidia-fabricmanager-570 570.86.15-1'")
    with portal.running():
        done = snp("collect", "--python", "no-python-here")
    assert done.returncode == 0, done.stderr
    facts = NodeFact.objects.filter(node__name="sn-n01", until__isnull=True)
    stated = dict(facts.filter(standing="loaded").values_list("component", "value"))
    declared = dict(facts.filter(standing="declared").values_list("component", "value"))
    assert {key: stated[key] for key in ("fabric_manager", "nvswitch_firmware", "ofed", "host_bios")} == {
        "fabric_manager": "570.86.15",
        "nvswitch_firmware": "96.10.57.00.01",
        "ofed": "MLNX_OFED_LINUX-24.10-0.7.0.0",
        "host_bios": "2.4b",
    }
    assert (declared["npu_driver"], declared["fabric_manager"]) == ("24.1.rc3", "570.86.15")
    assert Node.objects.get(name="sn-n01").serial == "BRD-42-007"


def test_packages_that_are_named_are_asked_for_and_python_is_too(portal, snp, tmp_path, tools):
    asked = tmp_path / "asked"
    tool(
        tools, "dpkg-query", f"echo \"$@\" > {asked}; printf 'ii  libfoo2 2.21.5-1\\n'; echo none >&2; exit 1"
    )
    tool(
        tools, "some-python", 'case "$*" in *pip*) echo torch==2.8.0; echo x==1; echo y==2;; *) exit 1;; esac'
    )
    with portal.running():
        done = snp("collect", "--python", "some-python", SNP_PACKAGES="libfoo2, foo-core -rf")
    assert done.returncode == 0, done.stderr
    assert asked.read_text().split()[-3:] == ["*fabric*manager*", "libfoo2", "foo-core"]
    assert {("packages.txt", "applied"), ("python-packages.txt", "applied")} <= set(states())


def test_what_only_root_may_read_is_skipped_with_a_word(portal, snp, tmp_path):
    file(tmp_path / "root", "sys/class/dmi/id/bios_version", "2.4b\n")
    (tmp_path / "root/sys/class/dmi/id/board_serial").mkdir()  # fails to be read as a refused one does
    with portal.running():
        done = snp("collect", "--python", "no-python-here")
    assert done.returncode == 0, done.stderr
    assert "dmi.txt: skipped /sys/class/dmi/id/board_serial: " in done.stderr
    assert ("dmi.txt", "applied") in states()


def test_health_takes_the_metrics_of_an_exporter_along(portal, snp, exporter):
    with portal.running():
        done = snp("collect", "--health", "--python", "no-python-here", SNP_DCGM_URL=exporter)
        gone = snp("collect", "--health", "--python", "no-python-here", SNP_DCGM_URL=exporter + "/gone")
    assert ("dcgm.prom", "applied") in states()
    assert HealthState.objects.filter(node__name="sn-n01", rule="gpu-temperature").exists()
    assert "dcgm.prom" not in done.stderr
    assert "dcgm.prom" in gone.stderr


def test_the_fabric_managers_service_is_asked_about_where_it_is_installed(portal, snp, tools):
    tool(
        tools,
        "systemctl",
        "printf 'Id=nvidia-fabricmanager.service\\nActiveState=failed\\nSubState=failed\\n'",
    )
    with portal.running():
        snp("collect", "--health", "--python", "no-python-here")
        assert "fabric-service.txt" not in dict(states())
        tool(tools, "nv-fabricmanager", "echo Fabric Manager version is : 570.86.15")
        snp("collect", "--health", "--python", "no-python-here")
    assert dict(states())["fabric-service.txt"] == "applied"


def test_an_old_file_says_that_it_changes_nothing_unless_it_is_said_to_be_current(portal, snp, tmp_path):
    old = tmp_path / "old.xml"
    old.write_bytes(corpus.read(corpus.XML).replace(b"570.86.15", b"535.161.08"))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    with portal.running():
        snp("push", str(corpus.FOLDER / corpus.XML), "--collected-at", "now")
        late = snp("push", str(old))
        driver = NodeFact.objects.filter(component="gpu_driver", until__isnull=True)
        assert driver.get().value == "570.86.15"
        current = snp("push", str(old), "--collected-at", "now")
    assert late.returncode == 0
    said, warning = late.stdout.splitlines()
    assert said == "old.xml: applied nvidia_smi_xml"
    assert warning.startswith(
        "old.xml: warning: it changes nothing: collected 2023-11-14T22:13:20Z, older than what is on record ("
    )
    assert warning.endswith("If it shows what holds now, push it again with --collected-at now.")
    assert current.stdout == "old.xml: applied nvidia_smi_xml\n"
    assert driver.get().value == "535.161.08"


def test_a_time_without_an_offset_is_no_time(portal, snp):
    done = snp("push", str(CLIENT), "--collected-at", "2026-01-31T12:00:00")
    assert (done.returncode, "a time with offset" in done.stderr) == (2, True)


def test_while_the_portal_is_away_reports_wait_and_are_sent_once(portal, snp, tmp_path, tools):
    away = snp("collect", "--python", str(tools / "python"))
    assert (away.returncode, "2 files wait" in away.stderr) == (0, True), away.stderr
    assert len(spooled(tmp_path)) == 4
    with portal.running():
        back = snp("collect", "--python", "no-python-here")
        again = snp("collect", "--python", "no-python-here")
    assert (back.returncode, again.returncode) == (0, 0), back.stderr
    assert spooled(tmp_path) == []
    names = [name for name, _state in states()]
    assert names.count("collect-env.txt") == 1
    assert sum(Receipt.objects.filter(file_name="nvidia-smi.xml").values_list("times", flat=True)) == 3
    waited = Receipt.objects.order_by("id").first()
    assert waited.collected_at < waited.received_at
    assert Evidence.objects.count() == 2


def test_what_is_refused_leaves_the_spool_and_the_rest_is_sent(portal, snp, tmp_path, tools):
    tool(
        tools, "npu-smi", "i=0; while [ $i -lt 60 ]; do echo this is no report of any kind; i=$((i+1)); done"
    )
    with portal.running():
        done = snp("collect", "--python", str(tools / "python"))
    assert (done.returncode, "npu-smi.txt: refused" in done.stdout) == (1, True)
    assert dict(states())["npu-smi.txt"] == ReceiptState.REFUSED
    assert len(states()) == 3
    assert spooled(tmp_path) == []


def test_a_pushed_file_that_is_refused_is_1_and_the_others_are_taken(portal, snp, tmp_path):
    (tmp_path / "notes.txt").write_text("apples and pears\n")
    with portal.running():
        done = snp("push", str(tmp_path / "notes.txt"), str(corpus.FOLDER / corpus.XML))
    assert done.returncode == 1
    assert "notes.txt: refused: this is not the output of a tool" in done.stdout
    assert [state for _name, state in states()] == ["refused", "applied"]


def test_a_pushed_file_of_a_node_that_does_not_exist_is_7_and_says_what_to_do(portal, snp):
    with portal.running():
        done = snp("push", "--node", "sn-n99", str(corpus.FOLDER / corpus.XML))
        right = snp("push", str(corpus.FOLDER / corpus.XML))
    receipt = Receipt.objects.earliest("id")
    assert done.returncode == 7
    assert "unmatched nvidia_smi_xml: There is no node sn-n99 in this cluster." in done.stdout
    assert (
        f"Kept as {portal.url}/evidence/receipts/{receipt.pk}/. Push it again with the --node" in done.stdout
    )
    assert (right.returncode, states()[-1][1]) == (0, "applied")


def test_a_pushed_benchmark_that_names_no_domain_is_7_and_asks_for_it(portal, snp):
    with portal.running():
        done = snp("push", "--node", "", str(corpus.FOLDER / corpus.ALL_REDUCE))
    assert done.returncode == 7
    assert "It is about a node or a whole domain, and does not say which." in done.stdout


def test_what_is_refused_weighs_more_than_a_node_that_does_not_exist(portal, snp, tmp_path):
    (tmp_path / "notes.txt").write_text("apples and pears\n")
    with portal.running():
        done = snp("push", "--node", "sn-n99", str(tmp_path / "notes.txt"), str(corpus.FOLDER / corpus.XML))
    assert done.returncode == 1


def test_a_node_that_the_portal_does_not_know_yet_reports_on_and_is_told(portal, snp, tmp_path):
    with portal.running():
        done = snp("collect", "--node", "sn-n02")
    assert done.returncode == 0
    assert "There is no node sn-n02 in this cluster." in done.stdout
    assert "add it, or this name as an alias" in done.stdout
    assert {state for _name, state in states()} == {"unmatched"}
    assert spooled(tmp_path) == []


def test_a_file_that_was_cut_is_said_to_have_warnings(portal, snp, tmp_path):
    (tmp_path / "cut.xml").write_bytes(corpus.read(corpus.XML)[:20_000])
    with portal.running():
        done = snp("push", str(tmp_path / "cut.xml"))
    receipt = Receipt.objects.get()
    count, address = receipt.warning_count, f"{portal.url}/evidence/receipts/{receipt.pk}/"
    assert done.stdout == f"cut.xml: applied nvidia_smi_xml, {count} warnings: {address}\n"
    assert count >= 2


def test_a_file_above_the_limit_is_refused_before_it_is_sent(portal, snp, settings):
    settings.EVIDENCE_LIMIT_BYTES = 1000
    with portal.running():
        done = snp("push", str(corpus.FOLDER / corpus.XML))
    assert (done.returncode, Receipt.objects.count()) == (1, 0)
    assert "above the portal's limit" in done.stdout


@pytest.mark.parametrize(
    ("env", "code"), [({"SNP_TOKEN": "snp_" + "a" * 12 + "." + "b" * 40}, 4), ({"SNP_CLUSTER": "no-such"}, 2)]
)
def test_a_refused_caller_or_cluster_keeps_the_spool(portal, snp, tmp_path, tools, env, code):
    with portal.running():
        done = snp("collect", "--python", str(tools / "python"), **env)
    assert done.returncode == code, done.stderr
    assert len(spooled(tmp_path)) == 4


def test_a_read_only_token_is_4(portal, snp, bo):
    with portal.running():
        done = snp("push", str(corpus.FOLDER / corpus.XML), SNP_TOKEN=factories.bearer(bo, "read"))
    assert done.returncode == 4


def test_pushing_to_a_portal_that_is_away_is_6(snp):
    assert snp("push", str(corpus.FOLDER / corpus.XML)).returncode == 6


def test_a_node_without_any_tool_says_so(portal, snp, tools):
    for path in tools.iterdir():
        path.unlink()
    with portal.running():
        done = snp("collect", "--python", "no-python-here")
    assert (done.returncode, "none of the vendor tools" in done.stderr) == (1, True)


def test_a_spool_that_others_can_write_to_is_refused(snp, tmp_path):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool").chmod(0o777)
    assert snp("collect").returncode == 2
    (tmp_path / "spool").rmdir()
    (tmp_path / "spool").symlink_to(tmp_path)
    assert snp("collect").returncode == 2


def test_the_spool_drops_its_oldest_and_what_a_killed_run_left(snp, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir(mode=0o700)
    meta = {"node": "sn-n01", "name": "old.txt", "collected_at": "2026-01-01T00:00:00Z"}
    (spool / "20260101000000-000001-old.txt.json").write_text(json.dumps(meta))
    (spool / "20260101000000-000001-old.txt.data").write_bytes(b"x" * (1 << 20))
    for name in ("20260101000000-000002-half.txt.data", "20260101000000-000003-half.txt.data.part"):
        (spool / name).write_bytes(b"half")
        os.utime(spool / name, (0, 0))
    done = snp("collect", "--spool-limit", "1", "--python", "no-python-here")
    assert "dropped 20260101000000-000001-old.txt" in done.stderr
    assert spooled(tmp_path) == ["nvidia-smi.xml.data", "nvidia-smi.xml.json"]
