"""What a version string is once it has been read: the raw text, its scheme, and what can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Scheme(StrEnum):
    """How the versions of a component are written and ordered."""

    DOTTED_NUMERIC = "dotted_numeric"
    NCCL = "nccl"
    CUDA = "cuda"
    DEBIAN = "debian"
    KERNEL = "kernel"
    OFED = "ofed"
    VBIOS_HEX = "vbios_hex"
    PEP440 = "pep440"
    RC_SUFFIX = "rc_suffix"
    OS_RELEASE = "os_release"
    OPAQUE = "opaque"


class Form(StrEnum):
    """Whether the scheme understands the text in full."""

    KNOWN = "known"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedVersion:
    """One version string as its scheme reads it.

    raw: the text as it was reported, untouched. canonical: the same version written one way.
    key: orders versions of one family; empty where only equality can be told. numbers: the leading
    numbers, from which a branch is cut. family: two families are never compared (two distributions).
    flavour and detail: where the keys are equal, `detail` decides, and only within one flavour
    (builds of a kernel). qualifiers: what stands beside the version (CUDA tag, revision, build);
    they do not order, but two that contradict each other are not the same version.
    """

    raw: str
    scheme: Scheme
    form: Form
    canonical: str
    key: tuple[Any, ...] = ()
    numbers: tuple[int, ...] = ()
    family: str = ""
    flavour: str = ""
    detail: tuple[int, ...] = ()
    qualifiers: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def is_known(self) -> bool:
        return self.form is Form.KNOWN

    @property
    def is_ordered(self) -> bool:
        """Whether it can be larger or smaller than another, rather than only equal or not."""
        return self.is_known and bool(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a scheme makes of a text that it understands; becomes a ParsedVersion beside the raw text."""

    canonical: str
    key: tuple[Any, ...] = ()
    numbers: tuple[int, ...] = ()
    family: str = ""
    flavour: str = ""
    detail: tuple[int, ...] = ()
    qualifiers: Mapping[str, str] = field(default_factory=dict)
