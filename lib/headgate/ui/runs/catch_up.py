"""How far the pipeline is after a run: checked every few seconds while somebody watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

import streamlit as st

from headgate.errors import HeadgateError
from headgate.text.numbers import count, exact
from headgate.ui.shared import markup
from headgate.ui.shared.keys import RunsKey
from headgate.usecases.context import Context
from headgate.usecases.runs.read_catch_up import CatchUpPositions, pace, read_positions
from headgate.usecases.runs.read_run import RunDetail
from headgate.views.reports.lag_words import lag_words
from headgate.views.words.progress import amount_words, left_words

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Late:
    """No answer yet, `seconds` after the request."""

    seconds: float


@dataclass(frozen=True, slots=True)
class _Asked(Generic[T]):
    answer: Future[T]
    begun: float


def ask_within(key: str, call: Callable[[], T], seconds: float) -> T | Late:
    """Return what `call` returns, or `Late` where that takes longer; raises what it raises.

    What is late is not asked once more: the session's next ask of that `key` gets its answer.
    """
    asked: _Asked[T] | None = st.session_state.get(key)
    if asked is None:
        asked = _begin(call)
        st.session_state[key] = asked
    wait((asked.answer,), seconds)
    if not asked.answer.done():
        return Late(time.monotonic() - asked.begun)
    st.session_state.pop(key, None)
    return asked.answer.result()


def _begin(call: Callable[[], T]) -> _Asked[T]:
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    # A daemon: a server that is stopped does not wait for an answer that nobody sees any more.
    threading.Thread(target=work, name="patience", daemon=True).start()
    return _Asked(answer, time.monotonic())


EVERY = 3.0
"""Seconds between two updates."""
PATIENCE = 2.0
"""Maximum seconds that an update delays the page: without Kafka, reading takes longer."""
_KEPT = 10
"""Number of updates from which a rate is computed, about half a minute."""


def catch_up(context: Context, detail: RunDetail) -> None:
    """Show what is reprocessed, at which rate, and the time left."""
    st.html(markup.section("Progress since the end of the run"))
    st.fragment(_look, run_every=EVERY)(context, detail)


def _look(context: Context, detail: RunDetail) -> None:
    asked = f"{RunsKey.LOOKING}_{detail.row.id}"
    try:
        last = ask_within(asked, lambda: read_positions(context, detail), PATIENCE)
    except HeadgateError as error:
        st.html(markup.unknown(str(error)))
        return
    if isinstance(last, Late):
        said = (
            f"The progress is unknown: Headgate has waited {last.seconds:.0f} s for Kafka or the "
            "checkpoint."
        )
        st.html(markup.unknown(said))
        return
    if last is None:
        st.html(
            markup.quiet(
                "The progress is unknown, because Headgate can't read the pipeline's offsets. "
                "Check that headgate.toml has the pipeline, and bootstrap_servers under [kafka]. "
                "Then run `headgate doctor`."
            )
        )
        return
    looks: list[CatchUpPositions] = st.session_state.setdefault(
        f"{RunsKey.LOOKS}_{detail.row.id}", []
    )
    looks.append(last)
    del looks[:-_KEPT]
    st.html(catch_up_html(looks[0], last))


def catch_up_html(first: CatchUpPositions, last: CatchUpPositions) -> str:
    """Return the counts of the last look, with the rate since the first."""
    words = amount_words(last.done, last.left, last.at_end, last.partitions)
    facts = [
        ("Lag", lag_words(last.left, datetime.fromtimestamp(last.at, UTC).isoformat())),
        ("Rate", _rate(first, last)),
        ("Time left", _left(first, last)),
        ("Batch", exact(last.batch) if last.batch is not None else None),
        ("Query", last.reported),
    ]
    return markup.bar(words, last.done, last.done + last.left) + markup.facts(facts)


def _rate(first: CatchUpPositions, last: CatchUpPositions) -> str:
    found = pace(first, last)
    if found is None:
        return "unknown until the next update"
    return (
        f"{count(round(found.reads))} records/s read, {count(round(found.arrives))} records/s "
        "arriving"
    )


def _left(first: CatchUpPositions, last: CatchUpPositions) -> str:
    found = pace(first, last)
    seconds = found.seconds_left if found else None
    return left_words(last.left, seconds, is_measured=found is not None)
