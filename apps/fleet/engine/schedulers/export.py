"""What a scheduler format gives out: the text, what of the fleet it carries, and what it had to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from apps.core.texts import joined, say
from apps.fleet.engine.description import FleetDescription, Part, split_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that the format cannot say. code: stable."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """says: the parts of the fleet that come back when the text is read again."""

    file_name: str
    text: str
    says: frozenset[Part]
    notes: tuple[Note, ...] = ()


class _Dumper(yaml.CSafeDumper):
    """Texts of several lines stand as they are, line by line."""


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def as_yaml(documents: Sequence[object]) -> str:
    """Documents as YAML, keys in their order and host lists on one line; none gives no text."""
    if not documents:
        return ""
    text: str = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=1_000_000
    )
    return text


def sub_domains_as_nodes(fleet: FleetDescription) -> tuple[dict[str, tuple[str, ...]], tuple[Note, ...]]:
    """Nodes of each sub-domain, in the fleet's order; none, and a note, where some node is split.

    A scheduler places nodes, so a node in two sub-domains can be in neither; then the whole level is left out.
    """
    split = split_nodes(fleet)
    if split:
        names = joined(", ", [node.name for node in split])
        message = say("sub-domains are left out: %(names)s have accelerators in two of them", names=names)
        return {}, (Note(code="split_nodes", message=message),)
    members: dict[str, list[str]] = {}
    for node in fleet.nodes:
        for span in node.spans[:1]:
            members.setdefault(span.sub_domain, []).append(node.name)
    return {
        name: tuple(members[name])
        for domain in fleet.domains
        for name in domain.sub_domains
        if name in members
    }, ()


def domains_as_nodes(fleet: FleetDescription) -> dict[str, tuple[str, ...]]:
    """Nodes of each domain that has any, in the fleet's order."""
    members: dict[str, list[str]] = {}
    for node in fleet.nodes:
        if node.domain:
            members.setdefault(node.domain, []).append(node.name)
    return {domain.name: tuple(members[domain.name]) for domain in fleet.domains if domain.name in members}


def domain_of_sub_domain(fleet: FleetDescription) -> dict[str, str]:
    return {name: domain.name for domain in fleet.domains for name in domain.sub_domains}


def carried(fleet: FleetDescription, *parts: Part) -> frozenset[Part]:
    """Those of the parts that the fleet itself says."""
    return fleet.says & frozenset(parts)
