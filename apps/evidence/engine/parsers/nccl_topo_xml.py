"""NCCL's and RCCL's topology XML, dumped by the library or written for a cloud's machine type.

Version 1 has processors and PCI devices only, dumps also gpu, nvlink or xgmi, c2c, nic and net elements. A graph
that is cut is not read at all: it would look like a smaller machine.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process
from apps.evidence.engine.parsers._nccl_graph import Place, is_gpu, is_nic, unclassified, walk
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nccl_topo_xml"
VERSION = 1

_START = re.compile(r"<system(?:\s+version\s*=\s*[\"']\d{1,4}[\"']|\s*>)")
_PARTS = re.compile(r"<(?:cpu|pci)\s")
_END = "</system>"
_BUS_ID = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f])?")
_MOST_TAGS = 200_000
_CPU_KEYS = ("numaid", "arch", "vendor", "familyid", "modelid", "affinity", "host_hash")
_LINKS = ("nvlink", "xgmi", "c2c")


def recognise(sample: str) -> int:
    text = html.unescape(sample) if "<" not in sample else sample
    return 95 if _START.search(text) and _PARTS.search(text) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    root, first_line = _root(source, notes)
    places = walk(root)
    if not any(place.tag in ("pci", "gpu", "net") for place in places):
        raise Unreadable(
            say("NCCL topology: there are neither PCI devices nor GPUs in it"), code="no_devices"
        )
    facts = _counts(root, places, notes, first_line)
    facts |= _lists(places)
    _check_devices(facts, notes)
    _check_links(facts["gpu_list"], notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _root(source: Source, notes: Notes) -> tuple[Element, int]:
    """The system element, and the line of the file on which it starts."""
    text = source.text()
    if "<" not in text:
        text = html.unescape(text)
    lines = [Line(number, part) for number, part in enumerate(text.split("\n"), start=1)]
    lines = one_process(lines, lambda group: any(_START.search(line.text) for line in group), notes)
    text = _without_comments("\n".join(line.text for line in lines))
    start = _START.search(text)
    if start is None:
        raise Unreadable(say("NCCL topology: there is no system element in it"), code="no_root")
    if "<!ENTITY" in text:
        raise Unreadable(say("NCCL topology: XML with entities is not read"), code="entities")
    if text.count("<") > _MOST_TAGS:
        raise Unreadable(
            say("NCCL topology: more than %(most_tags)s tags", most_tags=_MOST_TAGS), code="too_many_elements"
        )
    offset = text.count("\n", 0, start.start())
    end = text.find(_END, start.end())
    if end < 0:
        raise Unreadable(say("NCCL topology: the system element is not closed; the file is cut"), code="cut")
    again = _START.search(text, end)
    if again is not None:
        number = lines[text.count("\n", 0, again.start())].number
        notes.add(
            "repeated_document", say("a second system element follows; only the first is read"), line=number
        )
    try:
        return fromstring(text[start.start() : end + len(_END)]), lines[offset].number
    except ParseError as fault:
        number = lines[min(offset + fault.position[0], len(lines)) - 1].number
        raise Unreadable(
            say("NCCL topology, line %(number)s: no valid XML", number=number),
            code="bad_xml",
            line=number,
        ) from fault
    except (DefusedXmlException, ValueError) as fault:
        raise Unreadable(say("NCCL topology: no valid XML"), code="bad_xml") from fault


def _without_comments(text: str) -> str:
    """The text with comments replaced by their line ends."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end + len("-->")
    return "".join([*parts, text[position:]])


def _counts(root: Element, places: Sequence[Place], notes: Notes, line: int) -> dict[str, Any]:
    tags = Counter(place.tag for place in places)
    pci = [place for place in places if place.tag == "pci"]
    cpus = [place for place in places if place.tag == "cpu"]
    nets = [place for place in places if place.tag == "net"]
    gpus: list[Place] | None = [place for place in pci if is_gpu(place)]
    nics: list[Place] | None = [place for place in pci if is_nic(place)]
    unknown = [place for place in pci if unclassified(place)]
    if unknown:
        notes.add(
            "class_missing",
            say("%(count)s PCI devices have no class: what they are is not said", count=len(unknown)),
            line=line,
        )
        gpus = nics = None
    for tag in tags.keys() - {"cpu", "pci", "gpu", "nic", "net", "nvswitch", "pcilink", *_LINKS}:
        notes.add(
            "element_not_known",
            say("%(tags)s elements %(tag)s are not read", tags=tags[tag], tag=tag[:40]),
            line=line,
        )
    return {
        "version": root.get("version"),
        "cpus": len(cpus),
        "numa_ids": [place.get("numaid") for place in cpus],
        "arch": _distinct(place.get("arch") for place in cpus),
        "gpus": len(gpus) if gpus is not None else None,
        "gpu_bus_ids": [place.get("busid") for place in gpus] if gpus is not None else None,
        "nics": len(nics) if nics is not None else None,
        "gpu_elements": tags["gpu"],
        "sm": _distinct(place.get("sm") for place in places if place.tag == "gpu"),
        "nvlinks": tags["nvlink"],
        "xgmi_links": tags["xgmi"],
        "c2c_links": tags["c2c"],
        "nets": len(nets),
        "net_speeds_mbps": _distinct(_speed_mbps(place, notes, line) for place in nets),
        "link_speeds": _distinct(place.get("link_speed") for place in pci),
    }


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))


def _speed_mbps(place: Place, notes: Notes, line: int) -> int | None:
    speed = place.number("speed")
    if speed is None and place.get("speed") is not None:
        notes.add(
            "value_not_understood",
            say("the speed %(value)s of a net is no number", value=f"{place.get('speed')!r}"),
            line=line,
        )
    return speed


def _lists(places: Sequence[Place]) -> dict[str, Any]:
    """The graph: processors, PCI devices with their parents, GPUs with their links, network ports."""
    elements = [place for place in places if place.tag == "gpu"]
    links = [place for place in places if place.tag in _LINKS]
    gpus = elements or [place for place in places if place.tag == "pci" and is_gpu(place)]
    return {
        "cpu_list": [{key: place.get(key) for key in _CPU_KEYS} for place in places if place.tag == "cpu"],
        "pci_list": [_pci(place) for place in places if place.tag == "pci"],
        "gpu_list": [_gpu(place, [link for link in links if link.parent is place]) for place in gpus],
        "net_list": [_net(place) for place in places if place.tag == "net"],
    }


def _pci(place: Place) -> dict[str, Any]:
    """kind is gpu, nic, other, or None where no class is stated; parent is a bus id, None beneath a processor."""
    kind = "gpu" if is_gpu(place) else "nic" if is_nic(place) else None if unclassified(place) else "other"
    return {
        "bus_id": place.get("busid"),
        "parent": place.above("pci", "busid"),
        "numa_id": place.above("cpu", "numaid"),
        "host_hash": place.above("cpu", "host_hash"),
        "kind": kind,
        **{key: place.get(key) for key in ("class", "vendor", "device", "link_speed")},
        "link_width": place.number("link_width"),
    }


def _gpu(place: Place, links: Sequence[Place]) -> dict[str, Any]:
    """A gpu element, or a PCI device of that class where there are no such elements."""
    return {
        "bus_id": place.get("busid") if place.tag == "pci" else place.above("pci", "busid"),
        "numa_id": place.above("cpu", "numaid"),
        "host_hash": place.above("cpu", "host_hash"),
        "dev": place.number("dev"),
        "rank": place.number("rank"),
        "sm": place.get("sm"),
        "gcn": place.get("gcn"),
        "gdr": place.number("gdr"),
        "links": [
            {
                "type": link.tag,
                "target": link.get("target"),
                "count": link.number("count"),
                "target_class": link.get("tclass"),
                "bw": link.get("bw"),
            }
            for link in links
        ],
    }


def _net(place: Place) -> dict[str, Any]:
    return {
        "name": place.get("name"),
        "bus_id": place.above("pci", "busid"),
        "numa_id": place.above("cpu", "numaid"),
        "host_hash": place.above("cpu", "host_hash"),
        "speed_mbps": place.number("speed"),
        "port": place.number("port"),
        "guid": place.get("guid"),
        "gdr": place.number("gdr"),
    }


def _check_devices(facts: dict[str, Any], notes: Notes) -> None:
    """Bus ids must be there and be distinct on each host, network ports and GPU elements too."""
    for device in facts["pci_list"]:
        if device["bus_id"] is None or not _BUS_ID.fullmatch(device["bus_id"]):
            notes.add(
                "value_not_understood",
                say("%(bus_id)s is no bus id", bus_id=f"{(device['bus_id'] or '')[:40]!r}"),
            )
    for key, names in (
        ("pci_list", ("bus_id",)),
        ("gpu_list", ("bus_id", "dev")),
        ("net_list", ("bus_id", "name", "port")),
    ):
        known = Counter(tuple(device[name] for name in ("host_hash", *names)) for device in facts[key])
        for identity, times in known.items():
            if times > 1:
                notes.add(
                    "repeated_device",
                    say(
                        "%(key)s %(identity)s stands %(times)s times",
                        key=key[:3],
                        identity=identity[1],
                        times=times,
                    ),
                )


def _check_links(gpus: Sequence[dict[str, Any]], notes: Notes) -> None:
    """A link between two GPUs of a host must be there once, and from both sides with the same count."""
    counts: dict[tuple[str | None, ...], int | None] = {}
    known = {(gpu["host_hash"], gpu["bus_id"]) for gpu in gpus}
    for gpu in gpus:
        for link in gpu["links"]:
            identity = (gpu["host_hash"], gpu["bus_id"], link["target"], link["type"])
            if identity in counts:
                notes.add(
                    "repeated_link",
                    say(
                        "%(type)s from %(bus_id)s to %(target)s stands twice",
                        type=link["type"],
                        bus_id=gpu["bus_id"],
                        target=link["target"],
                    ),
                )
            counts[identity] = link["count"]
    for (host, here, there, kind), count in counts.items():
        if (host, there) in known and counts.get((host, there, here, kind)) != count:
            notes.add(
                "link_not_mutual",
                say(
                    "%(kind)s from %(here)s to %(there)s differs from the way back",
                    kind=kind,
                    here=here,
                    there=there,
                ),
            )
        elif (host, there) not in known and kind == "xgmi":
            notes.add(
                "link_to_unknown",
                say(
                    "xgmi from %(here)s ends at %(there)s, which is no GPU of the file",
                    here=here,
                    there=there,
                ),
            )
