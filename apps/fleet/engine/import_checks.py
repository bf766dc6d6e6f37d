"""What single rows cannot show: names that lead nowhere, values used twice, sub-domains of another domain, cycles.

All checks look at the fleet as it would be afterwards, and blame rows of the import only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.core.texts import say
from apps.fleet.engine.cells import Value
from apps.fleet.engine.tables import SCHEMAS, Key, Table, Values

_SINGULAR = {Table.DOMAINS: say("domain"), Table.NODES: say("node"), Table.SWITCHES: say("switch")}

Fleet = Mapping[Table, Mapping[Key, Values]]
Given = Mapping[Table, Mapping[Key, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """row: its line in a CSV file, else its number from 1; 0 for the table as a whole. code: stable.

    value: as found, cut to 80 characters.
    """

    row: int
    column: str
    message: str
    code: str
    value: str = ""


def cross_check(after: Fleet, given: Given) -> dict[Table, list[RowError]]:
    """Errors per table. after: every row as it would be. given: key → row of the import."""
    found: dict[Table, list[RowError]] = {}
    for table, rows in given.items():
        found[table] = [*_references(table, after, rows), *_uniques(table, after, rows)]
    found.setdefault(Table.NODES, []).extend(_aliases(after, given.get(Table.NODES, {})))
    for table, errors in _homes(after, given).items():
        found.setdefault(table, []).extend(errors)
    found.setdefault(Table.LINKS, []).extend(_link_ends(after, given.get(Table.LINKS, {})))
    found[Table.LINKS].extend(_cycles(after, given.get(Table.LINKS, {})))
    return found


def _references(table: Table, after: Fleet, rows: Mapping[Key, int]) -> Iterator[RowError]:
    for column in SCHEMAS[table].columns:
        if column.refers_to is None:
            continue
        there = after[column.refers_to]
        what = _SINGULAR[column.refers_to]
        for key, number in rows.items():
            name = after[table].get(key, {}).get(column.name)
            if name and (name,) not in there:
                message = say(
                    "there is no %(what)s %(name)s, neither in the fleet nor in this import",
                    what=what,
                    name=name,
                )
                yield _error(number, column.name, name, message, f"unknown_{what}")


def _uniques(table: Table, after: Fleet, rows: Mapping[Key, int]) -> Iterator[RowError]:
    within = SCHEMAS[table].within
    for name in SCHEMAS[table].unique:
        holders: dict[tuple[object, object], list[Key]] = {}
        for key, values in after[table].items():
            if values[name]:
                holders.setdefault((values[name], within and values[within]), []).append(key)
        for (value, _kind), keys in holders.items():
            blamed = [key for key in keys if key in rows]
            if len(keys) < 2 or not blamed:
                continue
            for key in blamed if len(blamed) < len(keys) else blamed[1:]:
                other = next(one for one in keys if one != key)
                message = say(
                    "%(name)s %(value)s is that of %(other)s already",
                    name=name,
                    value=value,
                    other=_shown(other),
                )
                yield _error(rows[key], name, value, message, "not_unique")


def _aliases(after: Fleet, rows: Mapping[Key, int]) -> Iterator[RowError]:
    """An alias must not be the name or an alias of another node."""
    owner: dict[str, Key] = {str(key[0]): key for key in after[Table.NODES]}
    for key, values in after[Table.NODES].items():
        for alias in _names(values["aliases"]):
            first = owner.setdefault(alias, key)
            if first != key and (key in rows or first in rows):
                number = rows.get(key, rows.get(first, 0))
                other = first if key in rows else key
                message = say("%(alias)s means node %(other)s already", alias=alias, other=_shown(other))
                yield _error(number, "aliases", alias, message, "not_unique")


def _homes(after: Fleet, given: Given) -> dict[Table, list[RowError]]:
    """An accelerator's sub-domain is one of its node's domain. Its row is blamed, or its node's, or the domain's."""
    homes = {
        (name, str(key[0]))
        for key, values in after[Table.DOMAINS].items()
        for name in _names(values["sub_domains"])
    }
    rows = {table: given.get(table, {}) for table in (Table.ACCELERATORS, Table.NODES, Table.DOMAINS)}
    found: dict[Table, list[RowError]] = {table: [] for table in rows}
    told: set[tuple[Table, int, Value]] = set()
    for key, card in after[Table.ACCELERATORS].items():
        node = after[Table.NODES].get((key[0],))
        if node is None or not card["sub_domain"] or (card["sub_domain"], node["domain"]) in homes:
            continue
        own: dict[Table, Key] = {
            Table.ACCELERATORS: key,
            Table.NODES: (key[0],),
            Table.DOMAINS: (node["domain"],),
        }
        table = next((table for table, one in own.items() if one in rows[table]), None)
        if table is None:
            continue
        row = rows[table][own[table]]
        if (table, row, card["sub_domain"]) not in told:
            told.add((table, row, card["sub_domain"]))
            found[table].append(_astray(table, row, _shown(key), card, node))
    return found


def _astray(table: Table, row: int, shown: str, card: Values, node: Values) -> RowError:
    hall, domain = card["sub_domain"], node["domain"] or say("none")
    if table is Table.DOMAINS:
        message = say("accelerator %(shown)s still belongs to sub-domain %(hall)s", shown=shown, hall=hall)
        return _error(row, "sub_domains", hall, message, "sub_domain_in_use")
    message = say(
        "domain %(domain)s has no sub-domain %(hall)s, to which accelerator %(shown)s belongs",
        domain=domain,
        hall=hall,
        shown=shown,
    )
    column = "sub_domain" if table is Table.ACCELERATORS else "domain"
    return _error(row, column, hall, message, "unknown_sub_domain")


def _link_ends(after: Fleet, rows: Mapping[Key, int]) -> Iterator[RowError]:
    """The lower end is a switch of a lower tier, a node, or an accelerator as node/index."""
    switches = after[Table.SWITCHES]
    for key, number in rows.items():
        if key not in after[Table.LINKS]:
            continue
        upper, lower = str(key[0]), str(key[1])
        node, slash, index = lower.partition("/")
        if slash:
            known = index.isdecimal() and (node, int(index[:9])) in after[Table.ACCELERATORS]
        else:
            known = (lower,) in after[Table.NODES] or (lower,) in switches
        if not known:
            message = say("neither a switch nor a node nor an accelerator (node/index) of this name")
            yield _error(number, "lower", lower, message, "unknown_end")
        elif (lower,) in switches and (upper,) in switches and lower != upper:
            above, below = switches[upper,]["tier"], switches[lower,]["tier"]
            if isinstance(above, int) and isinstance(below, int) and above <= below:
                message = say(
                    "%(upper)s of tier %(above)s cannot be above %(lower)s of tier %(below)s",
                    upper=upper,
                    above=above,
                    lower=lower,
                    below=below,
                )
                yield _error(number, "lower", lower, message, "tier_order")


def _cycles(after: Fleet, rows: Mapping[Key, int]) -> Iterator[RowError]:
    """Links of the import that lie on a way from a switch back to itself."""
    below: dict[str, list[str]] = {}
    for key in after[Table.LINKS]:
        if (key[1],) in after[Table.SWITCHES]:
            below.setdefault(str(key[0]), []).append(str(key[1]))
    in_cycle = _on_cycles(below)
    for key, number in rows.items():
        if key in after[Table.LINKS] and key[0] in in_cycle and key[1] in in_cycle:
            yield _error(number, "lower", key[1], say("%(key)s would be beneath itself", key=key[0]), "cycle")


def _on_cycles(below: Mapping[str, Sequence[str]]) -> set[str]:
    """Vertices left when those without anything beneath, or without anything above, are taken away in turn."""
    left = {name: set(children) for name, children in below.items()}
    while True:
        inner = {child for children in left.values() for child in children}
        kept = {
            name: {child for child in children if child in left}
            for name, children in left.items()
            if name in inner
        }
        kept = {name: children for name, children in kept.items() if children}
        if kept == left:
            return set(left)
        left = kept


def _names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _shown(key: Key) -> str:
    return "/".join(str(part) for part in key)


def _error(row: int, column: str, value: object, message: str, code: str) -> RowError:
    return RowError(row=row, column=column, value=str(value)[:80], message=message, code=code)
