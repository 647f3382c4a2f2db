"""Report what a new schema does to the consumers of a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from headgate.errors import HeadgateError, SchemaError
from headgate.gateway.schema_registry.files import read_schema_file
from headgate.model.topic_schema import (
    FieldChangeKind,
    Mode,
    SchemaFinding,
    SchemaReport,
    SchemaText,
)
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.compare import compare, worst_first
from headgate.rules.topic_schemas.consumers import judge_reads
from headgate.rules.topic_schemas.facts.report import (
    FieldReaders,
    SchemaCheck,
    ShownTopic,
    TopicSchemas,
)
from headgate.usecases.compare.apply_acceptances import with_accepted
from headgate.usecases.context import Context
from headgate.usecases.evidence.field_consumers import topic_consumers
from headgate.usecases.evidence.topic_schemas import (
    open_schema_registry,
    readable_versions,
    topic_schemas,
)


def show_topic_schema(
    context: Context,
    topic: str,
    *,
    is_key: bool = False,
    subject: str | None = None,
    files: Mapping[str, str] | None = None,
) -> ShownTopic:
    """Return the versions of a topic's schema, the newest one parsed, and the topic's consumers.

    Raises the errors of `topic_schemas`.
    """
    found = topic_schemas(context, topic, is_key=is_key, subject=subject, files=files)
    newest = read_schema(found.versions[-1].text)
    return ShownTopic(found, newest, topic_consumers(context, topic, found.column).uses)


def diff_schemas(before: Sequence[str], after: str, mode: Mode = Mode.BACKWARD) -> SchemaCheck:
    """Compare the schema in a file with older schemas, oldest first; reads nothing else."""
    older = [read_schema(read_schema_file(path)) for path in before]
    return SchemaCheck(compare(older, read_schema(read_schema_file(after)), mode))


def check_topic_schema(
    context: Context,
    topic: str,
    new: str | None = None,
    *,
    mode: Mode | None = None,
    is_key: bool = False,
    subject: str | None = None,
    files: Mapping[str, str] | None = None,
) -> SchemaCheck:
    """Compare a new schema of a topic with its versions, and find the consumers of changed fields.

    `new` is a file, else the file in headgate.toml if the registry has versions. Without `mode`,
    the registry's compatibility level counts, else BACKWARD, the default of registries.
    """
    found = topic_schemas(context, topic, is_key=is_key, subject=subject, files=files)
    path = new or (found.declared if found.mode is not None else None)
    if path is None:
        raise SchemaError(
            f"no new schema of {topic} to check: pass the schema file with --new FILE"
        )
    text = read_schema_file(path)
    after = read_schema(text)
    before, warnings = readable_versions(found)
    chosen = mode or found.mode or Mode.BACKWARD
    report = compare(before, after, chosen)
    readers = _consumers(context, found, report)
    second = _second_opinion(context, found, text) if chosen is found.mode else None
    report = replace(
        report,
        findings=worst_first((*report.findings, *_judged(report, readers))),
        second_opinion=second,
        warnings=(*found.warnings, *warnings),
    )
    report = with_accepted(report, (topic, found.subject), context)
    return SchemaCheck(report, topic, found.subject, readers)


def _consumers(
    context: Context, found: TopicSchemas, report: SchemaReport
) -> tuple[FieldReaders, ...]:
    paths = [c.path for c in report.changes if c.kind is not FieldChangeKind.ADDED]
    if not paths:
        return ()
    readers = topic_consumers(context, found.topic, found.column)
    return tuple(FieldReaders(p, readers.of(p), readers.behind(p)) for p in paths)


def _judged(report: SchemaReport, readers: Sequence[FieldReaders]) -> list[SchemaFinding]:
    known = {r.path: r.reads for r in readers}
    return [f for c in report.changes for f in judge_reads(c, known.get(c.path, ()))]


def _second_opinion(context: Context, found: TopicSchemas, text: SchemaText) -> bool | None:
    try:
        with closing(open_schema_registry(context)) as registry:
            return registry.accepts(found.subject, text)
    except HeadgateError:
        return None
