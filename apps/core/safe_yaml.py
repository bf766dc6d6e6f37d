"""YAML from people: plain values only, every document with its line, bombs and doubtful input refused.

Values follow the core schema of YAML 1.2 and not YAML 1.1: `06` stays text (a driver minor, a host number),
`12:30` is no number, `no` is no truth value, dates stay text. So what is read can always be written as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from apps.core.errors import Invalid
from apps.core.foreign import why
from apps.core.storable import require_storable
from apps.core.texts import say

LIMIT_NODES = 2_000_000
LIMIT_ALIASES = 1_000
LIMIT_DEPTH = 64

_ALLOWED_TAGS = {None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class UnsafeYaml(Invalid):
    """The YAML text is not valid, or not safe to read.

    fields: line (1-based, None where it concerns the whole text).
    Codes: bad_yaml, duplicate_key, yaml_tag, yaml_too_deep, yaml_too_many_nodes, yaml_too_many_aliases,
    unstorable.
    """

    default_code = "bad_yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a YAML text: its value and the 1-based line on which the value starts."""

    value: Any
    line: int


class _Loader(yaml.CSafeLoader):
    """The safe loader with the scalars of YAML 1.2."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})?(?:[eE][-+][0-9]{1,2})?", "-+0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def load_all(text: str, *, limit_nodes: int = LIMIT_NODES) -> Iterator[Document]:
    """The documents of a text, in order; empty ones are passed over.

    limit_nodes: highest number of values, each alias counted with all that it stands for.
    Raises UnsafeYaml; documents before the fault have been given by then.
    """
    _check(text, limit_nodes)
    loader = _Loader(text)
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            value = loader.construct_document(node)
            if value is not None:
                yield Document(value=value, line=node.start_mark.line + 1)
    except yaml.YAMLError as fault:
        raise _refused(fault) from fault
    finally:
        loader.dispose()


def load(text: str, *, limit_nodes: int = LIMIT_NODES) -> Any:
    """The value of a text that holds one document; None for an empty text. Raises UnsafeYaml."""
    documents = list(load_all(text, limit_nodes=limit_nodes))
    if len(documents) > 1:
        line = documents[1].line
        raise UnsafeYaml(say("line %(line)s: a second document; one is expected here", line=line), line=line)
    return documents[0].value if documents else None


def _check(text: str, limit_nodes: int) -> None:
    """Count nodes, depth and aliases on the stream of events, before anything is built."""
    count = _Count(limit_nodes)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            count.take(event)
    except yaml.YAMLError as fault:
        if not count.documents:
            raise _refused(fault) from fault
        # what stands before the fault is still read; the fault comes up again where it is


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet.

    nodes: values that stood before it. keys: those of a mapping so far, None for a sequence.
    is_key: whether the next value in it is a key.
    """

    anchor: str | None
    nodes: int
    keys: set[str] | None
    is_key: bool


class _Count:
    """What a YAML text would grow to.

    nodes: values so far, aliases expanded. sizes: anchor to the number of values that it stands for.
    """

    def __init__(self, limit_nodes: int) -> None:
        self.limit_nodes = limit_nodes
        self.nodes = self.aliases = self.documents = 0
        self.sizes: dict[str, int] = {}
        self.open: list[_Open] = []

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self.sizes = {}
        elif isinstance(event, yaml.DocumentEndEvent):
            self.documents += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            ended = self.open.pop()
            if ended.anchor:
                self.sizes[ended.anchor] = self.nodes - ended.nodes
        elif isinstance(event, yaml.NodeEvent):
            self._node(event, line)

    def _node(self, event: Any, line: int) -> None:
        if isinstance(event, yaml.ScalarEvent):
            try:
                require_storable(event.value)
            except Invalid as fault:
                raise _error(fault.message, "unstorable", line) from fault
        self._place(event, line)
        if isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "", line)
            return
        if event.tag not in _ALLOWED_TAGS:
            raise _error(say("the tag %(tag)s is not allowed", tag=f"{event.tag[:80]!r}"), "yaml_tag", line)
        if isinstance(event, yaml.CollectionStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self.open.append(_Open(event.anchor, self.nodes, set() if is_mapping else None, is_mapping))
            if len(self.open) > LIMIT_DEPTH:
                raise _error(
                    say("nested deeper than %(limit_depth)s levels", limit_depth=LIMIT_DEPTH),
                    "yaml_too_deep",
                    line,
                )
        elif event.anchor:
            self.sizes[event.anchor] = 1
        self._add(1, line)

    def _place(self, event: Any, line: int) -> None:
        """Note a key, and refuse one that its mapping has already."""
        if not self.open or (parent := self.open[-1]).keys is None:
            return
        if parent.is_key and isinstance(event, yaml.ScalarEvent) and event.value != "<<":
            if event.value in parent.keys:
                raise _error(
                    say("the key %(value)s is there twice", value=f"{event.value[:80]!r}"),
                    "duplicate_key",
                    line,
                )
            parent.keys.add(event.value)
        parent.is_key = not parent.is_key

    def _alias(self, anchor: str, line: int) -> None:
        self.aliases += 1
        if self.aliases > LIMIT_ALIASES:
            raise _error(
                say("more than %(limit_aliases)s aliases", limit_aliases=LIMIT_ALIASES),
                "yaml_too_many_aliases",
                line,
            )
        if anchor in self.sizes:
            self._add(self.sizes[anchor], line)
        elif any(parent.anchor == anchor for parent in self.open):
            raise _error(
                say("the alias %(anchor)s stands within itself", anchor=f"{anchor[:80]!r}"), "bad_yaml", line
            )

    def _add(self, nodes: int, line: int) -> None:
        self.nodes += nodes
        if self.nodes > self.limit_nodes:
            raise _error(
                say("more than %(limit_nodes)s values, aliases expanded", limit_nodes=self.limit_nodes),
                "yaml_too_many_nodes",
                line,
            )


def _error(what: str, code: str, line: int) -> UnsafeYaml:
    return UnsafeYaml(say("line %(line)s: %(what)s", line=line, what=what), code=code, line=line)


def _refused(fault: yaml.YAMLError) -> UnsafeYaml:
    mark = getattr(fault, "problem_mark", None)
    what = say("no valid YAML: %(said)s", said=why(fault))
    return _error(what, "bad_yaml", mark.line + 1) if mark is not None else UnsafeYaml(what, line=None)
