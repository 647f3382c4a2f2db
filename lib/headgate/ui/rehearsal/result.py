"""The result of a rehearsal: the engine's verdict beside ours, the batches, and the hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from headgate.model.rehearsal import EngineVerdict, OutputDifference, Untouched
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.compare.rollback import judge_rollback, rollback_of
from headgate.rules.core.report import Outcome, Report, Rollback
from headgate.text.numbers import size
from headgate.ui.shared import markup
from headgate.ui.shared.markup import Code
from headgate.usecases.rehearsal.rehearse_spark import Rehearsal
from headgate.views.reports.rehearsal import (
    BATCH_WORDS,
    facts,
    headline,
    many,
    output_words,
    row_words,
)
from headgate.views.reports.verdict_line import verdict
from headgate.views.scene.outcome_words import GLYPHS, WORDS

_AGREEMENT = {
    Agreement.AGREE: ("Spark confirms the outcome of the rules.", "resumes"),
    Agreement.DISAGREE: ("Spark contradicts the outcome of the rules.", "refuses"),
    Agreement.OPEN: ("Spark's outcome can't be compared with the outcome of the rules.", "unknown"),
}
_BACK = {
    Rollback.SAFE: ("A rollback works.", "resumes"),
    Rollback.REPAIRABLE: ("A rollback works after a repair.", "unknown"),
    Rollback.LOST: ("A rollback fails.", "refuses"),
    # The sentence of the judgement says that it was not verified, and why.
    Rollback.UNKNOWN: ("", "unknown"),
}
_IN_TABLES = ("Batch ", "State ", "Old version", "Original")
_ROWS = 5


def show_result(found: Rehearsal, checkpoint: str) -> None:
    """Show the whole of it; `checkpoint` is the original's address as people gave it."""
    engine = found.engine
    left, right = st.columns(2, gap="medium")
    with left:
        st.html(_engine_verdict(engine))
    with right:
        st.html(_our_verdict(found.report))
    st.html(_agreement(found.judged) + _rollback(found.report, engine))
    st.html(markup.facts(f for f in facts(engine) if not f[0].startswith(_IN_TABLES)))
    ran, state = st.columns(2, gap="medium")
    with ran:
        _table("Rows in and out", list(_batches(engine)))
    with state:
        _table("State, read with Spark's state reader", list(_state(engine)))
    if engine.output is not None:
        _difference(engine.output)
    elif engine.rows:
        rows = map(row_words, engine.rows[:_ROWS])
        st.html(markup.section("First rows written") + markup.bullets(rows))
    if engine.checkpoint is not None:
        st.html(_unchanged_words(engine.checkpoint, checkpoint))


def _engine_verdict(engine: EngineVerdict) -> str:
    outcome = engine.outcome.value
    known = Outcome[engine.outcome.name]
    word = f"Spark {engine.spark_version}: {WORDS[known]}"
    return markup.verdict(GLYPHS[known], word, headline(engine), outcome)


def _our_verdict(report: Report) -> str:
    ours = verdict(report)
    return markup.verdict(
        ours.glyph, f"Outcome of the rules: {ours.word}", ours.sentence, ours.tone
    )


def _agreement(judged: Judged) -> str:
    word, tone = _AGREEMENT[judged.agreement]
    return markup.say(f"{word} {judged.why}", tone)


def _rollback(report: Report, engine: EngineVerdict) -> str:
    if engine.rollback is None:
        return ""
    word, tone = _BACK[rollback_of(engine.rollback)]
    why = judge_rollback(report, engine.rollback).why
    return markup.say(f"{word} {why}".strip(), tone)


def _batches(engine: EngineVerdict) -> Iterator[dict[str, Any]]:
    for batch in engine.batches:
        yield {
            "batch": batch.number,
            "rows in": batch.rows_in,
            "rows out": batch.rows_out,
            "input": BATCH_WORDS[batch.kind],
        }


def _state(engine: EngineVerdict) -> Iterator[dict[str, Any]]:
    for store in engine.state:
        yield {
            "operator": f"{store.operator_id} {store.operator}",
            "store": store.store,
            "rows before": store.before,
            "rows after": store.after,
            "in memory": size(store.memory) if store.memory is not None else None,
        }


def _table(title: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        st.html(markup.section(title))
        st.dataframe(rows, hide_index=True, width="stretch", height="content")


def _difference(output: OutputDifference) -> None:
    """Show how the old version's output differs, row by row where it does."""
    said = output_words(output)
    st.html(markup.section("Output of both versions") + markup.quiet(said))
    sides = (("− old output", output.sample_before), ("+ new output", output.sample_after))
    rows = [{"": word} | row for word, sample in sides for row in sample]
    if rows:
        st.dataframe(rows, hide_index=True, width="stretch", height="content")


def _unchanged_words(found: Untouched, address: str) -> str:
    files = f"{many(found.files, 'file')}, {size(found.bytes)}"
    what = f"`{address}` is unchanged: {files}."
    if not found.is_unchanged:
        what = (
            f"Another process changed {len(found.changed)} of {many(found.files, 'file')} in "
            f"`{address}` during the rehearsal. Check whether the query is running. The rehearsal "
            "itself changes only its copy."
        )
    names = ", ".join(found.changed[:_ROWS])
    rows = [("Hash before", Code(found.before)), ("Hash after", Code(found.after))]
    return (
        markup.section("Original checkpoint")
        + markup.say(what, "resumes" if found.is_unchanged else "unknown")
        + markup.facts([*rows, ("Changed", names)])
    )
