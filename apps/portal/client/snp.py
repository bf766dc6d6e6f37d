#!/usr/bin/env python3
"""Client of Supernode Portal: one file, Python 3.6 or newer, standard library only.

  snp.py collect --url URL --cluster SLUG [--node NAME]           run the vendor tools here, push their output
  snp.py push    --url URL --cluster SLUG --node NAME FILE...     push any files, as old as they are
  snp.py gate    --url URL (--launch ID | --cluster SLUG --nodes LIST) [--wait SECONDS]

The token comes from --token-file, or from the environment variable SNP_TOKEN. --url, --cluster, --spool,
--root, --packages and --dcgm-url may stand in SNP_URL, SNP_CLUSTER, SNP_SPOOL, SNP_ROOT, SNP_PACKAGES and
SNP_DCGM_URL.

Exit codes of gate: 0 go, 1 no-go, 2 usage, 3 unknown or stale, 4 not authorised, 5 timed out, 6 portal down,
10 waiting for sign-off. Those of collect and push: 0 all accepted (or kept in the spool while the portal is
down), 1 something was refused or no tool answered, 2 usage, 4 not authorised, 6 portal down (push only, which
has no spool), 7 no such node or domain (push only): the portal keeps the file, and nothing follows from it until
the node exists or somebody says which one it is about. collect says so and ends with 0, since the report is kept
and counts once the node is known.
"""

import argparse
import fcntl
import glob
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

VERSION = "1.6"

GO, NO_GO, USAGE, UNKNOWN, NOT_AUTHORISED, TIMED_OUT, PORTAL_DOWN = 0, 1, 2, 3, 4, 5, 6
NO_NODE, NEEDS_SIGNOFF = 7, 10

DMI = (
    "sys_vendor product_name product_version product_serial product_uuid board_vendor board_name board_version"
    " board_serial bios_vendor bios_version bios_date"
).split()
DPKG_FORMAT = "${db:Status-Abbrev} ${binary:Package} ${Version}\\n"
FABRIC_UNIT = "nvidia-fabricmanager.service"
# What is run where it exists, none of it as root: name, command, seconds it may take. Volatile health dumps
# are sent by --health only, so that versions can be reported often at little cost.
VERSION_TOOLS = [
    ("nvidia-smi.xml", ["nvidia-smi", "-q", "-x"], 60),
    ("nvidia-topo.txt", ["nvidia-smi", "topo", "-m"], 30),
    ("fabric-manager.txt", ["nv-fabricmanager", "--version"], 20),
    ("collect-env.txt", ["PYTHON", "-m", "torch.utils.collect_env"], 120),
    ("npu-smi.txt", ["npu-smi", "info"], 60),
    ("rocm-smi.json", ["rocm-smi", "--showall", "--json"], 60),
    ("ofed.txt", ["ofed_info", "-s"], 30),
    ("ibv-devinfo.txt", ["ibv_devinfo"], 30),
    ("packages.txt", ["dpkg-query", "-W", "-f", DPKG_FORMAT, "PACKAGES"], 30),
    ("packages.txt", ["rpm", "-qa", "PACKAGES"], 30),
]
# Packages that are asked for without being named, and what is run besides where some are.
PACKAGES = ["*fabric*manager*"]
PACKAGE_TOOLS = [("python-packages.txt", ["PYTHON", "-m", "pip", "list", "--disable-pip-version-check"], 60)]
# What is read where it is there: name, and patterns of files. A node's serial numbers are for root only; a unit
# may leave them for us in /run/snp-dmi.
VERSION_FILES = [
    ("nvswitch.txt", ["/proc/driver/nvidia-nvswitch/devices/*/information"]),
    ("ascend.txt", ["/usr/local/Ascend/driver/version.info", "/usr/local/Ascend/firmware/version.info"]),
    ("dmi.txt", [folder + name for name in DMI for folder in ("/sys/class/dmi/id/", "/run/snp-dmi/")]),
]
HEALTH_TOOLS = [
    ("nvlink.txt", ["nvidia-smi", "nvlink", "-s"], 60),
    ("nvlink-errors.txt", ["nvidia-smi", "nvlink", "-e"], 60),
    (
        "fabric-service.txt",
        ["systemctl", "show", FABRIC_UNIT, "-p", "Id,LoadState,ActiveState,SubState,UnitFileState"],
        20,
    ),
    ("ibstat.txt", ["ibstat"], 30),
    ("dmesg.txt", ["dmesg", "--time-format", "iso"], 30),
]
# systemd is everywhere: its word on this unit counts where the unit's program is.
NEEDS = {"fabric-service.txt": "nv-fabricmanager"}
# A tool that fails and prints less than this has printed its error, not its report.
ERROR_BYTES = 512
# A file of these that is larger is none of them; an exporter prints no more.
FILE_BYTES = 1 << 20
METRICS_BYTES = 16 << 20
# Half-written files of a run that was killed are removed after this time.
LEFT_OVER_S = 3600
TOKEN = re.compile(r"[!-~]+$")


class Refused(Exception):
    """The portal understood and said no."""

    def __init__(self, status, problem):
        Exception.__init__(self, problem.get("detail") or "HTTP %d" % status)
        self.status = status
        self.code = problem.get("code", "")

    @property
    def is_about_the_file(self):
        """Whether another file may fare better: it was not the caller or the cluster that was refused."""
        return self.status in (400, 413, 415)


class Down(Exception):
    """The portal could not be reached, or is not able to answer now. answered: it was reached."""

    def __init__(self, text, answered=False):
        Exception.__init__(self, text)
        self.answered = answered


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
            if error.code < 400:
                where = error.headers.get("Location", "somewhere else")
                raise Down("%s leads to %s, which is not followed" % (self.url, where))
            if error.code >= 500 or error.code == 429:
                raise Down("HTTP %d from %s" % (error.code, self.url), answered=error.code != 429)
            raise Refused(error.code, _decoded(error.read()))
        except (OSError, http.client.HTTPException) as error:  # URLError, time-outs and TLS are OSErrors
            raise Down(str(error))

    def known(self, cluster, digests):
        """Which of these bytes the cluster has, and how large a file may be."""
        body = json.dumps({"digests": digests}).encode("utf-8")
        answer = self.call("POST", "/clusters/%s/evidence/known/" % _quoted(cluster), body)
        return set(answer.get("known") or []), answer.get("limit_bytes")

    def unchanged(self, cluster, deliveries):
        """Those that say word for word what the node said last: the portal has counted them, in this one call."""
        named = [one for one in deliveries if one.node]
        if not named:
            return []
        reports = [
            {
                "sha256": one.sha256,
                "node": one.node,
                "file_name": one.name,
                "collected_at": one.collected_at,
            }
            for one in named
        ]
        body = json.dumps({"reports": reports}).encode("utf-8")
        try:
            answer = self.call("POST", "/clusters/%s/evidence/unchanged/" % _quoted(cluster), body)
        except Refused as refusal:
            if refusal.status not in (400, 404, 405):
                raise
            return []  # a portal before 1.2 does not count
        receipts = (answer.get("receipts") or [])[: len(named)]
        return [named[place] for place, receipt in enumerate(receipts) if receipt is not None]

    def push(self, cluster, delivery, is_known):
        """Hand one file in and give back its receipt; known bytes by their digest alone."""
        query = {"node": delivery.node, "file_name": delivery.name, "collected_at": delivery.collected_at}
        where = "/clusters/%s/evidence/?" % _quoted(cluster)
        if is_known:
            try:
                query["sha256"] = delivery.sha256
                return self.call("POST", where + urllib.parse.urlencode(query), b"{}")
            except Refused as refusal:
                if refusal.code != "unknown_digest":
                    raise
                del query["sha256"]  # thinned in this very moment
        with open(delivery.path, "rb") as body:
            return self.call("POST", where + urllib.parse.urlencode(query), body, "application/octet-stream")


def _quoted(text):
    return urllib.parse.quote(text, safe="")


def _decoded(raw):
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {"results": value}


def time_text(seconds=None):
    at = time.time() if seconds is None else seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + ".%06dZ" % (at % 1 * 1000000)


def say(text):
    print("snp: %s" % text, file=sys.stderr)


# -- sending files ------------------------------------------------------------------------------------------


class Delivery(object):
    """One file on its way, and what goes with it."""

    def __init__(self, path, name, node, collected_at):
        self.path, self.name, self.node, self.collected_at = path, name, node, collected_at
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
        self.sha256 = digest.hexdigest()
        self.size_bytes = os.path.getsize(path)


class Sender(object):
    """Sends files of one cluster: counted where nothing changed, else the bytes only where they are not known."""

    def __init__(self, portal, cluster, older_advice="", unmatched_advice="", unmatched_code=GO):
        self.portal, self.cluster = portal, cluster
        self.older_advice = older_advice  # what to do about a file that is older than what is on record
        self.unmatched_advice = unmatched_advice  # and about one whose node the portal does not know
        self.unmatched_code = unmatched_code  # how the command ends then, where nothing worse comes about
        self.worst = GO

    def send(self, deliveries):
        """Yields each delivery that the portal has answered for, taken or refused.

        One that the portal stumbles over (5xx) is passed over, and Down is raised at the end. Raises Down at
        once where the portal cannot be reached, Refused where it refuses the caller or the cluster.
        """
        stumbled = None
        for start in range(0, len(deliveries), 200):
            batch = deliveries[start : start + 200]
            counted = self.portal.unchanged(self.cluster, batch)
            for one in counted:
                print("%s: unchanged" % one.name)
                yield one
            batch = [one for one in batch if one not in counted]
            if not batch:
                continue
            known, limit_bytes = self.portal.known(self.cluster, [one.sha256 for one in batch])
            for one in batch:
                try:
                    self._send_one(one, one.sha256 in known, limit_bytes)
                except Down as error:
                    if not error.answered:
                        raise
                    say("%s: %s" % (one.name, error))
                    stumbled = error
                    continue
                known.add(one.sha256)  # the same bytes again in this batch; a refused one is asked for anew
                yield one
        if stumbled is not None:
            raise stumbled

    def _send_one(self, one, is_known, limit_bytes):
        if limit_bytes is not None and one.size_bytes > limit_bytes:
            self._refused(one, "above the portal's limit of %d MiB" % (limit_bytes >> 20))
            return
        try:
            receipt = self.portal.push(self.cluster, one, is_known)
        except Refused as refusal:
            if not refusal.is_about_the_file:
                raise
            self._refused(one, refusal)
            return
        said = _warned(receipt) + self._unmatched(receipt, one.node)
        print("%s: %s %s%s" % (one.name, receipt.get("state", "?"), receipt.get("kind", ""), said))
        if receipt.get("older_than"):
            print("%s: warning: %s" % (one.name, self._older(receipt)))
        for effect in receipt.get("effects") or []:
            if effect.get("to_do"):
                print("%s: warning: %s: %s" % (one.name, effect.get("label", ""), effect["to_do"]))

    def _older(self, receipt):
        """What to say where the portal has something newer on record."""
        said = "it changes nothing: collected %s, older than what is on record (%s); kept as evidence.%s"
        return said % (receipt.get("collected_at"), receipt["older_than"], self.older_advice)

    def _unmatched(self, receipt, node):
        """What to add where the portal does not know what the file is about; empty where it does."""
        if receipt.get("state") != "unmatched":
            return ""
        self.worst = self.worst or self.unmatched_code
        said = receipt.get("unmatched_reason") or ("there is no node or domain %r" % node)
        return ": %s Kept as %s. %s" % (said, receipt.get("html_url", "evidence"), self.unmatched_advice)

    def _refused(self, one, reason):
        print("%s: refused: %s" % (one.name, reason))
        self.worst = NO_GO


def _warned(receipt):
    """How many warnings a reading has, and where they stand; empty where it has none."""
    count = receipt.get("warning_count")
    if not count:
        return ""
    return ", %d warning%s: %s" % (count, "" if count == 1 else "s", receipt.get("html_url", ""))


def collected_at(text):
    """A reader of --collected-at: gives the time of a file. Raises ArgumentTypeError for what is no time."""
    if text == "file":
        return lambda path: time_text(os.path.getmtime(path))
    if text == "now":
        return lambda path: time_text()
    if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$", text):
        return lambda path: text
    raise argparse.ArgumentTypeError("say file, now, or a time with offset such as 2026-01-31T12:00:00+08:00")


def push_command(portal, options):
    for path in options.files:
        if not os.path.isfile(path):
            say("%s: no such file" % path)
            return USAGE
    deliveries = [
        Delivery(path, os.path.basename(path), options.node, options.collected_at(path))
        for path in options.files
    ]
    sender = Sender(
        portal,
        options.cluster,
        older_advice=" If it shows what holds now, push it again with --collected-at now.",
        unmatched_advice="Push it again with the --node that it is about.",
        unmatched_code=NO_NODE,
    )
    for _done in sender.send(deliveries):
        pass
    return sender.worst


# -- collecting, with a spool -------------------------------------------------------------------------------


def collect_command(portal, options):
    """Run the tools into the spool, then send all that lies there, oldest first.

    A file leaves the spool once the portal has answered for it, so nothing is lost; one process sends at a
    time, so nothing is sent twice.
    """
    spool = open_spool(options.spool or default_spool())
    if spool is None:
        return USAGE
    named = [name for name in options.packages.replace(",", " ").split() if not name.startswith("-")]
    tools = VERSION_TOOLS + (PACKAGE_TOOLS if named else []) + (HEALTH_TOOLS if options.health else [])
    made = [
        name
        for name, command, limit_s in tools
        if _run_tool(spool, options.node, name, _filled(command, options.python, PACKAGES + named), limit_s)
    ]
    made += [
        name
        for name, patterns in VERSION_FILES
        if _read_files(spool, options.node, name, patterns, options.root)
    ]
    if options.health and options.dcgm_url and _fetch_metrics(spool, options.node, options.dcgm_url):
        made.append("dcgm.prom")
    if not made:
        say("none of the vendor tools is here, or none answered")
    _bound(spool, options.spool_limit * (1 << 20))
    worst = send_spool(portal, options.cluster, spool)
    return worst if made else max(worst, NO_GO)


def default_spool():
    return "/var/spool/snp" if os.getuid() == 0 else os.path.expanduser("~/.snp-spool")


def open_spool(path):
    """The folder, made where it is missing; None where it belongs to somebody else or is a link."""
    try:
        os.makedirs(path, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        say("%s: %s; say --spool" % (path, error.strerror))
        return None
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        say("%s is no folder that only we can write to; say --spool" % path)
        return None
    return path


def _filled(command, python, packages):
    given = {"PYTHON": [python], "PACKAGES": packages}
    return [part for one in command for part in given.get(one, [one])]


def _run_tool(spool, node, name, command, limit_s):
    """Whether the tool is here and printed a report; that lies in the spool then, whole."""
    if shutil.which(command[0]) is None or (name in NEEDS and shutil.which(NEEDS[name]) is None):
        return False
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=limit_s,
            env=dict(os.environ, LC_ALL="C"),
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        say("%s: %s" % (name, error))
        return False
    printed = done.stdout.strip()
    if not printed and name == "packages.txt":
        return False  # none of these packages is installed
    failed = done.returncode != 0 and name != "packages.txt"  # which fails where one of the names is unknown
    if not printed or (failed and len(printed) < ERROR_BYTES):
        lines = (done.stderr.strip() or printed or b"it printed nothing").splitlines()
        say("%s: exit code %d: %s" % (name, done.returncode, lines[-1].decode("utf-8", "replace")[:200]))
        return False
    _keep(spool, node, name, done.stdout)
    return True


def _read_files(spool, node, name, patterns, root):
    """Whether any of the files is here and may be read; they lie in the spool then, each under its path.

    root: where the node's own file system begins; the paths are those without it.
    """
    parts, refused = [], []
    root = root.rstrip("/")
    for path in [path for pattern in patterns for path in sorted(glob.glob(glob.escape(root) + pattern))]:
        try:
            with open(path, "rb") as file:
                held = file.read(FILE_BYTES).strip()
        except OSError as error:
            refused.append("%s: %s" % (path[len(root) :], error.strerror))
            continue
        if held:
            parts.append(b"==> " + os.fsencode(path[len(root) :]) + b" <==\n" + held + b"\n")
    if refused:
        say("%s: skipped %s" % (name, "; ".join(refused)))
    if parts:
        _keep(spool, node, name, b"\n".join(parts))
    return bool(parts)


def _fetch_metrics(spool, node, url):
    """Whether an exporter of GPU metrics answers here; what it says lies in the spool then."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
    try:
        with opener.open(url, timeout=10) as response:
            held = response.read(METRICS_BYTES + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        say("dcgm.prom: %s: %s" % (url, error))
        return False
    if b"DCGM_" not in held or len(held) > METRICS_BYTES:
        say("dcgm.prom: %s serves no metrics of GPUs" % url)
        return False
    _keep(spool, node, "dcgm.prom", held)
    return True


def _keep(spool, node, name, data):
    stem = "%s-%06d-%s" % (time.strftime("%Y%m%d%H%M%S", time.gmtime()), os.getpid(), name)
    meta = {"node": node, "name": name, "collected_at": time_text()}
    _write_whole(os.path.join(spool, stem + ".data"), data)
    _write_whole(os.path.join(spool, stem + ".json"), json.dumps(meta).encode("utf-8"))


def _write_whole(path, data):
    with open(path + ".part", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".part", path)


def _entries(spool):
    """Names of the complete entries, oldest first."""
    return sorted(name[: -len(".json")] for name in os.listdir(spool) if name.endswith(".json"))


def _remove(spool, stem):
    for ending in (".json", ".data"):
        try:
            os.unlink(os.path.join(spool, stem + ending))
        except FileNotFoundError:
            pass


def _bound(spool, limit_bytes):
    """Drop the oldest entries above the limit, and what a killed run left behind."""
    entries = _entries(spool)
    whole = set(entries)
    for name in os.listdir(spool):
        path = os.path.join(spool, name)
        is_left_over = name.endswith(".part") or (name.endswith(".data") and name[:-5] not in whole)
        if is_left_over and time.time() - os.path.getmtime(path) > LEFT_OVER_S:
            os.unlink(path)
    sizes = {stem: os.path.getsize(os.path.join(spool, stem + ".data")) for stem in entries}
    total = sum(sizes.values())
    for stem in entries:
        if total <= limit_bytes:
            break
        say("the spool is full; dropped %s" % stem)
        _remove(spool, stem)
        total -= sizes[stem]


def send_spool(portal, cluster, spool):
    """Send what lies in the spool. Without the portal it stays there, and that is no failure."""
    with open(os.path.join(spool, "lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another snp sends what lies in %s" % spool)
            return GO
        deliveries = [_entry(spool, stem) for stem in _entries(spool)]
        sender = Sender(
            portal,
            cluster,
            unmatched_advice="It counts once the portal knows this node: add it, or this name as an alias of it"
            " (or say --node NAME here).",
        )
        try:
            for done in sender.send(deliveries):
                _remove(spool, os.path.basename(done.path)[: -len(".data")])
        except Down as error:
            say("portal down, %d files wait in %s: %s" % (len(_entries(spool)), spool, error))
        return sender.worst


def _entry(spool, stem):
    with open(os.path.join(spool, stem + ".json"), encoding="utf-8") as file:
        meta = json.load(file)
    path = os.path.join(spool, stem + ".data")
    return Delivery(path, meta["name"], meta["node"], meta["collected_at"])


# -- gate ---------------------------------------------------------------------------------------------------


def gate_command(portal, options):
    """Ask for a decision; where the newest one no longer stands, a new evaluation is asked for.

    With --wait it asks again until the standing is final, also over a portal that is away for a moment.
    """
    deadline = time.monotonic() + options.wait
    launch, asked = options.launch, False
    while True:
        try:
            launch = launch or _launch_on(portal, options.cluster, options.nodes)
            if launch is None:
                print("unknown: no open or running launch on these nodes")
                return UNKNOWN
            answer = portal.call("GET", "/launches/%s/gate/" % _quoted(launch))
            if not asked and (answer.get("evaluation") is None or answer.get("is_stale")):
                asked = True
                portal.call("POST", "/launches/%s/evaluations/" % _quoted(launch), b"{}")
                answer = portal.call("GET", "/launches/%s/gate/" % _quoted(launch))
        except Down:
            if time.monotonic() >= deadline:
                raise
        else:
            is_final = answer.get("standing") not in ("pending", "needs_signoff")
            if is_final or time.monotonic() >= deadline:
                break
        time.sleep(min(2.0, max(0.05, deadline - time.monotonic())))
    _print_answer(answer, options.json)
    if answer.get("standing") == "pending" and options.wait:
        return TIMED_OUT
    return _exit_code_of(answer)


def _exit_code_of(answer):
    """The exit code of an answer that agrees with itself; unknown for every other."""
    meant = {"go": GO, "no_go": NO_GO, "needs_signoff": NEEDS_SIGNOFF}.get(answer.get("standing"), UNKNOWN)
    code = answer.get("exit_code")
    if type(code) is not int or code != meant:
        return UNKNOWN
    if code == GO and (answer.get("is_stale") or not answer.get("evaluation")):
        return UNKNOWN
    return code


def _launch_on(portal, cluster, nodes):
    """The launch on exactly these nodes whose job runs (again), else the newest whose job may start, or None.

    While one runs no other can start there, though somebody may have opened the next.
    """
    for state in ("running", "open"):
        query = urllib.parse.urlencode({"cluster": cluster, "state": state, "nodes": nodes})
        found = portal.call("GET", "/launches/?" + query).get("results") or []
        if found:
            return found[0]["id"]
    return None


def _print_answer(answer, as_json):
    if as_json:
        print(json.dumps(answer, indent=2, sort_keys=True))
        return
    print("%s   %s" % (answer.get("standing", "unknown"), answer.get("html_url", "")))
    for key in ("message", "hint"):
        if answer.get(key):
            print("  %s" % answer[key])
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
    collect.add_argument("--spool", default=os.environ.get("SNP_SPOOL", ""), help="folder for what waits")
    collect.add_argument("--spool-limit", type=int, default=512, metavar="MIB", help="the oldest goes above")
    collect.add_argument(
        "--root",
        default=os.environ.get("SNP_ROOT", "/"),
        help="where the node's file system is mounted, for a container that has it (SNP_ROOT)",
    )
    collect.add_argument("--health", action="store_true", help="also what changes all the time")
    collect.add_argument(
        "--dcgm-url",
        default=os.environ.get("SNP_DCGM_URL", ""),
        help="where dcgm-exporter serves this node's metrics, asked with --health (SNP_DCGM_URL)",
    )
    collect.add_argument(
        "--packages",
        default=os.environ.get("SNP_PACKAGES", ""),
        metavar="NAMES",
        help="packages to report besides, as the portal's components name them (SNP_PACKAGES); also pip's list then",
    )
    collect.add_argument("--python", default=sys.executable, help="the Python that has the training's torch")
    push = commands.add_parser("push", help="push files")
    push.add_argument("--node", default="", help="the node (or domain) that the files are about")
    push.add_argument(
        "--collected-at",
        type=collected_at,
        default="file",
        metavar="TIME",
        help="when the files were made: file (when each was last changed, the default), now, or a time with offset",
    )
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
    except (OSError, UnicodeDecodeError) as error:
        top.error("--token-file: %s" % error)
    if not token:
        top.error("no token: say --token-file, or set SNP_TOKEN")
    if not TOKEN.match(token):
        say("the token holds signs that no token has: copy it anew")
        return NOT_AUTHORISED
    command = {"collect": collect_command, "push": push_command, "gate": gate_command}[options.command]
    try:
        return command(Portal(options.url, token, options.ca_file), options)
    except Refused as refusal:
        say(refusal)
        if refusal.status in (401, 403):
            return NOT_AUTHORISED
        return UNKNOWN if refusal.status in (404, 409) and options.command == "gate" else USAGE
    except Down as error:
        say("portal down: %s" % error)
        return PORTAL_DOWN


if __name__ == "__main__":
    sys.exit(main())
