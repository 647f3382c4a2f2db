"""Find the schemas of a topic's records: the versions in the registry, else a declared file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from headgate.errors import ConfigError, NotFoundError, SchemaError
from headgate.gateway.schema_registry.client import SchemaRegistry
from headgate.gateway.schema_registry.files import read_schema_file
from headgate.model.registered_pipelines import DeclaredTopic
from headgate.model.topic_schema import RegisteredSchema, TopicSchema
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.facts.report import TopicSchemas
from headgate.usecases.context import Context

VALUE, KEY = "value", "key"


def open_schema_registry(context: Context) -> SchemaRegistry:
    """Return the schema registry of headgate.toml; ConfigError if none is configured."""
    url = context.registry.schema_registry_url
    if url is None:
        location = context.registry.path or "headgate.toml"
        raise ConfigError(f"{location} has no schema registry: set url under [schema_registry]")
    return SchemaRegistry(url, context.registry.schema_registry)


def topic_schemas(
    context: Context,
    topic: str,
    *,
    is_key: bool = False,
    subject: str | None = None,
    files: Mapping[str, str] | None = None,
) -> TopicSchemas:
    """Return the versions of a topic's schema.

    If `files` (`--schema TOPIC=FILE`) has a file for the topic, it is the only version. Otherwise
    the versions are those in the registry, under `subject`, the subject in headgate.toml, or the
    name by TopicNameStrategy. If the registry has none, or none is configured, the file in
    headgate.toml is the only version. Raises NotFoundError with the next step if there is neither,
    and UnreachableError.
    """
    column = KEY if is_key else VALUE
    declared = context.registry.topic(topic)
    if given := (files or {}).get(topic):
        return _of_file(topic, column, given)
    file = declared.key_schema if is_key else declared.schema
    name = subject or subject_of(declared, column)
    if context.registry.schema_registry_url is None:
        if file is None:
            raise NotFoundError(_nowhere(topic, column))
        return _of_file(topic, column, file)
    with closing(open_schema_registry(context)) as registry:
        try:
            versions = registry.versions(name)
        except NotFoundError as error:
            if file is None:
                raise NotFoundError(
                    f"{error}. Register the schema, or {_by_file(topic, column)}"
                ) from None
            return _of_file(topic, column, file)
        return TopicSchemas(
            topic=topic,
            column=column,
            subject=name,
            versions=versions,
            mode=registry.mode(name),
            declared=file,
        )


def subject_of(declared: DeclaredTopic, column: str) -> str:
    """Return the subject in headgate.toml, else the name by TopicNameStrategy."""
    told = declared.key_subject if column == KEY else declared.subject
    return told or f"{declared.name}-{column}"


def _nowhere(topic: str, column: str) -> str:
    return (
        f"no {column} schema of {topic} found: set url under [schema_registry], or "
        f"{_by_file(topic, column)}"
    )


def _by_file(topic: str, column: str) -> str:
    key = "key_schema" if column == KEY else "schema"
    table = topic_table(topic)
    return f'set {key} = "FILE" under {table}, or pass --schema {topic}=FILE'


def topic_table(topic: str) -> str:
    """Return the heading of a topic's table in headgate.toml: a name with a dot needs quotes."""
    return f'[topics."{topic}"]' if "." in topic else f"[topics.{topic}]"


def _of_file(topic: str, column: str, file: str) -> TopicSchemas:
    text = read_schema_file(file)
    version = RegisteredSchema(subject=file, version=None, text=text)
    return TopicSchemas(
        topic=topic, column=column, subject=file, versions=(version,), declared=file
    )


def readable_versions(found: TopicSchemas) -> tuple[tuple[TopicSchema, ...], tuple[str, ...]]:
    """Return the versions that can be parsed, and a warning for each other version."""
    out, warnings = [], []
    for version in found.versions:
        try:
            out.append(read_schema(version.text))
        except SchemaError as error:
            warnings.append(
                f"{str(error).rstrip('.')}. Headgate ignores this version of the schema."
            )
    return tuple(out), tuple(warnings)
