"""What a Kafka Streams application does with a record that it can't handle."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
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
_GUIDE = "Kafka documentation: Configuring a Streams Application"


_SET_AND_NEWER = (
    f"Set {DEAD_LETTERS} to a topic (Kafka Streams 4.2 and newer). LogAndContinue handlers then "
    "write each skipped record to this topic, with the error and the source offset in its headers. "
    "Before 4.2, write your own handler that does this. Either change needs only a rolling restart."
)


@rule(
    "RDY070",
    f"{_GUIDE}; proposal: KIP-1034",
    Engine.KAFKA_STREAMS,
    severities=(Severity.HIGH,),
    remedies=(_SET_AND_NEWER,),
)
def bad_records_dropped(s: Subject) -> Iterator[Problem]:
    """Kafka Streams skips records that it can't deserialize or process, and only logs them.

    If a producer changes its schema, Kafka Streams may skip every record, and nobody notices.
    """
    names = [f"{key}={name}" for key, name in _handlers(s) if name in _SKIPPING]
    if names and not s.config(DEAD_LETTERS):
        yield Problem(
            severity=Severity.HIGH,
            what=(
                f"Kafka Streams skips bad records ({', '.join(names)}). {DEAD_LETTERS} isn't set, "
                "so no topic keeps them."
            ),
            remedy=_SET_AND_NEWER,
            keeps_state=True,
        )


_CHOOSE_A_POLICY = (
    "Decide what happens to bad records. To process them later, use a LogAndContinue handler "
    f"with {DEAD_LETTERS} (4.2 and newer). Or use your own handler that stores the records. To "
    "decide about every bad record yourself, keep the default handler. Then practise how to move "
    "the group's offset past a bad record."
)


@rule(
    "RDY071",
    f"{_GUIDE}; proposal: KIP-1034",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_CHOOSE_A_POLICY,),
)
def stops_at_a_bad_record(s: Subject) -> Iterator[Problem]:
    """One record that can't be deserialized or processed stops its stream thread.

    The record's partition moves to the next thread, which stops too, until the application is down.
    The application remains down until somebody moves the group's offset past the record.
    """
    names = [
        f"{key}={name}"
        for key, name in _handlers(s)
        if name in _STOPPING and "production" not in key
    ]
    if names:
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"The application fails at the first bad record ({', '.join(names)}).",
            remedy=_CHOOSE_A_POLICY,
            keeps_state=True,
        )


_LET_IT_WRITE = (
    "In the handler, write each skipped record to a dead letter topic, with the record's topic, "
    f"partition and offset. {DEAD_LETTERS} applies only to the built-in handlers of Kafka Streams."
)
_DOES_THE_HANDLER = "Does the handler store the records that it skips?"


@rule(
    "RDY072",
    f"{_GUIDE}, exception handlers",
    Engine.KAFKA_STREAMS,
    severities=(Severity.LOW,),
    remedies=(_LET_IT_WRITE,),
    questions=(_DOES_THE_HANDLER,),
)
def own_exception_handler(s: Subject) -> Iterator[Problem]:
    """The application has its own handler, and only that class decides what happens to a bad
    record.

    If the handler continues without storing the record, the record is lost. A dead letter topic in
    the configuration doesn't change this: only the built-in handlers write to it by themselves.
    """
    own = [f"{key}={name}" for key, name in _handlers(s) if name not in _STOPPING | _SKIPPING]
    if own:
        yield Problem(
            severity=Severity.LOW,
            what=(
                "The application's own handler decides what happens to bad records: "
                f"{', '.join(own)}."
            ),
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
    f"Set {TASK_TIMEOUT} above the longest expected outage of the brokers. Also set an "
    "uncaught exception handler that replaces the thread. Both need only a rolling restart."
)


@rule(
    "RDY073",
    f"{_GUIDE}, task.timeout.ms; proposal: KIP-572",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_SET_ABOVE_THE_LONGEST,),
)
def short_task_timeout(s: Subject) -> Iterator[Problem]:
    """If the brokers don't respond to a task within task.timeout.ms, the task fails and stops its
    thread.

    Rolling upgrades of the brokers and network faults may take longer. The state of every stopped
    instance is restored on another instance.
    """
    text = s.config(TASK_TIMEOUT)
    short = bool(text and text.isdecimal() and int(text) < DEFAULT_TIMEOUT_MS)
    unset = bool(s.app.config) and (text is None or text == str(DEFAULT_TIMEOUT_MS))
    if short or unset:
        now = span(int(text)) if text and int(text) else "zero" if text else "not set"
        yield Problem(
            severity=Severity.MEDIUM if short else Severity.LOW,
            what=f"{TASK_TIMEOUT} is {now} (default: {span(DEFAULT_TIMEOUT_MS)}).",
            remedy=_SET_ABOVE_THE_LONGEST,
            keeps_state=True,
        )
