"""Which fields that Spark parses out of JSON are not in a topic's JSON Schema, or are others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from headgate.model.state_schema import Schema, type_text
from headgate.model.topic_schema import SchemaField, TopicSchema

MOST_SAID = 5
_DEEPEST = 40
# What from_json takes for each kind of type; all else becomes null.
_WHOLE = frozenset(("byte", "short", "integer", "long"))
_TEXT = frozenset(("date", "timestamp", "timestamp_ntz", "binary", "interval"))


@dataclass(frozen=True, slots=True)
class Misfit:
    """One field: `is_sure` if from_json gives null for it, False if records may still have it."""

    path: str
    sentence: str
    is_sure: bool


def misfits(parsed: Schema, topic: TopicSchema) -> tuple[Misfit, ...]:
    """Return the fields that from_json parses otherwise than a JSON Schema describes them."""
    fields = {f.path: f for f in topic.fields}
    return tuple(islice(_misfits(parsed, fields), MOST_SAID))


def _misfits(parsed: Schema, fields: dict[str, SchemaField]) -> Iterator[Misfit]:
    stack: list[tuple[str, Any, int]] = [(f.name, f.type, 0) for f in reversed(parsed.fields)]
    while stack:
        path, kind, depth = stack.pop()
        known = fields.get(path)
        if known is None:
            yield Misfit(path, f"The field {path} is not in the topic's schema.", is_sure=False)
            continue
        if not _takes(kind, known.type):
            said = (
                f"The field {path} is {known.type} in the topic's schema, but the query parses it "
                f"as {type_text(kind)}."
            )
            yield Misfit(path, said, is_sure=True)
            continue
        if depth < _DEEPEST:
            stack.extend((f"{path}{p}", k, depth + 1) for p, k in reversed(_inner(kind)))


def _inner(kind: Any) -> list[tuple[str, Any]]:
    if not isinstance(kind, dict):
        return []
    if kind.get("type") == "array":
        return [(f"[]{p}", k) for p, k in _inner(kind.get("elementType"))]
    if kind.get("type") != "struct":
        return []
    return [(f".{f['name']}", f["type"]) for f in kind.get("fields", ())]


def _takes(kind: Any, words: str) -> bool:
    """Whether a type takes one of the kinds that a schema allows; words that are not known do."""
    parts = [w.strip().partition(" (")[0] for w in words.split(" | ")]
    return any(_takes_one(kind, w) for w in parts if w != "null") or parts == ["null"]


def _takes_one(kind: Any, word: str) -> bool:
    if word not in ("string", "integer", "number", "boolean", "object") and "array" not in word:
        return True
    if isinstance(kind, dict):
        wanted = kind.get("type")
        if wanted == "array":
            return word.startswith("array")
        return word == "object" if wanted in ("struct", "map") else True
    name = str(kind)
    if name in ("string", "variant"):
        return True
    if name in _WHOLE:
        return word == "integer"
    if name in ("float", "double") or name.startswith("decimal"):
        return word in ("integer", "number")
    if name == "boolean":
        return word == "boolean"
    return word in ("string", "integer") if name in _TEXT else True
