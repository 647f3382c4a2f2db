"""How the output of two versions differs: which fields came, went or changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headgate.model.output_columns import Payload
from headgate.model.sinks import may_be_same_output, normal_path
from headgate.model.state_schema import Field, Schema, type_text
from headgate.model.version import Sink, Version
from headgate.rules.spark.facts.expressions import QUOTED

_DEEPEST = 40
_WHOLE = frozenset(("byte", "short", "integer", "long"))
_PICKED = re.compile(rf"^s\d+\.(?:{QUOTED}|[\w.])+$")
RECORD = ("key", "topic", "partition", "headers")
"""Columns of a Kafka sink other than `value`."""


class OutputChangeKind(StrEnum):
    """How a field of the output differs."""

    GONE = "gone"
    ADDED = "added"
    TYPE = "type"
    MADE = "made"


@dataclass(frozen=True, slots=True)
class OutputChange:
    """One field of the output that differs.

    `column` is the sink's column in which the field is packed, "" for one that is a column
    itself; `path` names it within, with dots and `[]`. `before` and `after` are types, or of
    `MADE` what it is made of.
    """

    kind: OutputChangeKind
    column: str
    path: str
    before: str | None
    after: str | None

    @property
    def name(self) -> str:
        """What a message calls it: `value.total` where the column `value` holds it."""
        return f"{self.column}.{self.path}" if self.column else self.path

    @property
    def was(self) -> str | None:
        """What stood there before, as a finding shows it: `total: double`, None for nothing."""
        return self._shown(self.before)

    @property
    def now(self) -> str | None:
        """What the new version has in the same field."""
        return self._shown(self.after)

    def _shown(self, side: str | None) -> str | None:
        if side is None or self.kind is OutputChangeKind.MADE:
            return side
        return self.path if side == "?" else f"{self.path}: {side}"


def same_place(before: Sink | None, after: Sink | None) -> bool:
    """Whether both sinks are known to write to one location, or nothing says that they don't."""
    if before is None or after is None:
        return False
    formats = {s.format for s in (before, after) if s.format}
    if len(formats) > 1 and not (before.is_files and after.is_files):
        return False
    old, new = before.place, after.place
    if not old or not new or normal_path(old) == normal_path(new):
        return True
    return before.format != "kafka" and may_be_same_output(old, new)


def output_changes(before: Version, after: Version) -> tuple[OutputChange, ...]:
    """Return what differs in the fields that both versions' evidence shows; pure.

    Nothing if one output is unknown, or they write to different locations.
    """
    old, new = before.sink, after.sink
    if old is None or new is None or not same_place(old, new):
        return ()
    if old.schema is None or new.schema is None:
        return ()
    packed = {p.column: p for p in new.payloads}
    both = {p.column: (p, packed[p.column]) for p in old.payloads if p.column in packed}
    found = list(_columns(old, new, both))
    for was, now in both.values():
        found.extend(payload_changes(was, now))
    return tuple(found)


def lost_fields(changes: Iterable[OutputChange]) -> list[OutputChange]:
    """Return the changes that consumers notice: fields that are gone or have another type.

    In JSON all whole numbers are written alike.
    """
    return [
        c
        for c in changes
        if c.kind in (OutputChangeKind.GONE, OutputChangeKind.TYPE)
        and not (c.column and c.after is not None and {c.before, c.after} <= _WHOLE)
    ]


def _columns(
    old: Sink, new: Sink, packed: Mapping[str, tuple[Payload, Payload]]
) -> Iterator[OutputChange]:
    assert old.schema and new.schema
    skip = set(packed)
    yield from _fields(_without(old.schema, skip), _without(new.schema, skip), "")
    for name in dict.fromkeys(f.name for f in new.schema.fields):
        was, now = old.made_by.get(name), new.made_by.get(name)
        if name not in packed and was and now and was != now and _has_no_other_rule(name, was, now):
            yield OutputChange(OutputChangeKind.MADE, "", name, was, now)


def _has_no_other_rule(name: str, was: str, now: str) -> bool:
    """Whether a change of an expression has no other rule: plain columns, and a record's own."""
    if "sha256:" in was + now:
        return False
    return name in RECORD or bool(_PICKED.match(was) and _PICKED.match(now))


def _without(schema: Schema, names: set[str]) -> Schema:
    return Schema(tuple(f for f in schema.fields if f.name not in names))


def payload_changes(was: Payload, now: Payload) -> Iterator[OutputChange]:
    """Yield what differs in the fields of one column; nothing if the fields of one are unknown."""
    if was.writer != now.writer:
        kind = OutputChangeKind.TYPE
        yield OutputChange(kind, "", was.column, was.writer, now.writer)
    elif was.schema is not None and now.schema is not None:
        yield from _fields(was.schema, now.schema, was.column)


def _fields(before: Schema, after: Schema, column: str) -> Iterator[OutputChange]:
    old, new = dict(_flat(before)), dict(_flat(after))
    for path, kind in old.items():
        if path not in new:
            if not _is_within_gone(path, old, new):
                yield OutputChange(OutputChangeKind.GONE, column, path, kind, None)
        elif _differ(kind, new[path]):
            yield OutputChange(OutputChangeKind.TYPE, column, path, kind, new[path])
    for path, kind in new.items():
        if path not in old and not _is_within_gone(path, new, old):
            yield OutputChange(OutputChangeKind.ADDED, column, path, None, kind)


def _is_within_gone(path: str, mine: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether what holds a field differs as a whole, so that its parts need no findings."""
    outer = path
    while "." in outer:
        outer = outer.rpartition(".")[0]
        holder = outer.removesuffix("[]")
        if holder in mine and (holder not in other or _differ(mine[holder], other[holder])):
            return True
    return False


def _differ(old: str, new: str) -> bool:
    return old != new and "?" not in old + new


def _flat(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield path and type of every field; of one that holds others the type is only its kind."""
    stack: list[tuple[str, Any, int]] = [(f.name, f.type, 0) for f in reversed(schema.fields)]
    while stack:
        path, kind, depth = stack.pop()
        inner = _inner(kind) if depth < _DEEPEST else None
        if inner is None:
            yield path, type_text(kind)
            continue
        mark, fields = inner
        yield path, "array<struct>" if mark else "struct"
        stack.extend((f"{path}{mark}.{f.name}", f.type, depth + 1) for f in reversed(fields))


def _inner(kind: Any) -> tuple[str, list[Field]] | None:
    """Return the fields of a struct, or of an array of structs with the mark `[]`."""
    if not isinstance(kind, dict):
        return None
    if kind.get("type") == "array":
        below = _inner(kind.get("elementType"))
        return ("[]", below[1]) if below and not below[0] else None
    if kind.get("type") != "struct":
        return None
    fields = [f for f in kind.get("fields", ()) if isinstance(f, dict) and "name" in f]
    return "", [Field(str(f["name"]), f.get("type"), f.get("nullable")) for f in fields]
