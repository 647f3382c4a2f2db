"""Compare versions of a topic's schema: who can read what the other one wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from headgate.model.topic_schema import (
    Direction,
    Effect,
    FieldChange,
    FieldChangeKind,
    Mode,
    SchemaField,
    SchemaFinding,
    SchemaFormat,
    SchemaReport,
    TopicSchema,
)
from headgate.rules.topic_schemas import avro, json_schema, protobuf
from headgate.rules.topic_schemas.facts.rule import Pair, SchemaRule
from headgate.rules.topic_schemas.formats import FORMATS


def field_changes(before: TopicSchema, after: TopicSchema) -> tuple[FieldChange, ...]:
    """Return the changes in the order of the old schema, what is new at the end.

    A field below one that went or came is part of that one's change.
    """
    return tuple(_outermost(list(_changes(before, after))))


def _changes(before: TopicSchema, after: TopicSchema) -> Iterator[FieldChange]:
    was, now = _by_path(before), _by_path(after)
    for path, field in was.items():
        if path not in now:
            yield FieldChange(FieldChangeKind.REMOVED, path, field.type, None)
        elif field.type != now[path].type:
            kind = FieldChangeKind.CHANGED
            yield FieldChange(kind, path, field.type, now[path].type)
    for path, field in now.items():
        if path not in was:
            yield FieldChange(FieldChangeKind.ADDED, path, None, field.type)


def _by_path(schema: TopicSchema) -> dict[str, SchemaField]:
    return {f.path: f for f in schema.fields}


def _outermost(changes: list[FieldChange]) -> Iterator[FieldChange]:
    whole = {_bare(c.path) for c in changes if c.kind is not FieldChangeKind.CHANGED}
    for change in changes:
        parts = _bare(change.path).split(".")
        if not whole & {".".join(parts[:i]) for i in range(1, len(parts))}:
            yield change


def _bare(path: str) -> str:
    return path.replace("[]", "").replace("{}", "")


Parts = Callable[[Pair], Iterable[tuple[Any, Any, str]]]
MOST_PAIRS = 50_000
MOST_FINDINGS = 500
_VAGUE = "SCH308"

_OF: dict[SchemaFormat, tuple[Sequence[SchemaRule], Parts]] = {
    SchemaFormat.AVRO: (avro.AVRO, avro.parts),
    SchemaFormat.PROTOBUF: (protobuf.PROTOBUF, protobuf.parts),
    SchemaFormat.JSON: (json_schema.JSON, json_schema.parts),
}


def compare(before: Sequence[TopicSchema], after: TopicSchema, mode: Mode) -> SchemaReport:
    """Compare the new schema with the older ones, oldest first; pure.

    A mode that is not transitive compares only the newest older one. The field changes are against
    that one, too. Without an older version there is nothing to find.
    """
    chosen = tuple(before if mode.is_transitive else before[-1:])
    found = [
        finding
        for older in reversed(chosen)
        for direction in mode.directions
        for finding in check(older, after, direction)
    ]
    return SchemaReport(
        mode=mode,
        findings=worst_first(found),
        changes=field_changes(before[-1], after) if before else (),
        compared=tuple(s.name for s in chosen),
    )


def worst_first(findings: Iterable[SchemaFinding]) -> tuple[SchemaFinding, ...]:
    """Sort by effect; findings of one effect keep their order, and each is there only once."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda f: -f.effect))


def check(before: TopicSchema, after: TopicSchema, direction: Direction) -> list[SchemaFinding]:
    """Return the findings of one direction."""
    backward = direction is Direction.BACKWARD
    reader, writer = (after, before) if backward else (before, after)
    if reader.format is not writer.format:
        pair = Pair(reader, writer, "", direction, lambda _, __: False)
        found = [f for r in FORMATS for f in r.run(pair)]
    else:
        found = _Judge(reader.format, direction).findings(reader.tree, writer.tree)
    return [replace(f, against=before.name) for f in found]


class _Judge:
    """Walk two trees side by side; each pair of nodes is judged once, so recursion ends."""

    def __init__(self, form: SchemaFormat, direction: Direction) -> None:
        self._rules, self._parts = _OF[form]
        self._direction = direction
        self._fitting: dict[tuple[object, object], bool] = {}
        self._left = MOST_PAIRS
        # Nodes are distinguished by identity, which another one gets once one is deleted.
        self._kept: list[tuple[Any, Any]] = []

    def findings(self, reader: Any, writer: Any) -> list[SchemaFinding]:
        """Return every finding at and below a pair, the outer ones first."""
        out: list[SchemaFinding] = []
        for pair in self._pairs(reader, writer):
            out.extend(f for r in self._rules for f in r.run(pair))
            if len(out) > MOST_FINDINGS:
                break
        return _once(out)

    def fits(self, reader: Any, writer: Any) -> bool:
        """Whether nothing at or below the pair is incompatible; a recursive pair fits itself."""
        key = (_identity(reader), _identity(writer))
        if key not in self._fitting:
            self._kept.append((reader, writer))
            self._fitting[key] = True
            self._fitting[key] = not any(
                f.effect is Effect.INCOMPATIBLE
                for pair in self._pairs(reader, writer)
                for r in self._rules
                for f in r.run(pair)
            )
        return self._fitting[key]

    def _pairs(self, reader: Any, writer: Any) -> Iterator[Pair]:
        stack = [(reader, writer, "")]
        seen: set[tuple[object, object]] = set()
        while stack and self._left > 0:
            now, was, path = stack.pop()
            key = (_identity(now), _identity(was))
            if key in seen:
                continue
            seen.add(key)
            self._kept.append((now, was))
            self._left -= 1
            pair = Pair(now, was, path, self._direction, self.fits)
            yield pair
            stack.extend(reversed(list(self._parts(pair))))


def _identity(node: Any) -> object:
    """Return what identifies a node, the same if the node is created each time it is visited."""
    return node.identity if hasattr(node, "identity") else id(node)


def _once(findings: Iterable[SchemaFinding]) -> list[SchemaFinding]:
    """Leave out a combination's finding if another one of the same path says more."""
    out = list(findings)
    paths = {f.path for f in out if f.rule != _VAGUE and f.effect is Effect.INCOMPATIBLE}
    return [f for f in out if f.rule != _VAGUE or f.path not in paths]
