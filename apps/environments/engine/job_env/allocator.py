"""The settings list of PyTorch's memory allocator: `max_split_size_mb:512,expandable_segments:True`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.core.texts import say
from apps.environments.engine.job_env.values import Fault


def faults_in(value: str, keys: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """What is wrong in the list; keys: name to its words, or to low and high of its number."""
    seen: dict[str, str] = {}
    for part in re.split(r",(?![^\[]*\])", value):
        if not part.strip():
            continue
        key, colon, text = (piece.strip() for piece in part.partition(":"))
        if not colon or "=" in key:
            yield Fault(
                code="illegal_value",
                why=say("%(part)s is no key:value pair", part=f"{part.strip()!r}"),
                instead=say("key:value, with a colon"),
            )
        elif key not in keys:
            yield Fault(
                code="illegal_value",
                why=say("%(key)s is no key of the allocator", key=f"{key!r}"),
                instead=say("one of %(keys)s", keys=", ".join(keys)),
            )
        else:
            seen[key] = text
            fault = _fault_of(key, text, keys[key])
            if fault is not None:
                yield fault
    if seen.get("backend") == "cudaMallocAsync" and len(seen) > 1:
        others = ", ".join(key for key in seen if key != "backend")
        yield Fault(
            code="no_effect",
            why=say("the backend cudaMallocAsync does not look at %(others)s", others=others),
            instead=say("the native backend, or no other keys"),
        )


def _fault_of(key: str, text: str, allowed: Mapping[str, Any]) -> Fault | None:
    if allowed.get("free"):
        return None
    words = allowed.get("words")
    if words:
        if text in words:
            return None
        return Fault(code="illegal_value", why=f"{key}: found {text!r}", instead=" or ".join(words))
    try:
        number = float(text)
    except ValueError:
        return Fault(
            code="illegal_value",
            why=say("%(key)s: %(text)s is no number", key=key, text=f"{text!r}"),
            instead=_range(allowed),
        )
    low, high, is_open = allowed["low"], allowed.get("high"), allowed.get("open_ends", False)
    below = number < low or (is_open and number == low)
    above = high is not None and (number > high or (is_open and number == high))
    if below or above or number != number:
        return Fault(
            code="illegal_value",
            why=say("%(key)s: %(text)s is out of range", key=key, text=text),
            instead=_range(allowed),
        )
    return None


def _range(allowed: Mapping[str, Any]) -> str:
    words = "between" if allowed.get("open_ends") else "from"
    high = allowed.get("high")
    return f"a number {words} {allowed['low']}" + (f" and {high}" if high is not None else " up")
