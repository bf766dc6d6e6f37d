"""Which names a job may set: known ones, near misses of them, and names that do nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache

from apps.catalogue.engine.variables import known_names, plugin_prefixes

_NEAR = 0.82
_OTHER_LIBRARIES = frozenset({"CCL", "CNCL", "RCCL", "HCCL", "MCCL"})


def is_of_nccl(name: str) -> bool:
    """Whether NCCL or PyTorch's use of it is meant by the name."""
    return name.startswith(("NCCL_", "TORCH_NCCL_"))


def is_known(name: str) -> bool:
    """Whether NCCL's source, PyTorch or a plug-in reads the name; NCCL_VERSION is an image's own note."""
    return name in known_names() or name.startswith(plugin_prefixes()) or name == "NCCL_VERSION"


def near_names(name: str, others: Iterable[str] = (), *, likeness: float = _NEAR) -> tuple[str, ...]:
    """Known names that look like this one, nearest first, at most three. likeness: 0 to 1."""
    return _near(name.upper(), tuple(sorted({*known_names(), *others})), likeness)


@lru_cache(maxsize=1024)
def _near(name: str, known: tuple[str, ...], likeness: float) -> tuple[str, ...]:
    return tuple(difflib.get_close_matches(name, known, n=3, cutoff=likeness))


def is_misspelt_prefix(name: str) -> bool:
    """Whether the first word looks like NCCL without being it: NCLL_DEBUG, NCC_IB_HCA, nccl_debug."""
    word, _, rest = name.partition("_")
    if not rest or name.startswith("NCCL_") or word in _OTHER_LIBRARIES:
        return False
    return word.upper() == "NCCL" or (3 <= len(word) <= 5 and {"N", "C"} <= set(word) <= {"N", "C", "L"})
