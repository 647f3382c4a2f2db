"""Read a schema's text: which format it is in, and what it says."""

from __future__ import annotations

import json

from headgate.errors import SchemaError
from headgate.model.topic_schema import SchemaFormat, SchemaText, TopicSchema
from headgate.parse.topic_schemas.avro import read_avro
from headgate.parse.topic_schemas.json_schema import read_json, references_of
from headgate.parse.topic_schemas.protobuf import imports_of, read_protobuf

LONGEST = 8 << 20
_ONLY_AVRO = frozenset(
    ("int", "long", "float", "double", "bytes", "record", "error", "enum", "fixed", "map")
)
_READERS = {
    SchemaFormat.AVRO: read_avro,
    SchemaFormat.PROTOBUF: read_protobuf,
    SchemaFormat.JSON: read_json,
}


def read_schema(given: SchemaText) -> TopicSchema:
    """Return the schema; SchemaError in one sentence if it can't be read.

    If the format isn't given, it is found by content, never by the file's name.
    """
    if len(given.text) > LONGEST:
        raise SchemaError(
            f"{given.name} is larger than {LONGEST >> 20} MiB, the most that Headgate reads"
        )
    if not given.text.strip():
        raise SchemaError(f"{given.name} is empty: expected an Avro, Protobuf or JSON schema")
    return _READERS[given.format or format_of(given.text, given.name)](given)


def format_of(text: str, name: str) -> SchemaFormat:
    """Return the format of a text: JSON is Avro or JSON Schema by its keys, the rest Protobuf."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise SchemaError(f"{name} is nested too deeply for Headgate") from None
    except ValueError as error:
        if text.lstrip()[:1] in ("{", "["):
            raise SchemaError(f"{name} isn't valid JSON: {error}") from None
        return SchemaFormat.PROTOBUF
    if isinstance(data, (list, str)):
        return SchemaFormat.AVRO
    if isinstance(data, dict) and _is_avro(data):
        return SchemaFormat.AVRO
    if isinstance(data, (dict, bool)):
        return SchemaFormat.JSON
    raise SchemaError(f"{name} isn't an Avro, Protobuf or JSON schema")


def _is_avro(data: dict[str, object]) -> bool:
    """Say whether keys and words are Avro's; `array`, `string` and the like are words of both."""
    kind = data.get("type")
    if "$schema" in data or "properties" in data:
        return False
    if isinstance(kind, str) and kind in _ONLY_AVRO:
        return True
    return isinstance(kind, dict) or (kind == "array" and isinstance(data.get("items"), str))


def imported(text: str, form: SchemaFormat, name: str) -> tuple[str, ...]:
    """Return the names of the files that a schema's text imports or refers to, in its order."""
    if form is SchemaFormat.PROTOBUF:
        return imports_of(text, name)
    return references_of(text, name) if form is SchemaFormat.JSON else ()
