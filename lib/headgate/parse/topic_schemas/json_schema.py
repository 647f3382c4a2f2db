"""Read JSON Schemas, with their references resolved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
MOST_FIELDS = 20_000
_HOPS = 50
_BRANCHES = ("allOf", "anyOf", "oneOf")
_LISTS = (*_BRANCHES, "prefixItems")
_MAPS = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
_ONES = ("items", "additionalProperties", "additionalItems", "not", "if", "then", "else",
         "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems")  # fmt: skip


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A schema or subschema: `data` is an object or a boolean, references already followed.

    `resolver` looks up the references below it. `identity` is of the node, so that reading a
    recursive schema ends.
    """

    data: Any
    resolver: Any

    @property
    def identity(self) -> int:
        """The identity of what was read here."""
        return id(self.data)

    def at(self, data: Any) -> JsonNode:
        """Return a schema below this one, its reference followed."""
        return follow(JsonNode(data, self.resolver))

    def get(self, key: str) -> Any:
        """Return a keyword's value, None where it is missing or this is a boolean."""
        return self.data.get(key) if isinstance(self.data, dict) else None

    @property
    def types(self) -> frozenset[str] | None:
        """The types that are allowed, None where all are."""
        found = self.get("type")
        if isinstance(found, str):
            return frozenset((found,))
        return frozenset(map(str, found)) if isinstance(found, list) else None

    @property
    def properties(self) -> dict[str, JsonNode]:
        """The properties by name."""
        found = self.get("properties")
        return {n: self.at(d) for n, d in found.items()} if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        """The names that must be there."""
        found = self.get("required")
        return frozenset(map(str, found)) if isinstance(found, list) else frozenset()

    def branches(self, key: str) -> list[JsonNode]:
        """Return the schemas of `allOf`, `anyOf` or `oneOf`."""
        found = self.get(key)
        return [self.at(d) for d in found] if isinstance(found, list) else []

    @property
    def accepts_all(self) -> bool:
        """Whether it says nothing: `true`, or an object that holds only words for people."""
        if isinstance(self.data, bool):
            return self.data
        silent = {"title", "description", "$comment", "$id", "$schema", "examples", "default",
                  "definitions", "$defs"}  # fmt: skip
        return not set(self.data) - silent

    @property
    def accepts_none(self) -> bool:
        """Whether it is `false`."""
        return self.data is False


def read_json(given: SchemaText) -> TopicSchema:
    """Return the schema; SchemaError in one sentence where it is none, or lacks a reference."""
    from jsonschema.exceptions import SchemaError as WrongError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.jsonschema import DRAFT7, specification_with

    data = _load(given.text, given.name)
    try:
        draft = validator_for(data, default=validator_for({"$schema": _DRAFT7}))
        draft.check_schema(data)
    except WrongError as error:
        location = "/".join(str(p) for p in error.absolute_path) or "the root"
        reason = f"{given.name} isn't a JSON Schema: {_line(error.message)} (at {location})"
        raise SchemaError(reason) from None
    except (RecursionError, TypeError, ValueError):
        raise SchemaError(f"{given.name} is invalid or nested too deeply for Headgate") from None
    dialect = data.get("$schema", _DRAFT7) if isinstance(data, dict) else _DRAFT7
    kind = specification_with(str(dialect), default=DRAFT7)
    registry: Registry[Any] = Registry()
    for name, text in given.references:
        registry = registry.with_resource(name, kind.create_resource(_load(text, name)))
    own = str(data.get("$id", data.get("id", ""))) if isinstance(data, dict) else ""
    resource = kind.create_resource(data)
    resolver = registry.with_resource(own, resource).crawl().resolver(own)
    try:
        tree = follow(JsonNode(data, resolver))
        _check_references(tree, given.name)
    except _LostError as error:
        raise SchemaError(_lost(str(error), given, own)) from None
    except RecursionError:
        raise SchemaError(f"{given.name} is nested too deeply for Headgate") from None
    fields = tuple(f for f, _ in zip(fields_of(tree), range(MOST_FIELDS), strict=False))
    return TopicSchema(SchemaFormat.JSON, given.name, fields, tree)


_DRAFT7 = "http://json-schema.org/draft-07/schema#"


class _LostError(Exception):
    """A reference leads nowhere."""


def _lost(reference: str, given: SchemaText, own: str) -> str:
    """Return what a reference that leads nowhere needs: another $ref, or a file."""
    name, base = given.name, reference.partition("#")[0]
    if base in ("", own) and not given.references:
        return f"{name} has a $ref to {reference}, but doesn't define this schema. Correct the $ref"
    if base in ("", own, *(known for known, _ in given.references)):
        return (
            f"{name}, or a schema that it references, has a $ref to {reference}, which doesn't "
            "exist. Correct the $ref"
        )
    if ":" in base:
        return (
            f"{name} references {reference}, which Headgate doesn't download. Save that schema "
            f"next to {name} (in a schema registry: add it to the subject's references), and "
            "reference it by its name"
        )
    return f"{name} references {base}, which was not found: put {base} next to {name}"


def _load(text: str, name: str) -> Any:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(
            f"{name} isn't a JSON Schema, because the text isn't JSON: {_line(error)}"
        ) from None
    if not isinstance(data, (dict, bool)):
        raise SchemaError(f"{name} isn't a JSON Schema: expected an object or a boolean")
    return data


def _line(error: object) -> str:
    return " ".join(str(error).split())[:200]


def follow(node: JsonNode) -> JsonNode:
    """Return the target of a reference, or the node itself if it isn't a reference."""
    from referencing.exceptions import Unresolvable

    for _ in range(_HOPS):
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        try:
            found = node.resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, KeyError):
            raise _LostError(reference) from None
        node = JsonNode(found.contents, found.resolver)
    return JsonNode(True, node.resolver)


def _check_references(root: JsonNode, name: str) -> None:
    """Follow every reference once, so that the rules never meet one that leads nowhere."""
    stack, seen = [root], {root.identity}
    while stack:
        node = stack.pop()
        for inner in _below(node):
            found = node.at(inner)
            if found.identity not in seen and isinstance(found.data, dict):
                seen.add(found.identity)
                stack.append(found)
        if len(seen) > MOST_FIELDS * 5:
            raise SchemaError(
                f"{name} is too large: Headgate reads at most {MOST_FIELDS * 5:,} nested schemas"
            )


def _below(node: JsonNode) -> Iterator[Any]:
    for key in _LISTS:
        found = node.get(key)
        yield from found if isinstance(found, list) else ()
    for key in _MAPS:
        found = node.get(key)
        yield from found.values() if isinstance(found, dict) else ()
    for key in _ONES:
        found = node.get(key)
        if isinstance(found, (dict, bool)):
            yield found
        elif isinstance(found, list):
            yield from found


def references_of(text: str, name: str) -> tuple[str, ...]:
    """Return the files that a schema refers to, fragments left out."""
    found: dict[str, None] = {}
    stack: list[Any] = [_load(text, name)]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and (file := reference.partition("#")[0]):
                found[file] = None
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return tuple(found)


def fields_of(root: JsonNode) -> Iterator[SchemaField]:
    """Yield every property; a recursive schema is entered once."""
    yield from _walk(root, "", ())


def _walk(node: JsonNode, path: str, opened: tuple[int, ...]) -> Iterator[SchemaField]:
    if node.identity in opened or len(opened) > DEEPEST:
        return
    inside = (*opened, node.identity)
    for name, inner in node.properties.items():
        here = f"{path}.{name}" if path else name
        default = inner.get("default")
        has_default = isinstance(inner.data, dict) and "default" in inner.data
        shown = json.dumps(default) if has_default else NO_DEFAULT
        optional = name not in node.required
        yield SchemaField(here, type_name(inner), optional, shown)
        yield from _walk(inner, here, inside)
    if isinstance(node.get("items"), dict):
        yield from _walk(node.at(node.get("items")), f"{path}[]", inside)
    if isinstance(node.get("additionalProperties"), dict):
        yield from _walk(node.at(node.get("additionalProperties")), f"{path}{{}}", inside)
    for key in _BRANCHES:
        for branch in node.branches(key):
            yield from _walk(branch, path, inside)


def type_name(node: JsonNode, depth: int = 0) -> str:
    """Return a type in few words: `string | null`, `array of number`, `string (date-time)`."""
    if isinstance(node.data, bool):
        return "anything" if node.data else "nothing"
    if depth > 4:
        return "…"
    if (values := _values(node)) is not None:
        return f"one of {', '.join(json.dumps(v) for v in values[:8])}"
    if (types := node.types) is not None:
        shown = " | ".join(sorted(types))
        if types == {"array"} and isinstance(node.get("items"), (dict, bool)):
            shown = f"array of {type_name(node.at(node.get('items')), depth + 1)}"
        return f"{shown} ({node.get('format')})" if node.get("format") else shown
    for key in _BRANCHES:
        if branches := node.branches(key):
            word = " and " if key == "allOf" else " | "
            return word.join(type_name(b, depth + 1) for b in branches[:6])
    return "object" if node.properties else "anything"


def _values(node: JsonNode) -> list[Any] | None:
    if isinstance(node.get("enum"), list):
        return list(node.get("enum"))
    has_const = isinstance(node.data, Mapping) and "const" in node.data
    return [node.get("const")] if has_const else None


def values_of(node: JsonNode) -> list[Any] | None:
    """Return the values of `enum` or `const`, None where any value is allowed."""
    return _values(node)
