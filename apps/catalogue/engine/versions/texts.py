"""Schemes that are not plain numbers: Python packages, VBIOS images, and opaque text."""

from __future__ import annotations

import re

from packaging.version import InvalidVersion, Version

from apps.catalogue.engine.versions.value import Parts

_VBIOS_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f]{2}){3,5}")
_SWITCH_ASIC = re.compile(r"[0-9]{2,3}\.[0-9]{4}\.[0-9]{1,4}")
_VBIOS_BOARD = re.compile(r"[0-9]{3}-[0-9A-Z]{4,12}-[0-9A-Z]{2,5}")


def read_pep440(text: str) -> Parts | None:
    """A Python package: 2.8.0+cu128, 2.7.0a0+git295f2ed, 2.7.1.dev20250724.

    The local part (+cu128) is a qualifier, so that `2.8.0` of the package list and `2.8.0+cu128` of
    the running module are one version, while +cu126 and +cu128 are not.
    """
    if not text.isascii() or re.search(r"[0-9]{19}", text):
        return None
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    public = Version(version.public)
    return Parts(
        canonical=str(version),
        key=(public,),
        numbers=version.release,
        qualifiers={"local": version.local} if version.local else {},
    )


def read_vbios(text: str) -> Parts | None:
    """An image in a GPU or NVSwitch: 96.00.A5.00.01 (hexadecimal groups), 113-D3430400-037, 35.2014.1482.

    Equal or not, never newer.
    """
    if _VBIOS_HEX.fullmatch(text) or _SWITCH_ASIC.fullmatch(text):
        return Parts(canonical=text.upper())
    if _VBIOS_BOARD.fullmatch(text.upper()):
        return Parts(canonical=text.upper())
    return None


def read_opaque(text: str) -> Parts | None:
    """Any text: equal or not, never newer."""
    return Parts(canonical=text)
