"""Version strings: read by the scheme of their component, compared only where a comparison is meant.

A text that its scheme does not understand in full has an unknown form; it compares with nothing, so
no rule can pass on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from apps.catalogue.engine.versions import numeric, systems, texts
from apps.catalogue.engine.versions.text import says_nothing, trim
from apps.catalogue.engine.versions.value import Form, ParsedVersion, Parts, Scheme

__all__ = [
    "Form",
    "ParsedVersion",
    "Scheme",
    "at_least",
    "branch_of",
    "compare",
    "identical",
    "parse",
    "same_branch",
]

_READERS: Mapping[Scheme, Callable[[str], Parts | None]] = {
    Scheme.DOTTED_NUMERIC: numeric.read_dotted,
    Scheme.NCCL: numeric.read_nccl,
    Scheme.CUDA: numeric.read_cuda,
    Scheme.DEBIAN: systems.read_debian,
    Scheme.KERNEL: systems.read_kernel,
    Scheme.OFED: numeric.read_ofed,
    Scheme.VBIOS_HEX: texts.read_vbios,
    Scheme.PEP440: texts.read_pep440,
    Scheme.RC_SUFFIX: numeric.read_rc,
    Scheme.OS_RELEASE: systems.read_os,
    Scheme.OPAQUE: texts.read_opaque,
}
_LONGEST_TEXT = 300
_DEFAULT_BRANCH_DEPTH: Mapping[Scheme, int] = {Scheme.DOTTED_NUMERIC: 1}


@lru_cache(maxsize=16384)
def parse(raw: str, scheme: Scheme | str) -> ParsedVersion:
    """Read a version string by a scheme; never raises for the text, an odd one has an unknown form.

    Raises ValueError for a scheme that does not exist.
    """
    scheme = Scheme(scheme)
    text = trim(raw)
    parts = None if says_nothing(text) or len(text) > _LONGEST_TEXT else _READERS[scheme](text)
    if parts is None:
        return ParsedVersion(raw=raw, scheme=scheme, form=Form.UNKNOWN, canonical=text)
    return ParsedVersion(
        raw=raw,
        scheme=scheme,
        form=Form.KNOWN,
        canonical=parts.canonical,
        key=parts.key,
        numbers=parts.numbers,
        family=parts.family,
        flavour=parts.flavour,
        detail=parts.detail,
        qualifiers=parts.qualifiers,
    )


def compare(left: ParsedVersion, right: ParsedVersion) -> int | None:
    """-1, 0 or 1 as left is older than, the same as or newer than right; None where that cannot be told.

    None: an unknown form, two schemes, two families, two unequal versions of a scheme without order,
    or builds of two flavours of the same version. It never means equal.
    """
    if not (left.is_known and right.is_known) or left.scheme is not right.scheme:
        return None
    if left.family != right.family:
        return None
    if not left.key or not right.key:
        return 0 if not left.key and not right.key and left.canonical == right.canonical else None
    if left.key != right.key:
        return -1 if left.key < right.key else 1
    if left.flavour != right.flavour:
        return None
    return (left.detail > right.detail) - (left.detail < right.detail)


def identical(left: ParsedVersion, right: ParsedVersion) -> bool | None:
    """Whether both name one version: equal, and no qualifier that both state contradicts.

    None where a form is unknown. A qualifier that only one of them states (a CUDA tag) is no contradiction.
    """
    if not (left.is_known and right.is_known):
        return None
    if compare(left, right) != 0:
        return False
    shared = left.qualifiers.keys() & right.qualifiers.keys()
    return all(left.qualifiers[name] == right.qualifiers[name] for name in shared)


def at_least(value: ParsedVersion, floor: ParsedVersion) -> bool | None:
    """Whether the value is at or above the floor; None where they cannot be compared.

    A floor that names no build (kernel 5.15) is met by every build of that version.
    """
    order = compare(value, floor)
    if order is not None:
        return order >= 0
    both_known = value.is_ordered and floor.is_ordered and value.scheme is floor.scheme
    if both_known and value.family == floor.family and not floor.flavour and value.key == floor.key:
        return True
    return None


def branch_of(version: ParsedVersion, depth: int | None = None) -> tuple[int, ...] | None:
    """The leading numbers that name the branch (570 of 570.148.08, 2.27 of NCCL 2.27.5); None without order.

    depth: how many numbers; one for dotted numeric versions, two for the others, unless given.
    """
    if not version.is_ordered:
        return None
    depth = depth if depth is not None else _DEFAULT_BRANCH_DEPTH.get(version.scheme, 2)
    padded = (*version.numbers, *(0 for _ in range(depth)))
    return padded[:depth]


def same_branch(left: ParsedVersion, right: ParsedVersion, depth: int | None = None) -> bool | None:
    """Whether both are of one branch; None where a branch cannot be told. Two families are two branches."""
    if left.scheme is not right.scheme:
        return None
    left_branch, right_branch = branch_of(left, depth), branch_of(right, depth)
    if left_branch is None or right_branch is None:
        return None
    return left.family == right.family and left_branch == right_branch
