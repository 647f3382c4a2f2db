"""Rehearse a pipeline's restart, and show the engine's verdict beside ours."""

from __future__ import annotations

import shlex
import time
from itertools import pairwise

import streamlit as st

from headgate.errors import HeadgateError, RunCancelledError
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.ui.rehearsal.form import ask_order, captured_function
from headgate.ui.rehearsal.queue import Found, Order, Running, begin, newest
from headgate.ui.rehearsal.result import show_result
from headgate.ui.rehearsal.twin import counterexample_node, show_twin
from headgate.ui.shared import markup
from headgate.ui.shared.address_state import select, selected
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import CompareKey
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_spark import Rehearsal
from headgate.usecases.rehearsal.twin_kafka_streams import NEEDED, StreamsTwin
from headgate.usecases.rehearsal.twin_spark import TwinRun

_WHAT_OF_STREAMS = (
    "Tests whether Kafka Streams resumes with the new version, on separate brokers of Headgate's "
    "own."
)
_WITH_STATE = (
    "On a copy of the state directory and the topics. Headgate only reads your cluster and the "
    "original state directory. Run in a shell:"
)
_AS_TWIN = (
    "On the same records for both versions, without your cluster and without state (twin run): "
    "Headgate compares their state stores and outputs."
)


def _ask_jars(pipeline: Pipeline | None) -> Order | None:
    """Say what a rehearsal of Kafka Streams is; return the order of a twin run once it is placed.

    A page starts only jars that headgate.toml names.
    """
    st.html(markup.quiet(_WHAT_OF_STREAMS) + markup.quiet(_WITH_STATE))
    st.code(command(pipeline), language="sh", wrap_lines=True)
    st.html(markup.quiet(_AS_TWIN))
    lacking = [f"`{key}`" for key in NEEDED if pipeline is None or not getattr(pipeline, key)]
    if pipeline is None or lacking:
        st.html(markup.quiet("Run in a shell:"))
        st.code(twin_command(pipeline), language="sh", wrap_lines=True)
        keys = f"{', '.join(lacking[:-1])} and {lacking[-1]}" if lacking[1:] else lacking[0]
        st.html(markup.quiet(f"To start it on this page, set {keys} in headgate.toml."))
        return None
    if not st.button("Start twin run", key=CompareKey.REHEARSE, icon=":material/play_arrow:"):
        return None
    return Order(
        pipeline=pipeline.name,
        after=pipeline.jar or "",
        before=pipeline.old_jar,
        checkpoint=None,
        has_jars=True,
    )


def command(pipeline: Pipeline | None) -> str:
    """Return the command line, with what is not known here in capitals."""
    words = ["headgate", "rehearse", "--state-dir", "DIR", *_application(pipeline)]
    words += ["--jar", _jar(pipeline), "--after", _method(pipeline)]
    if pipeline is not None and pipeline.evidence:
        words += ["--before", pipeline.evidence[0]]
    return shlex.join(words)


def twin_command(pipeline: Pipeline | None) -> str:
    """Return the command line of a twin run, with what is not known here in capitals."""
    old = pipeline.old_jar if pipeline and pipeline.old_jar else "OLD.jar"
    words = ["headgate", "rehearse", "--before-jar", old, "--jar", _jar(pipeline)]
    return shlex.join([*words, "--after", _method(pipeline), *_application(pipeline)])


def _jar(pipeline: Pipeline | None) -> str:
    return pipeline.jar if pipeline and pipeline.jar else "NEW.jar"


def _method(pipeline: Pipeline | None) -> str:
    return pipeline.entry_point if pipeline and pipeline.entry_point else "CLASS#method"


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
        title = "Rehearsal on a copy of the state directory, or on generated records"
    elif pipeline is not None and pipeline.engine is Engine.SPARK:
        title = "Rehearsal on a copy of the checkpoint, or on generated rows"
    else:
        return
    running = newest(context, pipeline.name) if pipeline else None
    with st.expander(title, icon=":material/theaters:", expanded=running is not None):
        if pipeline is None:
            _ask_jars(None)
            return
        is_spark = pipeline.engine is Engine.SPARK
        if is_spark and not (pipeline.entry_point or captured_function(after)):
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
    if pipeline.engine is Engine.KAFKA_STREAMS:
        order = _ask_jars(pipeline)
    else:
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
    if not isinstance(found, Rehearsal) and selected() is None:
        select(counterexample_node(found))


def _show(found: Found, order: Order, after: Version | None) -> None:
    words = _release_words(found, after)
    if isinstance(found, StreamsTwin):
        words += _topology_words(found.versions[1], after)
    if words:
        st.html(words)
    if isinstance(found, Rehearsal):
        show_result(found, order.checkpoint or "")
    else:
        show_twin(found)


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


def _topology_words(ran: Version, after: Version | None) -> str:
    """Say that the jar has another topology than the version that the page judges."""
    if after is None or not ran.evidence or _named(ran) == _named(after):
        return ""
    return markup.say(
        "The topology of the jar differs from the version selected under After. The result may not "
        "apply to that version.",
        "unknown",
    )


def _named(version: Version) -> set[str | None]:
    app = version.streams or StreamsApplication()
    ends = {s.node for s in app.sources} | {s.node for s in app.sinks}
    return ends | {s.name for s in app.stores}


def _release_words(found: Found, after: Version | None) -> str:
    """Say that a rehearsal by another release isn't evidence for the one that runs."""
    if isinstance(found, StreamsTwin):
        rehearsed = found.verdict.streams_version
    else:
        verdict = found.verdict if isinstance(found, TwinRun) else found.engine
        rehearsed = verdict.spark_version
    runs = after.engine_version if after else None
    if after is None or not runs or not rehearsed or _release(runs) == _release(rehearsed):
        return ""
    engine = after.engine.words
    return markup.say(
        f"The rehearsal ran on {engine} {rehearsed}. The version selected under After is for "
        f"{engine} {runs}. The result can differ between releases.",
        "unknown",
    )


def _release(version: str) -> list[str]:
    return version.split(".")[:2]


def _order_words(order: Order, after: Version | None = None) -> str:
    """Say what was started; and where that is not what the page judges, that it is not."""
    old = f", old version `{order.before}`" if order.before else ""
    batch = "new rows" if order.batch == "real" else "none"
    on = "input: the same records" if order.has_jars else "generated rows"
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
