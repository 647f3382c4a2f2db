"""The rules' own unit tests as examples: what makes a rule speak, and the nearest that does not."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from headgate.model.cluster import Cluster
from headgate.model.version import Version
from headgate.rules.catalogue import all_rules
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Report
from headgate.rules.readiness.check import check
from rules import (
    checkpoint_cases,
    input_cases,
    open_cases,
    output_cases,
    setting_cases,
    spark_cases,
    state_cases,
    variable_cases,
    world_cases,
)

from .excerpt import MOST, UNSET, beside, changed_facts, clean, cut, facts, operators

Side = dict[str, Any]
Example = dict[str, Side]
_HERE = Path(__file__).parents[1]
_OF_TWO = (input_cases, state_cases, setting_cases, output_cases, variable_cases)
_OF_MORE = (world_cases, checkpoint_cases, spark_cases, open_cases)
WHY = {rule.code: rule.why for rule in all_rules()}
# What a unit test writes where a reader would say what is missing.
_NOT_SAID = "Something is missing."
_BETTER = (Outcome.RESUMES, Outcome.NO_EFFECT)


_UNCHANGED = "The same version restarts unchanged."
_OF_OTHERS = "Only other rules report this change."
_KNOWN_HARM: dict[int, tuple[Row, bool]] = {}
_KNOWN_FACTS: dict[int, tuple[Any, dict[str, str]]] = {}


def facts_of(value: Version | Cluster) -> dict[str, str]:
    """Return a value's facts; they are computed once as long as the value is kept, as it is."""
    if id(value) not in _KNOWN_FACTS:
        _KNOWN_FACTS[id(value)] = value, facts(value)
    return _KNOWN_FACTS[id(value)][1]


class Row(NamedTuple):
    """Two versions beside Kafka as it is now, and where they are written down."""

    where: str
    before: Version
    after: Version
    cluster: Cluster | None = None

    def report(self) -> Report:
        return compare(self.before, self.after, cluster=self.cluster)

    def changes(self) -> list[str]:
        """Return the facts that differ, of the operators if no others do."""
        return changed_facts(facts_of(self.before), facts_of(self.after)) or changed_facts(
            operators(self.before), operators(self.after)
        )

    def around(self, other: Row) -> list[str]:
        """Return what this row has otherwise beside its change."""
        told = {x[2:] for x in self.changes()}
        mine = [facts_of(x) if x else {} for x in (self.before, self.cluster)]
        its = [facts_of(x) if x else {} for x in (other.before, other.cluster)]
        given = beside(mine[0], its[0]) + [f"Kafka: {x}" for x in beside(mine[1], its[1])]
        return [f"  {x}" for x in given if x not in told]


def side(case: str, lines: Iterable[str], *, change: str = "", said: str = "") -> Side:
    """Return one half of an example: `said` is what the finding says of it, `did` the engine."""
    told = "" if said == _NOT_SAID else clean(said)
    return {"case": case, "change": change, "lines": cut(lines), "said": told, "did": ""}


def table_examples() -> dict[str, Example]:
    """Return an example of every rule that a table of unit tests has, {code: example}."""
    compared = {code: compared_example(code, *rows) for code, rows in _rows().items()}
    known = {code: found for code, found in compared.items() if found}
    return known | readiness_examples() | schema_examples()


@cache
def _rows() -> dict[str, tuple[list[Row], list[Row]]]:
    """Return the rows in which each rule speaks, and those in which it is silent."""
    found: dict[str, tuple[list[Row], list[Row]]] = {}
    for module in _OF_TWO:
        for code, (before, after, _, silent) in module.CASES.items():
            where = f"tests/rules/{module.__name__.rpartition('.')[2]}.py, {code}"
            found[code] = [Row(where, before, after)], [Row(where, before, silent)]
    for module in _OF_MORE:
        for code, rows in module.CASES.items():
            where = f"tests/rules/{module.__name__.rpartition('.')[2]}.py, {code}"
            made = [(Row(where, *row[:3]), row[3] is not None) for row in rows]
            found[code] = [r for r, speaks in made if speaks], [r for r, s in made if not s]
    return found


def compared_rows() -> list[Row]:
    """Return every row of the tables once."""
    return list({id(r): r for pair in _rows().values() for rows in pair for r in rows}.values())


@cache
def _harmless() -> list[tuple[Row, list[str], frozenset[str]]]:
    """Return every row that changes something without harm: its change, and who spoke."""
    found = [(r, r.changes(), r.report()) for r in compared_rows() if r.cluster is None]
    return [
        (row, lines, frozenset(f.rule for f in report.findings))
        for row, lines, report in found
        if lines and report.outcome in _BETTER
    ]


def compared_example(code: str, fires: list[Row], silent: list[Row]) -> Example | None:
    """Return the row that speaks and the one that does not which differ least; None without."""
    fine = [s for s in silent if _is_harmless(s)]
    pairs = [(f, s) for f in fires for s in fine or silent]
    if not pairs:
        return None
    row, other = min(pairs, key=lambda pair: _distance(*pair))
    if row.before.streams and len(row.around(other)) >= MOST:
        # The nearest harmless row is of another topology: no line is left for the change itself.
        every = [(f, s) for f in fires for s in silent]
        row, other = min(every, key=lambda p: (len(p[0].around(p[1])) >= MOST, *_distance(*p)))
    speaks = next(f for f in row.report().findings if f.rule == code)
    said = speaks.why.removesuffix(WHY[code]).strip()
    reported = side(row.where, row.around(other) + row.changes(), said=said)
    passes = side(other.where, other.around(row) + other.changes())
    if not passes["lines"] or not fine:
        passes = _alike(code, row) or passes | {"change": "" if fine else _OF_OTHERS}
    if not passes["lines"]:
        passes = side(other.where, _kept(row, other), change=_UNCHANGED)
    return {"reported": reported, "passes": passes}


def _kept(row: Row, other: Row) -> list[str]:
    """Return what an unchanged version says of the facts that a row changes."""
    known = facts_of(other.before) | operators(other.before)
    keys = dict.fromkeys(line[2:].partition(": ")[0] for line in row.changes())
    return [f"  {key}: {known.get(key, UNSET)}" for key in keys]


def _distance(row: Row, other: Row) -> tuple[int, int]:
    around = row.around(other) + other.around(row)
    told = row.changes() + around
    return (not told) + (not other.changes() and not around), len(around)


def _is_harmless(row: Row) -> bool:
    """Say whether no rule at all reports harm of a row."""
    if id(row) not in _KNOWN_HARM:
        _KNOWN_HARM[id(row)] = row, row.report().outcome in _BETTER
    return _KNOWN_HARM[id(row)][1]


def _alike(code: str, row: Row) -> Side | None:
    """Return the harmless change that is most like a row's, None if nothing is."""
    heads = _heads(row.changes())
    found = [
        (len(heads & _heads(lines)) / len(heads | _heads(lines)), -len(lines), r.where, lines)
        for r, lines, spoke in _harmless()
        if code not in spoke
    ]
    likeness, _, where, lines = max(found, key=lambda f: f[:3])
    return side(where, lines) if likeness > 0 else None


def _heads(lines: Iterable[str]) -> set[str]:
    return {x[2:].partition(": ")[0] for x in lines}


def import_tests(folder: str, name: str) -> Any:
    if str(_HERE / folder) not in sys.path:
        sys.path.append(str(_HERE / folder))
    return importlib.import_module(name)


def readiness_examples() -> dict[str, Example]:
    """Return for every readiness rule two pipelines that differ least."""
    tests = import_tests("readiness", "test_readiness_rules")
    given: dict[str, dict[bool, list[tuple[Version, dict[str, Any]]]]] = {}
    for code, version, known, fires in tests.CASES:
        given.setdefault(code, {True: [], False: []})[fires].append((version, known))
    return {code: _readiness(code, tests, g[True], g[False]) for code, g in given.items()}


def _readiness(code: str, tests: Any, fires: list[Any], silent: list[Any]) -> Example:
    pairs = [(f, s, _told(f), _told(s)) for f in fires for s in silent]
    one, _, mine, its = min(pairs, key=lambda p: _cost(beside(p[3], p[2])))
    version, known = one
    (found, *_) = check(version, now=tests.NOW, rules=(tests.RULE[code],), **known).findings
    case = f"tests/rules/readiness/test_readiness_rules.py, {code}"
    return {
        "reported": side(case, [f"  {x}" for x in beside(mine, its)], said=found.what),
        "passes": side(case, [f"  {x}" for x in beside(its, mine)]),
    }


def _told(case: tuple[Version, dict[str, Any]]) -> dict[str, str]:
    version, known = case
    return facts(version) | facts(known)


def _cost(lines: list[str]) -> int:
    """Return how little lines show: unset values and other engines explain the least."""
    vague = sum(x.endswith(UNSET) or x.startswith(("engine_version", "progress")) for x in lines)
    return len(lines) + 3 * vague if lines else 99


def schema_examples() -> dict[str, Example]:
    """Return for every rule about schemas its pair, and the most alike that is allowed."""
    tests = import_tests("topic_schemas", "test_schema_rules")
    found: dict[str, Example] = {}
    for code, direction, before, after, _ in tests.CASES:
        if code not in found:
            found[code] = _schema(tests, code, direction, before, after)
    return found


def _schema(tests: Any, code: str, direction: Any, before: Any, after: Any) -> Example:
    allowed = min(tests.ALLOWED, key=lambda a: _unlike((before, after), a[:2]))
    (speaks, *_) = (f for f in tests.found(before, after, direction) if f.rule == code)
    case = "tests/rules/topic_schemas/test_schema_rules.py"
    said = speaks.why.removesuffix(WHY[code]).strip()
    reads, its = _FAILS[direction.name], _READS[allowed[2].name]
    return {
        "reported": side(f"{case}, {code}", _schemas(before, after), change=reads, said=said),
        "passes": side(f"{case}, ALLOWED", _schemas(*allowed[:2]), change=its),
    }


_FAILS = {
    "BACKWARD": "The new schema can't read the old schema's records correctly.",
    "FORWARD": "The old schema can't read the new schema's records correctly.",
}
_READS = {
    "BACKWARD": "The new schema reads the old schema's records correctly.",
    "FORWARD": "The old schema reads the new schema's records correctly.",
}


def _schemas(before: Any, after: Any) -> list[str]:
    return [f"- {_text(before)}", f"+ {_text(after)}"]


def _text(schema: Any) -> str:
    return json.dumps(schema) if isinstance(schema, Mapping) else str(schema).strip()


def _unlike(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[bool, int]:
    """Return how much two pairs differ: formats first, then words."""
    mine, its = ({w for s in pair for w in _text(s).split()} for pair in (one, other))
    formats = [next(k for k in ("syntax", "record", "") if k in _text(p[0])) for p in (one, other)]
    return formats[0] != formats[1], len(mine ^ its)
