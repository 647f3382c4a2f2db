"""Sinks that can't take a batch, or a history, twice."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.topology import Node
from headgate.model.version import Engine, Sink
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.subject import Subject

_GUIDE = "Spark documentation: Structured Streaming programming guide"


_WRITE_BY_THE_ROWS = (
    "Upsert by a key of the rows. If the function records batchIds, store them with the "
    "query's id. Remove the stored batchIds whenever you rewind the query or start it with a new "
    "checkpoint."
)
_DOES_THE_FUNCTION = (
    "Does the function upsert by key? Or does it record batchIds, and skip a batch with a "
    "recorded batchId?"
)


@rule(
    "RDY050",
    f"{_GUIDE}, Using Foreach and ForeachBatch; measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_WRITE_BY_THE_ROWS,),
    questions=(_DOES_THE_FUNCTION,),
)
def foreach_batch_sink(s: Subject) -> Iterator[Problem]:
    """A foreachBatch function may record batchIds, and skip a batch with a recorded batchId. This
    works if Spark repeats a batch after a failure.

    After a rewind, or with a new checkpoint, the same batchIds belong to different rows. The
    function skips these rows, so they are lost.
    """
    sink = s.version.sink
    if sink and sink.format == "foreachBatch":
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=(
                "A foreachBatch function writes the output. The query plan doesn't show how the "
                "function handles a reprocessed batch."
            ),
            remedy=_WRITE_BY_THE_ROWS,
            keeps_state=True,
            question=_DOES_THE_FUNCTION,
        )


_WRITE_BY_THE_ROWS_OWN = (
    "Upsert by a key of the rows, or use foreachBatch with an idempotent write. Don't deduplicate "
    "by open(partition, epoch): after a rewind, Spark uses the same epochs for new results, and "
    "open() skips these results."
)
_DOES_THE_WRITER = "Does the foreach writer upsert by key?"


@rule(
    "RDY051",
    f"{_GUIDE}, Output Sinks; a recommendation of Headgate, not measured",
    Engine.SPARK,
    severities=(Severity.LOW,),
    remedies=(_WRITE_BY_THE_ROWS_OWN,),
    questions=(_DOES_THE_WRITER,),
)
def foreach_sink(s: Subject) -> Iterator[Problem]:
    """If a batch fails midway, Spark reprocesses it and writes its rows a second time.

    A foreach writer sends each row on its own, so rows that it wrote before the failure stay in the
    output. If the output doesn't replace rows by key, consumers get these rows twice.
    """
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
    "For a replay, use a new output folder together with a new checkpoint. Then switch the "
    "consumers to the new folder. With a Delta or Iceberg table, a new query can replay into the "
    "same table."
)


@rule(
    "RDY052",
    "measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_FOR_A_REPLAY,),
)
def file_sink_log(s: Subject) -> Iterator[Problem]:
    """A file sink records its batch ids in `_spark_metadata` in the output folder.

    After a rewind, or with a new checkpoint, the sink silently skips batches if `_spark_metadata`
    already has their ids. If you keep the checkpoint and change the folder, consumers can't read
    the new folder at all.
    """
    sink = s.version.sink
    if sink and sink.is_files:
        yield Problem(
            severity=Severity.MEDIUM,
            location=sink.node,
            what=(
                f"The file sink in {sink.target or 'an unknown folder'} skips batches whose ids "
                "are already in its `_spark_metadata`. After a rewind or with a new checkpoint, "
                "their results are lost without an error."
            ),
            remedy=_FOR_A_REPLAY,
            keeps_state=False,
        )


_SELECT_A_KEY = (
    "Select a `key` column that identifies the result. For example, use the grouping keys and "
    "window, or the input's topic, partition and offset. Consumers can then drop duplicates."
)
_DO_THE_RECORDS = "Do the records have a key that identifies the result?"


@rule(
    "RDY053",
    "Spark documentation: Structured Streaming and Kafka integration guide; measured on "
    "Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_SELECT_A_KEY,),
    questions=(_DO_THE_RECORDS,),
)
def kafka_records_without_key(s: Subject) -> Iterator[Problem]:
    """Spark's Kafka sink writes at least once: a retried task, a rewind and a replay all write
    their records a second time.

    Without a key, neither consumers nor compaction can recognize duplicates.
    """
    sink = s.version.sink
    if sink is None or sink.format != "kafka":
        return
    keyed = _has_key(s, sink)
    if keyed is not True:
        yield Problem(
            severity=Severity.MEDIUM if keyed is False else Severity.LOW,
            location=sink.node,
            what=f"The query writes to Kafka ({sink.target or 'the topic in each row'}). "
            + (
                "The records have no key."
                if keyed is False
                else "The evidence doesn't show whether the records have a key."
            ),
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
    "Let a replay write to a new topic, and switch the consumers to it. Or let consumers use "
    "only the newest result of each key. If all consumers do this, compact the topic."
)
_DO_ITS_CONSUMERS = "Do the topic's consumers recognize duplicates?"


@rule(
    "RDY054",
    "a recommendation of Headgate, not measured",
    None,
    severities=(Severity.LOW,),
    remedies=(_LET_A_REPLAY,),
    questions=(_DO_ITS_CONSUMERS,),
)
def output_topic_not_compacted(s: Subject) -> Iterator[Problem]:
    """A replay writes every result a second time, after the old results.

    A compacted topic keeps only the newest result of each key. Without compaction, consumers that
    sum or count include both.
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
    "Write to a durable sink before anybody relies on the query. On the same checkpoint, you can "
    "switch to any sink except a file sink. `headgate diff` checks this for your query."
)


@rule(
    "RDY055",
    f"{_GUIDE}, Output Sinks",
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_WRITE_TO_A_DURABLE,),
)
def output_not_durable(s: Subject) -> Iterator[Problem]:
    """This sink is for tests: its rows are lost when the driver stops.

    With a memory sink, most queries can't restart from their checkpoint.
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
