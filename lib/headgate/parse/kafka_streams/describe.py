"""Read the text of `Topology#describe()`, as Kafka Streams prints it since 1.0.

Every shape is read: a line a node with arrows below it, all on one line (of releases before 1.0,
by recorded text only), global stores as sub-topologies (since 1.1) or at the end (1.0), named
topologies, lines of logs in between. What can't be read costs a warning with its line; nothing
raises. 1.0.2, 2.8.2, 3.9.1 and 4.3.1 were run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.parse.kafka_streams.describe_edges import Arrow, linked
from headgate.parse.kafka_streams.describe_lines import Line, lines
from headgate.parse.kafka_streams.describe_nodes import KINDS, NodeText, read_node, split_arrows
from headgate.parse.kafka_streams.description import DescribedNode, Description, Key, newest
from headgate.parse.kafka_streams.endings import begins_heading, lacks_arrows, unread_repartitions
from headgate.text.numbers import plural

_NUMBER = re.compile(r"(?P<number>\d{1,9})(?P<rest>.*)", re.S)
_GLOBAL = re.compile(
    r"(?P<source>.+?)\s?\(topic: (?P<topic>.*)\)\s*--?> "
    r"(?P<processor>.+?)\s?\(store: (?P<store>.*)\)"
)
_LONGEST = 20
_MOST_WARNINGS = 20
NOT_KNOWN = -1


def looks_described(text: str) -> bool:
    """Whether the text holds at least one line that only a description has; cheap."""
    if "Sub-topology:" in text or "Sub-topologies:" in text:
        return True
    return any(mark in text for mark in ("(topics: ", "(stores: ")) and bool(
        re.search(r"(?:Source|Processor): .+\((?:topics|stores): ", text)
    )


def read_description(text: str) -> Description:
    """Return the newest description in the text; empty where there is none."""
    reader = _Reader()
    for line in lines(text):
        reader.take(line)
    reader.end()
    return newest([d.made() for d in reader.drafts])


@dataclass(slots=True)
class _Draft:
    """A description while it is read."""

    line: int
    nodes: dict[Key, DescribedNode] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    topologies: dict[str, None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def made(self) -> Description:
        nodes = _placed(self.nodes.values(), self.warnings)
        edges, problems = linked(nodes, self.arrows)
        warnings = _capped([*self.warnings, *problems, *unread_repartitions(nodes)])
        return Description(tuple(nodes), edges, tuple(self.topologies), self.line, warnings)


def _capped(warnings: list[str]) -> tuple[str, ...]:
    more = len(warnings) - _MOST_WARNINGS
    return (
        *warnings[:_MOST_WARNINGS],
        *([f"and {plural(more, 'more warning')} about this description"] if more > 0 else []),
    )


def _placed(nodes: Iterable[DescribedNode], warnings: list[str]) -> list[DescribedNode]:
    """Give nodes before the first header the sub-topology that must have stood there."""
    out = list(nodes)
    lost = [n for n in out if n.subtopology == NOT_KNOWN]
    if not lost:
        return out
    known = [n.subtopology for n in out if n.subtopology != NOT_KNOWN]
    number = max(min(known) - 1, 0) if known else 0
    if known and number == min(known):
        number = max(known) + 1
    warnings.append(
        f"line {lost[0].line}: no sub-topology heading precedes {lost[0].name}. Headgate assigns "
        f"the node to sub-topology {number}"
    )
    return [replace(n, subtopology=number) if n.subtopology == NOT_KNOWN else n for n in out]


class _Reader:
    """Takes line after line; `current` is the node that arrows belong to."""

    def __init__(self) -> None:
        self.drafts = [_Draft(1)]
        self.topology: str | None = None
        self.subtopology = NOT_KNOWN
        self.is_global = False
        self.current: tuple[DescribedNode, bool] | None = None
        self.pending: tuple[Line, list[str]] | None = None
        self.half: Line | None = None
        self.is_begun = False
        self.last = ""
        self.is_oldest = False

    @property
    def draft(self) -> _Draft:
        return self.drafts[-1]

    def take(self, line: Line) -> None:
        if self.pending is not None and self._continued(line):
            return
        if self.half is not None and line.key not in (None, "-->"):
            self._half_cut()
        self.last = line.raw if line.raw.strip() else self.last
        if line.key is not None:
            self.is_begun = line.key == "Sub-topology:"
        match line.key:
            case "Topologies:" | "Sub-topologies:" | "Topology:":
                self._header(line)
            case "Sub-topology:":
                self._subtopology(line)
            case "Global Stores:":
                self.current, self.is_global = None, True
            case "GlobalStore:":
                self._global_store(line)
            case "Source:" | "Processor:" | "Sink:":
                self._begin(line)
            case "-->" | "<--":
                self._arrow(line)
            case _:
                self._other(line)

    def end(self) -> None:
        if self.pending is not None:
            self._cut()
        if self.half is not None:
            self._half_cut()
        if missing := self._missing():
            self.draft.warnings.append(f"the description is incomplete: {missing}")

    def _missing(self) -> str | None:
        """Return what must follow the last line, None if the text may end there."""
        if self.is_begun:
            return "the last sub-topology has no nodes"
        if self.current is not None and lacks_arrows(self.current[0], self.draft.arrows):
            return f"the text ends before the arrows of {_shown(self.current[0].name)}"
        if begins_heading(self.last):
            return "the text ends inside a heading"
        if self.is_oldest and not self.is_global:
            return "the text ends before `Global Stores:`"
        return None

    def _continued(self, line: Line) -> bool:
        """Join the lines of a name that has line breaks; a line with a key ends it."""
        assert self.pending is not None
        first, parts = self.pending
        if line.key is not None and not (line.key in ("-->", "<--") and line.is_prefixed):
            self._cut()
            return False
        parts.append(line.raw)
        text = "\n".join(parts)
        found = read_node(str(first.key), text)
        if found is not None and found.is_whole:
            self.pending = None
            self._node(first, found)
        elif len(parts) > _LONGEST:
            self._cut()
        return True

    def _cut(self) -> None:
        """Read what there is of a node whose text ends too early."""
        assert self.pending is not None
        (first, parts), self.pending = self.pending, None
        found = read_node(str(first.key), parts[0])
        if found is not None:
            self.draft.warnings.append(f"line {first.number} is incomplete: {_shown(parts[0])}")
            self._node(first, found)
        elif not first.is_prefixed or self.draft.nodes:
            what = KINDS[str(first.key)]
            self.draft.warnings.append(
                f"line {first.number} looks like a {what}, but can't be read: {_shown(parts[0])}"
            )
            self.current = None

    def _header(self, line: Line) -> None:
        name = line.rest.removesuffix(":").strip() if line.key == "Topology:" else ""
        named = name if name and not line.is_prefixed and line.rest.endswith(":") else None
        if line.key == "Topology:" and name and named is None:
            return
        if self.draft.nodes and (named is None or named in self.draft.topologies):
            self.drafts.append(_Draft(line.number))
        if named is not None:
            self.draft.topologies[named] = None
        self.topology, self.subtopology = named, NOT_KNOWN
        # Kafka Streams 1.0: global stores have a section of their own, which may say `none`.
        self.is_oldest = line.key == "Sub-topologies:"
        self.is_global, self.current = False, None

    def _subtopology(self, line: Line) -> None:
        match = _NUMBER.match(line.rest)
        self.current = None
        if match is None:
            self.draft.warnings.append(f"line {line.number}: expected a sub-topology number")
            return
        self.subtopology = int(match["number"])
        self.is_global = "global" in match["rest"]

    def _global_store(self, line: Line) -> None:
        """Begin `GlobalStore: SOURCE (topic: T) --> PROCESSOR (store: S)` of Kafka Streams 1.0.

        The arrow is on the next line, in texts of early releases on the same.
        """
        self.current = None
        if not self._add_global(line, line.rest):
            self.half = line

    def _half_cut(self) -> None:
        """Say that a global store has no second line."""
        assert self.half is not None
        line, self.half = self.half, None
        self.draft.warnings.append(f"line {line.number} is incomplete: {_shown(line.rest)}")

    def _add_global(self, line: Line, text: str) -> bool:
        match = _GLOBAL.match(text)
        if match is None:
            return False
        number = 1 + max((n.subtopology for n in self.draft.nodes.values()), default=-1)
        shared: dict[str, Any] = {
            "line": line.number,
            "subtopology": number,
            "topology": self.topology,
            "is_global": True,
        }
        topics, stores = (match["topic"],), (match["store"],)
        self._add(DescribedNode(kind="source", name=match["source"], topics=topics, **shared))
        self._add(DescribedNode(kind="processor", name=match["processor"], stores=stores, **shared))
        key = (self.topology, match["source"])
        self.draft.arrows.append(Arrow(key, "-->", match["processor"], line.number))
        return True

    def _begin(self, line: Line) -> None:
        found = read_node(str(line.key), line.rest)
        if found is not None and found.is_whole:
            self._node(line, found)
        else:
            self.pending = (line, [line.rest])

    def _node(self, line: Line, found: NodeText) -> None:
        node = DescribedNode(
            kind=KINDS[str(line.key)],
            name=found.name,
            line=line.number,
            subtopology=self.subtopology,
            topology=self.topology,
            is_global=self.is_global,
            **found.facts,
        )
        self.current = (node, line.is_prefixed)
        self._add(node)
        for arrow, names in found.arrows:
            self.draft.arrows.append(Arrow(node.key, arrow, names, line.number))

    def _add(self, node: DescribedNode) -> None:
        known = self.draft.nodes.setdefault(node.key, node)
        if known is not node and replace(known, line=node.line) != node:
            self.draft.warnings.append(
                f"line {node.line}: {_shown(node.name)} differs from its description on line "
                f"{known.line}. Headgate uses line {known.line}"
            )

    def _arrow(self, line: Line) -> None:
        if self.half is not None:
            if self._add_global(self.half, f"{self.half.rest} --> {line.rest}"):
                self.half = None
            else:
                self._half_cut()
            return
        if self.current is None:
            if self.draft.nodes and not line.is_prefixed:
                self.draft.warnings.append(f"line {line.number}: no node precedes this arrow")
            return
        node, was_prefixed = self.current
        if line.is_prefixed and not was_prefixed:
            return
        names = line.rest
        if line.key == "-->" and node.kind == "processor" and " <-- " in names:
            for arrow, said in split_arrows(f"--> {names}"):
                self.draft.arrows.append(Arrow(node.key, arrow, said, line.number))
            return
        self.draft.arrows.append(Arrow(node.key, str(line.key), names, line.number))

    def _other(self, line: Line) -> None:
        """Keep a line behind an arrow: it may be the rest of a name that has line breaks."""
        arrows = self.draft.arrows
        if self.current is None or not arrows or arrows[-1].node != self.current[0].key:
            return
        if len(arrows[-1].tail) < _LONGEST:
            arrows[-1].tail.append(line.raw)


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
