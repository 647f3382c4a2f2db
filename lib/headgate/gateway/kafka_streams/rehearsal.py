"""Let a started application take what its broker has, and say how that ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from headgate.errors import RefusedError, RunCancelledError
from headgate.gateway.kafka.topics import TopicPart
from headgate.gateway.kafka_broker.rehearsal_broker import RehearsalBroker
from headgate.gateway.kafka_streams.application import StartFailed, is_down
from headgate.gateway.kafka_streams.jvm import StreamsJvm
from headgate.gateway.process.connections import unexpected_connection
from headgate.model.kafka_streams_rehearsal import StreamsStage
from headgate.model.rehearsal import EngineOutcome
from headgate.text.numbers import plural

_LOOK_S = 0.1
_ASK_S = 0.4
# Transactions' markers may stay between what was committed and the end.
_STILL_S = 6.0
_STOP_S = 20.0
# What only a task says that processes records [Kafka Streams 4.3.1: StreamTask, ProcessorNode and
# RecordDeserializer].
_OF_RECORD = ("taskId=", "exception handler is set to fail upon a ")


def is_of_record(causes: Collection[str]) -> bool:
    """Whether one of these messages says that a record was being processed."""
    return any(said in cause for cause in causes for said in _OF_RECORD)


class Application(Protocol):
    """What is started: `ByTopology` or `ByMain`."""

    def start(self) -> None:
        """Start it."""

    def state(self) -> str:
        """Return its state."""

    def failure(self) -> tuple[str, ...]:
        """Return what ended it, as `class: message`, outermost first."""

    def stop(self, seconds: float) -> None:
        """Stop it, and end its JVM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a start ended; `causes` if it failed, `question` if nothing was decided."""

    outcome: EngineOutcome
    causes: tuple[str, ...] = ()
    stage: StreamsStage | None = None
    question: str | None = None


def run(
    application: Application,
    jvm: StreamsJvm,
    broker: RehearsalBroker,
    group: str,
    *,
    inputs: Collection[str],
    between: Callable[[], Collection[str]],
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ran:
    """Start it and wait until it runs and has committed all; stop it however that ends.

    `inputs` are outside topics that it reads, `between` returns its repartition topics.
    RefusedError where the application opened a connection to anything but its broker,
    RunCancelledError once `cancelled`.
    """
    watch = _Watch(application, jvm, broker, group, inputs, between)
    try:
        application.start()
        return watch.until_done(time.monotonic() + seconds, seconds, cancelled)
    except StartFailed as error:
        return Ran(outcome=EngineOutcome.REFUSES, causes=error.causes, stage=StreamsStage.BUILD)
    finally:
        application.stop(_STOP_S if not watch.is_refused else 5.0)


class _Watch:
    """Checks state, connections and offsets."""

    def __init__(
        self,
        application: Application,
        jvm: StreamsJvm,
        broker: RehearsalBroker,
        group: str,
        inputs: Collection[str],
        between: Callable[[], Collection[str]],
    ) -> None:
        self._application, self._jvm, self._broker = application, jvm, broker
        self._group, self._inputs, self._between = group, inputs, between
        self._port = int(broker.address.rpartition(":")[2])
        self._last: dict[TopicPart, int] = {}
        self._moved = time.monotonic()
        self._settled = 0
        self._ran = False
        self.is_refused = False

    def until_done(self, deadline: float, seconds: float, cancelled: Callable[[], bool]) -> Ran:
        asked = 0.0
        state, lag = "", ""
        while time.monotonic() < deadline:
            if cancelled():
                raise RunCancelledError("the rehearsal was cancelled")
            self._stay_here()
            state = self._application.state()
            if failed := self._failed(state):
                return failed
            self._ran = self._ran or state == "RUNNING"
            if state == "RUNNING" and time.monotonic() - asked > _ASK_S:
                lag = self._lag()
                asked = time.monotonic()
                self._settled = 0 if lag else self._settled + 1
                if self._settled > 1:
                    return Ran(outcome=EngineOutcome.RESUMES)
            time.sleep(_LOOK_S)
        what = (
            f"it still has unread input ({lag})"
            if lag
            else f"the Kafka Streams client is in state {state}"
        )
        said = self._application.failure()
        why = f". The application's log shows: {said[0]}" if said else ""
        return Ran(
            outcome=EngineOutcome.UNKNOWN,
            question=(
                f"Does the version only need more time? After {seconds:g} s, {what}{why}. Try "
                "a longer --timeout"
            ),
        )

    def _failed(self, state: str) -> Ran | None:
        causes = self._application.failure()
        if not causes and not is_down(state):
            return None
        # The last words may still be on their way.
        time.sleep(0.3)
        causes = causes or self._application.failure()
        if not causes and state != "ERROR":
            end = self._jvm.child.last_words()
            return Ran(
                outcome=EngineOutcome.UNKNOWN,
                question=f"Why did the application end without an error (state {state})? Check "
                "whether its code closes KafkaStreams."
                + (f" Last line of its log: {end}" if end else ""),
            )
        self.is_refused = True
        # Between two looks it may have run.
        ran = self._ran or is_of_record(causes)
        return Ran(
            outcome=EngineOutcome.REFUSES,
            causes=causes
            or (
                (
                    "the Kafka Streams client is in state ERROR, but the application's log shows "
                    "no cause"
                ),
            ),
            stage=StreamsStage.BATCH if ran else StreamsStage.START,
        )

    def _lag(self) -> str:
        """Return what is not committed yet in words, empty where nothing is."""
        committed = self._broker.committed(self._group)
        if committed != self._last:
            self._last, self._moved = committed, time.monotonic()
        is_still = time.monotonic() - self._moved > _STILL_S
        # Repartition topics first: what their records are written from is then committed already.
        between = self._broker.ends(self._between())
        inputs = self._broker.ends(self._inputs)
        left = _left(inputs, committed)
        if not is_still:
            left |= _left(between, committed)
        return ", ".join(
            f"{plural(n, 'record')} of {t}[{p}]" for (t, p), n in sorted(left.items())[:3]
        )

    def _stay_here(self) -> None:
        found = unexpected_connection(
            self._jvm.child.process.pid, allowed=self._port, own=self._jvm.port
        )
        if found is not None:
            self._jvm.close()
            raise RefusedError(
                f"the application connected to {found.remote}:{found.remote_port} instead "
                "of the rehearsal's broker, so Headgate stopped the application. Use the "
                "bootstrap.servers that the rehearsal passes to the application"
            )


def _left(ends: dict[TopicPart, int], committed: dict[TopicPart, int]) -> dict[TopicPart, int]:
    left = {part: end - committed.get(part, 0) for part, end in ends.items()}
    return {part: n for part, n in left.items() if n > 0}
