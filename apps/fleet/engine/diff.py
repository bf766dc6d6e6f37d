"""A fleet against what a file says of it: every difference, named, before anything is changed.

Only what both sides speak of is compared. Groups that a file calls by other names (a clique's UUID for a
domain) are matched by their nodes, so that a new name is one difference and not one for each node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.core.hostlist import fold
from apps.core.texts import say
from apps.fleet.engine.description import (
    FleetDescription,
    Link,
    Node,
    Part,
    Switch,
    described,
    natural_order,
    runs_of,
)
from apps.fleet.engine.schedulers.forest import Beneath

_LABELS = {Part.DOMAINS: say("domain"), Part.SUBDOMAINS: say("sub-domain"), Part.SWITCHES: say("switch")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """code: stable. subject: node, domain, sub-domain, switch or link. ours, theirs: fleet and file; "" for
    nothing there. Problems inside the file come with their own codes and no values."""

    code: str
    subject: str
    message: str
    ours: str = ""
    theirs: str = ""


def differences(
    fleet: FleetDescription, seen: FleetDescription, *, aliases: Mapping[str, str] | None = None
) -> tuple[Difference, ...]:
    """Problems of the file first, then nodes, domains, sub-domains, switches and links.

    aliases: other names of nodes → names in the fleet.
    """
    theirs = _with_names(seen, aliases or {})
    both = fleet.says & seen.says
    found = [Difference(code=one.code, subject=one.subject, message=one.message) for one in seen.problems]
    found += _merged_nodes(seen, aliases or {})
    if Part.NODES in both:
        found += _presence(say("node"), [one.name for one in fleet.nodes], [one.name for one in theirs.nodes])
    for part, pick in ((Part.DOMAINS, _domain_groups), (Part.SUBDOMAINS, _sub_domain_groups)):
        if part in both:
            found += _groups(part, pick(fleet), pick(theirs), fleet)
    found += _node_values(fleet, theirs, both)
    if Part.SWITCHES in both:
        found += _switches(fleet, theirs)
    if Part.LINKS in both:
        found += _links(fleet.links, theirs.links)
    return tuple(found)


def _with_names(seen: FleetDescription, aliases: Mapping[str, str]) -> FleetDescription:
    def name(alias: str) -> str:
        node, slash, rest = alias.partition("/")
        return aliases.get(node, node) + slash + rest

    nodes = {name(node.name): replace(node, name=name(node.name)) for node in reversed(seen.nodes)}
    return described(
        says=seen.says,
        domains=seen.domains,
        nodes=nodes.values(),
        switches=[replace(one, nodes=tuple(name(node) for node in one.nodes)) for one in seen.switches],
        links=[replace(one, a=name(one.a), b=name(one.b)) for one in seen.links],
    )


def _merged_nodes(seen: FleetDescription, aliases: Mapping[str, str]) -> list[Difference]:
    """Names of the file that mean one node of the fleet."""
    counts = Counter(aliases.get(node.name, node.name) for node in seen.nodes)
    return [
        Difference(
            code="node_twice",
            subject=name,
            message=say("node %(name)s is there %(count)s times under its names", name=name, count=count),
        )
        for name, count in counts.items()
        if count > 1
    ]


def _presence(what: str, ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Difference]:
    code = what.replace("-", "_")
    for name in natural_order(set(ours) - set(theirs)):
        yield Difference(
            code=f"{code}_missing",
            subject=name,
            message=say("%(what)s %(name)s of the fleet is not in the file", what=what, name=name),
            ours=name,
        )
    for name in natural_order(set(theirs) - set(ours)):
        yield Difference(
            code=f"unknown_{code}",
            subject=name,
            message=say("%(what)s %(name)s of the file is not in the fleet", what=what, name=name),
            theirs=name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    nodes: frozenset[str]
    real_name: str = ""


def _domain_groups(fleet: FleetDescription) -> dict[str, _Group]:
    members: dict[str, set[str]] = {domain.name: set() for domain in fleet.domains}
    for node in fleet.nodes:
        if node.domain:
            members.setdefault(node.domain, set()).add(node.name)
    real_names = {domain.name: domain.real_name for domain in fleet.domains}
    return {
        name: _Group(nodes=frozenset(nodes), real_name=real_names.get(name, ""))
        for name, nodes in members.items()
    }


def _sub_domain_groups(fleet: FleetDescription) -> dict[str, _Group]:
    members: dict[str, set[str]] = {name: set() for domain in fleet.domains for name in domain.sub_domains}
    for node in fleet.nodes:
        for span in node.spans:
            members.setdefault(span.sub_domain, set()).add(node.name)
    return {name: _Group(nodes=frozenset(nodes)) for name, nodes in members.items()}


def _matched(ours: Mapping[str, _Group], theirs: Mapping[str, _Group]) -> dict[str, str]:
    """Name in the file → name in the fleet: by name, by real name, or by most of the nodes of both."""
    matched = {name: name for name in theirs if name in ours}
    by_real_name = {group.real_name: name for name, group in ours.items() if group.real_name}
    home = {node: name for name, group in ours.items() for node in group.nodes}
    for name, group in theirs.items():
        if name in matched:
            continue
        if group.real_name in ours or name in by_real_name:
            candidate = by_real_name.get(name, group.real_name)
        else:
            votes = Counter(home[node] for node in sorted(group.nodes) if node in home)
            candidate, count = votes.most_common(1)[0] if votes else ("", 0)
            if not candidate or 2 * count <= max(len(group.nodes), len(ours[candidate].nodes)):
                continue
        if candidate not in matched.values():
            matched[name] = candidate
    return matched


def _groups(
    part: Part, ours: Mapping[str, _Group], theirs: Mapping[str, _Group], fleet: FleetDescription
) -> Iterator[Difference]:
    what = _LABELS[part]
    code = what.replace("-", "_")
    matched = _matched(ours, theirs)
    for name, own in matched.items():
        known = {own, ours[own].real_name} - {""}
        if name not in known and theirs[name].real_name not in known:
            yield Difference(
                code=f"{code}_named_otherwise",
                subject=own,
                message=say("%(what)s %(own)s is called %(name)s in the file", what=what, own=own, name=name),
                ours=own,
                theirs=name,
            )
    left = [name for name in theirs if name not in matched]
    yield from _presence(what, sorted(set(ours) - set(matched.values())), left)
    known_nodes = {node.name for node in fleet.nodes}
    homes: dict[str, list[str]] = {}
    for name, group in theirs.items():
        for node in group.nodes:
            homes.setdefault(node, []).append(matched.get(name, name))
    for own, group in ours.items():
        for node in natural_order(group.nodes & homes.keys()):
            if own not in homes[node]:
                yield _moved(what, code, node, own, ", ".join(homes[node]))
    inside = {node for group in ours.values() for node in group.nodes}
    for node in natural_order((homes.keys() & known_nodes) - inside):
        yield _moved(what, code, node, "", ", ".join(homes[node]))


def _moved(what: str, code: str, node: str, own: str, other: str) -> Difference:
    message = say(
        "node %(node)s is in %(what)s %(own)s, by the file in %(other)s",
        node=node,
        what=what,
        own=own or say("none"),
        other=other,
    )
    return Difference(code=f"node_{code}", subject=node, message=message, ours=own, theirs=other)


def _node_values(
    fleet: FleetDescription, theirs: FleetDescription, both: frozenset[Part]
) -> Iterator[Difference]:
    seen = {node.name: node for node in theirs.nodes}
    for node in fleet.nodes:
        other = seen.get(node.name)
        if other is None:
            continue
        if Part.DOMAINS in both and node.domain and not other.domain:
            message = say(
                "node %(name)s of domain %(domain)s is in no domain of the file",
                name=node.name,
                domain=node.domain,
            )
            yield Difference(
                code="node_domain", subject=node.name, message=message, ours=node.domain, theirs=""
            )
        is_counted, has_slots = other.cards is not None, other.slots and other.slots != node.slots
        if Part.CARDS in both and is_counted and (node.cards != other.cards or has_slots):
            yield _value("node_cards", say("accelerators"), node, _counted(node), _counted(other))
        if Part.MODELS in both and _models(other) not in ("", _models(node)):
            yield _value("node_model", say("model"), node, _models(node), _models(other))


def _counted(node: Node) -> str:
    return f"{node.cards} ({fold(f's{slot}' for slot in node.slots)})" if node.slots else str(node.cards)


def _models(node: Node) -> str:
    return node.model or ", ".join(runs_of(node.models))


def _value(code: str, what: str, node: Node, ours: str, theirs: str) -> Difference:
    message = say(
        "%(what)s of node %(name)s: %(ours)s in the fleet, %(theirs)s in the file",
        what=what,
        name=node.name,
        ours=ours,
        theirs=theirs,
    )
    return Difference(code=code, subject=node.name, message=message, ours=ours, theirs=theirs)


def _switches(fleet: FleetDescription, theirs: FleetDescription) -> Iterator[Difference]:
    ours_by_name = {switch.name: switch for switch in fleet.switches}
    by_real_name = {switch.real_name: switch.name for switch in fleet.switches if switch.real_name}

    def own_name(name: str, real_name: str = "") -> str:
        if name in ours_by_name:
            return name
        return by_real_name.get(name) or (real_name if real_name in ours_by_name else name)

    seen: dict[str, Switch] = {}
    real_names = {switch.name: switch.real_name for switch in theirs.switches}
    for switch in theirs.switches:
        below = natural_order(own_name(child, real_names.get(child, "")) for child in switch.switches)
        seen[own_name(switch.name, switch.real_name)] = replace(switch, switches=below)
    # Most files cannot name a switch above no node, so their silence is no difference.
    beneath = Beneath(fleet.switches)
    silent = {name for name in ours_by_name if not beneath.bits(name)} - seen.keys()
    yield from _presence(say("switch"), list(ours_by_name.keys() - silent), list(seen))
    for name, ours in ours_by_name.items():
        if name not in seen:
            continue
        other = seen[name]
        spoken = [child for child in ours.switches if child not in silent]
        for code, what, before, after in (
            ("switch_tier", say("tier"), str(ours.tier), str(other.tier)),
            ("switch_nodes", say("nodes beneath"), ", ".join(ours.nodes), ", ".join(other.nodes)),
            ("switch_switches", say("switches beneath"), ", ".join(spoken), ", ".join(other.switches)),
        ):
            if before != after:
                message = say(
                    "%(what)s of switch %(name)s: %(before)s in the fleet, %(after)s in the file",
                    what=what,
                    name=name,
                    before=before or say("none"),
                    after=after or say("none"),
                )
                yield Difference(code=code, subject=name, message=message, ours=before, theirs=after)


def _links(ours: Sequence[Link], theirs: Sequence[Link]) -> Iterator[Difference]:
    own, seen = _by_ends(ours), _by_ends(theirs)
    yield from _presence(say("link"), list(own), list(seen))
    for name, link in own.items():
        other = seen.get(name)
        if other is None:
            continue
        for code, what, before, after in (
            ("link_count", say("link count"), link.count, other.count),
            (
                "link_bandwidth",
                say("link bandwidth"),
                link.bandwidth_bytes_per_s,
                other.bandwidth_bytes_per_s,
            ),
        ):
            if before != after and before is not None and after is not None:
                yield Difference(
                    code=code,
                    subject=name,
                    message=say(
                        "%(what)s of %(name)s: %(before)s in the fleet, %(after)s in the file",
                        what=what,
                        name=name,
                        before=before,
                        after=after,
                    ),
                    ours=str(before),
                    theirs=str(after),
                )


def _by_ends(links: Sequence[Link]) -> dict[str, Link]:
    """Links by their two ends, in whichever order a side writes them."""
    return {" to ".join(natural_order((link.a, link.b))): link for link in links}
