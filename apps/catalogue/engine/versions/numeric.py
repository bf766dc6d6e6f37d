"""Schemes made of numbers: drivers and firmware, CUDA, NCCL, OFED, and the RC releases of Ascend."""

from __future__ import annotations

import re

from apps.catalogue.engine.versions.text import dotted, numbers_of, without_trailing_zeros
from apps.catalogue.engine.versions.value import Parts

_DOTTED = re.compile(
    r"[vVR]?(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?:-(?P<build>[0-9a-f]{7,40}))?"
    r"(?: ?\((?P<board>[A-Z]{2,4}[_0-9A-Z]+)\))?"
)
_CUDA_DOTTED = re.compile(r"[vV]?(?P<numbers>[0-9]{1,2}(?:\.[0-9]+){1,3})")
_CUDA_NVCC = re.compile(r"(?:release )?[0-9]+\.[0-9]+, V(?P<numbers>[0-9]+(?:\.[0-9]+)+)")
_CUDA_BUILD = re.compile(r"cuda_[0-9.]+\.r(?P<numbers>[0-9]+\.[0-9]+)(?:/compiler\.(?P<build>[0-9_]+))?")
_CUDA_INTEGER = re.compile(r"[0-9]{4,5}")
_NCCL_DOTTED = re.compile(
    r"[vV]?(?P<numbers>[0-9]+\.[0-9]+(?:\.[0-9]+)?)"
    r"(?:\.post(?P<post>[0-9]{1,6}))?"
    r"(?:-(?:(?P<revision>[0-9]+)|(?P<build>[A-Za-z][\w./-]{0,60}:[0-9a-f]{6,40})))?"
    r"(?:\+(?P<runtime>(?:cuda|hip)[0-9]+(?:\.[0-9]+)*))?"
)
_NCCL_TUPLE = re.compile(r"\((?P<numbers>[0-9]+, ?[0-9]+(?:, ?[0-9]+)?)\)")
_NCCL_INTEGER = re.compile(r"[0-9]{4,6}")
_OFED = re.compile(
    r"(?:(?:MLNX_OFED_LINUX|OFED-internal|MLNX_EN|DOCA-OFED)-)?"
    r"(?P<branch>[0-9]{1,2}\.[0-9]{1,2})-(?P<build>[0-9]+(?:\.[0-9]+){1,4}):?"
)
_RC = re.compile(
    r"(?:[A-Za-z][A-Za-z _]*[ _-])?[vV]?(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?P<stages>(?:\.?(?:alpha|beta|RC)[0-9]+(?:\.[0-9]+)?)*)",
    re.IGNORECASE,
)
_STAGE = re.compile(r"\.?(alpha|beta|rc)([0-9]+)(?:\.([0-9]+))?", re.IGNORECASE)
_STAGE_ORDER = {"alpha": 0, "beta": 1, "rc": 2}
_FINAL, _PATCH_OF_STAGE = 3, 4


def read_dotted(text: str) -> Parts | None:
    """Numbers with dots: 570.148.08, R580.95.05, 28.43.2026 (MT_0000000834), 1.12.1-cb7a7bc.

    A git hash after a dash and a board id in brackets are qualifiers; any other suffix is not understood.
    """
    match = _DOTTED.fullmatch(text)
    numbers = numbers_of(match["numbers"]) if match else ()
    if match is None or not numbers:
        return None
    qualifiers = {name: match[name] for name in ("build", "board") if match[name]}
    return Parts(
        canonical=match["numbers"],
        key=without_trailing_zeros(numbers),
        numbers=numbers,
        qualifiers=qualifiers,
    )


def read_cuda(text: str) -> Parts | None:
    """CUDA as its tools write it: 12.8, 12.8.93, V12.8.93, `cuda_12.8.r12.8/…`, and 12040 for 12.4."""
    if _CUDA_INTEGER.fullmatch(text):
        # The integer of the driver interface: major × 1000 + minor × 10.
        code = int(text)
        major, rest = divmod(code, 1000)
        minor, zero = divmod(rest, 10)
        return None if zero else _cuda_parts((major, minor), {})
    match = _CUDA_DOTTED.fullmatch(text) or _CUDA_NVCC.fullmatch(text)
    if match is not None:
        return _cuda_parts(numbers_of(match["numbers"]), {})
    match = _CUDA_BUILD.fullmatch(text)
    if match is None:
        return None
    return _cuda_parts(numbers_of(match["numbers"]), {"build": match["build"]} if match["build"] else {})


def _cuda_parts(numbers: tuple[int, ...], qualifiers: dict[str, str]) -> Parts | None:
    if not numbers:
        return None
    return Parts(
        canonical=dotted(numbers),
        key=without_trailing_zeros(numbers),
        numbers=numbers,
        qualifiers=qualifiers,
    )


def read_nccl(text: str) -> Parts | None:
    """NCCL and RCCL: 2.27.5, 2.27.5-1+cuda12.9, 2.26.2.post1, (2, 20, 5), 22703 for 2.27.3, 2.22.3-HEAD:6a2f1d9.

    The package revision, the branch with its commit and the CUDA tag are qualifiers: they do not make one NCCL newer
    than another.
    """
    if _NCCL_INTEGER.fullmatch(text):
        return _nccl_parts(_nccl_numbers(int(text)), post=0, qualifiers={})
    match = _NCCL_TUPLE.fullmatch(text)
    if match is not None:
        return _nccl_parts(numbers_of(match["numbers"]), post=0, qualifiers={})
    match = _NCCL_DOTTED.fullmatch(text)
    if match is None:
        return None
    qualifiers = {name: match[name] for name in ("revision", "build", "runtime") if match[name]}
    return _nccl_parts(numbers_of(match["numbers"]), post=int(match["post"] or 0), qualifiers=qualifiers)


def _nccl_numbers(code: int) -> tuple[int, ...]:
    """NCCL_VERSION_CODE: major × 1000 + minor × 100 + patch up to 2.8, major × 10000 + … since 2.9."""
    if code < 10000:
        return code // 1000, code % 1000 // 100, code % 100
    return code // 10000, code % 10000 // 100, code % 100


def _nccl_parts(numbers: tuple[int, ...], *, post: int, qualifiers: dict[str, str]) -> Parts | None:
    if not numbers:
        return None
    numbers = numbers if len(numbers) > 2 else (*numbers, 0)
    return Parts(
        canonical=dotted(numbers) + (f".post{post}" if post else ""),
        key=(numbers, post),
        numbers=numbers,
        qualifiers=qualifiers,
    )


def read_ofed(text: str) -> Parts | None:
    """OFED and DOCA-OFED: 24.10-0.7.0.0, MLNX_OFED_LINUX-5.8-2.0.3.0 (`ofed_info -s` ends with a colon)."""
    match = _OFED.fullmatch(text)
    branch = numbers_of(match["branch"]) if match else ()
    build = numbers_of(match["build"]) if match else ()
    if not branch or not build:
        return None
    return Parts(
        canonical=f"{match['branch']}-{dotted(build)}" if match else "",
        key=(branch, without_trailing_zeros(build)),
        numbers=(*branch, *build),
    )


def read_rc(text: str) -> Parts | None:
    """Releases with candidates: 8.2.RC1, 25.1.RC1, 8.0.RC3.alpha001, CANN-8.0.0, dtk-24.04.1.

    A candidate comes before its release: 8.0.RC3.alpha001 < 8.0.RC3 < 8.0.RC3.10 < 8.0.0.
    """
    match = _RC.fullmatch(text)
    numbers = numbers_of(match["numbers"]) if match else ()
    if match is None or not numbers or not numbers_of(match["stages"] or "0"):
        return None
    stages: list[tuple[int, int]] = []
    names: list[str] = []
    for name, count, patch in _STAGE.findall(match["stages"]):
        stages.append((_STAGE_ORDER[name.casefold()], int(count)))
        names.append(f"{name.upper() if name.casefold() == 'rc' else name.casefold()}{int(count)}")
        if patch:
            stages.append((_PATCH_OF_STAGE, int(patch)))
            names.append(str(int(patch)))
    return Parts(
        canonical=".".join([dotted(numbers), *names]),
        key=(without_trailing_zeros(numbers), (*stages, (_FINAL, 0))),
        numbers=numbers,
    )
