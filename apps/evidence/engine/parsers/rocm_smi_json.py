"""`rocm-smi --json` (and Hygon's hy-smi, `amd-smi static` and `metric --json`): a map of cards, or a list of GPUs.

rocm-smi's keys change their spelling between versions ("Card series", "Card Series") and are looked up without
regard to case; every value is text. amd-smi prints a list before ROCm 7 and an object with gpu_data since.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import Loaded, load_objects, mapping, sequence, text_of
from apps.evidence.engine.parsers._values import count, known, quantity
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "rocm_smi_json"
VERSION = 3

_CARD = re.compile(r"(?:card|gpu|dcu|hcu)\s?(\d{1,4})", re.IGNORECASE)
_LIKE_CARD = re.compile(r"[\"'](?:card|dcu|hcu)\d{1,4}[\"']\s*:\s*\{", re.IGNORECASE)
_LIKE_SMI = re.compile(
    r"\"(?:Driver version|VBIOS version|Card (?:series|model)|GPU ID|Device (?:ID|Name)|GPU use \(%\)|HCU use \(%\)"
    r"|PCI Bus|Unique ID|Temperature \(Sensor|VRAM Total|\(Topology\)|Serial Number)",
    re.IGNORECASE,
)
_LIKE_AMD = re.compile(
    r"\"gpu\"\s*:\s*\d{1,4}\s*,\s*\"(?:asic|bus|vbios|driver|board|usage|power)\"\s*:\s*\{"
)
# field of a card: keys in lower case, best first
_TEXTS = {
    "series": ("card series", "device name", "card model"),
    "device_id": ("device id", "gpu id"),
    "vbios": ("vbios version",),
    "unique_id": ("unique id",),
    "serial": ("serial number",),
    "bus_id": ("pci bus",),
    "sku": ("card sku",),
    "gfx_version": ("gfx version",),
    "memory_vendor": ("gpu memory vendor",),
    "numa_node": ("(topology) numa node",),
    "numa_affinity": ("(topology) numa affinity",),
    "compute_partition": ("compute partition",),
    "memory_partition": ("memory partition",),
}
_NUMBERS = {
    "temp_edge_c": ("temperature (sensor edge) (c)",),
    "temp_junction_c": ("temperature (sensor junction) (c)",),
    "temp_memory_c": ("temperature (sensor memory) (c)", "temperature (sensor mem) (c)"),
    "power_w": (
        "current socket graphics package power (w)",
        "average graphics package power (w)",
        "average socket power (w)",
    ),
    "power_cap_w": ("max graphics package power (w)",),
    "vram_total_bytes": ("vram total memory (b)",),
    "vram_used_bytes": ("vram total used memory (b)",),
    "utilisation_percent": ("gpu use (%)", "hcu use (%)", "dcu use (%)"),
    "pcie_replay_count": ("pcie replay count",),
}
# the same of `amd-smi metric`: group, keys best first, unit
_METRICS = {
    "temp_edge_c": ("temperature", ("edge",), "C"),
    "temp_junction_c": ("temperature", ("hotspot",), "C"),
    "temp_memory_c": ("temperature", ("mem",), "C"),
    "power_w": ("power", ("socket_power", "current_socket_power", "average_socket_power"), "W"),
    "utilisation_percent": ("usage", ("gfx_activity",), "%"),
    "pcie_replay_count": ("pcie", ("replay_count",), ""),
}
_FIRMWARE = " firmware version"
_RENAMED = {"vbios": "ifwi"}  # amd-smi since ROCm 7


def recognise(sample: str) -> int:
    if _LIKE_CARD.search(sample) and _LIKE_SMI.search(sample):
        return 95
    return (
        90 if _LIKE_AMD.search(sample) else 60 if '"Driver version"' in sample and '"system"' in sample else 0
    )


def read(source: Source) -> Reading:
    notes = Notes()
    cards: dict[str, dict[str, Any]] = {}
    keys: dict[str, int] = {}
    drivers: list[str] = []
    for document in load_objects(source, notes):
        for name, body in _cards(document):
            if name in cards:
                notes.add(
                    "repeated_device",
                    say("%(name)s came before; not read again", name=name),
                    line=document.line,
                )
                continue
            is_amd_smi = "gpu" in body
            cards[name] = _of_amd_smi(body) if is_amd_smi else _of_rocm_smi(body, document.line, notes)
            keys[name] = len(body)
            drivers += [driver for driver in (cards[name].pop("driver_version"),) if driver]
        drivers += [driver for driver in (_system_driver(document),) if driver]
    if not cards and not drivers:
        raise Unreadable(
            say("rocm-smi JSON: neither a card nor a driver version is in it"), code="no_devices"
        )
    distinct = list(dict.fromkeys(drivers))
    if len(distinct) > 1:
        notes.add(
            "versions_differ", say("several driver versions: %(distinct)s", distinct=", ".join(distinct))
        )
    facts = {
        "cards": list(cards),
        "driver_version": distinct[0] if distinct else None,
        "keys_per_card": keys,
        "models": _distinct(card["series"] for card in cards.values()),
        "vbios": _distinct(card["vbios"] for card in cards.values()),
        "unique_ids_present": any(card["unique_id"] is not None for card in cards.values())
        if cards
        else None,
        "card_list": [{"name": name, **card} for name, card in cards.items()],
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _cards(document: Loaded) -> list[tuple[str, Mapping[str, Any]]]:
    """Name and body of each card of a document of either tool."""
    value = document.value
    if isinstance(value, dict) and not ("gpu_data" in value or "gpu" in value):
        return [
            (name, body) for name, body in value.items() if _CARD.fullmatch(name) and isinstance(body, dict)
        ]
    listed = value if isinstance(value, list) else sequence(value.get("gpu_data")) or [value]
    return [
        (f"gpu{body['gpu']}", body)
        for body in listed
        if isinstance(body, dict) and isinstance(body.get("gpu"), int)
    ]


def _system_driver(document: Loaded) -> str | None:
    for key, value in mapping(mapping(document.value).get("system")).items():
        if key.casefold() == "driver version":
            return known(text_of(value))
    return None


def _of_rocm_smi(body: Mapping[str, Any], line: int, notes: Notes) -> dict[str, Any]:
    by_key = {key.casefold().strip(): text_of(value) for key, value in body.items()}
    card: dict[str, Any] = {
        field: next((text for key in keys if (text := known(by_key.get(key)))), None)
        for field, keys in _TEXTS.items()
    }
    for field, keys in _NUMBERS.items():
        text = next((text for key in keys if (text := known(by_key.get(key)))), None)
        card[field] = count(text) if field.endswith(("_bytes", "_count")) else quantity(text)
        if text is not None and card[field] is None:
            notes.add(
                "value_not_understood",
                say("%(keys)s: %(text)s is no number", keys=keys[0], text=f"{text[:60]!r}"),
                line=line,
            )
    card["firmware"] = {
        key[: -len(_FIRMWARE)]: text
        for key, value in body.items()
        if key.casefold().endswith(_FIRMWARE) and (text := known(text_of(value)))
    }
    card["driver_version"] = known(by_key.get("driver version"))
    return card


def _of_amd_smi(body: Mapping[str, Any]) -> dict[str, Any]:
    asic, vbios, driver, bus, vram, board, numa = (
        mapping(body.get(key)) or mapping(body.get(_RENAMED.get(key, key)))
        for key in ("asic", "vbios", "driver", "bus", "vram", "board", "numa")
    )
    partition, used = mapping(body.get("partition")), mapping(body.get("mem_usage"))
    compute = partition.get("compute_partition") or partition.get("accelerator_partition")
    card: dict[str, Any] = dict.fromkeys((*_TEXTS, *_NUMBERS))
    card |= {
        "series": known(text_of(asic.get("market_name"))),
        "device_id": known(text_of(asic.get("device_id"))),
        "vbios": known(text_of(vbios.get("part_number"))) or known(text_of(vbios.get("version"))),
        "unique_id": known(text_of(asic.get("asic_serial"))),
        "serial": known(text_of(board.get("product_serial"))),
        "bus_id": known(text_of(bus.get("bdf"))),
        "gfx_version": known(text_of(asic.get("target_graphics_version"))),
        "memory_vendor": known(text_of(vram.get("vendor"))),
        "numa_node": known(text_of(numa.get("node"))),
        "numa_affinity": known(text_of(numa.get("affinity"))),
        "compute_partition": known(text_of(compute)),
        "memory_partition": known(text_of(partition.get("memory_partition"))),
        "vram_total_bytes": _vram_bytes(vram.get("size")) or _vram_bytes(used.get("total_vram")),
        "vram_used_bytes": _vram_bytes(used.get("used_vram")),
        "firmware": {
            text: version
            for entry in map(mapping, sequence(body.get("fw_list")))
            if (text := text_of(entry.get("fw_id"))) and (version := known(text_of(entry.get("fw_version"))))
        },
        "driver_version": known(text_of(driver.get("version"))),
    }
    for field, (group, keys, unit) in _METRICS.items():
        said = mapping(body.get(group))
        number_of = count if field.endswith("_count") else quantity
        numbers = (number_of(_with_unit(said.get(key)), unit) for key in keys)
        card[field] = next((number for number in numbers if number is not None), None)
    return card


def _with_unit(value: Any) -> str:
    """amd-smi writes a number with its unit beside it, or both as one text."""
    return f"{value.get('value')} {value.get('unit')}" if isinstance(value, dict) else text_of(value) or ""


def _vram_bytes(size: Any) -> int | None:
    """amd-smi writes MB and means 2^20 bytes."""
    text = _with_unit(size)
    megabytes = quantity(text, "MB", "MiB")
    return round(megabytes * 2**20) if megabytes is not None else count(text, "B")


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value is not None))
