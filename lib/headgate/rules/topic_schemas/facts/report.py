"""The report on a topic: its schemas, its consumers, and what a new schema does to them."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.topic_schema import Mode, RegisteredSchema, SchemaReport, TopicSchema
from headgate.rules.topic_schemas.facts.field_reads import FieldRead, TopicUse


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSchemas:
    """Every version of the schema of a topic's values (or keys), oldest first; never none.

    `column` is `value` or `key`, `mode` the compatibility level of the registry, None where there
    is none, `declared` the file of `--schema` or of headgate.toml, which need not be registered.
    """

    topic: str
    column: str
    subject: str
    versions: tuple[RegisteredSchema, ...]
    mode: Mode | None = None
    declared: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownTopic:
    """A topic's schemas as they are, the newest one parsed, and what its consumers do."""

    schemas: TopicSchemas
    newest: TopicSchema
    uses: tuple[TopicUse, ...]


@dataclass(frozen=True, slots=True)
class Behind:
    """A pipeline that reads what a consumer of the field writes: it is listed, not judged."""

    pipeline: str
    topic: str


@dataclass(frozen=True, slots=True)
class FieldReaders:
    """The consumers of a field that is removed or changes, and the consumers after them."""

    path: str
    reads: tuple[FieldRead, ...]
    behind: tuple[Behind, ...]


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """The report with the pipelines' findings in it, and what it was made of."""

    report: SchemaReport
    topic: str | None = None
    subject: str | None = None
    readers: tuple[FieldReaders, ...] = ()
