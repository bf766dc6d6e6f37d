#!/usr/bin/env python3
"""Verify an exported audit trail without the portal: Python 3.6 or newer, nothing else.

usage: verify_audit_export.py EXPORT.jsonl [--checkpoint FILE] [--secret-file FILE] [--public-key BASE64]

EXPORT       JSON lines as the portal's audit page exports them.
--checkpoint a checkpoint file that was kept elsewhere; else the one at the end of the export is used.
--secret-file a file with PORTAL_CHECKPOINT_SECRET: checks the checkpoint's HMAC.
--public-key the portal's Ed25519 public key in base64: checks the checkpoint's signature.

Exit code: 0 intact, 1 broken (the first bad sequence number is printed), 2 wrong usage, 3 the chain holds in
itself, but no checkpoint with a secret or a public key was given to compare it with.
"""

import argparse
import base64
import hashlib
import hmac
import json
import sys

INTACT, BROKEN, USAGE, NOT_COMPARED = 0, 1, 2, 3
FORMAT = "supernode-portal-audit/1"
CHECKPOINT_FORMAT = "supernode-portal-audit-checkpoint/1"
GENESIS = "0" * 64


class Broken(Exception):
    """The trail, or its checkpoint, is not as it was written."""


def main(arguments=None):
    options = parse(arguments)
    try:
        with open(options.export, encoding="utf-8", newline="\n") as lines:
            header, found, at_end = walk(lines, wanted_seq(options))
        if options.checkpoint:
            at_end = checkpoint_file(options.checkpoint)
        return judge(options, header, found, at_end)
    except Broken as error:
        print("broken: %s" % error)
        return BROKEN
    except (OSError, UnicodeDecodeError) as error:
        print("cannot be read: %s" % error, file=sys.stderr)
        return USAGE


def parse(arguments):
    parser = argparse.ArgumentParser(description="Verify an exported audit trail.")
    parser.add_argument("export")
    parser.add_argument("--checkpoint")
    parser.add_argument("--secret-file")
    parser.add_argument("--public-key")
    return parser.parse_args(arguments)


def checkpoint_file(path):
    with open(path, encoding="utf-8") as file:
        return as_object(file.read(), "the checkpoint")


def wanted_seq(options):
    """The sequence number whose hash a separate checkpoint knows."""
    return checkpoint_file(options.checkpoint).get("seq") if options.checkpoint else None


def walk(lines, wanted):
    """Follow the chain line by line; memory stays bounded. Gives header, what was found, the last checkpoint."""
    header = as_object(next(iter(lines), ""), "the first line")
    if header.get("type") != "header" or header.get("format") != FORMAT:
        raise Broken("the first line is no header of %s" % FORMAT)
    complete = header.get("complete") is True
    found = {"seq": 0, "hash": GENESIS, "count": 0, "hash_at_wanted": GENESIS if wanted == 0 else None}
    at_end = None
    for number, text in enumerate(lines, start=2):
        line = as_object(text, "line %d" % number)
        if at_end is not None:
            raise Broken("line %d: something follows the checkpoint" % number)
        if line.get("type") == "checkpoint":
            at_end = line
        else:
            take(line, found, complete, number)
            if line["seq"] == wanted:
                found["hash_at_wanted"] = line["hash"]
    if complete and at_end is None:
        raise Broken("event %d or later: the export was cut, its checkpoint is missing" % (found["seq"] + 1))
    return header, found, at_end


def take(line, found, complete, number):
    """Check one event against the ones before it."""
    seq, prev, body, digest = (line.get(name) for name in ("seq", "prev_hash", "body", "hash"))
    if (
        line.get("type") != "event"
        or type(seq) is not int
        or not all(isinstance(text, str) for text in (prev, body, digest))
    ):
        raise Broken("line %d is no event" % number)
    if complete and seq != found["seq"] + 1:
        raise Broken("event %d is missing" % (found["seq"] + 1))
    if seq <= found["seq"]:
        raise Broken("event %d is out of order" % seq)
    if seq == found["seq"] + 1 and prev != found["hash"] and (complete or found["count"]):
        raise Broken("event %d: the hash before it does not match" % seq)
    text = "%d\n%s\n%s" % (seq, prev, body)
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        raise Broken("event %d: its text does not match its hash" % seq)
    found.update(seq=seq, hash=digest, count=found["count"] + 1)


def judge(options, header, found, checkpoint):
    """Compare with the checkpoint; print and give the exit code."""
    print("%d events up to %d, last hash %s" % (found["count"], found["seq"], found["hash"]))
    if header.get("complete") is not True:
        print("the export is filtered: each event is whole, but missing ones cannot be seen")
        return NOT_COMPARED
    if checkpoint is None or not (options.secret_file or options.public_key):
        compare(checkpoint, found, options)
        print("the chain holds; give --secret-file or --public-key to be sure of its checkpoint")
        return NOT_COMPARED
    if options.secret_file:
        check_hmac(checkpoint, options.secret_file)
    if options.public_key:
        check_signature(checkpoint, options.public_key)
    compare(checkpoint, found, options)
    print(
        "intact: it agrees with the checkpoint of event %d, made at %s"
        % (checkpoint["seq"], checkpoint["at"])
    )
    return INTACT


def compare(checkpoint, found, options):
    if checkpoint is None:
        return
    if checkpoint.get("format") != CHECKPOINT_FORMAT or type(checkpoint.get("seq")) is not int:
        raise Broken("the checkpoint has another format than %s" % CHECKPOINT_FORMAT)
    if checkpoint["seq"] > found["seq"]:
        raise Broken(
            "event %d is missing: the checkpoint saw %d (if it is newer than the export, export again)"
            % (found["seq"] + 1, checkpoint["seq"])
        )
    seen = found["hash_at_wanted"] if options.checkpoint else found["hash"]
    if not options.checkpoint and checkpoint["seq"] != found["seq"]:
        raise Broken("event %d: the export's checkpoint ends elsewhere" % checkpoint["seq"])
    if seen != checkpoint.get("head_hash"):
        raise Broken("event %d is not the one that the checkpoint saw" % checkpoint["seq"])


def signed_text(checkpoint):
    names = ("format", "seq", "count", "head_hash", "at")
    values = {name: checkpoint.get(name) for name in names}
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def check_hmac(checkpoint, secret_file):
    with open(secret_file, encoding="utf-8") as file:
        secret = file.read().strip().encode("utf-8")
    expected = hmac.new(secret, signed_text(checkpoint), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, str(checkpoint.get("hmac_sha256"))):
        raise Broken("the checkpoint's HMAC does not hold")


def check_signature(checkpoint, public_key):
    signed = checkpoint.get("ed25519")
    if not isinstance(signed, dict):
        raise Broken("the checkpoint is not signed")
    try:
        key = base64.b64decode(public_key.strip(), validate=True)
        signature = base64.b64decode(str(signed.get("signature")), validate=True)
    except ValueError:
        raise Broken("the public key or the signature is no base64")
    if not ed25519_holds(key, signature, signed_text(checkpoint)):
        raise Broken("the checkpoint's signature does not hold")


def as_object(text, where):
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Broken("%s is no JSON: %s" % (where, error))
    if not isinstance(value, dict):
        raise Broken("%s is no JSON object" % where)
    return value


# Ed25519 (RFC 8032), verification only, with points in extended coordinates (X, Y, Z, T).
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def ed25519_holds(public_key, signature, message):
    """Whether the 64-byte signature of the message was made by the owner of the 32-byte key."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, commitment = decompress(public_key), decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    challenge = hashlib.sha512(signature[:32] + public_key + message).digest()
    left = multiply(scalar, BASE)
    right = add(commitment, multiply(int.from_bytes(challenge, "little") % ORDER, key))
    return same(left, right)


def recover_x(y, odd):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and odd):
        return None
    return P - x if x % 2 != odd else x


def decompress(packed):
    number = int.from_bytes(packed, "little")
    y = number & ((1 << 255) - 1)
    x = recover_x(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def same(one, other):
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (
        one[1] * other[2] - other[1] * one[2]
    ) % P == 0


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)

if __name__ == "__main__":
    sys.exit(main())
