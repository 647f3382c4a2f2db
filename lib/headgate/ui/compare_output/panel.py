"""Start a comparison of two outputs, say how far it is, and show what it found."""

from __future__ import annotations

import time

import streamlit as st

from headgate.errors import HeadgateError, RunCancelledError
from headgate.ui.compare_output.form import ask
from headgate.ui.compare_output.queue import Running, begin, newest
from headgate.ui.compare_output.result import show_comparison
from headgate.ui.shared import markup
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import OutputKey
from headgate.usecases.context import Context

_EVERY_S = 1.0


def output_panel(context: Context) -> None:
    """Show the form, and below it the newest comparison."""
    running = newest(context)
    is_busy = running is not None and not running.is_done
    wish = ask(context)
    if wish is not None:
        if running is not None and is_busy:
            running.cancel()
        begin(context, wish)
        st.rerun()
    if running is None:
        _nothing(context)
        return
    st.fragment(_content, run_every=_EVERY_S if is_busy else None)(context, running, is_busy)


def _nothing(context: Context) -> None:
    if context.registry.console_outputs:
        allowed = ", ".join(f"`{o}`" for o in context.registry.console_outputs)
        st.html(markup.empty("No comparison yet", f"Enter two outputs and their key columns. "
                             f"headgate.toml allows {allowed}."))  # fmt: skip
        return
    st.html(
        markup.empty(
            "No outputs are allowed yet",
            "List folders, topics and tables as `outputs` of [console] in headgate.toml. "
            "On the command line, `headgate compare-output` compares any output that you can read.",
        )
    )


def _content(context: Context, running: Running, was_busy: bool) -> None:
    if not running.is_done:
        _progress(running)
        return
    if was_busy:
        st.rerun(scope="app")  # The page need not look again every second.
    st.html(markup.section("Last comparison") + _request_words(running))
    try:
        show_comparison(running.result())
    except RunCancelledError as error:
        st.html(markup.quiet(f"{str(error)[0].upper()}{str(error)[1:]}."))
    except HeadgateError as error:
        show_problem(error)


def _request_words(running: Running) -> str:
    wish = running.wish
    said = f"A: `{wish.a}`, B: `{wish.b}`, keys: `{', '.join(wish.keys)}`"
    if wish.ignore:
        said += f", ignored: `{', '.join(wish.ignore)}`"
    if wish.newest:
        said += ", only the newest record per key"
    return markup.quiet(said + (f", tolerance: {wish.tolerance:g}" if wish.tolerance else ""))


def _progress(running: Running) -> None:
    _, text = running.said[-1]
    seconds = time.monotonic() - running.begun
    st.html(
        markup.section("Comparison")
        + _request_words(running)
        + markup.quiet(f"… {text} ({seconds:.0f} s)")
    )
    if running.stop.is_set():
        st.html(markup.quiet("Cancelling."))
    else:
        st.button(
            "Cancel comparison", key=OutputKey.CANCEL, icon=":material/stop:",
            on_click=running.cancel,
        )  # fmt: skip
