"""Both sides of a pair of JSON Schemas."""

from __future__ import annotations

from headgate.parse.topic_schemas.json_schema import JsonNode
from headgate.rules.topic_schemas.facts.rule import Pair


def plain(pair: Pair) -> tuple[JsonNode, JsonNode] | None:
    """Return both sides where each is an object's schema that says something."""
    reader, writer = pair.reader, pair.writer
    if reader.accepts_all or writer.accepts_none or isinstance(writer.data, bool):
        return None
    return None if isinstance(reader.data, bool) else (reader, writer)
