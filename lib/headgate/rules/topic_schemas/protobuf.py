"""Rules about Protobuf: fields are matched by number, types by what they look like on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headgate.model.topic_schema import Direction, Effect
from headgate.parse.topic_schemas.protobuf import (
    ProtoEnum,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    root,
)
from headgate.rules.topic_schemas.facts.rule import (
    PROTOBUF_RULES,
    PROTOBUF_SPEC,
    Breach,
    Pair,
    rule,
)

VARINT = "a varint"
GROUPS = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), VARINT),
    **dict.fromkeys(("sint32", "sint64"), "a zigzag varint"),
    **dict.fromkeys(("string", "bytes"), "a string or bytes"),
    **dict.fromkeys(("fixed32", "sfixed32"), "a fixed 32-bit integer"),
    **dict.fromkeys(("fixed64", "sfixed64"), "a fixed 64-bit integer"),
    "float": "a float",
    "double": "a double",
}
BITS = {"int64": 64, "uint64": 64, "sint64": 64, "int32": 32, "uint32": 32, "sint32": 32, "bool": 1}
ENUM_BITS = 32


@dataclass(frozen=True, slots=True)
class Side:
    """A message in its file."""

    file: ProtoFile
    message: ProtoMessage

    @property
    def identity(self) -> tuple[int, str]:
        """What identifies a message."""
        return id(self.file), self.message.name

    def group(self, kind: str) -> str:
        """Return what a type looks like on the wire."""
        if kind in GROUPS:
            return GROUPS[kind]
        return VARINT if self.is_enum(kind) else "a message"

    def is_enum(self, kind: str) -> bool:
        """Whether the name is an enum's."""
        return isinstance(self.file.known.get(kind), ProtoEnum)

    def bits(self, kind: str) -> int | None:
        """Return how wide a number is, None if it isn't an integer."""
        return ENUM_BITS if self.is_enum(kind) else BITS.get(kind)


def _sides(pair: Pair) -> tuple[Side, Side] | None:
    both = isinstance(pair.reader, Side) and isinstance(pair.writer, Side)
    return (pair.reader, pair.writer) if both else None


def _files(pair: Pair) -> tuple[ProtoFile, ProtoFile] | None:
    both = isinstance(pair.reader, ProtoFile) and isinstance(pair.writer, ProtoFile)
    return (pair.reader, pair.writer) if both else None


def _shared(pair: Pair) -> Iterator[tuple[Side, ProtoField, Side, ProtoField]]:
    """Yield the fields that have one number on both sides."""
    if sides := _sides(pair):
        reader, writer = sides
        written = writer.message.by_number()
        for f in reader.message.fields:
            if f.number in written:
                yield reader, f, writer, written[f.number]


@rule(
    "SCH201",
    PROTOBUF_RULES,
    remedy=(
        "Keep every message type of the writer schema in the reader schema, even if nothing uses "
        "it."
    ),
)
def message_removed(pair: Pair) -> Iterator[Breach]:
    """A consumer must know every message that was written.

    Schema registries reject a reader schema that lacks a message of the writer schema, for example
    because the message was removed or renamed.
    """
    if not (files := _files(pair)):
        return
    reader, writer = files
    known = {reader.local(n) for n in reader.known}
    for message in writer.messages:
        name = writer.local(message.name)
        if name not in known and "." not in name:
            yield Breach(name, None, f"message {name}", f"The reader schema lacks message {name}.")
        elif name not in known:
            yield Breach(
                name,
                None,
                f"message {name}",
                (f"The reader schema lacks the nested message {name}."),
            )


@rule(
    "SCH202", PROTOBUF_SPEC, remedy="Give the new field its own number, and reserve the old number."
)
def wire_type_changed(pair: Pair) -> Iterator[Breach]:
    """A type can replace another type only if both have the same wire format. These types have the
    same wire format: int32, int64, uint32, uint64, bool and enums; sint32 and sint64; string and
    bytes; fixed32 and sfixed32; fixed64 and sfixed64.

    With another wire format, a parser can't decode the written value. Depending on the language,
    the consumer fails, or ignores the value and reads the field as not set.
    """
    for reader, f, writer, other in _shared(pair):
        was, now = _looks(writer, other), _looks(reader, f)
        if was != now:
            because = f"Field number {f.number} is read as {now}, but was written as {was}."
            yield Breach(pair.at(f.name), f.shown, other.shown, because)


def _looks(side: Side, f: ProtoField) -> str:
    return "a map" if f.key else side.group(f.type)


@rule("SCH203", PROTOBUF_RULES, remedy="Keep the message type, or add a field with a new number.")
def message_type_changed(pair: Pair) -> Iterator[Breach]:
    """The two schemas have different message types for this field, and the consumer reads one as
    the other.

    Field numbers that both types use are mixed up, so schema registries reject the change.
    """
    for reader, f, writer, other in _shared(pair):
        if _looks(reader, f) != _looks(writer, other) or reader.group(f.type) != "a message":
            continue
        if reader.file.local(f.type) != writer.file.local(other.type):
            yield Breach(pair.at(f.name), f.shown, other.shown, "")


@rule(
    "SCH204",
    PROTOBUF_SPEC,
    remedy="Never add or remove a required field. Use an optional field instead.",
)
def required_field(pair: Pair) -> Iterator[Breach]:
    """A message that lacks a required field can't be parsed at all.

    Schema registries don't allow adding or removing a required field.
    """
    if not (sides := _sides(pair)):
        return
    reader, writer = (s.message for s in sides)
    for f in reader.fields:
        if f.label == "required" and f.number not in writer.by_number():
            yield Breach(pair.at(f.name), f.shown, None, "The reader schema requires this field.")
    for f in writer.fields:
        if f.label == "required" and f.number not in reader.by_number():
            yield Breach(pair.at(f.name), None, f.shown, "The writer schema requires this field.")


@rule(
    "SCH205",
    PROTOBUF_SPEC,
    remedy=(
        "Put at most one existing field into a new oneof, and don't move several fields out of a "
        "oneof."
    ),
)
def fields_moved_into_oneof(pair: Pair) -> Iterator[Breach]:
    """A consumer keeps only the last written field of a oneof.

    If several independent fields become members of one oneof, or a field moves into an existing
    oneof, values are lost.
    """
    if not (sides := _sides(pair)):
        return
    written = sides[1].message.by_number()
    oneofs: dict[str, list[ProtoField]] = {}
    for f in sides[0].message.fields:
        if f.oneof and f.number in written:
            oneofs.setdefault(f.oneof, []).append(f)
    for name, fields in oneofs.items():
        moved = [f.name for f in fields if written[f.number].oneof is None]
        if len(moved) > 1 or (moved and len(fields) > len(moved)):
            because = f"The reader schema has these fields in oneof {name}: {', '.join(moved)}."
            yield Breach(pair.at(name), f"oneof {name}", "fields outside a oneof", because)


@rule(
    "SCH206",
    PROTOBUF_RULES,
    remedy=(
        "Keep every field of the oneof in the reader schema. Instead of removing a field, mark it "
        "as deprecated."
    ),
)
def oneof_field_removed(pair: Pair) -> Iterator[Breach]:
    """If the reader schema lacks the written field of a oneof, consumers get an empty oneof.

    The consumer can't see which field of the oneof was written, nor its value. Code that selects a
    branch by the oneof's field selects none, so it loses what the record says.
    """
    if not (sides := _sides(pair)):
        return
    reader, writer = (s.message for s in sides)
    kept = {f.oneof for f in reader.fields}
    for f in writer.fields:
        if f.oneof in kept and f.oneof and f.number not in reader.by_number():
            yield Breach(
                pair.at(f.name),
                None,
                f.shown,
                f"The writer schema has this field in oneof {f.oneof}.",
            )


@rule("SCH207", PROTOBUF_RULES, remedy="Keep the package name.")
def package_changed(pair: Pair) -> Iterator[Breach]:
    """The full name of a message includes its package.

    Code that looks up a message by its full name, such as `Any` and generated code, doesn't find
    the message.
    """
    if (files := _files(pair)) and files[0].package != files[1].package:
        yield Breach("", files[0].package, files[1].package, "")


@rule(
    "SCH211",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="Write the field until no consumer reads it. Then reserve its number and its name.",
)
def default_replaces_value(pair: Pair) -> Iterator[Breach]:
    """Consumers with the old schema continue without an error.

    For a field that is no longer written, these consumers get zero, an empty string or an empty
    list.
    """
    if pair.direction is not Direction.FORWARD or not (sides := _sides(pair)):
        return
    written = sides[1].message.by_number()
    for f in sides[0].message.fields:
        if f.number not in written and f.label != "required":
            yield Breach(pair.at(f.name), f.shown, None, "The new schema lacks this field.")


@rule(
    "SCH212",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="If a field gets a different meaning, give it a new number. Reserve the old number.",
)
def field_number_reused(pair: Pair) -> Iterator[Breach]:
    """Protobuf identifies fields by number, not by name: a consumer reads the value as its own
    field with that number.

    Code that reads by name (JSON, Spark's from_protobuf) loses the field.
    """
    for _, f, _, other in _shared(pair):
        if f.name != other.name:
            because = (
                f"Field number {f.number} is {f.name} in the reader schema and {other.name} in "
                "the writer schema."
            )
            yield Breach(pair.at(f.name), f.name, other.name, because)


@rule(
    "SCH213",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="Use the same integer type in both schemas, or a wider type in the reader schema.",
)
def integer_truncated(pair: Pair) -> Iterator[Breach]:
    """A consumer with a narrower integer type truncates larger values, or reads large numbers as
    negative ones. The consumer doesn't fail.

    For example, an int32 field reads 4294967297 as 1, and 3000000000 as -1294967296. Ids, sums and
    comparisons are then wrong, and no error shows it.
    """
    for reader, f, writer, other in _shared(pair):
        if f.key or other.key or _looks(reader, f) != _looks(writer, other):
            continue
        narrow, wide = reader.bits(f.type), writer.bits(other.type)
        unsigned = [t.startswith("u") for t in (f.type, other.type)]
        if narrow and wide and (narrow < wide or (unsigned[0] != unsigned[1] and narrow == wide)):
            yield Breach(pair.at(f.name), f.shown, other.shown, "")


@rule(
    "SCH214",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy=("Don't change whether the field is repeated. Instead, add a field with a new number."),
)
def repeated_changed(pair: Pair) -> Iterator[Breach]:
    """A consumer that expects a single value gets the last of the repeated values, and loses packed
    numbers completely.

    The consumer gets no error.
    """
    for reader, f, writer, other in _shared(pair):
        if f.key or other.key or _looks(reader, f) != _looks(writer, other):
            continue
        if (f.label == "repeated") != (other.label == "repeated"):
            yield Breach(pair.at(f.name), f.shown, other.shown, "")


@rule(
    "SCH215",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy=(
        "Keep every enum value and its number. Give consumers the schema with a new value before "
        "producers write the value."
    ),
)
def enum_value_changed(pair: Pair) -> Iterator[Breach]:
    """Protobuf writes an enum's numbers, not its names.

    If a consumer's enum lacks the number, the consumer gets an unknown value (in proto2, the first
    value). If a consumer's enum has another name for the number, the consumer gets that name.
    """
    if not (files := _files(pair)):
        return
    reader, writer = files
    readers = {reader.local(e.name): e for e in reader.enums}
    for enum in writer.enums:
        name = writer.local(enum.name)
        if name in readers:
            yield from _enum_breaches(name, readers[name], enum)


def _enum_breaches(name: str, reader: ProtoEnum, writer: ProtoEnum) -> Iterator[Breach]:
    known: dict[int, list[str]] = {}
    for word, number in reader.values.items():
        known.setdefault(number, []).append(word)
    for word, number in writer.values.items():
        if number not in known:
            yield Breach(
                f"{name}.{word}",
                None,
                f"{word} = {number}",
                ("The reader schema lacks this value."),
            )
        elif word not in known[number]:
            now = f"{known[number][0]} = {number}"
            yield Breach(f"{name}.{word}", now, f"{word} = {number}", "")


@rule(
    "SCH216",
    PROTOBUF_SPEC,
    Effect.SILENTLY_WRONG,
    remedy="Choose a field number and a name that the old schema didn't reserve.",
)
def reserved_field_used(pair: Pair) -> Iterator[Breach]:
    """The old schema reserved this number or name, because records with its old meaning may still
    exist.

    Protobuf identifies a field by its number, and in JSON by its name. Consumers read the value in
    an old record as the new field, with another meaning. Nothing fails.
    """
    if not (sides := _sides(pair)):
        return
    # What the old version reserved must not come back in the new one, whoever reads.
    old, new = sides[::-1] if pair.direction is Direction.BACKWARD else sides
    for f in new.message.fields:
        if old.message.reserves(f.number) or f.name in old.message.reserved_names:
            shown = f"{f.name} = {f.number}"
            breach = (
                (shown, "reserved") if pair.direction is Direction.BACKWARD else ("reserved", shown)
            )
            yield Breach(pair.at(f.name), *breach, "")


PROTOBUF = (
    message_removed,
    wire_type_changed,
    message_type_changed,
    required_field,
    fields_moved_into_oneof,
    oneof_field_removed,
    package_changed,
    default_replaces_value,
    field_number_reused,
    integer_truncated,
    repeated_changed,
    enum_value_changed,
    reserved_field_used,
)


def parts(pair: Pair) -> Iterator[tuple[Any, Any, str]]:
    """Yield the messages that both files know, by their name without the package."""
    if not (files := _files(pair)):
        return
    reader, writer = files
    known = {reader.local(m.name): m for m in _messages(reader)}
    for message in _messages(writer):
        name = writer.local(message.name)
        if name in known:
            path = "" if message is root(writer) else name
            yield Side(reader, known[name]), Side(writer, message), path


def _messages(file: ProtoFile) -> Iterator[ProtoMessage]:
    return (m for m in file.known.values() if isinstance(m, ProtoMessage))
