"""What happened in a rehearsal, in sentences: the same in a terminal and on a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from headgate.model.kafka_streams_rehearsal import ClusterComparison
from headgate.model.rehearsal import (
    Batch,
    BatchKind,
    EngineOutcome,
    EngineVerdict,
    OutputDifference,
    RollbackTrial,
    Stage,
    StateRows,
    Untouched,
)
from headgate.rules.compare.engine_agreement import Judged
from headgate.rules.compare.rollback import expected_rollback, judge_rollback, rollback_of
from headgate.rules.core.report import Report
from headgate.text.numbers import plural, size
from headgate.views.reports.comparison_json import report_json

HEADLINES = {
    EngineOutcome.REFUSES: "Spark fails to start the query",
    EngineOutcome.RESUMES: "Spark resumes the query",
    EngineOutcome.UNKNOWN: "The rehearsal has no result",
}
STAGES = {
    Stage.START: "at the start, before Spark wrote anything",
    Stage.BEFORE_OFFSETS: "before Spark added a batch to the offset log",
    Stage.AFTER_OFFSETS: "in the batch, after Spark added the batch to the offset log",
}
BATCH_WORDS = {
    BatchKind.NEW: "with new rows",
    BatchKind.REPEATED: "reprocessed, because the batch was not committed",
    BatchKind.PINNED: "with the same offsets as the batch of the other version",
    BatchKind.EMPTY: "without input",
}
_NO_ROWS = "loads the state. Headgate found no unread rows, so the old version processed no rows"
_OWN_ENTRY = (
    "The new version read no new rows. So the offset log has no entry as a real deployment writes "
    "it, and Headgate can't say whether the old version can read it. Rehearse again when the "
    "sources have new rows"
)


def headline(engine: EngineVerdict) -> str:
    """Return the engine's verdict in one line."""
    said = HEADLINES[engine.outcome]
    return f"{said}: {engine.condition or engine.error_class}" if engine.error_class else said


def facts(engine: EngineVerdict) -> Iterator[tuple[str, str]]:
    """Yield what happened as names and sentences, without the rows themselves."""
    if engine.stage is not None:
        yield "Stage", STAGES[engine.stage]
    if engine.message:
        yield "Message", engine.message
    if engine.question:
        yield "Open question", engine.question
    for batch in engine.batches:
        yield f"Batch {batch.number}", batch_words(batch)
    for store in engine.state:
        yield f"State {store.operator_id}", state_words(store)
    if engine.output is not None:
        yield "Old version", output_words(engine.output)
    if engine.rollback is not None:
        yield "Rollback", rollback_words(engine.rollback)
    yield "Sink", engine.sink
    for item in engine.not_exercised:
        yield "Not tested", item
    if engine.checkpoint is not None:
        yield "Original", original_words(engine.checkpoint)


def batch_words(batch: Batch) -> str:
    """Return what a batch was and how many rows it took and gave."""
    out = "rows out unknown" if batch.rows_out is None else f"{many(batch.rows_out, 'row')} out"
    return f"{many(batch.rows_in, 'row')} in, {out} ({BATCH_WORDS[batch.kind]})"


def many(number: int, word: str) -> str:
    """Return `1 row`, `2,000 rows`."""
    return plural(number, word, f"{number:,}")


def state_words(store: StateRows) -> str:
    """Return a store's rows before and after."""
    was, now = (_number(n) for n in (store.before, store.after))
    memory = f", {size(store.memory)} in memory" if store.memory is not None else ""
    return f"{store.operator} {store.store}: {was} → {now} rows{memory}"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def output_words(output: OutputDifference) -> str:
    """Return how the old version's output compares, or why it was not compared."""
    if not output.same_input:
        did = {EngineOutcome.REFUSES: _fails(output.old_error_class), EngineOutcome.RESUMES: "runs"}
        said = f"the old version {did.get(output.old, 'did not finish')}"
        return f"{said}; {output.note}" if output.note else said
    counts = (
        f"with the same input: {many(output.equal, 'equal row')}, {output.only_before:,} only in "
        f"the old output, {output.only_after:,} only in the new output"
    )
    return f"{counts}; {output.note}" if output.note else counts


def _fails(error_class: str | None) -> str:
    return f"fails with {error_class}" if error_class else "fails"


def rollback_words(back: RollbackTrial) -> str:
    """Return what the old version did on the copy that the new one had touched."""
    if back.outcome is EngineOutcome.UNKNOWN:
        return f"unverified: {back.note or back.message or 'the start did not finish'}"
    if back.outcome is EngineOutcome.RESUMES:
        took = f"reads {many(back.rows_in, 'row')}" if back.rows_in else _NO_ROWS
        said = f"the old version runs on the copy that the new version changed, and {took}"
    else:
        said = (
            f"the old version {_fails(back.error_class)} on the copy that the new version changed"
        )
        said = f"{said}. {_repaired(back)}"
    return f"{said}. {_OWN_ENTRY}" if back.is_own_entry else said


def _repaired(back: RollbackTrial) -> str:
    if back.repaired is None:
        return (
            "Headgate tested no repair, because the copy has no batches of the new version. A "
            "repair removes these batches from the offset and commit logs"
        )
    removed = ", ".join(f"`{name}`" for name in back.removed)
    match back.repaired:
        case EngineOutcome.RESUMES:
            is_done = any(name.startswith("commits/") for name in back.removed)
            again = (
                ". Spark then reprocesses the deleted batch: the sink may get duplicates"
                if is_done
                else ""
            )
            return f"The old version runs after you delete {removed}{again}"
        case EngineOutcome.REFUSES:
            return f"The old version also fails after Headgate deleted {removed} from the copy"
    return (
        f"Headgate deleted {removed} from the copy and started the old version again. That start "
        "had no result"
    )


def original_words(found: Untouched) -> str:
    """Return what the hashes show."""
    told = f"{many(found.files, 'file')}, {size(found.bytes)}"
    if found.is_unchanged:
        return unchanged_words(told, found)
    return (
        f"another process changed {changed_names(found)} during the rehearsal. Check whether the "
        "query is running. The rehearsal itself changes only its copy"
    )


def unchanged_words(told: str, found: Untouched | ClusterComparison) -> str:
    """Return that the original is what it was, with the hash that shows it."""
    return f"unchanged ({told}, sha256 {found.before[:12]})"


def changed_names(found: Untouched | ClusterComparison) -> str:
    """Return the first names of what changed."""
    return ", ".join(found.changed[:3]) + (", …" if len(found.changed) > 3 else "")


def row_words(row: Mapping[str, Any]) -> str:
    """Return a row in one line."""
    return json.dumps(row, ensure_ascii=False)


def rehearsal_json(report: Report, engine: EngineVerdict, judged: Judged) -> dict[str, Any]:
    """Return the object that `rehearse --format json` prints; every value is plain."""
    agreement = {"agreement": judged.agreement.value, "why": judged.why}
    back = _rollback(report, engine.rollback)
    return report_json(report) | {"engine": engine_json(engine), **agreement, "rollback": back}


def _rollback(report: Report, back: RollbackTrial | None) -> dict[str, Any] | None:
    """Return whether the old version runs after the attempt: tried, and as the rules expect."""
    if back is None:
        return None
    judged = judge_rollback(report, back)
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
        "proof": rollback_words(back),
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
    """Return the evidence that the original is unchanged."""
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
