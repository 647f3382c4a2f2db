"""A twin run as JSON, and as a section of the report: Spark's rows, or Kafka Streams' records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from headgate.model.twin import (
    Equivalence,
    FilterRows,
    OperatorRows,
    SameOperator,
    TwinVerdict,
)
from headgate.model.version import Version
from headgate.rules.compare.twin_findings import Disagreement, location_of, node_of
from headgate.rules.compare.twin_lowers import Lowered
from headgate.rules.core.report import Location, Report
from headgate.text.numbers import plural
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.document import Document, Section
from headgate.views.scene.outcome_words import WORDS

# What Spark adds to every join and filter.
_OF_OPTIMIZER = re.compile(r"isnotnull\([^()]*\)|AND|[() ]")
_REPLACED = (
    " A twin run replaces sources and sinks. This rule is about a source or sink, so the engine's "
    "outcome doesn't refute the rule."
)
ENGINE_WORDS = {
    "refuses": "the new version fails to start",
    "silently_wrong": "the new version runs, but writes wrong results",
    "resumes": "the new version resumes",
    "unknown": "no result",
}


def twin_json(
    report: Report,
    verdict: TwinVerdict,
    disagreements: Sequence[Disagreement],
    versions: tuple[Version, Version],
    lowered: Sequence[Lowered] = (),
) -> dict[str, Any]:
    """Return the object that a twin run prints; every value is plain."""
    return report_json(report) | twin_facts(verdict, disagreements, versions, lowered)


def twin_facts(
    verdict: TwinVerdict,
    disagreements: Sequence[Disagreement],
    versions: tuple[Version, Version] | None,
    lowered: Sequence[Lowered] = (),
) -> dict[str, Any]:
    """Return what a twin run adds to the object of a comparison.

    For Kafka Streams, stores and output topics replace operators.
    """
    refusal = verdict.refusal
    release = {"spark_version": verdict.spark_version}
    if verdict.streams_version:
        release["streams_version"] = verdict.streams_version
    return {
        "engine": {
            "outcome": verdict.outcome,
            "error_class": refusal.error_class if refusal else None,
            "message": refusal.message if refusal else verdict.why,
            "rows_in": verdict.rows,
            "rows_out": verdict.rows_out,
            "condition": refusal.condition if refusal else None,
            "question": verdict.question,
            "why": verdict.why,
            "mixed": verdict.mixed,
            "left_out": list(verdict.left_out),
            **release,
            "seconds": round(verdict.seconds, 1),
        },
        "counterexample": _example_json(verdict, versions),
        "coverage": {
            "seed": verdict.seed,
            "rows": verdict.rows,
            "sample": verdict.is_sampled,
            "operators": [_operator_json(o, versions) for o in verdict.operators],
            "filters": [_filter_json(f) for f in verdict.filters],
        },
        "equivalence": _equivalence_json(verdict.equivalence, versions),
        "disagreements": [
            {
                "rule": d.rule,
                "rules": d.rules.word,
                "engine": d.engine.word,
                "is_replaced": d.is_replaced,
            }
            for d in disagreements
        ],
        "lowered": [
            {"rule": one.rule, "rules": one.rules.word, "seeds": list(one.seeds)} for one in lowered
        ],
    }


def _operator_json(rows: OperatorRows, versions: tuple[Version, Version] | None) -> dict[str, Any]:
    counts = {
        "operator": rows.operator,
        "rows_before": rows.rows_before or 0,
        "rows_after": rows.rows_after or 0,
    }
    if rows.operator_id < 0:
        return {"id": rows.operator} | counts
    before, after = (node_of(v, rows.operator_id) for v in versions) if versions else (None, None)
    return {
        "id": after or before or str(rows.operator_id),
        **counts,
        "reached_before": rows.reached_before,
        "reached_after": rows.reached_after,
    }


def _equivalence_json(
    same: Equivalence | None, versions: tuple[Version, Version] | None
) -> dict[str, Any] | None:
    if same is None:
        return None
    return {
        "plan": same.plan,
        "skipped": same.is_same,
        "differs": list(same.differs),
        "operators": [
            {
                "id": (versions and node_of(versions[1], o.operator_id)) or str(o.operator_id),
                "operator": o.operator,
                "input": o.inputs,
                "keys": o.keys,
                "values": o.values,
            }
            for o in same.operators
        ],
    }


def _filter_json(rows: FilterRows) -> dict[str, Any]:
    pairs = {"before": rows.before, "after": rows.after}
    return {"condition": rows.condition} | {
        name: {"rows_in": pair[0], "rows_out": pair[1]} if pair else None
        for name, pair in pairs.items()
    }


def _example_json(
    verdict: TwinVerdict, versions: tuple[Version, Version] | None
) -> dict[str, Any] | None:
    example = verdict.counterexample
    if example is None:
        return None
    nodes = location_of(verdict, *versions) if versions else Location()
    return {
        "where": nodes.after or nodes.before,
        "store": example.store,
        "kind": example.kind,
        "key": example.key,
        "column": {"before": example.columns[0], "after": example.columns[1]},
        "before": example.before,
        "after": example.after,
        "match": asdict(example.match) if example.match else None,
        "masked": example.masked,
    }


def with_twin_section(
    document: Document, verdict: TwinVerdict, disagreements: Sequence[Disagreement]
) -> Document:
    """Return a comparison's document with what both versions did."""
    lines = tuple(twin_lines(verdict, disagreements))
    section = Section(title=f"Twin run: {ENGINE_WORDS[verdict.outcome]}", lines=lines)
    return replace(document, command="headgate rehearse", sections=(section, *document.sections))


def twin_lines(verdict: TwinVerdict, disagreements: Sequence[Disagreement]) -> Iterator[str]:
    """Yield the reason, then what was exercised and where rules and engine disagree."""
    yield f"{verdict.why[:1].upper()}{verdict.why[1:]}."
    if verdict.question:
        yield f"Open question: {verdict.question}"
    if verdict.equivalence:
        yield equivalence_words(verdict.equivalence)
    for operator in verdict.operators:
        if operator.operator_id < 0:
            yield (
                f"{operator.operator}: {_records(operator.rows_before)} in the old version, "
                f"{_records(operator.rows_after)} in the new version."
            )
            continue
        yield (
            f"Operator {operator.operator_id} ({operator.operator}): "
            f"{_count(operator.rows_before, operator.reached_before)} in the old version, "
            f"{_count(operator.rows_after, operator.reached_after)} in the new version."
        )
    for kept in verdict.filters:
        if not _OF_OPTIMIZER.sub("", kept.condition):
            continue
        yield (
            f"Filter {kept.condition}: {_passed(kept.before)} in the old version, "
            f"{_passed(kept.after)} in the new version."
        )
    if verdict.left_out:
        names = ", ".join(verdict.left_out)
        yield f"Not compared (values from the clock or random functions): {names}."
    if verdict.rows:
        yield _made(verdict)
    yield from disagreement_lines(disagreements)


def _made(verdict: TwinVerdict) -> str:
    engine, unit = f"Spark {verdict.spark_version}", "row"
    if verdict.streams_version:
        engine, unit = f"Kafka Streams {verdict.streams_version}", "record"
    made = "sampled" if verdict.is_sampled else "generated"
    if verdict.is_sampled and not verdict.streams_version:
        made = "sampled and generated"
    return (
        f"{plural(verdict.rows, f'{made} {unit}')} (seed {verdict.seed}), "
        f"{plural(verdict.rows_out, f'output {unit}')} after the restart, "
        f"{verdict.seconds:.0f} s on {engine}."
    )


def disagreement_lines(disagreements: Sequence[Disagreement]) -> Iterator[str]:
    """Yield a sentence for each finding with an outcome that the engine did not show."""
    for one in disagreements:
        by = f"rule {one.rule}" if one.rule else "the rules"
        yield (
            f"Rules and engine disagree. Outcome of {by}: {WORDS[one.rules]}. "
            f"Outcome of the engine: {WORDS[one.engine]}."
            f"{_REPLACED if one.is_replaced else ''}"
        )


def equivalence_words(same: Equivalence) -> str:
    """Say in one line what Catalyst says of both plans."""
    if same.plan is None:
        reason = ", because user functions differ" if "user functions" in same.differs else ""
        return f"Catalyst: the optimized query plans can't be compared{reason}."
    if same.is_same:
        return (
            "Catalyst: the optimized query plans are the same, so Headgate didn't run the versions."
        )
    other = f" Other differences: {', '.join(same.differs)}." if same.differs else ""
    if same.plan:
        return f"Catalyst: the optimized query plans are the same.{other}"
    parts = "".join(f" {_same_operator(o)}." for o in same.operators)
    return f"Catalyst: the optimized query plans differ.{parts}{other}"


def _same_operator(one: SameOperator) -> str:
    name = f"Operator {one.operator_id} ({one.operator})"
    if not one.inputs:
        return f"{name}: different input"
    words = {True: "same", False: "different", None: "unknown"}
    return f"{name}: same input, {words[one.keys]} keys, {words[one.values]} values"


def _count(rows: int | None, reached: int | None) -> str:
    if rows is None:
        return "no state"
    came = "" if reached is None else f"{plural(reached, 'input row')} and "
    return f"{came}{plural(rows, 'changed state row')}"


def _records(rows: int | None) -> str:
    return "missing" if rows is None else plural(rows, "record")


def _passed(rows: tuple[int, int] | None) -> str:
    return "no such filter" if rows is None else f"{rows[1]} of {plural(rows[0], 'row')} passed"
