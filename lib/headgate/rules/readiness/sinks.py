"""Sinks that can't take a batch, or a history, twice."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.topology import Node
from headgate.model.version import Engine, Sink
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import Problem, rule
from headgate.rules.readiness.facts.subject import Subject

_GUIDE = "documentation: Spark Structured Streaming programming guide"


_WRITE_BY_THE_ROWS = (
    "Write by a key of the rows (merge or upsert). If the function records batch numbers, store "
    "them with the query's id, and remove them whenever the query is rewound or gets a new "
    "checkpoint."
)
_DOES_THE_FUNCTION = (
    "Does the function upsert by key, or does it skip batches that it has already written "
    "(by batchId)?"
)


@rule(
    "RDY050",
    f"{_GUIDE}, Using Foreach and ForeachBatch; measured on Spark 4.2.0",
    Engine.SPARK,
    remedies=(_WRITE_BY_THE_ROWS,),
    questions=(_DOES_THE_FUNCTION,),
)
def function_as_sink(s: Subject) -> Iterator[Problem]:
    """A function that skips batch numbers that it has seen is right for a batch that is repeated
    after a failure. After a rewind, and with a new checkpoint, batch numbers start again with
    other rows. The function skips those rows, and they are lost.
    """
    sink = s.version.sink
    if sink and sink.format == "foreachBatch":
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=(
                "A foreachBatch function writes the output. No plan shows how it handles a "
                "reprocessed batch."
            ),
            remedy=_WRITE_BY_THE_ROWS,
            keeps_state=True,
            question=_DOES_THE_FUNCTION,
        )


_WRITE_BY_THE_ROWS_OWN = (
    "Write by a key of the rows. open(partition, epoch) identifies a repeated part of a batch, as "
    "long as the query is not rewound."
)
_DOES_THE_WRITER = "Does the writer write by key?"


@rule(
    "RDY051",
    f"{_GUIDE}, Output Sinks; a recommendation of Headgate, not measured",
    Engine.SPARK,
    remedies=(_WRITE_BY_THE_ROWS_OWN,),
    questions=(_DOES_THE_WRITER,),
)
def writes_row_by_row(s: Subject) -> Iterator[Problem]:
    """Spark reprocesses a batch that failed midway and writes its rows a second time."""
    sink = s.version.sink
    if sink and sink.format == "foreach":
        yield Problem(
            severity=Severity.LOW,
            location=sink.node,
            what="A foreach writer writes the output.",
            remedy=_WRITE_BY_THE_ROWS_OWN,
            keeps_state=True,
            question=_DOES_THE_WRITER,
        )


_FOR_A_REPLAY = (
    "For a replay, plan a new folder and a new checkpoint together, and switch the consumers to "
    "the new folder. With a Delta or Iceberg table, a new query can replay in place."
)


@rule("RDY052", "measured on Spark 4.2.0", Engine.SPARK, remedies=(_FOR_A_REPLAY,))
def log_of_the_file_sink(s: Subject) -> Iterator[Problem]:
    """A file sink keeps the numbers of its batches in _spark_metadata, in the output folder.

    After a rewind, or with a new checkpoint, it silently skips batches whose numbers are already
    there. A new folder under the old checkpoint can't be read at all.
    """
    sink = s.version.sink
    if sink and sink.is_files:
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=f"Output goes to files{_at(sink)}.",
            remedy=_FOR_A_REPLAY,
            keeps_state=False,
        )


_SELECT_A_KEY = (
    "Select a `key` column that identifies the result (grouping keys and window, or topic, "
    "partition and offset of the input). Consumers can then drop duplicates."
)
_DO_THE_RECORDS = "Do the records have a key that identifies the result?"


@rule(
    "RDY053",
    "documentation: Structured Streaming and Kafka integration guide; measured on Spark 4.2.0",
    Engine.SPARK,
    remedies=(_SELECT_A_KEY,),
    questions=(_DO_THE_RECORDS,),
)
def kafka_without_key(s: Subject) -> Iterator[Problem]:
    """Spark's Kafka sink writes at least once: a retried task, a rewind and a replay all write
    their records a second time. Without a key no consumer and no compaction can recognise
    duplicates.
    """
    sink = s.version.sink
    if sink is None or sink.format != "kafka":
        return
    keyed = _has_key(s, sink)
    if keyed is not True:
        yield Problem(
            severity=Severity.MEDIUM if keyed is False else Severity.LOW,
            location=sink.node,
            what=f"Records go to Kafka ({sink.target or 'a topic of each row'})"
            + (" without a key." if keyed is False else "; no plan shows whether they have a key."),
            remedy=_SELECT_A_KEY,
            keeps_state=True,
            question=None if keyed is False else (_DO_THE_RECORDS),
        )


def _has_key(s: Subject, sink: Sink) -> bool | None:
    """Whether the output has a column `key`; None where no plan shows its columns."""
    if sink.schema is not None:
        return any(f.name.lower() == "key" for f in sink.schema.fields)
    last = _last(s, sink.node)
    columns = last.details.get("columns") if last else None
    if not isinstance(columns, list | tuple | dict) or not columns:
        return None
    names = {str(c).lower() for c in columns}
    return "key" in names if "value" in names else None


def _last(s: Subject, sink: str | None) -> Node | None:
    before = next((e.source for e in s.version.topology.edges if e.target == sink), "")
    return s.version.topology.node(before)


_LET_A_REPLAY = (
    "Let a replay write to a new topic, and switch the consumers to it. Or let consumers use only "
    "the newest result of each key. If that is enough for all consumers, compact the topic."
)
_DO_ITS_CONSUMERS = "Do its consumers recognise duplicates?"


@rule(
    "RDY054",
    "proposal: consumers must know about duplicates",
    None,
    remedies=(_LET_A_REPLAY,),
    questions=(_DO_ITS_CONSUMERS,),
)
def output_not_compacted(s: Subject) -> Iterator[Problem]:
    """A replay writes every result a second time, after the old ones.

    A compacted topic keeps the newest for each key. This one keeps both, and consumers that sum or
    count count them twice.
    """
    if s.cluster is None or not s.has_state:
        return
    for name, node in _outputs(s):
        topic = s.topic(name)
        if topic and topic.cleanup_policy and "compact" not in topic.cleanup_policy:
            yield Problem(
                severity=Severity.LOW,
                location=node,
                what=f"The output topic {name} is not compacted.",
                remedy=_LET_A_REPLAY,
                keeps_state=True,
                question=_DO_ITS_CONSUMERS,
            )


def _outputs(s: Subject) -> Iterator[tuple[str, str | None]]:
    sink = s.version.sink
    if s.version.engine is Engine.SPARK and sink and sink.format == "kafka" and sink.target:
        yield sink.target, sink.node
    yield from ((x.topic, x.node) for x in s.app.sinks if x.topic)


_WRITE_TO_A_DURABLE = (
    "Write to a durable sink before anybody relies on the query. A sink other than a file sink "
    "can be replaced on the same checkpoint; `headgate diff` checks it for this query."
)


@rule("RDY055", f"{_GUIDE}, Output Sinks", Engine.SPARK, remedies=(_WRITE_TO_A_DURABLE,))
def output_nowhere(s: Subject) -> Iterator[Problem]:
    """This sink is for tests: its rows are lost with the driver.

    With a memory sink most queries can't even be restarted from their checkpoint.
    """
    sink = s.version.sink
    if sink and sink.traits.for_trials:
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=f"The sink is {sink.format}.",
            remedy=_WRITE_TO_A_DURABLE,
            keeps_state=True,
        )


def _at(sink: Sink) -> str:
    return f" in {sink.target}" if sink.target else ""
