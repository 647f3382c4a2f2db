"""Rules about JSON Schema: a reader schema must accept every record that a writer's accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from headgate.model.topic_schema import Effect
from headgate.parse.topic_schemas.json_schema import JsonNode, type_name, values_of
from headgate.rules.topic_schemas.facts.json_sides import plain
from headgate.rules.topic_schemas.facts.rule import JSON_RULES, Breach, Pair, rule
from headgate.rules.topic_schemas.json_schema_items import tuple_items, tuple_items_changed

CRITERIA = ("allOf", "anyOf", "oneOf")
UPPER = ("maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties", "maxContains")
LOWER = ("minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties", "minContains")
SAME = ("pattern", "multipleOf", "uniqueItems", "contains", "propertyNames", "if", "then", "else")


def criterion_of(node: JsonNode) -> str | None:
    """Return the keyword that combines schemas here, None where none does."""
    return next((c for c in CRITERIA if node.branches(c)), None)


def _shown(node: JsonNode) -> str:
    return type_name(node)


@rule(
    "SCH301",
    JSON_RULES,
    remedy="Change the reader schema so that it accepts every type of the writer schema.",
)
def type_narrowed(pair: Pair) -> Iterator[Breach]:
    """The reader schema must accept every type of the writer schema. A schema for numbers also
    accepts integers.

    Schema registries treat an enum without a type as a separate type.
    """
    reader, writer = pair.reader, pair.writer
    if reader.accepts_all or writer.accepts_none:
        return
    if reader.accepts_none or isinstance(writer.data, bool):
        yield Breach(pair.path, _shown(reader), _shown(writer), "")
        return
    if (allowed := reader.types) is None or criterion_of(writer) in ("anyOf", "oneOf"):
        return
    written = writer.types
    if written is None and values_of(writer) is not None and values_of(reader) is not None:
        return
    accepted = allowed | ({"integer"} if "number" in allowed else frozenset())
    if written is None or written - accepted:
        yield Breach(pair.path, _shown(reader), _shown(writer), "")


@rule(
    "SCH302",
    JSON_RULES,
    remedy=(
        "Make the property optional in the reader schema, or give it a default there. Or require "
        "it in the writer schema, too."
    ),
)
def property_required(pair: Pair) -> Iterator[Breach]:
    """If the reader schema requires a property, records without it are invalid, unless the property
    has a default.

    A consumer that validates its records fails at the first record without the property. The record
    stays in the topic, so each restart and each later reprocessing fails at it again.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    written = writer.properties
    for name in reader.required - writer.required:
        inner = reader.properties.get(name)
        has_default = inner is not None and isinstance(inner.data, dict) and "default" in inner.data
        # One that no property declares is a condition beside the properties.
        if not has_default and (inner is None or name in written or not is_open(writer)):
            yield Breach(pair.at(name), "required", "optional" if name in written else None, "")


def is_open(node: JsonNode) -> bool:
    """Whether records may hold properties of any kind beside those that are declared."""
    more = node.get("additionalProperties")
    return more in (None, True) and not node.get("patternProperties")


def _covering(node: JsonNode, name: str) -> JsonNode | None:
    """Return the schema that a property falls under that is not declared, None for none."""
    for pattern, inner in (node.get("patternProperties") or {}).items():
        try:
            if re.search(pattern, name):
                return node.at(inner)
        except (re.error, RecursionError):
            continue
    more = node.get("additionalProperties")
    return node.at(more) if isinstance(more, dict) else None


@rule(
    "SCH303",
    JSON_RULES,
    remedy=(
        "Close the content model (additionalProperties: false) before you add properties. "
        "Or change the subject's compatibility level: from BACKWARD to FORWARD (then upgrade "
        "producers first), or from FORWARD to BACKWARD (then upgrade consumers first)."
    ),
)
def property_added_to_open_model(pair: Pair) -> Iterator[Breach]:
    """The writer schema allows additional properties.

    So existing records may have this property with another type, and the reader schema rejects
    these records.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    for name, inner in reader.properties.items():
        if name in writer.properties:
            continue
        if is_open(writer):
            if not inner.accepts_all and _is_object(writer):
                yield Breach(pair.at(name), _shown(inner), None, "")
        elif (cover := _covering(writer, name)) is not None and not pair.fits(inner, cover):
            because = (
                "The writer schema allows additional properties, with a type that the reader "
                "schema rejects."
            )
            yield Breach(pair.at(name), _shown(inner), _shown(cover), because)


def _is_object(node: JsonNode) -> bool:
    return node.types is None or "object" in node.types


@rule(
    "SCH304",
    JSON_RULES,
    remedy="List the property in the reader schema, or accept additional properties.",
)
def property_removed_from_closed_model(pair: Pair) -> Iterator[Breach]:
    """If the reader schema accepts no additional properties, it rejects records with a property
    that it doesn't list.

    A consumer that validates its records fails at the first record with the property. The record
    stays in the topic, so each restart and each later reprocessing fails at it again.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    for name, inner in writer.properties.items():
        if name in reader.properties or is_open(reader) or inner.accepts_none:
            continue
        cover = _covering(reader, name)
        if cover is None or not pair.fits(cover, inner):
            yield Breach(pair.at(name), None, _shown(inner), "")


@rule(
    "SCH305",
    JSON_RULES,
    remedy="Change the reader schema so that it accepts all additional properties and items of the "
    "writer schema.",
)
def content_model_narrowed(pair: Pair) -> Iterator[Breach]:
    """If the reader schema accepts fewer additional properties or items, it rejects records that
    have them.

    Under the writer schema, such records were valid, and the topic may contain them. A consumer
    that validates its records fails at the first of them, and again after each restart.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    for key in ("additionalProperties", "additionalItems"):
        now, was = reader.get(key), writer.get(key)
        if now is False and was is not False:
            yield Breach(pair.at(key), "none", "any" if was in (None, True) else "some", "")
        elif isinstance(now, dict) and was in (None, True) and not reader.at(now).accepts_all:
            yield Breach(pair.at(key), _shown(reader.at(now)), "any", "")


@rule(
    "SCH306",
    JSON_RULES,
    remedy="Give both schemas the same limits, or give the reader schema wider limits.",
)
def limit_narrowed(pair: Pair) -> Iterator[Breach]:
    """If the reader schema has a narrower limit (length, range, count, pattern, multiple,
    uniqueness), it rejects values that were allowed when they were written.

    The topic may contain such values. A consumer that validates its records fails at the first of
    them, and again after each restart.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    for key in (*UPPER, *LOWER, *SAME):
        now, was = reader.get(key), writer.get(key)
        if now is not None and now is not False and _narrower(key, now, was):
            yield Breach(pair.at(key), json.dumps(now), None if was is None else json.dumps(was),
                         "")  # fmt: skip


def _narrower(key: str, now: Any, was: Any) -> bool:
    if was is None:
        return True
    if key in UPPER or key in LOWER:
        if isinstance(now, bool) or isinstance(was, bool):
            return bool(now != was)
        return bool(now < was if key in UPPER else now > was)
    if key == "multipleOf":
        return not now or abs(was / now - round(was / now)) > 1e-9
    return bool(now != was)


@rule(
    "SCH307",
    JSON_RULES,
    remedy=(
        "Change the reader schema so that it accepts every value of the writer schema. Give "
        "consumers the schema with a new value before producers write the value."
    ),
)
def values_narrowed(pair: Pair) -> Iterator[Breach]:
    """The reader schema rejects every value that its enum or const doesn't list.

    Values that were valid when they were written may be in the topic. A consumer that validates its
    records fails at the first of them, and again after each restart.
    """
    if not (both := plain(pair)):
        return
    allowed, written = (values_of(n) for n in both)
    if allowed is None:
        return
    if written is None or any(v not in allowed for v in written):
        yield Breach(pair.path, _shown(both[0]), _shown(both[1]), "")


@rule(
    "SCH308",
    JSON_RULES,
    remedy=(
        "Keep every alternative (anyOf, oneOf) of the writer schema in the reader schema, and add "
        "no further schema in allOf."
    ),
)
def combination_changed(pair: Pair) -> Iterator[Breach]:
    """The reader schema must accept every alternative of the writer schema (anyOf, oneOf), and
    must not require more (allOf).

    Schema registries also reject most changes between anyOf, oneOf and allOf.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    now, was = criterion_of(reader), criterion_of(writer)
    if now is None and was is None:
        return
    if not _combination_fits(pair, reader, writer, now, was):
        yield Breach(pair.path, f"{now or _shown(reader)}", f"{was or _shown(writer)}", "")


def _alternatives(node: JsonNode, criterion: str | None) -> tuple[str | None, list[JsonNode]]:
    """Return what is combined; several types are alternatives, too."""
    if criterion is not None:
        return criterion, node.branches(criterion)
    types = sorted(node.types or ())
    if len(types) < 2:
        return None, []
    return "anyOf", [node.at({**node.data, "type": t}) for t in types]


def _combination_fits(
    pair: Pair, reader: JsonNode, writer: JsonNode, criterion: str | None, old: str | None
) -> bool:
    now, readers = _alternatives(reader, criterion)
    was, writers = _alternatives(writer, old)
    if now is None:
        only = writers[0] if len(writers) == 1 else None
        if was == "allOf":
            return any(pair.fits(reader, w) for w in writers)
        return only is not None and pair.fits(reader, only)
    if was is None:
        if now == "allOf":
            return len(readers) == 1 and pair.fits(readers[0], writer)
        return any(pair.fits(r, writer) for r in readers)
    if not _criterion_fits(now, was, len(readers), len(writers)):
        return False
    if now == "allOf":
        return len(readers) <= len(writers) and _matched(readers, writers, pair)
    return len(readers) >= len(writers) and _matched(writers, readers, pair, swapped=True)


def _criterion_fits(now: str, was: str, readers: int, writers: int) -> bool:
    if now in (was, "anyOf"):
        return True
    return writers == 1 and (now == "oneOf" or readers == 1)


def _matched(
    each: list[JsonNode], among: list[JsonNode], pair: Pair, *, swapped: bool = False
) -> bool:
    """Whether each of the first can have a counterpart of its own among the second."""
    taken: dict[int, int] = {}

    def assign(index: int, tried: set[int]) -> bool:
        for other, node in enumerate(among):
            ends = (node, each[index]) if swapped else (each[index], node)
            if other in tried or not pair.fits(*ends):
                continue
            tried.add(other)
            if other not in taken or assign(taken[other], tried):
                taken[other] = index
                return True
        return False

    return all(assign(i, set()) for i in range(len(each)))


@rule(
    "SCH309",
    JSON_RULES,
    remedy="From the reader schema, remove the dependencies that the writer schema lacks.",
)
def dependency_added(pair: Pair) -> Iterator[Breach]:
    """A property may require other properties (dependentRequired).

    If the reader schema adds such a requirement, it rejects records that lack the required
    properties.
    """
    if not (both := plain(pair)):
        return
    for key in ("dependencies", "dependentRequired", "dependentSchemas"):
        now, was = (n.get(key) or {} for n in both)
        for name, asked in now.items():
            old = was.get(name)
            if not _asks_less(asked, old):
                was_asked = None if old is None else json.dumps(old)
                yield Breach(pair.at(f"{key}.{name}"), json.dumps(asked), was_asked, "")


def _asks_less(asked: Any, old: Any) -> bool:
    if isinstance(asked, list) and isinstance(old, list):
        return set(asked) <= set(old)
    return bool(asked == old)


@rule(
    "SCH310",
    JSON_RULES,
    remedy="Let the keyword `not` of the reader schema exclude no value of the writer schema.",
)
def exclusion_widened(pair: Pair) -> Iterator[Breach]:
    """If the reader schema excludes more (`not`), it rejects records that were allowed.

    The topic may contain such records. A consumer that validates its records fails at the first of
    them, and again after each restart.
    """
    if not (both := plain(pair)):
        return
    reader, writer = both
    if reader.get("not") is None:
        return
    now = reader.at(reader.get("not"))
    was = None if writer.get("not") is None else writer.at(writer.get("not"))
    if was is None or not pair.fits(was, now):
        yield Breach(pair.at("not"), _shown(now), None if was is None else _shown(was), "")


@rule(
    "SCH312",
    JSON_RULES,
    Effect.SILENTLY_WRONG,
    remedy="Keep the format, or add a new property for the new format.",
)
def format_changed(pair: Pair) -> Iterator[Breach]:
    """Schema registries don't compare `format`.

    Consumers read the same text as a different kind of time, number or name.
    """
    if (both := plain(pair)) and both[0].get("format") != both[1].get("format"):
        now, was = (str(n.get("format") or "none") for n in both)
        yield Breach(pair.path, now, was, "")


JSON = (
    type_narrowed,
    property_required,
    property_added_to_open_model,
    property_removed_from_closed_model,
    content_model_narrowed,
    limit_narrowed,
    values_narrowed,
    combination_changed,
    dependency_added,
    exclusion_widened,
    tuple_items_changed,
    format_changed,
)


def parts(pair: Pair) -> Iterator[tuple[Any, Any, str]]:
    """Yield the properties, items and additional properties that both sides have."""
    if not (both := plain(pair)):
        return
    reader, writer = both
    written = writer.properties
    for name, inner in reader.properties.items():
        if name in written:
            yield inner, written[name], pair.at(name)
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        now, was = reader.get(key), writer.get(key)
        if not isinstance(now, (dict, bool)) or not isinstance(was, (dict, bool)):
            continue
        # An open or a closed model that changes is told where it is, not below.
        if key == "items" or (isinstance(now, dict) and was is not True):
            yield reader.at(now), writer.at(was), f"{pair.path}{mark}"
    for index, (now, was) in enumerate(zip(tuple_items(reader), tuple_items(writer), strict=False)):
        yield now, was, f"{pair.path}[{index}]"
