"""Compare the schemas that a query reads and writes with the schemas of its topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.errors import HeadgateError, NotFoundError
from headgate.model.output_columns import Parsed, Payload
from headgate.model.topic_schema import Direction, Effect, SchemaFormat, SchemaText, TopicSchema
from headgate.model.version import Source, Version
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.compare.downstream_impact import (
    Held,
    current_schema_not_readable,
    older_schema_not_readable,
    registered_schema_mismatch,
)
from headgate.rules.core.report import Finding, Location
from headgate.rules.spark.facts.output_columns import same_place
from headgate.rules.spark.facts.parsed_columns import changed_reading, shown_schema, told_apart
from headgate.rules.topic_schemas.compare import check
from headgate.rules.topic_schemas.facts.report import TopicSchemas
from headgate.rules.topic_schemas.facts.spark_avro_layout import misread
from headgate.rules.topic_schemas.facts.spark_json_fields import misfits
from headgate.usecases.context import Context
from headgate.usecases.evidence.topic_schemas import KEY, topic_schemas


@dataclass(frozen=True, slots=True)
class SchemaCheckResult:
    """The result of a schema check; `answered`: all questions of the reading side are answered."""

    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    answered: bool = False


@dataclass(frozen=True, slots=True)
class _Version:
    """One version of a topic's schema, read."""

    name: str
    schema: TopicSchema


def of_topics(context: Context, before: Version, after: Version) -> SchemaCheckResult:
    """Check each changed schema of a consumer or producer; without a change, nothing is read."""
    findings: list[Finding] = []
    warnings: dict[str, None] = {}
    asked = answered = 0
    for was, now in changed_reading(before, after):
        binary = now.function != "from_json" and told_apart(was) != told_apart(now)
        asked += binary
        told = True
        for topic, is_key, location in _topics(now, before, after):
            versions = _versions(context, topic, is_key, warnings)
            judged = _reading(topic, was, now, versions, location) if versions else None
            told = told and judged is not None
            findings.extend(judged or ())
        answered += binary and told and bool(now.columns)
    for topic, was_, now_, location in _written(before, after):
        versions = _versions(context, topic, now_.column == KEY, warnings)
        findings.extend(_writing(topic, was_, now_, versions, location))
    return SchemaCheckResult(tuple(findings), tuple(warnings), 0 < asked == answered)


def _topics(now: Parsed, before: Version, after: Version) -> Iterator[tuple[str, bool, Location]]:
    """Yield the topics whose column is read, whether it is the key, and where."""
    for name in now.columns:
        place, _, column = name.partition(".")
        source = _source(after, place)
        old = _source(before, place)
        location = Location(old.node if old else None, source.node if source else None)
        for topic in source.topics if source else ():
            yield topic, column == KEY, location


def _source(version: Version, place: str) -> Source | None:
    return next((s for s in version.sources or () if f"s{s.position}" == place), None)


def _versions(
    context: Context, topic: str, is_key: bool, warnings: dict[str, None]
) -> list[_Version]:
    """Return a topic's versions, the newest first; [] where there are none or nobody answers."""
    declared = context.registry.topic(topic)
    if context.registry.schema_registry_url is None and declared.schema is None:
        return []
    try:
        found = topic_schemas(context, topic, is_key=is_key)
        return [_read(found, n) for n in reversed(range(len(found.versions)))]
    except NotFoundError:
        return []
    except HeadgateError as error:
        warnings[f"Not checked: the schema of {topic} ({error})."] = None
        return []


def _read(found: TopicSchemas, number: int) -> _Version:
    version = found.versions[number]
    name = f"version {version.version} of {found.subject}" if version.version else found.subject
    return _Version(name, read_schema(version.text))


def _reading(
    topic: str, was: Parsed, now: Parsed, versions: list[_Version], location: Location
) -> list[Finding] | None:
    """Return what the new reader schema does to the topic's records; None where nobody can say."""
    if now.function == "from_json":
        return _parsing(topic, was, now, versions[0], location)
    if now.function != "from_avro" or now.declared is None:
        return None
    try:
        reader = read_schema(SchemaText(now.declared, SchemaFormat.AVRO, "the new reader schema"))
    except HeadgateError:
        return None
    avro = [v for v in versions if v.schema.format is SchemaFormat.AVRO]
    if len(avro) != len(versions):
        return None
    shown = (shown_schema(was.declared), shown_schema(now.declared))
    if now.evolved is not None and (said := _unresolved(reader, now.evolved)):
        return [current_schema_not_readable.of(Held(topic, avro[0].name, said), location, *shown)]
    newest, *older = [(v, misread(reader, v.schema)) for v in avro]
    if newest[1]:
        held = Held(topic, newest[0].name, newest[1])
        return [current_schema_not_readable.of(held, location, *shown)]
    bad = [(v, said) for v, said in older if said]
    if not bad:
        return []
    names = ", ".join(v.name for v, _ in bad)
    held = Held(topic, names, bad[0][1])
    return [older_schema_not_readable.of(held, location, *shown)]


def _unresolved(written: TopicSchema, evolved: str) -> tuple[str, ...]:
    """Return why the schema of option `avroSchema` can't read the one that records have."""
    try:
        reader = read_schema(SchemaText(evolved, SchemaFormat.AVRO, "avroSchema"))
    except HeadgateError as error:
        return (f"{error}.",)
    found = check(written, reader, Direction.BACKWARD)
    bad = [f for f in found if f.effect is Effect.INCOMPATIBLE]
    return tuple(f"{f.path or 'The record'}: {f.why}" for f in bad[:1])


def _parsing(
    topic: str, was: Parsed, now: Parsed, newest: _Version, location: Location
) -> list[Finding]:
    """Return what from_json makes of records with the newest JSON Schema, where that is new."""
    if now.schema is None or newest.schema.format is not SchemaFormat.JSON:
        return []
    known = {m.path for m in misfits(was.schema, newest.schema)} if was.schema else set()
    found = [m for m in misfits(now.schema, newest.schema) if m.path not in known]
    shown = (was.schema.describe() if was.schema else "", now.schema.describe())
    out = []
    for sure, rule in ((True, current_schema_not_readable), (False, older_schema_not_readable)):
        said = tuple(m.sentence for m in found if m.is_sure is sure)
        if said:
            out.append(rule.of(Held(topic, newest.name, said), location, *shown))
    return out


def _written(before: Version, after: Version) -> Iterator[tuple[str, Payload, Payload, Location]]:
    """Yield the packed columns of a Kafka sink whose schema changed."""
    old, new = before.sink, after.sink
    if old is None or new is None or new.format != "kafka" or not new.target:
        return
    if not same_place(old, new):
        return
    known = {p.column: p for p in old.payloads}
    for now in new.payloads:
        was = known.get(now.column)
        if was is not None and was != now:
            yield new.target, was, now, Location(old.node, new.node)


def _writing(
    topic: str, was: Payload, now: Payload, versions: list[_Version], location: Location
) -> Iterator[Finding]:
    """Yield where a declared Avro schema writes what the newest registered one misreads."""
    if not versions or now.writer != "to_avro" or now.declared is None:
        return
    newest = versions[0]
    try:
        written = read_schema(SchemaText(now.declared, SchemaFormat.AVRO, "the writer schema"))
    except HeadgateError:
        return
    said = misread(newest.schema, written)
    if said:
        held = Held(topic, newest.name, said)
        yield registered_schema_mismatch.of(
            held, location, *map(shown_schema, (was.declared, now.declared))
        )
