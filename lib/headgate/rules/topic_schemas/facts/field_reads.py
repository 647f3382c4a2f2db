"""Which fields of a topic's records a pipeline reads, as far as its plan shows."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Source, Version
from headgate.rules.topic_schemas.facts.expression_reads import usages
from headgate.text.java_patterns import java_pattern

NEEDS_FIELD = "Does the pipeline {pipeline} need the field {path}?"
"""The question if a pipeline's query plan doesn't show how it uses a field."""
_LEAD = re.compile(r"A registered pipeline [^.]*\. (?:The pipeline's evidence [^.]*\. )?")
DEFINES_COLUMNS = frozenset(("project", "aggregate", "generate", "expand", "window"))


def without_lead(why: str) -> str:
    """Return a rule's reason without the sentences that a `FieldRead.sentence` says by name."""
    return _LEAD.sub("", why, count=1)


class Certainty(StrEnum):
    """How sure it is that a pipeline reads a field."""

    DEFINITE = "definite"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"
    NO = "no"


@dataclass(frozen=True, slots=True)
class FieldRead:
    """What one pipeline does with one field; `location` are ids of its nodes that read it.

    `question` is what would decide it, empty where it is decided.
    """

    pipeline: str
    certainty: Certainty
    sentence: str
    location: tuple[str, ...] = ()
    question: str = ""


@dataclass(frozen=True, slots=True)
class TopicUse:
    """What a version does with the records of a topic; made once for many fields.

    `read` are paths with the nodes that read them, `parsed` those that a schema in the plan names
    without a visible use, `whole` are the nodes that pass the record as it is. `blind` is why the
    plan can't show it, empty if it can.
    """

    pipeline: str
    read: Mapping[str, tuple[str, ...]]
    parsed: frozenset[str]
    whole: tuple[str, ...]
    blind: str = ""

    def of(self, path: str) -> FieldRead:
        """Return what is known of one field; a path above or below one that is read counts."""
        nodes = tuple(n for p, ns in self.read.items() if touches(p, path) for n in ns)
        if nodes:
            words = f"The pipeline {self.pipeline} reads the field {path}."
            return FieldRead(self.pipeline, Certainty.DEFINITE, words, tuple(dict.fromkeys(nodes)))
        question = NEEDS_FIELD.format(pipeline=self.pipeline, path=path)
        if self.blind:
            said = f"The pipeline {self.pipeline} reads the topic, but {self.blind}."
            return FieldRead(self.pipeline, Certainty.UNKNOWN, said, (), question)
        if self.whole:
            said = (
                f"The pipeline {self.pipeline} passes whole records to its sink or to user code "
                f"({', '.join(self.whole)})."
            )
            return FieldRead(self.pipeline, Certainty.POSSIBLE, said, self.whole, question)
        if any(touches(p, path) for p in self.parsed):
            said = f"The pipeline {self.pipeline} parses the field {path} and may use it."
            return FieldRead(self.pipeline, Certainty.POSSIBLE, said, (), question)
        said = f"The pipeline {self.pipeline} reads the topic, but not the field {path}."
        return FieldRead(self.pipeline, Certainty.NO, said)


def touches(one: str, other: str) -> bool:
    """Whether two paths are one, or one contains the other; marks of lists and maps don't count."""
    a, b = (_bare(p) for p in (one, other))
    return a == b or a.startswith(f"{b}.") or b.startswith(f"{a}.")


def _bare(path: str) -> str:
    return re.sub(r"\[[^\]]*\]|\{\}", "", path).casefold()


def topic_use(
    pipeline: str,
    version: Version | None,
    topic: str,
    column: str,
    engine: Engine = Engine.SPARK,
) -> TopicUse:
    """Return what a version does with `column` (`value` or `key`) of a topic's records.

    `engine` is the pipeline's where it has no version yet.
    """
    if (version.engine if version else engine) is not Engine.SPARK:
        return _blind(pipeline, "its evidence doesn't show how its code uses a record")
    if version is None:
        return _blind(pipeline, "Headgate hasn't read any of its versions yet")
    sources = [s for s in version.sources or () if _reads(s, topic)]
    has_plan = any(n.kind is NodeKind.TRANSFORM for n in version.topology.nodes)
    if not sources or not (has_plan or _is_whole_graph(version, sources)):
        words = "its evidence has no query plan"
        return _blind(
            pipeline,
            "its query plan shows the topic as a table, not as a stream" if has_plan else words,
        )
    return _used(pipeline, version, sources, column)


def _blind(pipeline: str, why: str) -> TopicUse:
    return TopicUse(pipeline, {}, frozenset(), (), why)


def _is_whole_graph(version: Version, sources: list[Source]) -> bool:
    """Whether the plan is known to be a source and a sink with nothing between."""
    ids = {s.node for s in sources}
    return bool(sources) and any(e.source in ids for e in version.topology.edges)


def _reads(source: Source, topic: str) -> bool:
    if topic in source.topics:
        return True
    if not source.pattern:
        return False
    compiled = java_pattern(source.pattern)
    return compiled is not None and compiled.search(topic) is not None


def _used(pipeline: str, version: Version, sources: list[Source], column: str) -> TopicUse:
    names = tuple(f"s{s.position}.{column}" for s in sources)
    read: dict[str, list[str]] = {}
    parsed: set[str] = set()
    whole: dict[str, None] = {}
    blind, is_named = "", False
    ends = _ends(version.topology)
    for node, name, text in _expressions(version):
        is_named = is_named or any(f"s{s.position}." in text for s in sources)
        if "sha256:" in text:
            blind = "an expression of its query plan is too long for Headgate to store"
        for usage in usages(text, names):
            if usage.path is not None:
                read.setdefault(usage.path, []).append(node)
            elif name is None or node in ends:
                parsed |= set(usage.parsed)
                if usage.is_whole:
                    whole[_shown(version, node)] = None
    for source in sources:
        if source.node in ends:
            whole[_shown(version, source.node)] = None
    if not (is_named or whole or blind):
        blind = "its query plan shows none of the topic's columns"
    found = {p: tuple(n) for p, n in read.items()}
    return TopicUse(pipeline, found, frozenset(parsed), tuple(whole), blind)


def _shown(version: Version, node: str | None) -> str:
    found = version.topology.node(node) if node else None
    return found.label if found else "its sink"


def _expressions(version: Version) -> Iterator[tuple[str, str | None, str]]:
    """Yield (node id, name of the column that it makes or None, text) of every expression."""
    for node in version.topology.nodes:
        if node.kind is not NodeKind.SOURCE:
            yield from _of_node(node)
    for operator in version.stateful or ():
        for group in (operator.keys, operator.right_keys, operator.functions):
            for text in group or ():
                yield operator.node or "", None, text
        if operator.condition:
            yield operator.node or "", None, operator.condition


def _of_node(node: Node) -> Iterator[tuple[str, str | None, str]]:
    for key, value in node.details.items():
        makes = key == "columns" and node.operator in DEFINES_COLUMNS
        for name, text in _texts(value):
            yield node.id, (name or key) if makes else None, text


def _texts(value: Any) -> Iterator[tuple[str | None, str]]:
    stack: list[tuple[str | None, Any]] = [(None, value)]
    while stack:
        name, found = stack.pop()
        if isinstance(found, str):
            yield name, found
        elif isinstance(found, dict):
            stack.extend((str(k), v) for k, v in found.items())
        elif isinstance(found, (list, tuple)):
            stack.extend((name, v) for v in found)


def _ends(topology: Topology) -> frozenset[str]:
    """Return the nodes whose columns reach a sink, or code that no plan shows, as they are.

    A projection or an aggregate on the way creates new columns; everything else keeps them.
    """
    after: dict[str, list[str]] = {}
    for edge in topology.edges:
        after.setdefault(edge.source, []).append(edge.target)
    kinds = {n.id: n for n in topology.nodes}
    return frozenset(n.id for n in topology.nodes if _reaches_end(n.id, after, kinds))


def _reaches_end(start: str, after: Mapping[str, list[str]], nodes: Mapping[str, Node]) -> bool:
    queue, seen = deque([start]), {start}
    while queue:
        current = queue.popleft()
        for following in after.get(current, ()):
            node = nodes.get(following)
            if node is None or following in seen:
                continue
            seen.add(following)
            if node.kind is NodeKind.SINK or _is_opaque(node):
                return True
            if node.operator not in DEFINES_COLUMNS and node.kind is not NodeKind.STATE_STORE:
                queue.append(following)
    return False


def _is_opaque(node: Node) -> bool:
    """Whether a node runs code that takes whole rows."""
    word = node.operator
    return word == "unknown" or word.startswith(
        ("map", "flat_map", "transform_with_state", "apply")
    )
