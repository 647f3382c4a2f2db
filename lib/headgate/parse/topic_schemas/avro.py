"""Read Avro schemas (.avsc) by Apache Avro's own parser."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

from headgate.errors import SchemaError
from headgate.model.topic_schema import (
    NO_DEFAULT,
    SchemaField,
    SchemaFormat,
    SchemaText,
    TopicSchema,
)

DEEPEST = 40
"""Maximum depth of listed fields. The rules also check deeper fields."""
MOST_FIELDS = 20_000


def read_avro(given: SchemaText) -> TopicSchema:
    """Return the schema; SchemaError in one sentence where it is none."""
    from avro.name import Names

    names = Names()
    for name, text in given.references:
        _parse(text, name, names)
    tree = _parse(given.text, given.name, names)
    fields = tuple(f for f, _ in zip(fields_of(tree), range(MOST_FIELDS), strict=False))
    return TopicSchema(SchemaFormat.AVRO, given.name, fields, tree)


def _parse(text: str, name: str, names: Any) -> Any:
    from avro.errors import AvroException
    from avro.schema import make_avsc_object

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(
            f"{name} isn't an Avro schema, because the text isn't JSON: {_line(error)}"
        ) from None
    try:
        with warnings.catch_warnings():
            # A logical type that does not fit its type is to be ignored, says the specification.
            warnings.simplefilter("ignore")
            return make_avsc_object(data, names)
    except RecursionError:
        raise SchemaError(f"{name} is nested too deeply for Headgate") from None
    except (AvroException, AttributeError, TypeError, ValueError, KeyError) as error:
        raise SchemaError(f"{name} isn't an Avro schema: {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def fields_of(tree: Any) -> Iterator[SchemaField]:
    """Yield every field in the order of the schema; a recursive type is entered once."""
    yield from _walk(tree, "", (), 0)


def _walk(kind: Any, path: str, open_types: tuple[int, ...], depth: int) -> Iterator[SchemaField]:
    if depth > DEEPEST:
        return
    match kind.type:
        case "record" | "error" if id(kind) not in open_types:
            for field in kind.fields:
                yield from _field(field, path, (*open_types, id(kind)), depth)
        case "array":
            yield from _walk(kind.items, f"{path}[]", open_types, depth + 1)
        case "map":
            yield from _walk(kind.values, f"{path}{{}}", open_types, depth + 1)
        case "union" | "error_union":
            for branch in kind.schemas:
                yield from _walk(branch, path, open_types, depth + 1)


def _field(field: Any, path: str, open_types: tuple[int, ...], depth: int) -> Iterator[SchemaField]:
    here = f"{path}.{field.name}" if path else field.name
    default = json.dumps(field.default) if field.has_default else NO_DEFAULT
    optional = _nullable(field.type) or field.has_default
    yield SchemaField(here, type_name(field.type), optional, default)
    yield from _walk(field.type, here, open_types, depth + 1)


def _nullable(kind: Any) -> bool:
    return kind.type == "union" and any(b.type == "null" for b in kind.schemas)


def type_name(kind: Any, depth: int = 0) -> str:
    """Return a type in few words: `null | string`, `array of shop.Item`, `long (date)`."""
    if depth > 5:
        return "…"
    match kind.type:
        case "union" | "error_union":
            return " | ".join(type_name(b, depth + 1) for b in kind.schemas)
        case "array":
            return f"array of {type_name(kind.items, depth + 1)}"
        case "map":
            return f"map of {type_name(kind.values, depth + 1)}"
        case "record" | "error" | "enum":
            return f"{kind.type} {kind.fullname}"
        case "fixed":
            return f"fixed {kind.fullname} ({kind.size} bytes){logical(kind)}"
    return f"{kind.type}{logical(kind)}"


def logical(kind: Any) -> str:
    """Return ` (logical type)` with its parameters, or nothing."""
    props = kind.other_props or {}
    name = props.get("logicalType") or kind.props.get("logicalType")
    if not name:
        return ""
    if name == "decimal":
        return f" (decimal({kind.props.get('precision')}, {kind.props.get('scale', 0)}))"
    return f" ({name})"
