"""Typed readers of environment variables; an odd value stops the start and says what is right."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.exceptions import ImproperlyConfigured

from apps.jobs.engine.addresses import allow_list


def text(name: str, default: str = "") -> str:
    """The value of NAME, or the content of the file that NAME_FILE points to (for secrets)."""
    if path := os.environ.get(f"{name}_FILE"):
        if os.environ.get(name):
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; set one of them")
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise ImproperlyConfigured(f"{name}_FILE: {path} cannot be read: {reason}") from error
    return os.environ.get(name, default).strip()


def flag(name: str, default: bool) -> bool:
    """1, true, yes, on or 0, false, no, off."""
    raw = text(name).lower()
    if raw == "":
        return default
    if raw in ("1", "true", "yes", "on"):
        return True
    if raw in ("0", "false", "no", "off"):
        return False
    raise ImproperlyConfigured(f"{name}={raw!r}: say 1 or 0")


def integer(name: str, default: int, *, at_least: int, at_most: int) -> int:
    """A whole number in a range."""
    raw = text(name)
    if raw == "":
        return default
    try:
        value = int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}={raw!r}: say a whole number") from error
    if not at_least <= value <= at_most:
        raise ImproperlyConfigured(f"{name}={value}: say a number from {at_least} to {at_most}")
    return value


def choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    raw = text(name, default) or default
    if raw not in choices:
        raise ImproperlyConfigured(f"{name}={raw!r}: say one of {', '.join(choices)}")
    return raw


def listing(name: str) -> list[str]:
    """Words separated by commas."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def hosts_and_networks(name: str) -> list[str]:
    """Host names, addresses and networks separated by commas."""
    entries = listing(name)
    try:
        allow_list(entries)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error
    return entries


def ed25519_key(name: str) -> str:
    """An Ed25519 private key in PEM, not encrypted; nothing where none is given."""
    pem = text(name)
    if not pem:
        return ""
    try:
        key: object = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ImproperlyConfigured(
            f"{name}: say an Ed25519 private key in PEM, as openssl genpkey -algorithm ed25519 writes it"
        )
    return pem


def redis(name: str, default: str = "") -> str:
    """The address of a Redis database, or the default."""
    raw = text(name, default) or default
    if raw != default and urlsplit(raw).scheme not in ("redis", "rediss"):
        raise ImproperlyConfigured(f"{name}: say redis://HOST:PORT/0, or nothing to go without Redis")
    return raw


def origin(name: str, default: str) -> str:
    """An http or https address without path, such as https://portal.example.com."""
    raw = text(name, default).rstrip("/")
    parts = urlsplit(raw)
    if (
        parts.scheme not in ("http", "https")
        or not _is_host(parts)
        or parts.path
        or parts.query
        or parts.fragment
    ):
        raise ImproperlyConfigured(f"{name}={raw!r}: say an address such as https://portal.example.com")
    return raw


def _is_host(parts: SplitResult) -> bool:
    """A host with or without a port, and no user."""
    try:
        return bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:  # a port that is no number
        return False


def database(name: str, default: str) -> dict[str, object]:
    """Django's description of the database behind sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/NAME."""
    raw = text(name, default) or default
    parts = urlsplit(raw)
    if parts.scheme == "sqlite":
        path = unquote(parts.path)
        if not path.strip("/"):
            raise ImproperlyConfigured(
                f"{name}: say sqlite:///relative.sqlite3 or sqlite:////absolute.sqlite3"
            )
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path[1:]}
    if parts.scheme in ("postgres", "postgresql"):
        try:
            port = parts.port
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: the port is not a number") from error
        if not parts.path.strip("/"):
            raise ImproperlyConfigured(f"{name}: name the database, as in postgresql://HOST/NAME")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": unquote(parts.hostname or ""),
            "PORT": str(port or ""),
            "OPTIONS": dict(parse_qsl(parts.query)),
        }
    raise ImproperlyConfigured(f"{name}: say sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/NAME")
