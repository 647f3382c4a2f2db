"""Add downstream consumers and topic schemas to a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.model.output_columns import Parsed
from headgate.model.sinks import normal_path
from headgate.model.version import Engine, Sink, Source, Version
from headgate.rules.compare.downstream_impact import (
    READS_COLUMN,
    Reader,
    consumer_may_read_field,
    consumer_of_files,
    consumer_reads_field,
    with_seen,
)
from headgate.rules.core.report import Finding, Location, Report, labels_of
from headgate.rules.spark.facts.output_columns import (
    OutputChange,
    OutputChangeKind,
    lost_fields,
    output_changes,
    same_place,
)
from headgate.rules.spark.facts.parsed_columns import layout_of
from headgate.rules.topic_schemas.facts.field_reads import Certainty
from headgate.usecases.compare.downstream_schemas import of_topics
from headgate.usecases.context import Context
from headgate.usecases.evidence.field_consumers import current_versions, topic_consumers

READING = "RDS001"


def with_downstream_impact(
    report: Report, before: Version, after: Version, context: Context | None
) -> Report:
    """Return the report with findings about registered consumers and schemas; Kafka isn't read.

    The schema registry is read if headgate.toml configures one, and a schema that the query reads
    or writes changed. If the registry doesn't respond, the report has a warning, and the questions
    that it would answer stay `unknown`. Reports of other engines are returned unchanged.
    """
    if context is None or not after.engine is before.engine is Engine.SPARK:
        return report
    seen = of_topics(context, before, after)
    binary = _consumers_of_bytes(context, before, after)
    found = (*_consumers(context, before, after), *binary, *seen.findings)
    if not found and not seen.answered and not seen.warnings:
        return report
    told = with_seen(report, found, (READING,) if seen.answered else ())
    told = replace(told, warnings=(*told.warnings, *seen.warnings))
    return replace(told, labels=labels_of(told, before, after))


def _consumers(context: Context, before: Version, after: Version) -> Iterator[Finding]:
    changes = lost_fields(output_changes(before, after))
    sink = after.sink
    if not changes or sink is None or not context.registry.pipelines:
        return
    location = Location(before.sink.node if before.sink else None, sink.node)
    if sink.format == "kafka" and sink.target:
        yield from _of_topic(context, sink.target, changes, location)
    elif sink.is_files:
        yield from _of_files(context, sink, changes, location)


def _consumers_of_bytes(context: Context, before: Version, after: Version) -> Iterator[Finding]:
    """Yield the pipelines that read Avro of the topic with another schema than it has now."""
    old, new = before.sink, after.sink
    if old is None or new is None or new.format != "kafka" or not same_place(old, new):
        return
    packed = {p.column: p for p in old.payloads}
    location = Location(old.node, new.node)
    for now in new.payloads:
        was = packed.get(now.column)
        if was is None or now.writer != "to_avro" or None in (was.declared, now.declared):
            continue
        layout = layout_of(now.declared or "")
        if layout_of(was.declared or "") == layout:
            continue
        change = OutputChange(
            OutputChangeKind.TYPE, "", now.column, "Avro", ("Avro with a different schema")
        )
        for name, version in current_versions(context).items():
            for parsed in _avro_of(version, new.target or "", now.column):
                if parsed.declared is not None and layout_of(parsed.declared) != layout:
                    said = f"{name} reads the {now.column} of {new.target} with the old schema."
                    yield consumer_reads_field.of(change, Reader(name, said, True), location)


def _avro_of(version: Version, topic: str, column: str) -> Iterator[Parsed]:
    """Yield what takes Avro out of a topic's column."""
    places = {f"s{s.position}.{column}" for s in version.sources or () if topic in s.topics}
    yield from (p for p in version.parsed if p.function == "from_avro" and places & set(p.columns))


def _of_topic(
    context: Context, topic: str, changes: list[OutputChange], location: Location
) -> Iterator[Finding]:
    for column in dict.fromkeys(c.column for c in changes if c.column in ("key", "value")):
        readers = topic_consumers(context, topic, column)
        for change in (c for c in changes if c.column == column):
            for read in readers.of(change.path):
                sure = read.certainty is Certainty.DEFINITE
                reader = Reader(read.pipeline, read.sentence, sure, read.question)
                if sure:
                    yield consumer_reads_field.of(change, reader, location)
                elif read.certainty is not Certainty.NO:
                    yield consumer_may_read_field.of(change, reader, location)


def _of_files(
    context: Context, sink: Sink, changes: list[OutputChange], location: Location
) -> Iterator[Finding]:
    path = sink.target or sink.options.get("path")
    if not path:
        return
    for name, version in current_versions(context).items():
        for source in version.sources or ():
            if source.path and normal_path(source.path) == normal_path(path):
                yield from _of_consumer(name, source, changes, location)


def _of_consumer(
    name: str, source: Source, changes: list[OutputChange], location: Location
) -> Iterator[Finding]:
    for change in changes:
        column = change.path.partition(".")[0].partition("[")[0]
        if source.columns is None:
            question = READS_COLUMN.format(pipeline=name, path=change.path)
            said = f"{name} reads {source.path}, but the evidence of {name} lists no columns."
            yield consumer_may_read_field.of(change, Reader(name, said, False, question), location)
        elif column in source.columns:
            yield consumer_of_files.of(
                change, Reader(name, f"{name} reads the column {column}.", True), location
            )
