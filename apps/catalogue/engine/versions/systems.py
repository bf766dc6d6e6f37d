"""Schemes of the operating system: Debian packages, kernels, and distribution releases."""

from __future__ import annotations

import re

from apps.catalogue.engine.versions.text import numbers_of, without_trailing_zeros
from apps.catalogue.engine.versions.value import Parts

_DEBIAN = re.compile(
    r"(?:(?P<epoch>[0-9]{1,9}):)?(?P<upstream>[0-9][A-Za-z0-9.+~-]*?)(?:-(?P<revision>[A-Za-z0-9.+~]+))?"
)
_KERNEL = re.compile(r"(?P<base>[0-9]+\.[0-9]+(?:\.[0-9]+)?)(?P<rest>(?:[-+.][0-9A-Za-z_.+~-]*)?)")
_ARCHITECTURE = re.compile(r"[.-](?:x86_64|aarch64|arm64|amd64)$")
_OS = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z .+/_-]*?)[ -]?(?:release |[vV](?=[0-9]))?"
    r"(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?: ?\(?(?:SP|Service Pack )(?P<pack>[0-9]+)\)?)?"
    r"(?: LTS)?(?P<notes>(?: ?\([^()]*\))*)(?: LTS)?"
)


def read_debian(text: str) -> Parts | None:
    """A Debian package version, [epoch:]upstream[-revision], ordered as dpkg orders it.

    Source: Debian Policy 5.6.12. A tilde sorts before the end, letters before other characters.
    """
    match = _DEBIAN.fullmatch(text)
    if match is None or any(len(run) > 18 for run in re.findall(r"[0-9]+", text)):
        return None
    epoch = int(match["epoch"] or 0)
    return Parts(
        canonical=text,
        key=(epoch, _debian_key(match["upstream"]), _debian_key(match["revision"] or "0")),
        numbers=numbers_of(re.split(r"[^0-9.]", match["upstream"])[0]),
    )


def _debian_key(part: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    pieces = re.findall(r"([^0-9]*)([0-9]*)", part)
    key = [(_debian_characters(other), int(digits or 0)) for other, digits in pieces if other or digits]
    return (*key, ((0,), 0))


def _debian_characters(text: str) -> tuple[int, ...]:
    orders = (-1 if char == "~" else ord(char) if char.isalpha() else ord(char) + 256 for char in text)
    return (*orders, 0)


def read_kernel(text: str) -> Parts | None:
    """A kernel release: 6.8.0-1021-nvidia, 5.15.0-1064-azure, 4.18.0-553.22.1.el8_10.x86_64.

    The key is the upstream version. The build counts only within one flavour: 6.8.0-60-generic and
    6.8.0-1021-nvidia are builds of different trees, neither is newer.
    """
    bare = _ARCHITECTURE.sub("", text)
    match = _KERNEL.fullmatch(bare)
    numbers = numbers_of(match["base"]) if match else ()
    if match is None or not numbers:
        return None
    rest = match["rest"]
    detail = numbers_of(rest)
    if not detail and re.search(r"[0-9]{19}", rest):
        return None
    return Parts(
        canonical=bare,
        key=without_trailing_zeros(numbers),
        numbers=numbers,
        flavour=re.sub(r"[0-9]+", "#", rest),
        detail=detail,
    )


def read_os(text: str) -> Parts | None:
    """A distribution release: Ubuntu 22.04.5 LTS (x86_64), Kylin Linux Advanced Server V10 (SP3).

    Two distributions are never compared. A bare number is understood too, as a family of its own.
    """
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)*(?: LTS)?", text):
        numbers = numbers_of(text)
        return _os_parts("", text.removesuffix(" LTS"), numbers, pack=0) if numbers else None
    match = _OS.fullmatch(text)
    numbers = numbers_of(match["numbers"]) if match else ()
    if match is None or not numbers:
        return None
    pack = match["pack"] or _service_pack(match["notes"])
    name = " ".join(match["name"].split()).removesuffix(" release")
    return _os_parts(name, match["numbers"], numbers, pack=int(pack or 0))


def _service_pack(notes: str) -> str:
    found = re.search(r"\bSP([0-9]{1,3})\b", notes)
    return found[1] if found else ""


def _os_parts(name: str, printed: str, numbers: tuple[int, ...], *, pack: int) -> Parts:
    """printed: the numbers as the distribution writes them: 22.04, not 22.4."""
    return Parts(
        canonical=f"{name} {printed}{f' SP{pack}' if pack else ''}".strip(),
        key=(without_trailing_zeros(numbers), pack),
        numbers=numbers,
        family=name.casefold(),
    )
