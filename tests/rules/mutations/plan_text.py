"""Changes of explain text, in every form that Spark prints: one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .mutant import HARM, HARMLESS, MIXED, Base, Files, Mutant
from .plan_json import ELSEWHERE, elsewhere
from .plan_tree import number, output, sources

_SOURCE_LINE = re.compile(r"^.*(?:StreamingRelation|Relation \[|FileScan|MicroBatchScan|Scan ).*$")
_FUNCTION = {
    "min": "max",
    "max": "min",
    "first": "last",
    "last": "first",
    "bit_and": "bit_or",
    "bit_or": "bit_and",
    "sum": "max",
    "avg": "sum",
}
_CONDITION = re.compile(r"(?m)^.*(?:\bFilter \(?|Condition : ).*$")
_NUMBER = re.compile(r"(?<=[<>=] )(\d+)(?=\b)")
_DELAY = re.compile(r"(?<=: timestamp, )(\d+) (seconds|minutes|hours)")
_LENGTH = re.compile(r"(?<=[%+-] )(\d{7,})(?=\))")
_TYPES = ("Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi")


def mutants(base: Base) -> Iterator[Mutant]:
    """Yield each change in each printed form that shows it."""
    columns = _columns(base)
    for form, (file, text) in base.forms.items():
        if form == "json":
            continue
        yield Mutant(
            f"{form}: unchanged", "nothing", _files(base, file, text), HARMLESS, told=False
        )
        for kind, what, changed, allowed, told in _changes(text, columns):
            if changed != text:
                session = elsewhere(base.session) if kind == "source path" else base.session
                yield Mutant(f"{form}: {kind}", what, {**session, file: changed}, allowed, told)


def _files(base: Base, file: str, text: str) -> Files:
    return {**base.session, file: text}


def _changes(text: str, columns: list[list[tuple[str, str]]]) -> Iterator[tuple]:
    yield from _functions(text)
    yield from _columns_exchanged(text, columns)
    yield from _keys_exchanged(text, columns)
    for i, found in enumerate(dict.fromkeys(_LENGTH.findall(text))):
        if "StateStoreSave" in text:
            changed = re.sub(rf"\b{found}\b", str(int(found) * 3), text)
            yield "window grid", f"{found} ({i})", changed, HARM, True
    for unit in dict.fromkeys(_DELAY.findall(text)):
        yield "watermark delay", " ".join(unit), _DELAY.sub(r"9\1 \2", text), MIXED, True
    if "StreamingSymmetricHashJoin" in text:
        old = next((t for t in _TYPES if f" {t}," in text), "Inner")
        for new in _TYPES:
            if new != old:
                changed = re.sub(rf"\b{old}\b", new, text)
                yield "join type", f"{old} -> {new}", changed, MIXED, True
    yield "source path", "all", re.sub(r"(?<=FileSource\[)[^\]]+", ELSEWHERE, text), HARM, True
    yield from _filters(text)
    yield "renumbered", "all", re.sub(r"(?<=[^\s#])#(\d+)(?=L?\b)", _other, text), HARMLESS, False


def _other(found: re.Match[str]) -> str:
    return f"#{1_000_000 - int(found[1])}"


def _functions(text: str) -> Iterator[tuple]:
    if "StateStoreSave" not in text and "SessionWindowStateStoreSave" not in text:
        return
    for old, new in _FUNCTION.items():
        changed = re.sub(rf"\b(partial_|merge_)?{old}\((?=[^)]*#)", rf"\1{new}(", text)
        yield "other function", f"{old} -> {new}", changed, HARM, True


def _filters(text: str) -> Iterator[tuple]:
    found = {n for line in _CONDITION.findall(text) for n in _NUMBER.findall(line)}
    for value in sorted(found):
        changed = _CONDITION.sub(
            lambda m, v=value: re.sub(rf"(?<=[<>=] ){v}\b", str(int(v) + 7), m[0]), text
        )
        yield "filter condition", value, changed, MIXED, True


def _columns_exchanged(text: str, columns: list[list[tuple[str, str]]]) -> Iterator[tuple]:
    """Every use of one column of a source becomes one of another of its type, and back."""
    stated = "\n".join(line for line in text.splitlines() if "StateStore" in line)
    for same in columns:
        for i, (one, _) in enumerate(same):
            for two, _ in same[i + 1 :]:
                if _names(stated, one) == _names(stated, two):
                    continue
                changed = "\n".join(
                    line
                    if _SOURCE_LINE.match(line) or "Output [" in line
                    else _swap(line, one, two)
                    for line in text.splitlines()
                )
                yield "columns exchanged", f"{one} <-> {two}", changed, HARM, True


def _keys_exchanged(text: str, columns: list[list[tuple[str, str]]]) -> Iterator[tuple]:
    """Two keys that stand beside each other change places wherever they do."""
    stated = "\n".join(line for line in text.splitlines() if "StateStoreSave" in line)
    for same in columns:
        for one, _ in same:
            for two, _ in same:
                pair = re.compile(rf"{re.escape(one)}L?, {re.escape(two)}L?(?=[\],])")
                if one != two and pair.search(stated):
                    changed = "\n".join(
                        line if _SOURCE_LINE.match(line) else pair.sub(f"{two}, {one}", line)
                        for line in text.splitlines()
                    )
                    yield "keys exchanged", f"{one} <-> {two}", changed, HARM, True


def _names(text: str, token: str) -> bool:
    return re.search(rf"{re.escape(token)}\b", text) is not None


def _swap(line: str, one: str, two: str) -> str:
    both = re.compile(rf"(?<![\w`]){re.escape(one)}\b|(?<![\w`]){re.escape(two)}\b")
    return both.sub(lambda m: two if m[0] == one else one, line)


def _columns(base: Base) -> list[list[tuple[str, str]]]:
    """Return the columns of each source, those of one type together, as the text calls them."""
    if "json" not in base.forms:
        return []
    nodes = json.loads(base.forms["json"][1])
    out: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for place in sources(nodes):
        for column in output(nodes, place):
            key = (place, json.dumps(column["dataType"]))
            out.setdefault(key, []).append((f"{column['name']}#{number(column)}", key[1]))
    return [same for same in out.values() if len(same) > 1]
