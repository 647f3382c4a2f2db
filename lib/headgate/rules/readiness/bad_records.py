"""What a Kafka Streams application does with a record that it can't handle."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import Problem, rule
from headgate.rules.readiness.facts.spans import span
from headgate.rules.readiness.facts.subject import Subject

DEAD_LETTERS = "errors.dead.letter.queue.topic.name"
TASK_TIMEOUT = "task.timeout.ms"
DEFAULT_TIMEOUT_MS = 300_000
# Setting, the older name of it, and the handler that it has where nobody sets one.
_HANDLERS = (
    ("deserialization.exception.handler", "default.deserialization.exception.handler"),
    ("processing.exception.handler", None),
    ("production.exception.handler", "default.production.exception.handler"),
)
_STOPPING = frozenset({
    "LogAndFailExceptionHandler",
    "LogAndFailProcessingExceptionHandler",
    "DefaultProductionExceptionHandler",
})  # fmt: skip
_SKIPPING = frozenset(
    {"LogAndContinueExceptionHandler", "LogAndContinueProcessingExceptionHandler"}
)
_GUIDE = "documentation: Configuring a Streams Application"


_SET_AND_NEWER = (
    f"Set {DEAD_LETTERS} (4.2 and newer): these handlers then write each skipped record to that "
    "topic, with the error and its position in the headers. Before 4.2, write your own handler "
    "that does this. Both need only a rolling restart."
)


@rule("RDY070", f"{_GUIDE}; proposal: KIP-1034", Engine.KAFKA_STREAMS, remedies=(_SET_AND_NEWER,))
def skips_records(s: Subject) -> Iterator[Problem]:
    """A record that can't be read or processed is skipped; only a log line is left of it.

    After a change of a producer's schema that may be every record, and nobody notices.
    """
    names = [f"{key}={name}" for key, name in _handlers(s) if name in _SKIPPING]
    if names and not s.config(DEAD_LETTERS):
        yield Problem(
            severity=Severity.HIGH,
            what=f"Bad records are dropped ({', '.join(names)}), with no dead letter queue.",
            remedy=_SET_AND_NEWER,
            keeps_state=True,
        )


_CHOOSE_A_POLICY = (
    "Choose a policy. If a record can be processed later, use LogAndContinue... with "
    f"{DEAD_LETTERS} (4.2 and newer), or your own handler that keeps the record. If no record may "
    "be skipped, keep the default, and practise how to skip a bad record by its offset."
)


@rule("RDY071", f"{_GUIDE}; proposal: KIP-1034", Engine.KAFKA_STREAMS, remedies=(_CHOOSE_A_POLICY,))
def stops_at_a_bad_record(s: Subject) -> Iterator[Problem]:
    """One record that can't be read or processed stops the thread, then the next one that gets its
    partition, until the application is down. It doesn't start again until somebody moves its
    offset by hand.
    """
    names = [key for key, name in _handlers(s) if name in _STOPPING and "production" not in key]
    if names:
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"Default of {' and '.join(names)}: fail at the first bad record.",
            remedy=_CHOOSE_A_POLICY,
            keeps_state=True,
        )


_LET_IT_WRITE = (
    "Let it write the record, with topic, partition and offset, to a dead letter topic "
    f"before it continues. From 4.2 on {DEAD_LETTERS} sets one topic for all handlers."
)
_DOES_THE_HANDLER = "Does the handler keep the records that it skips?"


@rule(
    "RDY072",
    f"{_GUIDE}, exception handlers",
    Engine.KAFKA_STREAMS,
    remedies=(_LET_IT_WRITE,),
    questions=(_DOES_THE_HANDLER,),
)
def own_handler(s: Subject) -> Iterator[Problem]:
    """Only this class decides what happens to a bad record.

    If it continues without keeping the record, the record is lost.
    """
    own = [f"{key}={name}" for key, name in _handlers(s) if name not in _STOPPING | _SKIPPING]
    if own and not s.config(DEAD_LETTERS):
        yield Problem(
            severity=Severity.LOW,
            what=f"Bad records go to the application's own handler: {', '.join(own)}.",
            remedy=_LET_IT_WRITE,
            keeps_state=True,
            question=_DOES_THE_HANDLER,
        )


def _handlers(s: Subject) -> Iterator[tuple[str, str]]:
    """Yield (setting, class without package) of what is set or known to be the default."""
    if not s.app.config:
        return
    for key, older in _HANDLERS:
        found = s.config(key) or (s.config(older) if older else None)
        yield key, _short(found) if found else _default(key)


def _default(key: str) -> str:
    kind = {"deserialization": "LogAndFailExceptionHandler"}.get(key.split(".")[0])
    kind = kind or (
        "DefaultProductionExceptionHandler"
        if key.startswith("production")
        else "LogAndFailProcessingExceptionHandler"
    )
    return kind


def _short(name: str) -> str:
    return name.removeprefix("class ").rsplit(".", 1)[-1].strip()


_SET_ABOVE_THE_LONGEST = (
    f"Set {TASK_TIMEOUT} above the longest expected outage of the brokers, and an uncaught "
    "exception handler that replaces the thread. This needs only a rolling restart."
)


@rule(
    "RDY073",
    f"{_GUIDE}, task.timeout.ms; proposal: KIP-572",
    Engine.KAFKA_STREAMS,
    remedies=(_SET_ABOVE_THE_LONGEST,),
)
def task_timeout(s: Subject) -> Iterator[Problem]:
    """A task that gets no answer from the brokers for this long fails, and stops its thread.

    Rolling upgrades of the brokers and network faults take longer than that. The state of every
    instance that stops is restored on another one.
    """
    text = s.config(TASK_TIMEOUT)
    short = bool(text and text.isdecimal() and int(text) < DEFAULT_TIMEOUT_MS)
    unset = bool(s.app.config) and (text is None or text == str(DEFAULT_TIMEOUT_MS))
    if short or unset:
        now = span(int(text)) if text and int(text) else "zero" if text else "not set"
        yield Problem(
            severity=Severity.MEDIUM if short else Severity.LOW,
            what=f"{TASK_TIMEOUT} is {now}; the default is {span(DEFAULT_TIMEOUT_MS)}.",
            remedy=_SET_ABOVE_THE_LONGEST,
            keeps_state=True,
        )
