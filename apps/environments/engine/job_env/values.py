"""Whether the value of one variable is legal, by its type in the reference table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.catalogue.engine.variables import Variable
from apps.core.texts import Text, joined, say

_TORCH_TRUTHS = frozenset({"0", "1", "y", "yes", "t", "true", "n", "no", "f", "false"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a value is not what the variable takes, and what would be. code: illegal_value, wrong_case, legacy_value."""

    code: str
    why: str
    instead: str


def fault_in(variable: Variable, value: str, also_legal: Sequence[str] = ()) -> Fault | None:
    """None where the value is legal, or the variable takes any text."""
    text = value.strip()
    if variable.kind == "int":
        return _fault_in_number(variable, text)
    if variable.kind == "bool":
        return _fault_in_truth(variable, text)
    if variable.kind in ("enum", "list", "flags") and variable.values:
        faults = [_fault_in_word(variable, word, also_legal) for word in _words(variable, text)]
        return next((fault for fault in faults if fault is not None), None)
    return None


def as_integer(text: str) -> int | None:
    """An integer as C reads it with base 0: decimal, 0x… or leading zero for octal; None for anything else."""
    if not re.fullmatch(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})", text):
        return None
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.lstrip("+"))
    if digits[:2] in ("0x", "0X"):
        return sign * int(digits, 16)
    if len(digits) > 1 and digits.startswith("0"):
        return sign * int(digits, 8) if re.fullmatch(r"[0-7]+", digits) else None
    return sign * int(digits)


def _fault_in_number(variable: Variable, text: str) -> Fault | None:
    number = as_integer(text)
    right = _range_text(variable)
    if number is None:
        unit = re.fullmatch(r"[0-9]+\s*([kKmMgG][iI]?[bB]?|[sS]|ms)", text)
        why = say("a plain number is wanted, without a unit") if unit else say("this is no whole number")
        return Fault(
            code="illegal_value", why=say("%(name)s: %(why)s", name=variable.name, why=why), instead=right
        )
    too_low = variable.low is not None and number < variable.low
    too_high = variable.high is not None and number > variable.high
    if too_low or too_high:
        why = say("%(number)s is out of range.", number=number)
        if variable.note:
            why = joined(" ", [why, Text(variable.note)])
        return Fault(code="illegal_value", why=why, instead=right)
    return None


def _range_text(variable: Variable) -> str:
    low, high = variable.low, variable.high
    if low is not None and high is not None:
        return say("a whole number from %(low)s to %(high)s", low=low, high=high)
    return say("a whole number") if low is None else say("a whole number from %(low)s", low=low)


def _fault_in_truth(variable: Variable, text: str) -> Fault | None:
    if variable.category == "pytorch" and text.casefold() in _TORCH_TRUTHS:
        return None
    if as_integer(text) in (0, 1):
        return None
    return Fault(
        code="illegal_value",
        why=say("%(name)s takes 0 or 1; NCCL reads anything else as unset", name=variable.name),
        instead="0 or 1",
    )


def _words(variable: Variable, text: str) -> list[str]:
    if variable.kind == "enum":
        return [text]
    if variable.kind == "flags":
        return [word.strip() for word in text.split("|")]
    words: list[str] = []
    for part in text.split(";"):
        # Since 2.24 a list may be given for each collective: allreduce:tree,nvls;broadcast:ring
        _, colon, listed = part.partition(":")
        words += [word.strip().lstrip("^=") for word in (listed if colon else part).split(",")]
    return [word for word in words if word]


def _fault_in_word(variable: Variable, word: str, also_legal: Sequence[str]) -> Fault | None:
    legal = (*variable.values, *also_legal)
    folded = {value.casefold(): value for value in legal}
    right = (
        say("%(one)s or %(other)s", one=variable.values[0], other=variable.values[1])
        if len(variable.values) == 2
        else say("one of %(values)s", values=", ".join(variable.values))
    )
    meaning = _legacy_meaning(dict(variable.legacy_values), word)
    if word in legal or (not variable.is_case_sensitive and word.casefold() in folded):
        return None
    if meaning:
        why = say("numbers are the old form; %(word)s means %(meaning)s", word=word, meaning=meaning)
        return Fault(code="legacy_value", why=why, instead=meaning)
    if word.casefold() in folded:
        why = say("letter case counts: %(word)s is passed over without a message", word=word)
        return Fault(code="wrong_case", why=why, instead=folded[word.casefold()])
    return Fault(
        code="illegal_value",
        why=say("%(word)s is no value of %(name)s", word=f"{word!r}", name=variable.name),
        instead=right,
    )


def _legacy_meaning(legacy: Mapping[str, str], word: str) -> str:
    """The word that an old number stands for; numbers above the last one mean the same as the last."""
    number = as_integer(word)
    if not legacy or number is None or number < 0:
        return ""
    return legacy.get(str(number)) or legacy[max(legacy, key=int)]
