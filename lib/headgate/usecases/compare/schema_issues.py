"""Find out whether a topic's consumers can read the records that a new version writes."""

from __future__ import annotations

import json
from typing import Any

from headgate.errors import NotFoundError
from headgate.model.output_columns import Payload
from headgate.model.topic_schema import (
    Effect,
    Mode,
    SchemaFinding,
    SchemaFormat,
    SchemaText,
    TopicSchema,
)
from headgate.model.version import Sink
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.spark.facts.output_columns import lost_fields, payload_changes
from headgate.rules.topic_schemas.compare import compare
from headgate.usecases.context import Context
from headgate.usecases.evidence.topic_schemas import VALUE, topic_schemas


def schema_issues(
    context: Context, topic: str, new: str | Sink, old: Sink | None = None
) -> tuple[str, ...] | None:
    """Return a sentence for each change with which consumers of `topic` fail.

    The consumers have the newest schema of `topic`. The records have the newest schema of the topic
    `new`, or are what a Spark query with the sink `new` writes. Then the consumers also have the
    fields of `old`, the running version's sink, and what is wrong with these already isn't an
    issue. None if a schema is unknown. Raises SchemaError, and UnreachableError as `topic_schemas`.
    """
    declared = _newest(context, topic)
    if isinstance(new, Sink):
        now, was = _value(new), _value(old)
        return _of_query(declared, now, was) if now is not None else None
    after = _newest(context, new) if declared is not None else None
    if declared is None or after is None:
        return None
    return tuple(_incompatible(declared, after).values())


def _newest(context: Context, topic: str) -> TopicSchema | None:
    try:
        return read_schema(topic_schemas(context, topic).versions[-1].text)
    except NotFoundError:
        return None


def _value(sink: Sink | None) -> Payload | None:
    return next((p for p in sink.payloads if p.column == VALUE), None) if sink else None


def _of_query(
    declared: TopicSchema | None, now: Payload, was: Payload | None
) -> tuple[str, ...] | None:
    """Compare with the declared schema, and with the fields of the running version."""
    found: dict[str, str] = {}
    after, before = _written(now), _written(was) if was else None
    fits = declared is not None and after is not None and declared.format is after.format
    if declared is not None and after is not None and fits:
        same = before is not None and before.format is after.format
        known = _incompatible(declared, before) if before is not None and same else {}
        new = _incompatible(declared, after)
        found |= {path: said for path, said in new.items() if known.get(path) != said}
    if was is not None:
        for change in lost_fields(payload_changes(was, now)):
            to = f"changes from {change.before} to {change.after}"
            said = f"field {change.path} {'is missing' if change.after is None else to}"
            found.setdefault(change.path, said)
    is_known = was is not None and ((now.schema and was.schema) or now.writer != was.writer)
    return tuple(found.values()) if fits or is_known else None


def _incompatible(before: TopicSchema, after: TopicSchema) -> dict[str, str]:
    """Return a sentence for each path that consumers with the schema `before` can't read."""
    report = compare([before], after, Mode.FORWARD)
    severe = (Effect.INCOMPATIBLE, Effect.SILENTLY_WRONG)
    found: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.effect in severe:
            found.setdefault(finding.path, []).append(_sentence(finding))
    return {path: "; ".join(said) for path, said in found.items()}


def _sentence(found: SchemaFinding) -> str:
    """Name field, rule and cause; the rule's page has the rest."""
    cause = found.why.partition(". ")[0].rstrip(".")
    return f"{found.path or 'the record'} ({found.rule}): {cause}"


def _written(payload: Payload) -> TopicSchema | None:
    """Return the schema of a query's records, None if it isn't known or of another format."""
    name = "the schema that the query writes"
    if payload.writer == "to_avro" and payload.declared is not None:
        return read_schema(SchemaText(payload.declared, SchemaFormat.AVRO, name))
    # A type that isn't known is written as `?`.
    if payload.writer != "to_json" or payload.schema is None or "?" in payload.schema.describe():
        return None
    fields = [{"name": f.name, "type": f.type} for f in payload.schema.fields]
    text = json.dumps(_json_schema({"type": "struct", "fields": fields}))
    return read_schema(SchemaText(text, SchemaFormat.JSON, name))


_NUMBERS = {"byte": "integer", "short": "integer", "integer": "integer", "long": "integer",
            "float": "number", "double": "number", "boolean": "boolean"}  # fmt: skip


def _json_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of what to_json makes of a Spark type.

    Each field counts as required: Spark takes most columns for nullable, and to_json leaves out
    only those that are null.
    """
    match kind:
        case {"type": "struct", "fields": fields}:
            inner = {f["name"]: _json_schema(f["type"]) for f in fields}
            kept = {"required": list(inner), "additionalProperties": False}
            return {"type": "object", "properties": inner, **kept}
        case {"type": "array", "elementType": item}:
            return {"type": "array", "items": _json_schema(item)}
        case {"type": "map", "valueType": value}:
            return {"type": "object", "additionalProperties": _json_schema(value)}
        case str() if kind.startswith("decimal"):
            return {"type": "number"}
        case str() if kind != "variant":
            return {"type": _NUMBERS.get(kind, "string")}
    return {}
