"""Lists of devices that a process may see, such as CUDA_VISIBLE_DEVICES: how much is left of what is written.

Runtimes read them without a word: up to the first entry that is no device, and nothing at all where one is named
twice. Holes and any order are fine.
"""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.environments.engine.job_env.values import Fault

_UUID = re.compile(r"(?:GPU|MIG)-[0-9A-Za-z][\w/-]*")
_BEGINS_AS_INDEX = re.compile(r"\+?(\d+)")
_COMPUTED = re.compile(r"[$`%]|\{\{")  # by a shell or a template, which are not here


def fault_in_list(value: str) -> Fault | None:
    """The gravest fault of a list of indices from 0 or of unique names (GPU-…, MIG-…, or their beginnings)."""
    words = [word.strip() for word in value.removesuffix(",").split(",")]
    if _COMPUTED.search(value):
        return None
    kind = _kind(words[0])
    visible = words[: next((place for place, word in enumerate(words) if _kind(word) != kind), len(words))]
    named = [word.lstrip("0") or "0" for word in visible] if kind == "index" else visible
    repeated = next((word for place, word in enumerate(named) if word in named[:place]), None)
    if kind and repeated is not None:
        why = say("%(device)s is named twice: the process then sees no device at all", device=repeated)
        return Fault(code="device_repeated", why=why, instead=",".join(dict.fromkeys(named)))
    if kind and len(visible) == len(words):
        return None
    return _fault_at(words[len(visible)] if kind else words[0], visible if kind else [], kind)


def _kind(word: str) -> str:
    if word.isascii() and word.isdigit():
        return "index"
    return "uuid" if _UUID.fullmatch(word) else ""


def _fault_at(word: str, visible: list[str], kind: str) -> Fault | None:
    """What becomes of a list at its first word that is not of the kind of the first one."""
    number = _BEGINS_AS_INDEX.match(word)
    if number and not _kind(word):
        why = say("%(word)s is read as device %(number)s alone", word=f"{word!r}", number=number[1])
        return Fault(code="illegal_value", why=why, instead=say("indices with commas between them: 0,1,2,3"))
    if not visible:
        return Fault(
            code="no_devices", why=say("The process sees no GPU."), instead=say("Leave it to the launcher.")
        )
    return Fault(
        code="devices_cut",
        why=(
            say("indices and unique names do not mix: the list ends before %(word)s", word=f"{word!r}")
            if _kind(word)
            else say("%(word)s is no device: the list ends before it", word=f"{word!r}")
        ),
        instead=say("only %(devices)s are visible; name the others likewise", devices=",".join(visible)),
    )
