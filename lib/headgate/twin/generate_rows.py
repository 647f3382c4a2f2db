"""Rows for every source of two versions, drawn from a seed and from what the plans compare."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from headgate.twin.made_texts import text_for, with_beginning
from headgate.twin.row_hints import STREAM, Hints
from headgate.twin.samples import Origins

Row = dict[str, Any]
# A micro-batch of each source; of A the first is a day early, of B the last closes what is open.
SIZES_A, SIZES_B = (60, 150, 200), (130, 130, 4)
USUAL_ROWS = sum(SIZES_A) + sum(SIZES_B)
_START = datetime(2024, 3, 5, 6, 0, 0)
_DAY = 86_400.0
_EARLY = _DAY + 3_600
# Units of time that a batch spans: what the watermark has not closed yet is all that state holds.
_UNITS_A_BATCH, _UNITS_IF_WIDE = 2, 8
_FAR_UNITS = 30
_LONGEST_UNIT = 40 * _DAY
_SHORTEST_UNIT = 0.5
_USUAL_UNIT = 60.0
_TABLE_ROWS, _TABLE_KEYS, _TRIES = 60, 300, 4000
# Shares of rows, measured to reach the branches of a few hundred recorded changes.
_REPEATED_EARLIER, _REPEATED_HERE, _LATE, _NULL = 0.12, 0.05, 0.12, 0.04
_NULL_IF_SOUGHT = 0.2
_HOT, _WARM, _LITERAL = 0.55, 0.85, 0.75
_HOT_IF_WIDE, _WARM_IF_WIDE, _LITERAL_IF_WIDE = 0.3, 0.7, 0.6
# The times of two columns of a row differ by fewer seconds, in units shorter than _SHORT by fewer.
_SHIFTS, _FEW_SHIFTS, _SHORT = 31, 7, 960.0
_OWN_IDENTITY, _IDENTITIES = 0.7, 100_000
_TAKEN_APART = 0.93
_EDGES = ("", " ", "ÄB c", "UPPER", " pad ")
_WHOLE = frozenset({"integer", "long", "short", "byte"})
_SINCE_1970, _PART = "since 1970:", "part:"
_IN_ONE_CASE = 0.7
_TIMES = frozenset({"timestamp", "timestamp_ntz"})
_OF_STREAM = re.compile(rf"^{STREAM}(-\w+)?:|(?<=^table)-[0-9a-f]+")
_PATTERN = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))


@dataclass(frozen=True, slots=True)
class SourceRows:
    """A source to fill: its folder's name and its schema in Spark's JSON (`{"fields": [...]}`).

    Named sources get different numbers of files: only then does it show whether their offsets are
    found by name. Others get equal numbers: then Spark doesn't notice that two were swapped.
    """

    folder: str
    schema: Mapping[str, Any]
    is_streaming: bool
    is_named: bool = False


@dataclass(slots=True)
class Feed:
    """Files of rows: for each batch of A and of B the rows of each folder; `tables` stay."""

    a: list[dict[str, list[Row]]] = field(default_factory=list)
    b: list[dict[str, list[Row]]] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)


class RowMaker:
    """Draws rows; the same seed, hints and sources give the same rows, byte for byte."""

    def __init__(
        self,
        hints: Hints,
        seed: int,
        scale: float = 1.0,
        samples: Mapping[str, Sequence[Row]] | None = None,
        *,
        is_wide: bool = False,
    ) -> None:
        """`scale` multiplies the number of rows in each batch, `samples` are rows by folder.

        More than half of a source's rows come from its sample, with other times; `origins` says
        which values are in them. `is_wide`: texts repeat less, above all those by which
        duplicates are found, and times span more windows, so that more keys are in state at once.
        """
        self.samples, self.origins = samples or {}, Origins()
        self.hints, self.random, self.scale = hints, Random(seed), scale
        fitting = [u for u in hints.intervals if _SHORTEST_UNIT <= u <= _LONGEST_UNIT]
        self.unit = max(fitting, default=_USUAL_UNIT)
        self.span = self.unit * (_UNITS_IF_WIDE if is_wide else _UNITS_A_BATCH)
        usual, wide = (_HOT, _WARM, _LITERAL), (_HOT_IF_WIDE, _WARM_IF_WIDE, _LITERAL_IF_WIDE)
        self.hot, self.warm, self.literal = wide if is_wide else usual
        self.of_one_row = hints.of_one_row() if is_wide else frozenset[str]()

    def feed(self, sources: Sequence[SourceRows]) -> Feed:
        """Return the rows of all batches; time advances by two units a batch, or by eight."""
        found = Feed(tables={s.folder: self._table(s) for s in sources if not s.is_streaming})
        streams = [s for s in sources if s.is_streaming]
        seen: dict[str, list[Row]] = {s.folder: [] for s in streams}
        for number, size in enumerate((*SIZES_A, *SIZES_B)):
            low, high = (number * self.span, (number + 1) * self.span)
            is_last = number == len(SIZES_A) + len(SIZES_B) - 1
            if number == 0:
                low, high = -_EARLY - self.span, -_EARLY
            elif is_last:
                low, high = (t + _FAR_UNITS * self.unit + _EARLY for t in (low, high))
            late = 0.0 if number == 0 or is_last else _LATE
            count = size if is_last else max(int(size * self.scale), 8)
            batch = {
                s.folder: self._rows(s, (low, high), count, late, seen[s.folder]) for s in streams
            }
            for folder, rows in batch.items():
                seen[folder] += rows
            (found.a if number < len(SIZES_A) else found.b).append(batch)
        for number, source in enumerate(streams):
            fewer = number % len(SIZES_A) if source.is_named else 0
            _join_last(found.a, source.folder, fewer)
        return found

    def _rows(
        self,
        source: SourceRows,
        span: tuple[float, float],
        count: int,
        late: float,
        old: Sequence[Row],
    ) -> list[Row]:
        rows: list[Row] = []
        schema, (low, high) = source.schema, span
        for _ in range(count):
            drawn = self.random.random()
            if old and drawn < _REPEATED_EARLIER:
                rows.append(self._again(schema, self.random.choice(old), low, high))
            elif rows and drawn < _REPEATED_EARLIER + _REPEATED_HERE:
                rows.append(dict(self.random.choice(rows)))
            else:
                at = self.random.uniform(low, high)
                if self.random.random() < late:
                    at = low - self.random.uniform(0, 10) * self.unit
                rows.append(self._fresh(source, _time(at)))
        return rows

    def _fresh(self, source: SourceRows, at: datetime) -> Row:
        """Return a row of the sample with this time, or a generated one."""
        sample = self.samples.get(source.folder)
        is_sampled = bool(sample) and self.random.random() < _HOT
        prefix = self.hints.prefix(source.folder, is_streaming=True)
        row = self._row(source.schema, prefix, at)
        if sample and is_sampled:
            row |= self._retimed(self.random.choice(sample), source.schema, prefix, at)
        if self.samples:
            self.origins.note(row, is_sampled=is_sampled)
        return row

    def _retimed(self, row: Row, schema: Mapping[str, Any], prefix: str, at: datetime) -> Row:
        """Return a sampled row with times of now: real ones would close every window."""
        found = {}
        for column in schema["fields"]:
            name, kind = column["name"], column["type"]
            if name not in row:
                continue
            path = f"{prefix}:{name}"
            if kind in ("timestamp", "timestamp_ntz", "date") or self._reads_time(path):
                found[name] = self._top(column, path, at)
            else:
                found[name] = self._retimed_text(row[name], kind, path, at)
        return found

    def _reads_time(self, path: str) -> bool:
        read = str(self.hints.conversions.get(path, ""))
        return read in _TIMES or read == "date" or read.startswith(("format:", _SINCE_1970, _PART))

    def _retimed_text(self, value: Any, kind: Any, path: str, at: datetime) -> Any:
        """Return a text that is read as JSON with times of now in it; any other value stays."""
        read = self.hints.conversions.get(path)
        is_json = isinstance(read, Mapping) or str(read).startswith("{")
        if not is_json or not isinstance(value, str):
            return value
        try:
            text = base64.b64decode(value).decode() if kind == "binary" else value
            inner = json.loads(text)
        except ValueError:
            return value
        inside = read if isinstance(read, Mapping) else json.loads(str(read))
        if not isinstance(inner, dict) or inside.get("type") != "struct":
            return value
        now = {
            f["name"]: self._value(f["type"], f"{path}.{f['name']}", at)
            for f in inside["fields"]
            if f["type"] in ("timestamp", "timestamp_ntz", "date") and f["name"] in inner
        }
        text = json.dumps(inner | now, ensure_ascii=False)
        return _base64(text) if kind == "binary" else text

    def _again(self, schema: Mapping[str, Any], row: Row, low: float, high: float) -> Row:
        """Return a row of an earlier batch, half of the time with times of now."""
        row = dict(row)
        if self.random.random() < 0.5:
            at = _time(self.random.uniform(low, high))
            for column in schema["fields"]:
                if isinstance(column["type"], str) and column["type"] in _TIMES:
                    name = column["name"]
                    row[name] = self._top(column, f"{STREAM}:{name}", at)
        return row

    def _row(self, schema: Mapping[str, Any], prefix: str, at: datetime) -> Row:
        return {f["name"]: self._top(f, f"{prefix}:{f['name']}", at) for f in schema["fields"]}

    def _top(self, field: Mapping[str, Any], column: str, at: datetime) -> Any:
        """Return a column's value; a point in time names its zone, so that no session shifts it."""
        value = self._value(field["type"], column, at)
        is_in_zone = field["type"] == "timestamp" and value is not None
        return f"{value.replace(' ', 'T')}Z" if is_in_zone else value

    def _table(self, source: SourceRows) -> list[Row]:
        """Return a table's rows: one for each key that the stream is compared with, if any is."""
        fields, prefix = source.schema["fields"], source.folder
        keys = [
            f["name"]
            for f in fields
            if self.hints.domain(f"{prefix}:{f['name']}").startswith(STREAM)
        ]
        if not keys:
            return [self._table_row(fields, prefix) for _ in range(_TABLE_ROWS)]
        kind = next(f["type"] for f in fields if f["name"] == keys[0])
        drawn = (self._value(kind, f"{prefix}:{keys[0]}", self._any_time()) for _ in range(_TRIES))
        found = list(dict.fromkeys(v for v in drawn if isinstance(v, (str, int))))
        rows = [self._table_row(fields, prefix) for _ in found[:_TABLE_KEYS]]
        return [row | {keys[0]: key} for row, key in zip(rows, found, strict=False)]

    def _table_row(self, fields: Sequence[Mapping[str, Any]], prefix: str) -> Row:
        """Return a row with times of its own in each column: a table says from when to when."""
        return {f["name"]: self._top(f, f"{prefix}:{f['name']}", self._any_time()) for f in fields}

    def _any_time(self) -> datetime:
        """Return a time before, within or after those of the streams."""
        last = (len(SIZES_A) + len(SIZES_B)) * self.span
        return _time(self.random.uniform(-2 * _EARLY - self.span, last + 2 * _EARLY))

    def _value(self, kind: Any, column: str, at: datetime) -> Any:
        if isinstance(kind, Mapping):
            return self._nested(kind, column, at)
        if column in self.hints.nulls and self.random.random() < _NULL_IF_SOUGHT:
            return None
        if kind in _TIMES:
            # Else a key of one time column would be that of another one.
            shifts = _SHIFTS if self.unit > _SHORT else _FEW_SHIFTS
            shift = zlib.crc32(self.hints.domain(column).encode()) % shifts
            return (at + timedelta(seconds=shift)).strftime("%Y-%m-%d %H:%M:%S")
        if kind == "date":
            return at.strftime("%Y-%m-%d")
        if self.random.random() < _NULL:
            return None
        if kind == "string":
            return self._text(column, at)
        if kind == "binary":
            return _base64(self._text(column, at))
        if kind == "boolean":
            return self.random.random() < 0.5
        read = str(self.hints.conversions.get(column, ""))
        found = _number_of_time(read, at)
        return self._number(str(kind), column) if found is None else found

    def _nested(self, kind: Mapping[str, Any], column: str, at: datetime) -> Any:
        match kind["type"]:
            case "struct":
                if self.random.random() < _NULL / 2:
                    return None
                return {
                    f["name"]: self._value(f["type"], f"{column}.{f['name']}", at)
                    for f in kind["fields"]
                }
            case "array":
                if self.random.random() < _NULL:
                    return None
                count = self.random.choice((0, 1, 1, 2, 2, 3, 4))
                return [self._value(kind["elementType"], column, at) for _ in range(count)]
            case "map":
                return {
                    str(self._value(kind["keyType"], column, at)): self._value(
                        kind["valueType"], column, at
                    )
                    for _ in range(self.random.randrange(3))
                }
        return self._value(kind.get("sqlType", "string"), column, at)

    def _text(self, column: str, at: datetime) -> str | None:
        """Return text in the form that the query reads it in, and in the case it compares."""
        text = self._read(column, at)
        case = self.hints.cases.get(self.hints.domain(column))
        # Some stay in another case: a version may no longer convert them.
        if text is None or case is None or self.random.random() > _IN_ONE_CASE:
            return text
        return text.upper() if case == "upper" else text.lower()

    def _read(self, column: str, at: datetime) -> str | None:
        read = self.hints.conversions.get(column)
        if len(formats := self.hints.formats.get(column, ())) > 1:
            read = self.random.choice(formats)
        if read is None:
            return self._made(column, at) or self._word(column)
        if isinstance(read, Mapping) or str(read).startswith("{"):
            schema = read if isinstance(read, Mapping) else json.loads(read)
            return json.dumps(self._value(schema, column, at))
        if read.startswith("format:"):
            return _written(read.removeprefix("format:"), at)
        if read in _TIMES:
            return at.strftime("%Y-%m-%d %H:%M:%S")
        if read == "date":
            return at.strftime("%Y-%m-%d")
        if read.startswith(_PART):
            return str(_number_of_time(read, at))
        if read in _WHOLE or read in ("double", "float") or read.startswith("decimal"):
            return str(int(self._drawn(column, 0, 40, 1)))
        return self._word(column)

    def _made(self, column: str, at: datetime) -> str | None:
        """Return a text that the query can take apart, if it takes this column's texts apart."""
        parts = self.hints.parts.get(column)
        if parts is None:
            return None
        if self.random.random() > _TAKEN_APART and not parts.must_have:
            return None
        known = self.hints.literals.keys() | self.hints.conversions.keys() | self.hints.parts.keys()
        made = text_for(column, parts, self.random, lambda c: self._text(c, at), known)
        literals = self._literals(column)
        if made and literals and not parts.keys:
            start = self.random.choice(literals).strip("%")
            return with_beginning(start, made, parts.patterns)
        return made

    def _literals(self, column: str) -> list[str]:
        return sorted(v for v, kind in self.hints.literals.get(column, ()) if kind == "string")

    def _word(self, column: str) -> str:
        literals = self._literals(column)
        if literals and self.random.random() < self.literal:
            word = self.random.choice(literals).strip("%")
            return self.random.choice((word, word, word, word.lower(), word.upper()))
        if self.hints.words and self.random.random() < 0.3:
            return self.random.choice(sorted(self.hints.words))
        drawn = self.random.random()
        if drawn > 0.985:
            return self.random.choice(_EDGES)
        if self._is_of_one_row(column):
            number = self.random.randrange(_IDENTITIES)
        elif drawn < self.hot:
            number = self.random.randrange(4)
        elif drawn < self.warm:
            number = 4 + self.random.randrange(20)
        else:
            number = 30 + self.random.randrange(400)
        # A domain of its own for each column: else grouping by another one would look equal.
        name = _OF_STREAM.sub("", self.hints.domain(column)).replace(":", "_")
        return f"{name if number % 3 else name.capitalize()}.{number}"

    def _is_of_one_row(self, column: str) -> bool:
        """Whether a value identifies one row, which isn't a duplicate."""
        return column in self.of_one_row and self.random.random() < _OWN_IDENTITY

    def _number(self, kind: str, column: str) -> int | float:
        if kind in ("integer", "long") and self._is_of_one_row(column):
            return self.random.randrange(_IDENTITIES)
        if kind in _WHOLE:
            found = int(self._drawn(column, 0, 40, 1))
            return -found if self.random.random() < 0.05 else found
        if kind.startswith("decimal"):
            digits, scale = (int(d) for d in re.findall(r"\d+", kind))
            highest = min(10 ** (digits - scale) - 1, 60)
            return round(self._drawn(column, 0, highest, 0.25 if scale >= 2 else 1), scale)
        # Multiples of a quarter: sums of doubles are exact then, in any order.
        return self._drawn(column, 0, 60, 0.25)

    def _drawn(self, column: str, low: float, high: float, step: float) -> float:
        found = self._any(column, low, high, step)
        is_divisor = column in self.hints.divisors
        # A query that looks for zero must find some.
        guarded = any(
            _is_number(v) and not float(v) for v, _ in self.hints.literals.get(column, ())
        )
        return step if is_divisor and not found and not guarded else found

    def _any(self, column: str, low: float, high: float, step: float) -> float:
        literals = sorted(float(v) for v, _ in self.hints.literals.get(column, ()) if _is_number(v))
        if literals and self.random.random() < 0.5:
            return self.random.choice(literals) + step * self.random.choice((-1, 0, 1, 2))
        if self.random.random() < 0.4:
            return low + step * self.random.randrange(8)
        return low + step * self.random.randrange(max(int((high - low) / step), 1))


def _join_last(batches: list[dict[str, list[Row]]], folder: str, fewer: int) -> None:
    """Give a source that many files fewer, with the same rows."""
    for _ in range(fewer):
        last = max(i for i, batch in enumerate(batches) if folder in batch)
        batches[last - 1][folder] = batches[last - 1][folder] + batches[last].pop(folder)


def _time(seconds: float) -> datetime:
    return _START + timedelta(seconds=int(seconds))


def _number_of_time(read: str, at: datetime) -> int | None:
    """Return the number that a query reads as a time or as a part of one, None of other numbers."""
    if read.startswith(_SINCE_1970):
        return int(at.replace(tzinfo=UTC).timestamp()) * int(read.removeprefix(_SINCE_1970))
    return int(getattr(at, read.removeprefix(_PART))) if read.startswith(_PART) else None


def _written(pattern: str, at: datetime) -> str:
    """Return a time in one of Java's patterns."""
    for java, python in _PATTERN:
        pattern = pattern.replace(java, python)
    return at.strftime(pattern.replace("SSS", "000").replace("'", ""))


def _base64(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode()).decode()


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?(E-?\d+)?", text))
