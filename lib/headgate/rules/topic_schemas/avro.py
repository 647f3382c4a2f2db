"""Rules about Avro: how a reader schema decodes records that another schema wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.model.topic_schema import Direction, Effect
from headgate.parse.topic_schemas.avro import logical, type_name
from headgate.rules.topic_schemas.facts.rule import AVRO_SPEC, EVOLUTION, Breach, Pair, rule

NAMED = ("record", "error", "enum", "fixed")
UNIONS = ("union", "error_union")
PROMOTED_TO = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def counterparts(pair: Pair) -> Iterator[tuple[Any, Any | None]]:
    """Yield each field of the reader schema with the writer's field that it is read from.

    Fields are matched by name, then by aliases in the reader schema; None if the writer has none.
    """
    by_name = {f.name: f for f in pair.writer.fields}
    for field in pair.reader.fields:
        names = (field.name, *(field.props.get("aliases") or ()))
        yield field, next((by_name[n] for n in names if n in by_name), None)


def _kind(node: Any) -> str:
    return "record" if node.type == "error" else str(node.type)


def _same_kind(pair: Pair, *kinds: str) -> bool:
    return _kind(pair.reader) == _kind(pair.writer) and _kind(pair.reader) in kinds


@rule(
    "SCH101",
    AVRO_SPEC,
    remedy="Keep the type, or add a new field for the new type.",
)
def type_not_promoted(pair: Pair) -> Iterator[Breach]:
    """Avro reads a type only as the same type or as a wider type: int as long, float or double;
    long as float or double; float as double. Avro also reads string as bytes and bytes as string.

    With every other pair of types, reading a record fails.
    """
    reader, writer = pair.reader, pair.writer
    if reader.type in UNIONS or writer.type in UNIONS or _kind(reader) == _kind(writer):
        return
    if reader.type not in PROMOTED_TO.get(writer.type, ()):
        was, now = type_name(writer), type_name(reader)
        yield Breach(pair.path, now, was, f"Avro can't read {was} as {now}.")


@rule(
    "SCH102",
    AVRO_SPEC,
    remedy=(
        "Give the field a default. For an optional field, use a union with null and the default "
        "null."
    ),
)
def field_without_default(pair: Pair) -> Iterator[Breach]:
    """If a record lacks a field, Avro uses the default of the reader schema.

    Without a default, reading fails. So a field needs a default before it can be added (backward
    compatibility) or removed (forward compatibility).
    """
    if not _same_kind(pair, "record"):
        return
    for field, other in counterparts(pair):
        if other is None and not field.has_default:
            path = f"{pair.path}.{field.name}" if pair.path else field.name
            because = (
                "The writer schema lacks this field, and the reader schema has no default for it."
            )
            yield Breach(path, type_name(field.type), None, because)


@rule(
    "SCH103",
    AVRO_SPEC,
    remedy=(
        "Keep the type's name. Or, in the reader schema, add the type's full name from the writer "
        "schema to the aliases of the type."
    ),
)
def type_name_changed(pair: Pair) -> Iterator[Breach]:
    """Avro matches records, enums and fixed types by name.

    The type in the reader schema accepts another name only if its aliases list that name.
    """
    if not _same_kind(pair, *NAMED):
        return
    reader, writer = pair.reader, pair.writer
    aliases = reader.props.get("aliases") or ()
    if reader.name != writer.name and writer.fullname not in _full(aliases, reader):
        because = (
            f"The type is {reader.fullname} in the reader schema and {writer.fullname} in the "
            "writer schema."
        )
        yield Breach(pair.path, reader.fullname, writer.fullname, because)


def _full(aliases: Any, reader: Any) -> set[str]:
    space = reader.fullname.rpartition(".")[0]
    return {a if "." in a or not space else f"{space}.{a}" for a in aliases}


@rule(
    "SCH104",
    AVRO_SPEC,
    remedy=(
        "Let the enum of the reader schema have every symbol of the writer schema, or give it a "
        "default."
    ),
)
def enum_symbol_missing(pair: Pair) -> Iterator[Breach]:
    """Reading a record fails if the enum in the reader schema lacks the record's symbol and has no
    default symbol.

    The consumer fails at the first record with this symbol, and again after each restart, because
    the record stays in the topic. Until its schema has the symbol, the consumer must skip such
    records.
    """
    if _same_kind(pair, "enum") and (lost := _lost_symbols(pair)) and not _enum_default(pair):
        reader, writer = pair.reader.symbols, pair.writer.symbols
        because = f"The enum of the reader schema lacks these symbols: {', '.join(lost)}."
        yield Breach(pair.path, ", ".join(reader), ", ".join(writer), because)


def _lost_symbols(pair: Pair) -> list[str]:
    return [s for s in pair.writer.symbols if s not in pair.reader.symbols]


def _enum_default(pair: Pair) -> str | None:
    default = pair.reader.props.get("default") or (pair.reader.other_props or {}).get("default")
    return default if default in pair.reader.symbols else None


@rule(
    "SCH105", AVRO_SPEC, remedy="Keep the size of the fixed type, or add a field with another type."
)
def fixed_size_changed(pair: Pair) -> Iterator[Breach]:
    """Avro can't read a fixed type as a fixed type of a different size.

    A record contains only the bytes of a fixed type, not its size. With another size, a consumer
    would read wrong bytes. So Avro fails at the first record, and again after each restart.
    """
    if _same_kind(pair, "fixed") and pair.reader.size != pair.writer.size:
        sizes = [f"{n.size} bytes" for n in (pair.reader, pair.writer)]
        yield Breach(pair.path, sizes[0], sizes[1], "")


@rule(
    "SCH106",
    AVRO_SPEC,
    remedy="Let the union of the reader schema have every branch (type) of the writer schema.",
)
def union_branch_missing(pair: Pair) -> Iterator[Breach]:
    """The reader schema must be able to read every branch of the union in
    the writer schema.

    If the reader schema lacks a branch (most often null), reading fails at the records that use the
    branch.
    """
    reader, writer = pair.reader, pair.writer
    if reader.type not in UNIONS and writer.type not in UNIONS:
        return
    # What is wrong inside a branch that has its counterpart is told there.
    paired = {id(was) for _, was, _ in _nullable_parts(pair)}
    for branch in writer.schemas if writer.type in UNIONS else (writer,):
        if id(branch) not in paired and not _reads(pair, branch):
            was, now = type_name(branch), type_name(reader)
            yield Breach(pair.path, now, type_name(writer), f"Avro can't read {was} as {now}.")


def _reads(pair: Pair, branch: Any) -> bool:
    readers = pair.reader.schemas if pair.reader.type in UNIONS else (pair.reader,)
    return any(pair.fits(r, branch) for r in readers)


@rule(
    "SCH111",
    AVRO_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="Keep the logical type, or add a new field for the new type.",
)
def logical_type_changed(pair: Pair) -> Iterator[Breach]:
    """Schema registries compare the underlying types, not the logical types.

    A consumer with a different logical type reads the same number as a different time, date or
    amount.
    """
    reader, writer = pair.reader, pair.writer
    if reader.type in (*UNIONS, "record") or reader.type != writer.type:
        return
    was, now = logical(writer).strip(" ()"), logical(reader).strip(" ()")
    if was != now:
        yield Breach(pair.path, type_name(reader), type_name(writer), "")


@rule("SCH112", EVOLUTION, Effect.SILENTLY_WRONG, remedy="Inform the consumers, or keep the field.")
def default_replaces_value(pair: Pair) -> Iterator[Breach]:
    """Consumers with the old schema continue without an error.

    For a field that is no longer written, these consumers get the field's default.
    """
    if pair.direction is not Direction.FORWARD or not _same_kind(pair, "record"):
        return
    for field, other in counterparts(pair):
        if other is None and field.has_default:
            path = f"{pair.path}.{field.name}" if pair.path else field.name
            yield Breach(path, type_name(field.type), None, "The new schema lacks this field.")


@rule(
    "SCH113",
    AVRO_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="Let the enum of the reader schema have every symbol of the writer schema.",
)
def symbol_read_as_default(pair: Pair) -> Iterator[Breach]:
    """A consumer gets the enum's default symbol for every symbol that its enum lacks.

    The symbol that the producer wrote is lost to the consumer. The consumer can't distinguish it
    from a real default, so counts and decisions by symbol are wrong. Nothing fails.
    """
    if _same_kind(pair, "enum") and (lost := _lost_symbols(pair)) and (word := _enum_default(pair)):
        because = f"Consumers read {', '.join(lost)} as {word}."
        yield Breach(
            pair.path, ", ".join(pair.reader.symbols), ", ".join(pair.writer.symbols), because
        )


AVRO = (
    type_not_promoted,
    field_without_default,
    type_name_changed,
    enum_symbol_missing,
    fixed_size_changed,
    union_branch_missing,
    logical_type_changed,
    default_replaces_value,
    symbol_read_as_default,
)


def parts(pair: Pair) -> Iterator[tuple[Any, Any, str]]:
    """Yield what is below a pair and is compared in its turn: (reader schema, writer's, path)."""
    reader, writer = pair.reader, pair.writer
    if reader.type in UNIONS or writer.type in UNIONS:
        yield from _nullable_parts(pair)
        return
    if _kind(reader) != _kind(writer):
        return
    match _kind(reader):
        case "record":
            for field, other in counterparts(pair):
                if other is not None:
                    path = f"{pair.path}.{field.name}" if pair.path else field.name
                    yield field.type, other.type, path
        case "array":
            yield reader.items, writer.items, f"{pair.path}[]"
        case "map":
            yield reader.values, writer.values, f"{pair.path}{{}}"


def _nullable_parts(pair: Pair) -> Iterator[tuple[Any, Any, str]]:
    """Yield the branches of one kind, if each side has exactly one of it beside null.

    What is wrong inside such a pair is reported there, and not only as a missing branch.
    """
    sides = [
        [b for b in (n.schemas if n.type in UNIONS else (n,)) if b.type != "null"]
        for n in (pair.reader, pair.writer)
    ]
    if all(len(side) == 1 for side in sides):
        yield sides[0][0], sides[1][0], pair.path
        return
    for branch in sides[1]:
        fitting = [r for r in sides[0] if _alike(r, branch)]
        if len(fitting) == 1:
            yield fitting[0], branch, pair.path


def _alike(reader: Any, writer: Any) -> bool:
    same = _kind(reader) == _kind(writer)
    return same and (reader.type not in NAMED or reader.name == writer.name)
