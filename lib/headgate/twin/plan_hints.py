"""What analysed plans say about the rows that reach every branch of a query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headgate.twin.made_texts import Parts, group_of, item_of, key_of
from headgate.twin.plan_tree import (
    Node,
    class_name,
    constant_of,
    expression_id,
    expressions_of,
    field_name,
    outputs_of,
    tree_of,
    walk,
)
from headgate.twin.row_hints import Hints

_COMPARED = frozenset(
    {
        *("EqualTo", "EqualNullSafe", "In", "InSet", "StartsWith", "EndsWith", "Contains", "Like"),
        *("LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "RLike", "ILike"),
        *("Between", "MultiLike", "LikeAll", "LikeAny", "CaseWhen"),
    }
)
_PARSED = {
    "ParseToDate": "date",
    "ParseToTimestamp": "timestamp",
    "GetTimestamp": "timestamp",
    "TryToTimestamp": "timestamp",
    "TryToTimestampExpressionBuilder": "timestamp",
    "UnixTimestamp": "timestamp",
    "ToUnixTimestamp": "timestamp",
}
# What stands between a cast and the column whose text it reads.
_AROUND = frozenset(
    {
        *("AggregateExpression", "Max", "Min", "First", "Last", "Alias", "StringTrim", "Coalesce"),
        *("StringTrimLeft", "StringTrimRight", "StringReplace", "RegExpReplace", "NullIf"),
    }
)
# What gives a part of a text, which has a name of its own.
_TAKEN = frozenset(
    {"RegExpExtract", "GetJsonObject", "GetArrayItem", "SubstringIndex", "ElementAt"}
)
_SEARCHED = frozenset({"RLike", "RegExpReplace", "RegExpInStr", "RegExpCount", "RegExpSubStr"})
# What reads a number as the time since 1970, and how many of its units a second has.
_SINCE_1970 = {
    "SecondsToTimestamp": 1,
    "FromUnixTime": 1,
    "MillisToTimestamp": 1000,
    "MicrosToTimestamp": 1_000_000,
}
# What makes a date or time of its parts, and which part each of its arguments is.
_OF_PARTS = ("MakeDate", "MakeTimestamp")
_PARTS_OF_TIME = ("year", "month", "day", "hour", "minute", "second")
_JOINED = frozenset({"FormatString", "Concat", "ConcatWs"})
_NUMBERS = frozenset({"integer", "long", "double", "float"})
_CASES = {"Upper": "upper", "Lower": "lower"}
_DIVIDED = frozenset({"Divide", "IntegralDivide", "Remainder", "Pmod"})
# What finds a value of a map by its key.
_LOOKED_UP = frozenset({"GetMapValue", "ElementAt"})
# What has a branch of its own for a null.
_OF_NULLS = frozenset({"IsNull", "Coalesce", "Nvl", "Nvl2"})
_JSON_KEY = re.compile(r"\$\.(\w+)")
_MOST_ITEMS = 40
_DAY = 86_400
# Expressions that put all times of an hour, a day or a month into one value.
_CALENDAR = {
    **dict.fromkeys(("DayOfMonth", "DayOfWeek", "WeekDay", "DayOfYear", "TruncDate"), _DAY),
    "ParseToDate": _DAY,
    "Hour": 3600,
    "Minute": 60,
    "Month": 30 * _DAY,
    "WeekOfYear": 7 * _DAY,
}
_LETTERS = (("s", 1), ("m", 60), ("HhKk", 3600), ("dDEF", _DAY), ("ML", 30 * _DAY))
_KEYS = ("groupingExpressions", "keys", "groupingAttributes")
_UNITS = {"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": _DAY}
_INTERVAL = re.compile(r"(\d+) (millisecond|second|minute|hour|day)s?\b")
_WORD = re.compile(r"[\w.-]+")
_SECOND_US = 1_000_000
_LEAST_WINDOW_US = 100_000


def mine(study: Mapping[str, Any], hints: Hints) -> None:
    """Add what one version's `study.json` says (see `spark_jobs/twin_version.py`)."""
    streams = {s["folder"] for s in study["sources"] if s["is_streaming"]}
    kafka = {s["folder"] for s in study["sources"] if s["is_streaming"] and s["kind"] == "kafka"}
    hints.apart |= kafka if len(kafka) > 1 else set()
    columns: dict[str, set[str]] = {}
    for leaf in study["leaves"]:
        prefix = hints.prefix(leaf["folder"], is_streaming=leaf["folder"] in streams)
        columns |= {key: {f"{prefix}:{name}"} for key, name in leaf["ids"].items()}
    miner = _Miner(hints, columns)
    miner.plan(tree_of(study["plan"]))
    for column, found in miner.formats.items():
        hints.formats[column] = _joined(hints.formats.get(column, found), found)
    hints.intervals |= {int(n) * _UNITS[unit] for n, unit in _INTERVAL.findall(study["text"])}
    names = {f["name"] for leaf in study["leaves"] for f in leaf["schema"]["fields"]}
    hints.words |= set(study["constants"]) - names


def _joined(old: list[str], new: list[str]) -> list[str]:
    """Return the formats of both versions if one reads all that the other reads.

    Else those of the new version: rows that only one version reads say nothing of the
    keys of the rest.
    """
    if not (set(old) <= set(new) or set(new) <= set(old)):
        return new
    return list(dict.fromkeys((*old, *new)))


def takes_otherwise(studies: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether two versions take texts of one column apart in different ways."""
    found = []
    for study in studies:
        hints = Hints()
        mine(study, hints)
        found.append(hints.parts)
    old, new = found
    return any(
        (old[c].patterns, old[c].splits) != (new[c].patterns, new[c].splits)
        for c in old.keys() & new.keys()
    )


class _Miner:
    """Follows columns from the sources through a plan's aliases."""

    def __init__(self, hints: Hints, columns: dict[str, set[str]]) -> None:
        self.hints, self.columns = hints, columns
        # Seconds of the calendar's unit that a column holds, by the column's id.
        self.calendar: dict[str, float] = {}
        # The formats in which a column's times are read, in the order of the plan.
        self.formats: dict[str, list[str]] = {}

    def plan(self, node: Node) -> None:
        for child in node["children"]:
            self.plan(child)
        trees = list(expressions_of(node))
        for subquery in (
            p["plan"] for t in trees for p in walk(t) if isinstance(p.get("plan"), list)
        ):
            self.plan(tree_of(subquery))
        for tree in trees:
            for part in walk(tree):
                if class_name(part) == "Alias" and part["children"]:
                    self.columns[expression_id(part)] = self.read(part["children"][0])
                    if units := self.units(part):
                        self.calendar[expression_id(part)] = max(units)
        for tree in trees:
            for part in walk(tree):
                self.expression(part)
                self.dissect(part)
                self.seek(part)
        for tree in expressions_of({key: node[key] for key in _KEYS if key in node}):
            # Rows must reach several keys, so their times must be further apart.
            self.hints.intervals |= self.units(tree)
            is_identity = class_name(node).startswith("Deduplicate")
            found = self.hints.identities if is_identity else self.hints.grouped
            found |= self.read(tree)

    def units(self, tree: Node) -> set[float]:
        """Return the calendar's units, in seconds, that an expression cuts times to."""
        found = (_calendar(part) or self.calendar.get(expression_id(part)) for part in walk(tree))
        return {unit for unit in found if unit}

    def read(self, tree: Node) -> set[str]:
        """Return the columns that an expression reads."""
        name = class_name(tree)
        if name == "AttributeReference":
            return set(self.columns.get(expression_id(tree), ()))
        if name == "OuterReference":
            return self.read(tree_of(tree["e"]))
        if name == "GetStructField" and (field := field_name(tree)):
            columns = self.read(tree["children"][0])
            if lines := _separated(columns):
                return {item_of(c, separator, int(tree["ordinal"])) for c, separator in lines}
            return {f"{column}.{field}" for column in columns}
        if name in _TAKEN:
            return self.taken(name, tree)
        if name == "CsvToStructs":
            return {f"{column}{_SPLIT} {_COMMA}" for column in self.read(tree["children"][0])}
        if name == "StringSplit" and (separator := constant_of(tree["children"][1])):
            return {f"{column}{_SPLIT} {separator}" for column in self.read(tree["children"][0])}
        return {column for child in tree["children"] for column in self.read(child)}

    def taken(self, name: str, tree: Node) -> set[str]:
        """Return the parts of texts that an expression takes, and note how it takes them."""
        inner, *arguments = tree["children"]
        given = [constant_of(argument) for argument in arguments]
        array = inner if class_name(inner) == "StringSplit" else None
        columns = self.read(array["children"][0] if array else inner)
        if name == "RegExpExtract" and isinstance(given[0], str):
            return {self.group(c, given[0], given[1]) for c in columns}
        if name == "GetJsonObject" and (key := _JSON_KEY.match(str(given[0]))):
            return {self.key(c, key[1]) for c in columns}
        if name == "SubstringIndex" and given[0] and str(given[1]).isdecimal():
            return {self.item(c, _as_pattern(given[0]), int(str(given[1])) - 1) for c in columns}
        if class_name(inner) == "StringSplitSQL" and str(given[0]).isdecimal():
            text, mark = inner["children"]
            between, index = _as_pattern(constant_of(mark)), int(str(given[0])) - 1
            return {self.item(c, between, index) for c in self.read(text)}
        if name == "GetArrayItem" and str(given[0]).isdecimal():
            separator = constant_of(array["children"][1]) if array else None
            pairs = [(c, separator) for c in columns] if separator else _separated(columns)
            for column, _ in pairs if tree.get("failOnError") else ():
                self.hints.parts.setdefault(column, Parts()).must_have = True
            return {self.item(c, s, int(str(given[0]))) for c, s in pairs} or columns
        return columns

    def group(self, column: str, pattern: str, number: Any) -> str:
        self.hints.parts.setdefault(column, Parts()).patterns.add(pattern)
        return group_of(column, pattern, int(number) if str(number).isdecimal() else 1)

    def key(self, column: str, key: str) -> str:
        self.hints.parts.setdefault(column, Parts()).keys.add(key)
        return key_of(column, key)

    def item(self, column: str, separator: str, index: int) -> str:
        splits = self.hints.parts.setdefault(column, Parts()).splits
        splits[separator] = min(max(splits.get(separator, 1), index), _MOST_ITEMS)
        return item_of(column, separator, index)

    def dissect(self, part: Node) -> None:
        """Note how texts are taken apart and searched, and what something is divided by."""
        name = class_name(part)
        if name in _TAKEN:
            self.taken(name, part)
        elif name in _DIVIDED:
            self.hints.divisors |= self.read(part["children"][1])
        elif name in _SEARCHED and (pattern := constant_of(part["children"][1])):
            for column in self.read(part["children"][0]):
                self.hints.parts.setdefault(column, Parts()).searched.add(str(pattern))
        elif name == "CsvToStructs":
            self.line(part)
        elif name == "JsonTuple":
            text, *keys = part["children"]
            for column in self.read(text):
                for key in filter(None, map(constant_of, keys)):
                    self.key(column, str(key))

    def seek(self, part: Node) -> None:
        """Note what is looked for: values of a subquery's table, nulls, and keys of a map."""
        name = class_name(part)
        if name == "InSubquery":
            *values, query = part["children"]
            for value, output in zip(values, outputs_of(tree_of(query["plan"])), strict=False):
                self.equal(value, output)
        elif name in _OF_NULLS:
            self.hints.nulls |= self.read(part["children"][0])
        elif name in _LOOKED_UP and class_name(part["children"][0]) == "CreateMap":
            made, key = part["children"]
            words = {(str(k["value"]), "string") for k in made["children"][::2] if constant_of(k)}
            for column in self.read(key):
                self.hints.literals.setdefault(column, set()).update(words)

    def expression(self, part: Node) -> None:
        name = class_name(part)
        if name in _COMPARED:
            self.comparison(name, part)
        elif name in _PARSED:
            self.parsed(part, _format(part) or _PARSED[name])
        elif name in _SINCE_1970:
            self.since_1970(part["children"][0], _SINCE_1970[name])
        elif name.startswith(_OF_PARTS):
            self.parts_of_time(part["children"], _PARTS_OF_TIME)
        elif name == "JsonToStructs":
            self.convert(part, part.get("schema"))
        elif name in ("Cast", "TryCast") and isinstance(part.get("dataType"), str):
            self.cast(part)
        else:
            self.span(name, part)

    def parts_of_time(self, columns: Sequence[Node], units: Sequence[str]) -> None:
        for unit, column in zip(units, columns, strict=False):
            self.plain(column, f"part:{unit}")

    def span(self, name: str, part: Node) -> None:
        """Note how long an interval or a window is."""
        if name == "Literal" and "interval" in str(part.get("dataType")):
            self.interval(part.get("value"), 1)
        elif name in ("Remainder", "SessionWindow"):
            for inner in walk(part):
                if class_name(inner) == "Literal" and inner.get("dataType") == "long":
                    self.interval(inner.get("value"), _LEAST_WINDOW_US)

    def comparison(self, name: str, part: Node) -> None:
        literals = {
            (str(inner["value"]), str(inner["dataType"]))
            for inner in _compared(part)
            if class_name(inner) == "Literal" and inner.get("value") is not None and name != "RLike"
        }
        if name == "InSet":
            literals |= {(word, "string") for word in _WORD.findall(str(part.get("hset") or ""))}
        for column in self.read(part):
            self.hints.literals.setdefault(column, set()).update(literals)
        if name in ("EqualTo", "EqualNullSafe"):
            self.equal(*part["children"])

    def equal(self, left: Node, right: Node) -> None:
        """Note that a query compares two expressions, each of one column."""
        ours, theirs = self.read(left), self.read(right)
        if len(ours) == len(theirs) == 1:
            self.hints.equate(*ours, *theirs)
            for inner in (*walk(left), *walk(right)):
                if case := _CASES.get(class_name(inner)):
                    self.hints.cases[self.hints.domain(*ours)] = case

    def since_1970(self, number: Node, units: int) -> None:
        """Note that a column's numbers are times, in so many units a second.

        Of several columns that are added, one is a time, the rest are seconds more or less: the one
        whose type has the most digits.
        """
        parts = [p for p in walk(number) if class_name(p) == "AttributeReference"]
        widest = sorted(parts, key=lambda p: p.get("dataType") not in ("long", "double"))[:1]
        for column in {c for part in widest or [number] for c in self.read(part)}:
            self.hints.conversions[column] = f"since 1970:{units}"

    def cast(self, part: Node) -> None:
        inner = part["children"][0]
        if part["dataType"] == "timestamp" and (units := _units_of_time(inner)):
            self.since_1970(inner, units)
            return
        while class_name(inner) in _AROUND and inner["children"]:
            # What nullif() compares is in `left`: its child is what Spark makes of it.
            given = inner.get("left")
            inner = tree_of(given) if isinstance(given, list) else inner["children"][0]
        self.plain(inner, part["dataType"])

    def plain(self, inner: Node, to: str) -> None:
        """Note what a column is converted to, if only other casts are in between."""
        while class_name(inner) in ("Cast", "TryCast", "StringLPad"):
            inner = inner["children"][0]
        if class_name(inner) in ("AttributeReference", "GetStructField", *_TAKEN):
            for column in self.read(inner):
                self.hints.conversions.setdefault(column, to)

    def line(self, part: Node) -> None:
        """Note the parts of a line of CSV and their types; a plan's JSON lacks the separator."""
        fields = (part.get("schema") or {}).get("fields", ())
        for column in self.read(part["children"][0]):
            for index, field in enumerate(fields):
                item = self.item(column, _COMMA, index)
                if field["type"] != "string":
                    self.hints.conversions.setdefault(item, field["type"])

    def parsed(self, part: Node, form: str) -> None:
        """Note the format of a text of time: a query may try several, one after another.

        A text that is joined from several columns has a part of the time in each.
        """
        joined = next((p for p in walk(part) if class_name(p) in _JOINED), None)
        if joined is not None and len(self.read(joined)) > 1:
            columns = [child for child in joined["children"] if self.read(child)]
            return self.parts_of_time(columns, _units_in(form))
        self.convert(part, form)
        for column in self.read(part):
            known = self.formats.setdefault(column, [])
            known += [form] if form not in known else []

    def convert(self, part: Node, to: Any) -> None:
        for column in self.read(part):
            self.hints.conversions[column] = to

    def interval(self, value: Any, least: int) -> None:
        text = str(value).removeprefix("-")
        if text.isdecimal() and int(text) >= least:
            self.hints.intervals.add(int(text) / _SECOND_US)


def _units_in(form: str) -> list[str]:
    """Return the parts of a time in the order in which a format has them."""
    letters = re.findall(r"([yMdHms])\1*", form.removeprefix("format:"))
    return [_PARTS_OF_TIME["yMdHms".index(letter)] for letter in letters]


def _units_of_time(number: Node) -> int | None:
    """Return the units a second of a number that is cast to a time; None of anything else."""
    divisor: Any = 1
    while class_name(number) in ("Cast", "TryCast", "Divide"):
        if class_name(number) == "Divide":
            inner = [p for p in walk(number["children"][1]) if class_name(p) == "Literal"]
            divisor = inner[0].get("value") if inner else None
        number = number["children"][0]
    is_number = class_name(number) == "AttributeReference" and number.get("dataType") in _NUMBERS
    try:
        return int(float(divisor)) if is_number else None
    except (TypeError, ValueError):
        return None


def _as_pattern(mark: Any) -> str:
    """Return a text as a pattern: as `split` has it, where nothing in it needs a backslash."""
    text = str(mark)
    return text if not set(text) & set("\\^$.|?*+()[]{}") else re.escape(text)


_SPLIT, _COMMA = "~split", ","


def _separated(columns: Iterable[str]) -> list[tuple[str, str]]:
    """Return column and separator of those that are the array of a split text."""
    found = (column.rpartition(f"{_SPLIT} ") for column in columns)
    return [(column, separator) for column, _, separator in found if column]


def _calendar(part: Node) -> float | None:
    """Return the seconds of the unit that an expression cuts a time to, None if it cuts none."""
    name = class_name(part)
    if name in ("DateFormatClass", "TruncTimestamp", "FromUnixTime"):
        texts = [
            str(p["value"]) for p in walk(part) if class_name(p) == "Literal" and p.get("value")
        ]
        if name == "TruncTimestamp":
            return next((_UNITS[t.lower()] for t in texts if t.lower() in _UNITS), float(_DAY))
        letters = "".join(texts[-1:])
        return next((unit for found, unit in _LETTERS if set(found) & set(letters)), None)
    if name == "Cast" and part.get("dataType") == "date":
        return float(_DAY)
    return _CALENDAR.get(name)


def _format(part: Node) -> str | None:
    """Return `format:PATTERN` of a parsed date or time, None if it has no pattern."""
    found = [
        str(inner["value"])
        for parsing in walk(part)
        if class_name(parsing) in _PARSED
        for inner in parsing["children"]
        if class_name(inner) == "Literal"
        and inner.get("dataType") == "string"
        and inner.get("value")
    ]
    return f"format:{found[0]}" if found else None


def _compared(tree: Node) -> Iterator[Node]:
    """Yield what a comparison compares, without what says how a text is taken apart."""
    yield tree
    if class_name(tree) not in _TAKEN and class_name(tree) != "StringSplit":
        for child in tree["children"]:
            yield from _compared(child)
