"""Rehearse what headgate.toml declares, and show the engine's verdict beside ours.

Only registered functions are started: whoever sees a page must not be able to run others.
"""

from __future__ import annotations

import re
import time

import streamlit as st

from headgate.compat.agreement import Agreement
from headgate.errors import HeadgateError
from headgate.model.registry import Pipeline
from headgate.model.rehearsal import EngineOutcome
from headgate.model.version import Engine, Version
from headgate.ui import markup
from headgate.ui.keys import CompareKey
from headgate.ui.problem import show_problem
from headgate.ui.rehearsals import Running, begin
from headgate.usecases.context import Context
from headgate.usecases.rehearse import Rehearsal
from headgate.views.rehearsal_words import facts, headline, row_words

_EVERY_S = 1.0
_WORDS = {"real": "Take a batch of new rows", "none": "Reach no source"}
_GLYPHS = {EngineOutcome.REFUSES: "!", EngineOutcome.RESUMES: "✓", EngineOutcome.UNKNOWN: "?"}
_AGREEMENT = {
    Agreement.AGREE: ("Spark's verdict agrees with the rules.", "resumes"),
    Agreement.DISAGREE: ("Spark's verdict disagrees with the rules.", "refuses"),
    Agreement.OPEN: ("Spark's verdict stands alone.", "unknown"),
}
_ROWS = 5
_FUNCTION = re.compile(r"[\w.]+:\w+$")
"""A `module:function` as `headgate capture` takes it, and no path."""


def rehearsal_panel(context: Context, name: str | None, after: Version | None = None) -> None:
    """Offer a rehearsal of the chosen pipeline, say how far it is, and show what it found.

    `after` is the version that the page judges: a rehearsal of another one must not be taken for
    its proof.
    """
    pipeline = context.registry.pipeline(name) if name else None
    if pipeline is None or pipeline.engine is not Engine.SPARK or not pipeline.checkpoint:
        return
    with st.expander("Rehearsal on a copy of the checkpoint", icon=":material/theaters:"):
        if not pipeline.entry_point:
            st.html(markup.quiet("Name the pipeline's `entry_point` in headgate.toml to rehearse."))
            return
        st.html(_rehearsed(pipeline.entry_point, after))
        running = _asked(pipeline)
        every = _EVERY_S if running is not None and not running.is_done else None
        st.fragment(_content, run_every=every)(context, pipeline)


def _rehearsed(entry_point: str, after: Version | None) -> str:
    """Say which version is started: the registered function, whatever stands under After."""
    captured = (e.path for e in (after.evidence if after else ()) if e.kind == "capture")
    function = next((p for p in captured if _FUNCTION.match(p)), None)
    what = f"Starts `{entry_point}`, as headgate.toml registers it, on a copy; the sink is replaced"
    what = f"{what}, and the original is only read."
    if function is None or function == entry_point:
        return markup.quiet(what)
    return markup.quiet(what) + markup.say(
        f"That is not the version under After, which was captured from `{function}`: make it the"
        " `entry_point`, or run `headgate rehearse` with it, to see what Spark says of it.",
        "unknown",
    )


def _asked(pipeline: Pipeline) -> Running | None:
    found = st.session_state.get(CompareKey.REHEARSAL)
    return found if isinstance(found, Running) and found.pipeline == pipeline.name else None


def _content(context: Context, pipeline: Pipeline) -> None:
    running = _asked(pipeline)
    if running is None or running.is_done:
        _form(context, pipeline)
    if running is None:
        return
    if not running.is_done:
        seconds = int(time.monotonic() - running.begun)
        st.html(markup.quiet(f"{running.said[-1]} … {seconds} s"))
        return
    if running not in st.session_state.setdefault(CompareKey.REHEARSED, []):
        # Once: the page need not look again every second.
        st.session_state[CompareKey.REHEARSED] = [running]
        st.rerun(scope="app")
    try:
        _result(running.future.result())
    except HeadgateError as error:
        show_problem(error)


def _form(context: Context, pipeline: Pipeline) -> None:
    batch = st.radio(
        "Batch", list(_WORDS), format_func=_WORDS.__getitem__, key=CompareKey.REHEARSE_BATCH,
        horizontal=True, label_visibility="collapsed",
    )  # fmt: skip
    if st.button("Rehearse", key=CompareKey.REHEARSE, icon=":material/play_arrow:"):
        st.session_state[CompareKey.REHEARSAL] = begin(context, pipeline, batch or "real")
        st.rerun(scope="app")


def _result(found: Rehearsal) -> None:
    """Show the engine's verdict, whether it agrees with ours, and what happened."""
    engine, judged = found.engine, found.judged
    word, tone = _AGREEMENT[judged.agreement]
    outcome = engine.outcome.value
    st.html(
        markup.verdict(_GLYPHS[engine.outcome], f"Spark: {outcome}", headline(engine), outcome)
        + markup.say(f"{word} {judged.why}", tone)
        + markup.facts(facts(engine))
    )
    shown = engine.rows[:_ROWS]
    if shown:
        st.html(markup.section("First rows") + markup.bullets(map(row_words, shown)))
