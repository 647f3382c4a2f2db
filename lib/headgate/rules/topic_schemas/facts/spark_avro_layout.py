"""What differs when Avro records are read with a schema that is taken for the one they have.

Spark's from_avro knows no writer's schema but the one that it is given: fields are found by
position, and no schema is resolved into another. Source: `AvroDataToCatalyst`, Avro's
binary encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from headgate.model.topic_schema import SchemaFormat, TopicSchema
from headgate.parse.topic_schemas.avro import type_name

MOST_SAID = 3
_DEEPEST = 40
# What is written as the first reads as the second as well; not the other way round.
_ALIKE = frozenset((("int", "long"), ("string", "bytes")))
_NAMED = ("record", "error")


def misread(read: TopicSchema, written: TopicSchema) -> tuple[str, ...]:
    """Return a sentence for each of the first fields that are read as something else; () for none.

    Both are Avro's; if only names differ, with the same positions and types, nothing is misread.
    """
    if read.format is not SchemaFormat.AVRO or written.format is not SchemaFormat.AVRO:
        return ()
    found = _differences(read.tree, written.tree, "", 0, set())
    return tuple(islice(found, MOST_SAID))


def _differences(
    read: Any, written: Any, path: str, depth: int, seen: set[tuple[int, int]]
) -> Iterator[str]:
    key = (id(read), id(written))
    if depth > _DEEPEST or key in seen:
        return
    seen.add(key)
    kinds = _kind(written), _kind(read)
    if kinds[0] != kinds[1] and kinds not in _ALIKE:
        yield _said(path, read, written)
        return
    match read.type:
        case "record" | "error":
            yield from _of_record(read, written, path, depth, seen)
        case "array":
            yield from _differences(read.items, written.items, f"{path}[]", depth + 1, seen)
        case "map":
            yield from _differences(read.values, written.values, f"{path}{{}}", depth + 1, seen)
        case "enum" if list(written.symbols) != list(read.symbols)[: len(written.symbols)]:
            yield (
                f"{_named(path)} has different enum symbols in the reader schema and the writer "
                "schema."
            )
        case "fixed" if read.size != written.size:
            yield _said(path, read, written)
        case "union" | "error_union":
            yield from _of_union(read, written, path, depth, seen)


def _kind(tree: Any) -> str:
    return "record" if tree.type in _NAMED else str(tree.type)


def _said(path: str, read: Any, written: Any) -> str:
    return f"{_named(path)} is written as {type_name(written)} and read as {type_name(read)}."


def _named(path: str) -> str:
    return f"The field {path}" if path else "The value"


def _of_record(
    read: Any, written: Any, path: str, depth: int, seen: set[tuple[int, int]]
) -> Iterator[str]:
    names = [f.name for f in written.fields]
    for mine, theirs in zip(read.fields, written.fields, strict=False):
        here = f"{path}.{theirs.name}" if path else theirs.name
        if mine.name != theirs.name and mine.name in names:
            yield f"The field {here} of the records is read as the field {mine.name}."
        yield from _differences(mine.type, theirs.type, here, depth + 1, seen)
    more, fewer = read.fields[len(names) :], written.fields[len(read.fields) :]
    for field in more:
        yield (
            f"The reader schema has the field {f'{path}.' if path else ''}{field.name}, but the "
            "records lack it."
        )
    # What follows the last field of the record itself is not looked at.
    for field in fewer if path else ():
        yield f"The records have the field {path}.{field.name}, but the reader schema lacks it."


def _of_union(
    read: Any, written: Any, path: str, depth: int, seen: set[tuple[int, int]]
) -> Iterator[str]:
    """A branch is found by its number: more branches at the end harm nothing that is written."""
    if len(read.schemas) < len(written.schemas):
        yield _said(path, read, written)
        return
    for mine, theirs in zip(read.schemas, written.schemas, strict=False):
        yield from _differences(mine, theirs, path, depth + 1, seen)
