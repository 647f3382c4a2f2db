"""Rehearsals that run beside the pages: one after the other, none of them holds a page up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from queue import SimpleQueue

import streamlit as st

from headgate.errors import RunCancelledError
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_spark import Options, Rehearsal, rehearse
from headgate.usecases.rehearsal.twin_kafka_streams import StreamsTwin, registered_twin
from headgate.usecases.rehearsal.twin_spark import TwinOptions, TwinRun, run_twin

_WAITING = "waiting in the queue (one rehearsal at a time)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be rehearsed; `before` is the old version, None where it is left out.

    Without a `checkpoint` both versions run on generated rows: a twin run. With `has_jars` they are
    the registered jars of a Kafka Streams application, else `module:function`.
    """

    pipeline: str
    after: str
    checkpoint: str | None
    before: str | None = None
    batch: str = "real"
    query: str | None = None
    has_jars: bool = False


Found = Rehearsal | TwinRun | StreamsTwin


@dataclass(frozen=True, slots=True)
class Running:
    """A requested rehearsal; `said` grows with each thing that it begins.

    Every entry is a time of `time.monotonic` and a sentence.
    """

    order: Order
    future: Future[Found]
    said: list[tuple[float, str]]
    stop: threading.Event
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.future.done()

    def cancel(self) -> None:
        """End it soon: its process is killed, its copy removed."""
        self.stop.set()
        self.future.cancel()

    def result(self) -> Found:
        """Return what came out; raises what it raised, RunCancelledError where it never began."""
        try:
            return self.future.result()
        except CancelledError as error:
            raise RunCancelledError("the rehearsal was cancelled before it started") from error


@st.cache_resource(show_spinner=False)
def _jobs() -> SimpleQueue[Callable[[], None]]:
    # Each has a JVM of its own: one at a time for everybody who looks. The thread is a daemon, so
    # that a server that is stopped does not wait for it; its process ends with the server's.
    jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
    threading.Thread(target=_work, args=(jobs,), name="rehearsal", daemon=True).start()
    return jobs


def _work(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


@st.cache_resource(show_spinner=False)
def _asked() -> dict[tuple[str | None, str], Running]:
    """The newest rehearsal of each pipeline: for everybody, and for as long as the server runs."""
    return {}


def newest(context: Context, pipeline: str) -> Running | None:
    """Return the rehearsal of a pipeline that was requested last, by anyone."""
    return _asked().get((context.registry.path, pipeline))


def begin(context: Context, order: Order) -> Running:
    """Request a rehearsal, which becomes the pipeline's newest one."""
    said = [(time.monotonic(), _WAITING)]
    stop = threading.Event()

    def say(text: str) -> None:
        said.append((time.monotonic(), text))

    future: Future[Found] = Future()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            found = _run(context, order, say, stop.is_set)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(found)

    running = Running(order, future, said, stop)
    _jobs().put(work)
    _asked()[context.registry.path, order.pipeline] = running
    return running


def _run(
    context: Context, order: Order, say: Callable[[str], None], cancelled: Callable[[], bool]
) -> Found:
    if order.has_jars:
        # As registered now: nobody may have another jar started with an old form.
        pipeline = next(p for p in context.registry.pipelines if p.name == order.pipeline)
        return registered_twin(pipeline, say=say, cancelled=cancelled)
    if order.checkpoint is None:
        return run_twin(
            str(order.before),
            order.after,
            context=context,
            options=TwinOptions(query=order.query),
            say=say,
            cancelled=cancelled,
        )
    return rehearse(
        order.checkpoint,
        order.after,
        before=order.before,
        context=context,
        options=Options(batch=order.batch, query=order.query),
        say=say,
        cancelled=cancelled,
    )
