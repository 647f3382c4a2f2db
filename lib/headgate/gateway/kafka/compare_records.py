"""Look for the records of one topic among those of another one, paired by key fields."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from headgate.errors import RefusedError
from headgate.gateway.kafka.read_records import Record, each_record
from headgate.model.output_comparison import ComparedColumn, OutputComparison, SampleRow
from headgate.reprocess.ports.kafka import TopicWindow

MOST_RECORDS = 500_000
"""Maximum number of results that a comparison keeps in memory."""
_SAMPLES = 20
_NO_FIELD = object()
Row = Mapping[str, Any]
Identity = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowMatch:
    """When two rows are the same: `keys` pair them, `ignore` fields are left out.

    `newest`: the rows are updates, of which only a key's newest one counts.
    """

    keys: tuple[str, ...]
    tolerance: float = 0.0
    ignore: frozenset[str] = frozenset()
    newest: bool = False

    def identity(self, record: Record, row: Row) -> Identity:
        """Return a row's key fields as text; RefusedError where it lacks one."""
        return tuple(_text(self._key(record, row, name)) for name in self.keys)

    def _key(self, record: Record, row: Row, name: str) -> Any:
        if name == "key":
            return (record.key or b"").decode("utf-8", "replace")
        if name not in row:
            raise RefusedError(
                f"--keys: record {record.topic}[{record.partition}] offset {record.offset} has no "
                f"field {name}. Correct --keys, or use `key` for the record's key"
            )
        return row[name]

    def differing(self, a: Row, b: Row) -> list[str]:
        """Return the fields in which two rows of one key differ, which lack the ignored ones."""
        names = [*a, *(name for name in b if name not in a)]
        return [
            name
            for name in names
            if not _same(a.get(name, _NO_FIELD), b.get(name, _NO_FIELD), self.tolerance)
        ]


@dataclass(slots=True)
class _Rows:
    """Rows by key, each different value once, and the types of their fields; `last`: by key."""

    match: RowMatch
    by_key: dict[Identity, list[Row]] = field(default_factory=dict)
    last: dict[Identity, Row] = field(default_factory=dict)
    types: dict[str, set[str]] = field(default_factory=dict)
    seen: set[tuple[Identity, str]] = field(default_factory=set)

    def add(self, record: Record, *, only: Container[Identity] | None = None) -> None:
        row = _row(record)
        identity = self.match.identity(record, row)
        for path, kind in _kinds(row):
            if path.partition(".")[0] not in self.match.ignore:
                self.types.setdefault(path, set()).add(kind)
        if only is not None and identity not in only:
            return
        row = {name: value for name, value in row.items() if name not in self.match.ignore}
        self.last[identity] = row
        if (identity, _text(row)) not in self.seen:
            self.seen.add((identity, _text(row)))
            self.by_key.setdefault(identity, []).append(row)

    def has(self, identity: Identity, row: Row) -> bool:
        if (identity, _text(row)) in self.seen:
            return True
        return any(not self.match.differing(row, other) for other in self.by_key[identity])


def compare_records(
    bootstrap: str, config: Mapping[str, str], a: TopicWindow, b: TopicWindow, match: RowMatch
) -> OutputComparison:
    """Return what of the inner range of each topic is not in the outer range of the other one.

    Records of aborted transactions are left out. RefusedError as `RowMatch.identity`, and where an
    inner range holds more than `MOST_RECORDS`.
    """

    def read(ranges: Mapping[tuple[str, int], tuple[int, int]]) -> Iterator[Record]:
        with closing(each_record(bootstrap, config, ranges)) as records:
            yield from records

    inner_a, inner_b = (_inner(read(w.inner), w.topic, match) for w in (a, b))
    # A key's newest row is looked for in both.
    both = {*inner_a.by_key, *inner_b.by_key} if match.newest else ()
    outer_a = _outer(read(a.outer), {*inner_b.by_key, *both}, match)
    outer_b = _outer(read(b.outer), {*inner_a.by_key, *both}, match)
    return _compared(a.topic, b.topic, _Sides(match, inner_a, inner_b, outer_a, outer_b))


def _inner(records: Iterable[Record], topic: str, match: RowMatch) -> _Rows:
    found = _Rows(match)
    for count, record in enumerate(records):
        if count >= MOST_RECORDS:
            raise RefusedError(
                f"{topic} has more than {MOST_RECORDS} results to compare. Plan again with a "
                "shorter --compare-for"
            )
        found.add(record)
    return found


def _outer(records: Iterable[Record], wanted: Container[Identity], match: RowMatch) -> _Rows:
    found = _Rows(match)
    for record in records:
        found.add(record, only=wanted)
    return found


@dataclass(frozen=True, slots=True)
class _Sides:
    match: RowMatch
    inner_a: _Rows
    inner_b: _Rows
    outer_a: _Rows
    outer_b: _Rows

    def lacking(self) -> Iterator[SampleRow]:
        """Yield each key once of which a row is only on one side, or differs."""
        told = set()
        for identity, rows in self.inner_a.by_key.items():
            if (found := self._lack(identity, rows, self.outer_b, "missing")) is not None:
                told.add(identity)
                yield found
        for identity, rows in self.inner_b.by_key.items():
            if identity not in told:
                found = self._lack(identity, rows, self.outer_a, "extra")
                if found is not None:
                    yield found

    def _lack(
        self, identity: Identity, rows: Iterable[Row], others: _Rows, kind: str
    ) -> SampleRow | None:
        key = dict(zip(self.match.keys, identity, strict=True))
        of_a = kind == "missing"
        for row in rows:
            if identity not in others.by_key:
                sides = (row, None) if of_a else (None, row)
                return SampleRow(kind, key, (), *sides)
            if not others.has(identity, row):
                if self.match.newest and self._ends_equal(identity):
                    return None
                other = others.by_key[identity][-1]
                names = tuple(self.match.differing(row, other))
                a, b = (row, other) if of_a else (other, row)
                shown = [{name: side.get(name) for name in names} for side in (a, b)]
                return SampleRow("different", key, names, *shown)
        return None

    def _ends_equal(self, identity: Identity) -> bool:
        """Whether one side's newest row of a key is among the other's: updates came in between.

        Both versions add up the same records, each in its own order. One may be ahead.
        """
        a, b = self.outer_a, self.outer_b
        if identity not in a.last or identity not in b.last:
            return False
        return b.has(identity, a.last[identity]) or a.has(identity, b.last[identity])


def _compared(a: str, b: str, sides: _Sides) -> OutputComparison:
    found = list(sides.lacking())
    count = {kind: sum(s.kind == kind for s in found) for kind in ("missing", "extra", "different")}
    types_a, types_b = sides.inner_a.types, sides.outer_b.types
    columns = [
        ComparedColumn(
            name,
            sum(name in s.columns for s in found),
            *_both(types_a.get(name), types_b.get(name)),
        )
        for name in sorted({*types_a, *types_b} - set(sides.match.keys))
    ]
    return OutputComparison(
        a=f"kafka:{a}",
        b=f"kafka:{b}",
        equal=not found,
        rows_a=len(sides.inner_a.by_key),
        rows_b=len(sides.inner_b.by_key),
        missing=count["missing"],
        extra=count["extra"],
        different=count["different"],
        columns=tuple(columns),
        samples=tuple(found[:_SAMPLES]),
        keys=sides.match.keys,
        ignored=tuple(sorted(sides.match.ignore)),
        tolerance=sides.match.tolerance,
    )


def _both(a: set[str] | None, b: set[str] | None) -> tuple[str | None, str | None]:
    """Return a field's types on both sides; if a side is only null, its type is unknown."""
    one, other = _type(a), _type(b)
    if "null" in (one, other):
        known = other if one == "null" else one
        return (known, known) if one and other else (None, None)
    return one, other


def _type(kinds: set[str] | None) -> str | None:
    if kinds is None:
        return None
    known = sorted(kinds - {"null"})
    return " or ".join(known) if known else "null"


def _row(record: Record) -> Row:
    """Return the fields of a JSON object, or the whole value as the field `value`."""
    if record.value is None:
        return {"value": None}
    try:
        found = json.loads(record.value)
    except ValueError:
        return {"value": record.value.decode("utf-8", "backslashreplace")}
    return found if isinstance(found, dict) else {"value": found}


def _kinds(row: Row, before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        yield f"{before}{name}", _kind(value)
        if isinstance(value, dict):
            yield from _kinds(value, f"{before}{name}.")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    kinds = {int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if _is_number(a) and _is_number(b):
        return bool(abs(a - b) <= tolerance)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in pairs)
    return type(a) is type(b) and bool(a == b)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
