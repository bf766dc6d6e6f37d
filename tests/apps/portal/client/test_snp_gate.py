"""The client's gate: one exit code for each answer, proved against a small HTTP server."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CLIENT = Path(__file__).parents[4] / "apps" / "portal" / "client" / "snp.py"
EVALUATED = {"evaluation": 7, "is_stale": False, "html_url": "http://portal/launches/1/"}
FAILING = {"key": "no_drift", "verdict": "fail", "message": "sn-n07: driver 535.161.08"}


def answer(standing: str, exit_code: int, **more: Any) -> dict[str, Any]:
    return EVALUATED | {"standing": standing, "exit_code": exit_code, "items": [FAILING]} | more


class Stub:
    """Gives the scripted answers in order, the last one for ever; keeps what was asked."""

    def __init__(self) -> None:
        self.script: list[tuple[int, Any]] = []
        self.asked: list[str] = []
        self.tokens: set[str] = set()

    def next(self) -> tuple[int, Any]:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@pytest.fixture
def stub() -> Iterator[Stub]:
    state = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(f"{self.command} {self.path}")
            state.tokens.add(self.headers["Authorization"])
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = (202, {}) if self.command == "POST" else state.next()
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "http://elsewhere.example/")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_POST = do_GET

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def gate(stub: Stub) -> Callable[..., subprocess.CompletedProcess[str]]:
    def ask(*arguments: str, token: str = "snp_x.y", url: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(CLIENT), "gate", "--url", url or stub.url]
        return subprocess.run(
            [*command, *(arguments or ("--launch", "1"))],
            env={"SNP_TOKEN": token},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return ask


def test_the_client_is_python_3_6_and_needs_nothing_else():
    tree = ast.parse(CLIENT.read_text(), feature_version=(3, 6))
    imported = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert imported <= set(sys.stdlib_module_names)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


@pytest.mark.parametrize(
    ("standing", "code"), [("go", 0), ("no_go", 1), ("unknown", 3), ("pending", 3), ("needs_signoff", 10)]
)
def test_each_standing_has_its_exit_code(gate, stub, standing, code):
    stub.script = [(200, answer(standing, code))]
    done = gate()
    assert (done.returncode, done.stdout.splitlines()[0]) == (code, f"{standing}   http://portal/launches/1/")
    assert "no_drift: sn-n07: driver 535.161.08" in done.stdout
    assert stub.tokens == {"Bearer snp_x.y"}


def test_why_it_stands_there_and_what_helps_is_printed_before_the_items(gate, stub):
    stub.script = [
        (200, answer("no_go", 1, message="1 check stops it", hint="mend the drift, then ask again"))
    ]
    assert gate().stdout.splitlines()[1:4] == [
        "  1 check stops it",
        "  mend the drift, then ask again",
        "  fail     no_drift: sn-n07: driver 535.161.08",
    ]


@pytest.mark.parametrize(
    "said",
    [
        {"exit_code": 0},
        answer("no_go", 0),
        answer("go", False),
        answer("go", 1),
        answer("go", 0, is_stale=True),
        answer("go", 0, evaluation=None),
        b"[" * 100_000,
    ],
)
def test_an_answer_that_contradicts_itself_is_unknown(gate, stub, said):
    stub.script = [(200, said)]
    assert gate().returncode == 3


@pytest.mark.parametrize("code", [200, None, "0", 2, 255])
def test_an_answer_that_makes_no_sense_is_unknown(gate, stub, code):
    stub.script = [(200, answer("go", code))]
    assert gate().returncode == 3


def test_a_page_instead_of_an_answer_is_unknown(gate, stub):
    stub.script = [(200, b"<html>Sign in to the hotel's network</html>")]
    assert gate().returncode == 3


@pytest.mark.parametrize(
    ("status", "code"), [(400, 2), (401, 4), (403, 4), (404, 3), (429, 6), (500, 6), (503, 6), (302, 6)]
)
def test_each_refusal_has_its_exit_code(gate, stub, status, code):
    stub.script = [(status, {"detail": "because", "code": "x"})]
    assert gate().returncode == code


def test_a_redirect_is_not_followed_with_the_token(gate, stub):
    stub.script = [(302, {})]
    assert "elsewhere.example" in gate().stderr
    assert len(stub.asked) == 1


def test_a_portal_that_is_away_is_6(gate):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert gate(url=f"http://127.0.0.1:{port}").returncode == 6


@pytest.mark.parametrize("stale", [{"is_stale": True}, {"evaluation": None}])
def test_a_decision_that_no_longer_stands_is_evaluated_anew_once(gate, stub, stale):
    stub.script = [(200, answer("unknown", 3, **stale)), (200, answer("go", 0))]
    assert gate().returncode == 0
    assert [line.split()[0] for line in stub.asked] == ["GET", "POST", "GET"]
    assert stub.asked[1] == "POST /api/v1/launches/1/evaluations/"


def test_with_wait_it_asks_until_the_standing_is_final(gate, stub):
    stub.script = [(200, answer("pending", 3)), (200, answer("needs_signoff", 10)), (200, answer("go", 0))]
    assert gate("--launch", "1", "--wait", "30").returncode == 0
    assert len(stub.asked) == 3


def test_with_wait_a_portal_that_is_away_for_a_moment_is_asked_again(gate, stub):
    stub.script = [(503, {}), (200, answer("no_go", 1))]
    assert gate("--launch", "1", "--wait", "30").returncode == 1


@pytest.mark.parametrize(("standing", "exit_code", "code"), [("pending", 3, 5), ("needs_signoff", 10, 10)])
def test_where_the_wait_is_over_it_says_what_it_waited_for(gate, stub, standing, exit_code, code):
    stub.script = [(200, answer(standing, exit_code))]
    assert gate("--launch", "1", "--wait", "0.2").returncode == code


def test_the_launch_is_found_by_its_nodes(gate, stub):
    found = (200, {"results": [{"id": "abc"}]})
    stub.script = [(200, {"results": []}), found, (200, answer("go", 0))]
    assert gate("--cluster", "hall-1", "--nodes", "sn[01-18]").returncode == 0
    assert stub.asked == [
        "GET /api/v1/launches/?cluster=hall-1&state=running&nodes=sn%5B01-18%5D",
        "GET /api/v1/launches/?cluster=hall-1&state=open&nodes=sn%5B01-18%5D",
        "GET /api/v1/launches/abc/gate/",
    ]


@pytest.mark.parametrize("found", [["running"], ["running", "open"]])
def test_the_launch_that_runs_on_the_nodes_comes_before_one_that_is_open(gate, stub, found):
    none, one = (200, {"results": []}), (200, {"results": [{"id": "abc"}]})
    stub.script = [*[none] * (len(found) - 1), one, (200, answer("go", 0))]
    assert gate("--cluster", "hall-1", "--nodes", "sn-n01").returncode == 0
    asked = [path.partition("state=")[2].partition("&")[0] for path in stub.asked]
    assert asked[: len(found) + 1] == [*found, ""]


def test_no_launch_on_these_nodes_is_unknown(gate, stub):
    stub.script = [(200, {"results": []})]
    assert gate("--cluster", "hall-1", "--nodes", "sn-n01").returncode == 3


def test_the_whole_answer_comes_as_json(gate, stub):
    stub.script = [(200, answer("go", 0))]
    assert json.loads(gate("--launch", "1", "--json").stdout)["exit_code"] == 0


@pytest.mark.parametrize(
    "arguments",
    [("--cluster", "hall-1"), ("--launch", "1", "--wait", "soon"), ("--launch", "1", "--token-file", "/no")],
)
def test_wrong_usage_is_2(gate, stub, arguments):
    assert gate(*arguments).returncode == 2


def test_without_a_token_or_an_address_it_is_2(gate, stub):
    assert gate(token="").returncode == 2
    assert gate(url="portal.example.com").returncode == 2
    assert stub.asked == []


@pytest.mark.parametrize("token", ["snp_…", "snp_x.y\nX-Extra: 1", "snp_x y"])
def test_what_can_be_no_token_is_4_and_goes_nowhere(gate, stub, token):
    done = gate(token=token)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("snp: the token holds signs that no token has")
    assert stub.asked == []


def test_a_token_file_that_is_no_text_is_2(gate, tmp_path):
    (tmp_path / "token").write_bytes(b"snp_\xff")
    done = gate("--launch", "1", "--token-file", str(tmp_path / "token"))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
