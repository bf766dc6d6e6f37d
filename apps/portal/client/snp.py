#!/usr/bin/env python3
"""Client of Supernode Portal: one file, Python 3.6 or newer, standard library only.

  snp.py collect --url URL --cluster SLUG [--node NAME]           run the vendor tools here, push their output
  snp.py push    --url URL --cluster SLUG --node NAME FILE...     push any files
  snp.py gate    --url URL (--launch ID | --cluster SLUG --nodes LIST) [--wait SECONDS]

The token comes from --token-file, or from the environment variable SNP_TOKEN. --url and --cluster may stand in
SNP_URL and SNP_CLUSTER.

Exit codes of gate: 0 go, 1 no-go, 2 usage, 3 unknown or stale, 4 not authorised, 5 timed out, 6 portal down,
10 waiting for sign-off. Those of collect and push: 0 all accepted (or kept in the spool while the portal is
down), 1 something was refused, 2 usage, 4 not authorised, 6 portal down (push without spool).
"""

import argparse
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

VERSION = "1.0"

GO, NO_GO, USAGE, UNKNOWN, NOT_AUTHORISED, TIMED_OUT, PORTAL_DOWN, NEEDS_SIGNOFF = 0, 1, 2, 3, 4, 5, 6, 10

# What is run where it exists, none of it as root: name, command, seconds it may take. Volatile health dumps
# are sent by --health only, so that versions can be reported often at little cost.
VERSION_TOOLS = [
    ("nvidia-smi.xml", ["nvidia-smi", "-q", "-x"], 60),
    ("nvidia-topo.txt", ["nvidia-smi", "topo", "-m"], 30),
    ("collect-env.txt", [sys.executable, "-m", "torch.utils.collect_env"], 120),
    ("npu-smi.txt", ["npu-smi", "info"], 60),
    ("rocm-smi.json", ["rocm-smi", "--showall", "--json"], 60),
    ("ibv-devinfo.txt", ["ibv_devinfo"], 30),
]
HEALTH_TOOLS = [
    ("nvlink.txt", ["nvidia-smi", "nvlink", "-s"], 60),
    ("ibstat.txt", ["ibstat"], 30),
    ("dmesg.txt", ["dmesg", "--time-format", "iso"], 30),
]


class Refused(Exception):
    """The portal understood and said no."""

    def __init__(self, status, problem):
        Exception.__init__(self, problem.get("detail") or "HTTP %d" % status)
        self.status = status
        self.problem = problem


class Down(Exception):
    """The portal could not be reached, or is not able to answer."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to somewhere else."""

    def redirect_request(self, *args, **kwargs):
        return None


class Portal(object):
    """Talks to one portal with one token."""

    def __init__(self, url, token, ca_file=None, timeout_s=60):
        self.url = url.rstrip("/")
        self.token = token
        self.timeout_s = timeout_s
        context = ssl.create_default_context(cafile=ca_file)
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirect())

    def call(self, method, path, body=None, content_type="application/json"):
        """The decoded answer of a call. Raises Refused for 4xx, Down for everything that may pass."""
        request = urllib.request.Request(self.url + "/api/v1" + path, method=method)
        request.add_header("Authorization", "Bearer " + self.token)
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", "snp/%s" % VERSION)
        if body is not None:
            request.data = body
            request.add_header("Content-Type", content_type)
            if hasattr(body, "read"):
                request.add_header("Content-Length", str(os.fstat(body.fileno()).st_size))
        try:
            with self.opener.open(request, timeout=self.timeout_s) as response:
                return _decoded(response.read())
        except urllib.error.HTTPError as error:
            if error.code >= 500 or error.code == 429 or error.code < 400:
                raise Down("HTTP %d from %s" % (error.code, self.url))
            raise Refused(error.code, _decoded(error.read()))
        except (urllib.error.URLError, socket.timeout, ssl.SSLError, ConnectionError, OSError) as error:
            raise Down(str(error))

    def push(self, cluster, node, path, name, collected_at):
        """Hand one file in and give back its receipt."""
        query = urllib.parse.urlencode({"node": node, "file_name": name, "collected_at": collected_at})
        with open(path, "rb") as body:
            where = "/clusters/%s/evidence/?%s" % (urllib.parse.quote(cluster), query)
            return self.call("POST", where, body, "application/octet-stream")


def _decoded(raw):
    try:
        value = json.loads(raw.decode("utf-8"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {"results": value}


def now_text():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# -- push and collect ---------------------------------------------------------------------------------------


def push_command(portal, options):
    worst = GO
    for path in options.files:
        if not os.path.isfile(path):
            print("snp: %s: no such file" % path, file=sys.stderr)
            return USAGE
    for path in options.files:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.path.getmtime(path)))
        worst = max(worst, _push_one(portal, options.cluster, options.node, path, os.path.basename(path), at))
    return worst


def _push_one(portal, cluster, node, path, name, collected_at):
    try:
        receipt = portal.push(cluster, node, path, name, collected_at)
    except Refused as refusal:
        if refusal.status in (401, 403):
            raise
        print("%s: refused: %s" % (name, refusal))
        return NO_GO
    print("%s: %s %s" % (name, receipt.get("state", "?"), receipt.get("kind", "")))
    return GO


def collect_command(portal, options):
    """Run the tools into the spool, then send all that lies there, oldest first.

    A file leaves the spool once the portal has answered for it, so nothing is lost; the portal knows bytes by
    their digest, so nothing counts twice.
    """
    spool = options.spool or os.path.join(tempfile.gettempdir(), "snp-spool-%d" % os.getuid())
    if not os.path.isdir(spool):
        os.makedirs(spool, 0o700)
    if os.stat(spool).st_uid != os.getuid():
        print("snp: %s belongs to somebody else" % spool, file=sys.stderr)
        return USAGE
    tools = VERSION_TOOLS + (HEALTH_TOOLS if options.health else [])
    made = [
        name for name, command, limit_s in tools if _run_tool(spool, options.node, name, command, limit_s)
    ]
    if not made:
        print("snp: none of the vendor tools is here, or none answered", file=sys.stderr)
    return send_spool(portal, options.cluster, spool)


def _run_tool(spool, node, name, command, limit_s):
    """Whether the tool is here and printed something; its output lies in the spool then, whole."""
    if not os.path.isabs(command[0]) and shutil.which(command[0]) is None:
        return False
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        print("%s: %s" % (name, error), file=sys.stderr)
        return False
    if not done.stdout.strip() or (done.returncode != 0 and b"No module named" in done.stdout):
        return False
    at = now_text()
    stem = "%s-%s-%s" % (time.strftime("%Y%m%d%H%M%S", time.gmtime()), os.getpid(), name)
    meta = {"node": node, "name": name, "collected_at": at}
    _write_whole(os.path.join(spool, stem + ".data"), done.stdout)
    _write_whole(os.path.join(spool, stem + ".json"), json.dumps(meta).encode("utf-8"))
    return True


def _write_whole(path, data):
    with open(path + ".part", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".part", path)


def send_spool(portal, cluster, spool):
    """Send what lies in the spool. Without the portal it stays there, and that is no failure."""
    worst = GO
    entries = sorted(name[: -len(".json")] for name in os.listdir(spool) if name.endswith(".json"))
    for stem in entries:
        data, meta_path = os.path.join(spool, stem + ".data"), os.path.join(spool, stem + ".json")
        with open(meta_path, encoding="utf-8") as file:
            meta = json.load(file)
        try:
            result = _push_one(portal, cluster, meta["node"], data, meta["name"], meta["collected_at"])
        except Down as error:
            print("snp: portal down, %d files wait in %s: %s" % (len(entries), spool, error), file=sys.stderr)
            return GO
        worst = max(worst, result)
        os.unlink(meta_path)
        os.unlink(data)
    return worst


# -- gate ---------------------------------------------------------------------------------------------------


def gate_command(portal, options):
    """Ask for a decision; where the newest one no longer stands, a new evaluation is asked for."""
    deadline = time.time() + options.wait
    launch = options.launch or _launch_on(portal, options.cluster, options.nodes)
    if launch is None:
        print("unknown: no open launch on these nodes")
        return UNKNOWN
    path = "/launches/%s/gate/" % urllib.parse.quote(launch)
    answer = portal.call("GET", path)
    if answer.get("evaluation") is None or answer.get("is_stale"):
        portal.call("POST", "/launches/%s/evaluations/" % urllib.parse.quote(launch), b"{}")
        answer = portal.call("GET", path)
    while answer.get("standing") in ("pending", "needs_signoff") and time.time() < deadline:
        time.sleep(min(2.0, max(0.1, deadline - time.time())))
        answer = portal.call("GET", path)
    _print_answer(answer, options.json)
    if answer.get("standing") == "pending" and options.wait:
        return TIMED_OUT
    code = answer.get("exit_code")
    return code if isinstance(code, int) else UNKNOWN


def _launch_on(portal, cluster, nodes):
    query = urllib.parse.urlencode({"cluster": cluster, "state": "open", "nodes": nodes})
    found = portal.call("GET", "/launches/?" + query).get("results") or []
    return found[0]["id"] if found else None


def _print_answer(answer, as_json):
    if as_json:
        print(json.dumps(answer, indent=2, sort_keys=True))
        return
    print("%s   %s" % (answer.get("standing", "unknown"), answer.get("html_url", "")))
    for item in answer.get("items") or []:
        if item.get("verdict") in ("fail", "unknown"):
            print("  %-8s %s: %s" % (item["verdict"], item.get("key"), item.get("message")))
    for name in answer.get("changed") or []:
        print("  changed since: %s" % name)


# -- command line -------------------------------------------------------------------------------------------


def parser():
    top = argparse.ArgumentParser(
        prog="snp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=VERSION)
    commands = top.add_subparsers(dest="command")
    commands.required = True
    collect = commands.add_parser("collect", help="run the vendor tools on this node and push their output")
    collect.add_argument("--node", default=socket.gethostname(), help="name of this node in the portal")
    collect.add_argument("--spool", default="", help="folder for what could not be sent yet")
    collect.add_argument("--health", action="store_true", help="also what changes all the time")
    push = commands.add_parser("push", help="push files")
    push.add_argument("--node", default="", help="the node (or domain) that the files are about")
    push.add_argument("files", nargs="+", metavar="FILE")
    gate = commands.add_parser("gate", help="may this job start?")
    gate.add_argument("--launch", default="", help="id of the launch")
    gate.add_argument("--nodes", default="", help="node list such as sn[01-18], with --cluster")
    gate.add_argument("--wait", type=float, default=0, metavar="SECONDS")
    gate.add_argument("--json", action="store_true", help="print the whole answer")
    for one in (collect, push, gate):
        one.add_argument("--url", default=os.environ.get("SNP_URL", ""))
        one.add_argument("--cluster", default=os.environ.get("SNP_CLUSTER", ""))
        one.add_argument("--token-file", default="")
        one.add_argument("--ca-file", default=None)
    return top


def _token(options):
    if options.token_file:
        with open(options.token_file, encoding="utf-8") as file:
            return file.read().strip()
    return os.environ.get("SNP_TOKEN", "").strip()


def main(arguments=None):
    top = parser()
    options = top.parse_args(arguments)
    if not options.url.startswith(("http://", "https://")):
        top.error("say --url, such as https://portal.example.com")
    if options.command != "gate" and not options.cluster:
        top.error("say --cluster")
    if options.command == "gate" and not options.launch and not (options.cluster and options.nodes):
        top.error("say --launch, or --cluster and --nodes")
    try:
        token = _token(options)
    except OSError as error:
        top.error("--token-file: %s" % error)
    if not token:
        top.error("no token: say --token-file, or set SNP_TOKEN")
    command = {"collect": collect_command, "push": push_command, "gate": gate_command}[options.command]
    try:
        return command(Portal(options.url, token, options.ca_file), options)
    except Refused as refusal:
        print("snp: %s" % refusal, file=sys.stderr)
        if refusal.status in (401, 403):
            return NOT_AUTHORISED
        return UNKNOWN if refusal.status == 404 else USAGE
    except Down as error:
        print("snp: portal down: %s" % error, file=sys.stderr)
        return PORTAL_DOWN


if __name__ == "__main__":
    sys.exit(main())
