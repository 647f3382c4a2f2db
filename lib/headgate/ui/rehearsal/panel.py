"""Rehearse a pipeline's restart, and show the engine's verdict beside ours."""

from __future__ import annotations

import shlex
import time
from itertools import pairwise

import streamlit as st

from headgate.errors import HeadgateError, RunCancelledError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.ui.rehearsal.form import ask_order, captured_function
from headgate.ui.rehearsal.queue import Order, Running, begin, newest
from headgate.ui.rehearsal.result import show_result
from headgate.ui.rehearsal.twin import counterexample_node, show_twin
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select, selected
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import CompareKey
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_spark import Rehearsal
from headgate.usecases.rehearsal.twin_spark import TwinRun

_WHAT_OF_STREAMS = (
    "Tests whether Kafka Streams resumes with the new version. The console doesn't start jars, so "
    "run one of these commands in a shell. Both use a separate broker of Headgate's own."
)
_WITH_STATE = (
    "On a copy of the state directory and the topics. Headgate only reads your cluster and the "
    "original state directory:"
)
_AS_TWIN = (
    "On generated records, without your cluster and without state: both versions process the same "
    "records, and Headgate compares their state stores and outputs (twin run):"
)


def streams_rehearsal(pipeline: Pipeline | None) -> None:
    """Show what to call; `pipeline` gives the application id and the old version's evidence."""
    title = "Rehearsal on a copy of the state directory, or on generated records"
    with st.expander(title, icon=":material/theaters:"):
        st.html(markup.quiet(_WHAT_OF_STREAMS) + markup.quiet(_WITH_STATE))
        st.code(command(pipeline), language="sh", wrap_lines=True)
        st.html(markup.quiet(_AS_TWIN))
        st.code(twin_command(pipeline), language="sh", wrap_lines=True)


def command(pipeline: Pipeline | None) -> str:
    """Return the command line, with what is not known here in capitals."""
    words = ["headgate", "rehearse", "--state-dir", "DIR", *_application(pipeline)]
    words += ["--jar", "NEW.jar", "--after", "CLASS#method"]
    if pipeline is not None and pipeline.evidence:
        words += ["--before", pipeline.evidence[0]]
    return shlex.join(words)


def twin_command(pipeline: Pipeline | None) -> str:
    """Return the command line of a twin run, with what is not known here in capitals."""
    words = ["headgate", "rehearse", "--before-jar", "OLD.jar", "--jar", "NEW.jar"]
    return shlex.join([*words, "--after", "CLASS#method", *_application(pipeline)])


def _application(pipeline: Pipeline | None) -> list[str]:
    return ["--application-id", pipeline.group] if pipeline and pipeline.group else []


_EVERY_S = 1.0
_WHAT = (
    "Tests whether Spark resumes with the new version. Spark runs one batch on a copy of the "
    "checkpoint, with a replaced sink. Headgate only reads the original checkpoint. Without a "
    "checkpoint, both versions run on the same generated rows, and Headgate compares the states."
)


def rehearsal_panel(
    context: Context,
    name: str | None,
    before: Version | None = None,
    after: Version | None = None,
) -> None:
    """Offer a rehearsal of the chosen pipeline, say how far it is, and show what it found.

    `before` and `after` are the versions that the page judges: a rehearsal of another function
    than the one that `after` was captured from must not be taken for its evidence.
    """
    pipeline = context.registry.pipeline(name) if name else None
    if after is not None and after.engine is Engine.KAFKA_STREAMS:
        streams_rehearsal(pipeline)
        return
    if pipeline is None or pipeline.engine is not Engine.SPARK:
        return
    running = newest(context, pipeline.name)
    with st.expander(
        "Rehearsal on a copy of the checkpoint, or on generated rows",
        icon=":material/theaters:",
        expanded=running is not None,
    ):
        if not (pipeline.entry_point or captured_function(after)):
            said = "To rehearse this pipeline, set its `entry_point` in headgate.toml."
            st.html(markup.quiet(said))
            return
        every = _EVERY_S if running is not None and not running.is_done else None
        st.fragment(_content, run_every=every)(context, pipeline, before, after)


def _content(
    context: Context, pipeline: Pipeline, before: Version | None, after: Version | None
) -> None:
    running = newest(context, pipeline.name)
    if running is not None and not running.is_done:
        _progress(running)
        return
    st.html(markup.quiet(_WHAT))
    order = ask_order(context, pipeline, before, after, running.order if running else None)
    if order is not None:
        begin(context, order)
        st.rerun(scope="app")
    if running is None:
        return
    if running not in st.session_state.setdefault(CompareKey.REHEARSED, []):
        # Once: the page need not look again every second.
        st.session_state[CompareKey.REHEARSED] = [running]
        _mark(running)
        st.rerun(scope="app")
    st.html(markup.section("Last rehearsal") + _order_words(running.order, after))
    try:
        _show(running.result(), running.order, after)
    except RunCancelledError as error:
        st.html(markup.quiet(f"{str(error)[0].upper()}{str(error)[1:]}."))
    except HeadgateError as error:
        show_problem(error)


def _mark(running: Running) -> None:
    """Select the node of a twin run's counterexample in the graph, if nothing is selected."""
    try:
        found = running.result()
    except (HeadgateError, RunCancelledError):
        return
    if isinstance(found, TwinRun) and selected() is None:
        select(counterexample_node(found))


def _show(found: Rehearsal | TwinRun, order: Order, after: Version | None) -> None:
    engine = found.verdict if isinstance(found, TwinRun) else found.engine
    if said := _release_words(engine.spark_version, after):
        st.html(said)
    if isinstance(found, TwinRun):
        show_twin(found)
    else:
        show_result(found, order.checkpoint or "")


def _progress(running: Running) -> None:
    """Show what was done, for how long, and what is in progress; it can be cancelled."""
    lines = [f"✓ {text} ({until - at:.0f} s)" for (at, text), (until, _) in pairwise(running.said)]
    at, text = running.said[-1]
    lines.append(f"… {text}: {time.monotonic() - at:.0f} s")
    st.html(_order_words(running.order) + "".join(map(markup.quiet, lines)))
    if running.stop.is_set():
        st.html(markup.quiet("Cancelling."))
    else:
        st.button(
            "Cancel rehearsal", key=CompareKey.REHEARSE_CANCEL, icon=":material/stop:",
            on_click=running.cancel,
        )  # fmt: skip


def _release_words(rehearsed: str, after: Version | None) -> str:
    """Say that a rehearsal by another release of Spark isn't evidence for the one that runs."""
    runs = after.engine_version if after else None
    if not runs or not rehearsed or _release(runs) == _release(rehearsed):
        return ""
    return markup.say(
        f"The rehearsal ran on Spark {rehearsed}. The version selected under After is for Spark "
        f"{runs}. The result can differ between releases.",
        "unknown",
    )


def _release(version: str) -> list[str]:
    return version.split(".")[:2]


def _order_words(order: Order, after: Version | None = None) -> str:
    """Say what was started; and where that is not what the page judges, that it is not."""
    old = f", old version `{order.before}`" if order.before else ""
    batch = "new rows" if order.batch == "real" else "none"
    on = "generated rows"
    if order.checkpoint is not None:
        on = f"checkpoint `{order.checkpoint}`, input: {batch}"
    said = markup.quiet(f"New version `{order.after}`{old}, {on}")
    function = captured_function(after)
    if function in (None, order.after):
        return said
    return said + markup.say(
        f"The rehearsal ran `{order.after}`. The version selected under After was captured from "
        f"`{function}`. The result may not apply to that version.",
        "unknown",
    )
