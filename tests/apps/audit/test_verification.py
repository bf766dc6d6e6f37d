"""Whether the trail is as it was written: verification, checkpoints, the commands, the stand-alone verifier."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command

from apps.audit import queries
from apps.audit import services as audit
from apps.audit.models import AuditEvent, AuditHead
from apps.audit.services import checkpoints, exports
from apps.audit.views import VERIFIER
from apps.core.errors import Conflict, Invalid
from tests.callers import actor_for
from tests.tampering import without_triggers

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings, tmp_path) -> Path:
    settings.CHECKPOINT_DIR = tmp_path / "checkpoints"
    return settings.CHECKPOINT_DIR


@pytest.fixture
def trail(ada, folder):
    """Five events."""
    for number in range(1, 6):
        with audit.deciding():
            audit.record(
                actor=actor_for(ada), action="test.done", on=ada, after={"number": number}, reason="=cmd"
            )
    return AuditEvent.objects.order_by("seq")


@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ("UPDATE audit_auditevent SET body = replace(body, '\"number\":3', '\"number\":4') WHERE seq = 3", 3),
        ("UPDATE audit_auditevent SET action = 'test.undone' WHERE seq = 2", 2),
        ("UPDATE audit_auditevent SET actor_id = actor_id + 1 WHERE seq = 5", 5),
        ("UPDATE audit_auditevent SET at = '2020-01-01 00:00:00' WHERE seq = 4", 4),
        ("UPDATE audit_auditevent SET object_id = '99' WHERE seq = 1", 1),
        ("UPDATE audit_auditevent SET scope_id = 99 WHERE seq = 1", 1),
        ("DELETE FROM audit_auditevent WHERE seq = 2", 2),
        ("DELETE FROM audit_auditevent WHERE seq = 5", 5),
        ("DELETE FROM audit_auditevent", 1),
    ],
)
def test_a_changed_row_is_found_at_exactly_its_number(trail, change, bad):
    without_triggers(change)
    assert queries.verify().first_bad_seq == bad


def test_a_trail_that_was_shortened_with_its_head_is_found_by_the_checkpoint(trail, folder):
    path = checkpoints.write_checkpoint()
    without_triggers("DELETE FROM audit_auditevent WHERE seq > 3")
    last = AuditEvent.objects.get(seq=3)
    AuditHead.objects.update(seq=3, hash=last.hash)
    assert queries.verify().intact
    assert checkpoints.compare([path]).verification.first_bad_seq == 4
    assert verify_command() == (1, "broken at event 4: the checkpoint saw events up to 5")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE audit_audithead SET seq = seq - 1", "the head does not stand at the newest event"),
        ("UPDATE audit_audithead SET seq = seq + 1", "the head says that event 6 exists"),
        ("UPDATE audit_audithead SET hash = 'h'", "the head does not stand at the newest event"),
        ("DELETE FROM audit_audithead", "the head of the trail is missing"),
    ],
)
def test_a_head_that_was_moved_is_found(trail, change, said):
    without_triggers(change)
    assert verify_command() == (1, f"broken at event 6: {said}")


def verify_command(*arguments: str) -> tuple[int, str]:
    """Exit code and first line of `manage.py audit_verify`."""
    out = StringIO()
    try:
        call_command("audit_verify", *arguments, stdout=out)
    except SystemExit as stop:
        return int(stop.code or 0), out.getvalue().splitlines()[0]
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue().splitlines()[0]


def test_the_command_says_intact_with_a_checkpoint_and_three_without(trail, folder):
    assert verify_command()[0] == 3
    path = checkpoints.write_checkpoint()
    assert verify_command()[0] == 0
    assert verify_command(str(path))[0] == 0
    assert verify_command(str(folder / "none.json"))[0] == 3


def test_a_long_walk_says_how_far_it_is(trail, folder, monkeypatch):
    monkeypatch.setattr(queries, "CHUNK", 2)
    told = []
    assert queries.verify(report=lambda done, total: told.append((done, total))).intact
    assert told == [(2, 5), (4, 5)]


def test_a_broken_trail_gets_no_checkpoint(trail, folder):
    without_triggers("UPDATE audit_auditevent SET action = 'other' WHERE seq = 2")
    with pytest.raises(Conflict) as refused:
        checkpoints.write_checkpoint()
    assert (refused.value.code, refused.value.fields["first_bad_seq"]) == ("audit_broken", 2)
    assert checkpoints.kept() == []
    with pytest.raises(CommandError, match="broken at event 2"):
        call_command("audit_checkpoint")


def test_a_checkpoint_that_was_changed_or_made_under_another_secret_is_refused(trail, folder, settings):
    path = checkpoints.write_checkpoint()
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "seq": 4, "count": 4}))
    with pytest.raises(Invalid) as refused:
        checkpoints.load(path)
    assert refused.value.code == "checkpoint_hmac"
    assert verify_command(str(path))[0] == 1
    path.write_text(json.dumps(document))
    settings.CHECKPOINT_SECRET = "another secret that is long enough, really"
    assert verify_command(str(path))[0] == 1


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"format": "other"}', '{"format": 1}'])
def test_a_file_that_is_no_checkpoint_says_so(trail, folder, text):
    folder.mkdir()
    path = folder / "checkpoint-1.json"
    path.write_text(text)
    with pytest.raises(Invalid) as refused:
        checkpoints.load(path)
    assert refused.value.code == "checkpoint"


def test_a_signed_checkpoint_carries_a_signature_that_the_public_key_confirms(trail, folder, settings):
    settings.CHECKPOINT_KEY = private_key_pem()
    path = checkpoints.write_checkpoint()
    assert checkpoints.load(path).public_key == checkpoints.public_key_text()
    document = json.loads(path.read_text())
    document["ed25519"]["signature"] = "A" * 86 + "=="
    path.write_text(json.dumps(document))
    with pytest.raises(Invalid) as refused:
        checkpoints.load(path)
    assert refused.value.code == "checkpoint_signature"


def private_key_pem() -> str:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@pytest.fixture
def export(trail, ada, tmp_path) -> Path:
    """The whole trail as somebody takes it away."""
    actor = actor_for(ada)
    seq = exports.begin_export(actor=actor, form="jsonl", filters={})
    path = tmp_path / "export.jsonl"
    events = queries.events_visible_to(actor)
    path.write_text("".join(exports.json_lines(events, up_to_seq=seq, complete=True)))
    return path


def run_verifier(*arguments: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", str(VERIFIER), *map(str, arguments)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_the_verifier_confirms_an_export_with_the_secret(export, settings, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(settings.CHECKPOINT_SECRET + "\n")
    code, said = run_verifier(export, "--secret-file", secret)
    assert code == 0, said
    assert "5 events" in said
    assert run_verifier(export)[0] == 3
    secret.write_text("another")
    assert run_verifier(export, "--secret-file", secret)[0] == 1


def test_the_verifier_confirms_a_separate_checkpoint_by_its_signature(export, folder, settings, ada):
    settings.CHECKPOINT_KEY = private_key_pem()
    path = checkpoints.write_checkpoint()
    actor = actor_for(ada)
    seq = exports.begin_export(actor=actor, form="jsonl", filters={})
    lines = exports.json_lines(queries.events_visible_to(actor), up_to_seq=seq, complete=True)
    export.write_text("".join(lines))
    key = checkpoints.public_key_text()
    code, said = run_verifier(export, "--checkpoint", path, "--public-key", key)
    assert code == 0, said
    other = "A" * 43 + "="
    assert run_verifier(export, "--checkpoint", path, "--public-key", other)[0] == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('\\"number\\":3', '\\"number\\":4', "event 3: its text does not match"),
        ('"seq":2', '"seq":9', "event 2 is missing"),
    ],
)
def test_the_verifier_finds_a_touched_line(export, old, new, said):
    text = export.read_text()
    assert old in text
    export.write_text(text.replace(old, new, 1))
    code, answer = run_verifier(export)
    assert (code, said in answer) == (1, True), answer


def test_the_verifier_finds_a_missing_line_and_a_cut_end(export):
    lines = export.read_text().splitlines(keepends=True)
    export.write_text("".join(lines[:2] + lines[3:]))
    assert run_verifier(export)[1].startswith("broken: event 2 is missing")
    export.write_text("".join(lines[:-1]))
    assert "cut" in run_verifier(export)[1]


def test_the_verifier_says_what_it_cannot_read(tmp_path):
    assert run_verifier(tmp_path / "none.jsonl")[0] == 2
    assert run_verifier()[0] == 2
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert run_verifier(empty)[0] == 1


def test_the_verifier_keeps_to_old_python():
    """Python 3.6 knows neither the walrus nor positional-only arguments nor f-strings with =."""
    source = VERIFIER.read_text()
    compile(source, str(VERIFIER), "exec")
    import ast

    ast.parse(source, feature_version=(3, 6))
