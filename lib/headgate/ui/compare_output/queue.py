"""Comparisons that run beside the pages: one after the other, none of them holds a page up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from queue import SimpleQueue

import streamlit as st

from headgate.errors import RunCancelledError
from headgate.gateway.spark.compare_outputs import CompareRequest
from headgate.model.output_comparison import OutputComparison
from headgate.usecases.compare_output.compare_outputs import compare_outputs
from headgate.usecases.context import Context

_WAITING = "Waiting in the queue (one comparison at a time)"


@dataclass(frozen=True, slots=True)
class Running:
    """A comparison that was started; `said` grows with each thing that it begins.

    Every entry is a time of `time.monotonic` and a sentence.
    """

    wish: CompareRequest
    future: Future[OutputComparison]
    said: list[tuple[float, str]]
    stop: threading.Event
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.future.done()

    def cancel(self) -> None:
        """End it soon: its process is killed."""
        self.stop.set()
        self.future.cancel()

    def result(self) -> OutputComparison:
        """Return what came out; raises what it raised, RunCancelledError where it never began."""
        try:
            return self.future.result()
        except CancelledError as error:
            raise RunCancelledError("the comparison was cancelled before it started") from error


@st.cache_resource(show_spinner=False)
def _jobs() -> SimpleQueue[Callable[[], None]]:
    # Each has a JVM of its own: one at a time for everybody who looks. The thread is a daemon, so
    # that a server that is stopped does not wait for it; its process ends with the server's.
    jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
    threading.Thread(target=_work, args=(jobs,), name="compare-output", daemon=True).start()
    return jobs


def _work(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


@st.cache_resource(show_spinner=False)
def _asked() -> dict[str | None, Running]:
    """The newest comparison: for everybody, and for as long as the server runs."""
    return {}


def newest(context: Context) -> Running | None:
    """Return the comparison that was started last, by whomever."""
    return _asked().get(context.registry.path)


def begin(context: Context, wish: CompareRequest) -> Running:
    """Start a comparison, which becomes the newest one."""
    said = [(time.monotonic(), _WAITING)]
    stop = threading.Event()
    future: Future[OutputComparison] = Future()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            found = compare_outputs(
                wish,
                context=context,
                say=lambda text: said.append((time.monotonic(), text)),
                cancelled=stop.is_set,
            )
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(found)

    running = Running(wish, future, said, stop)
    _jobs().put(work)
    _asked()[context.registry.path] = running
    return running
