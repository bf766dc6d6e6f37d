"""Fault codes of the NVIDIA kernel driver: what an Xid or SXid means and what is done first.

Actions, severities and cordon flags are defaults that a team may edit; codes of the vendor's catalogue
are kept beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from apps.catalogue.engine.reference import table


@dataclass(frozen=True, slots=True, kw_only=True)
class XidCode:
    """One Xid. action: an id of `action_order`; severity: info, warning or critical.

    cordon: whether new work should stay away until the action is done. note and stricter_opinion may be empty.
    """

    code: int
    mnemonic: str
    title: str
    meaning: str
    primary_cause: str
    possible_causes: tuple[str, ...]
    action: str
    severity: str
    cordon: bool
    catalogue_immediate: str
    note: str
    stricter_opinion: str
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SxidCode:
    """One SXid of an NVSwitch. severity: non_fatal, potentially_fatal or always_fatal."""

    code: int
    name: str
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDecode:
    """How a unit of the NVLink 5 family (Xid 144 to 150) and its printed severity are acted on.

    action: the heaviest of the cases that share unit and severity.
    """

    unit: str
    severity: str
    action: str


@cache
def action_order() -> dict[str, int]:
    """Action id to its weight: a larger one includes what the smaller ones do."""
    return {row["id"]: row["order"] for row in table("xid")["actions"]}


@cache
def xid_codes() -> dict[int, XidCode]:
    """Code to its entry, aliases included."""
    codes = {row["code"]: _xid(row) for row in table("xid")["xids"]}
    rows = {row["code"]: row for row in table("xid")["xids"]}
    for alias in table("xid")["aliases"]:
        base = rows[alias["same_as"]]
        merged = {**base, "code": alias["code"], "mnemonic": alias["mnemonic"]}
        codes[alias["code"]] = _xid(merged)
    return dict(sorted(codes.items()))


def _xid(row: dict[str, Any]) -> XidCode:
    return XidCode(
        code=row["code"],
        mnemonic=row["mnemonic"],
        title=row["title"],
        meaning=row["meaning"],
        primary_cause=row["primary_cause"],
        possible_causes=tuple(row["possible_causes"]),
        action=row["action"],
        severity=row["severity"],
        cordon=row["cordon"],
        catalogue_immediate=row["catalogue_immediate"] or "",
        note=row.get("note", ""),
        stricter_opinion=row.get("stricter_opinion", ""),
        source=tuple(row["source"]),
    )


@cache
def sxid_codes() -> dict[int, SxidCode]:
    """Code to its entry."""
    return {
        row["code"]: SxidCode(code=row["code"], name=row["name"], severity=row["severity"])
        for row in table("xid")["sxid"]["codes"]
    }


@cache
def link_decodes() -> dict[tuple[int, str, str], LinkDecode]:
    """(Xid, unit, severity in lower case without dashes) to what is done."""
    order = action_order()
    found: dict[tuple[int, str, str], LinkDecode] = {}
    for row in table("xid")["nvlink5_decode_summary"]:
        key = (row["xid"], row["unit"], row["severity"].replace("-", "").replace(" ", ""))
        known = found.get(key)
        if known is None or order[row["action"]] > order[known.action]:
            found[key] = LinkDecode(unit=row["unit"], severity=row["severity"], action=row["action"])
    return found
