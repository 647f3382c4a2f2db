"""A rehearsal as JSON: the shape of `diff`, and the engine's own verdict beside it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from headgate.model.rehearsal import EngineVerdict, OutputDifference, Untouched, WayBack
from headgate.rules.compare.engine_agreement import Judged
from headgate.rules.compare.rollback import expected_rollback, judge_way_back, rollback_of
from headgate.rules.core.report import Report
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.rehearsal import way_back_words


def rehearsal_json(report: Report, engine: EngineVerdict, judged: Judged) -> dict[str, Any]:
    """Return the object that `rehearse --format json` prints; every value is plain."""
    agreement = {"agreement": judged.agreement.value, "why": judged.why}
    back = _way_back(report, engine.way_back)
    return report_json(report) | {"engine": engine_json(engine), **agreement, "rollback": back}


def _way_back(report: Report, back: WayBack | None) -> dict[str, Any] | None:
    """Return whether the old version runs after the attempt: tried, and as the rules expect."""
    if back is None:
        return None
    judged = judge_way_back(report, back)
    return {
        "rollback": rollback_of(back).value,
        "expected": expected_rollback(report).value,
        "agreement": judged.agreement.value,
        "why": judged.why,
        "outcome": back.outcome.value,
        "error_class": back.error_class,
        "message": back.message,
        "rows_in": back.rows_in,
        "removed": list(back.removed),
        "repaired": back.repaired.value if back.repaired else None,
        "proof": way_back_words(back),
    }


def engine_json(engine: EngineVerdict) -> dict[str, Any]:
    """Return the engine's verdict, the contract's fields first."""
    return {
        "outcome": engine.outcome.value,
        "error_class": engine.error_class,
        "message": engine.message,
        "rows_in": engine.rows_in,
        "rows_out": engine.rows_out,
        "condition": engine.condition,
        "stage": engine.stage.value if engine.stage else None,
        "question": engine.question,
        "spark_version": engine.spark_version,
        "sink": engine.sink,
        "not_exercised": list(engine.not_exercised),
        "batches": [asdict(b) | {"kind": b.kind.value} for b in engine.batches],
        "state": [asdict(s) for s in engine.state],
        "rows": list(engine.rows),
        "output": output_json(engine.output),
        "checkpoint": checkpoint_json(engine.checkpoint),
    }


def output_json(output: OutputDifference | None) -> dict[str, Any] | None:
    """Return how two outputs compare, None where no old version ran."""
    if output is None:
        return None
    plain = asdict(output) | {"old": output.old.value}
    lists = {k: list(plain[k]) for k in ("sample_before", "sample_after", "columns")}
    return plain | lists


def checkpoint_json(found: Untouched | None) -> dict[str, Any] | None:
    """Return the proof that the original is as it was."""
    if found is None:
        return None
    return {
        "location": found.location,
        "unchanged": found.is_unchanged,
        "files": found.files,
        "bytes": found.bytes,
        "sha256_before": found.before,
        "sha256_after": found.after,
        "changed": list(found.changed),
    }
