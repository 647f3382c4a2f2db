"""Read the state store's schema files, versions 1 to 3.

All begin with Java's `writeUTF` of `v1`, `v2` or `v3`. A v1 file goes on with key and value
schema, each a `writeUTF`. Later ones cut a long schema into chunks: a count, then so many
`writeUTF`. A v3 file holds several column families: a count, then for each a name, two 2-byte
schema ids and chunked key schema, value schema, key encoder and user metadata.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.text.json_text import read_json

_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class Family:
    """One column family of a store; files before v3 hold one, `default`.

    `evolved` counts how often its value has got another schema (the value's schema id in v3).
    """

    name: str
    key: Schema | None
    value: Schema | None
    evolved: int = 0


@dataclass(slots=True)
class _Bytes:
    data: bytes
    at: int = 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise ValueError("it was not written to its end")
        self.at += count
        return self.data[self.at - count : self.at]

    def short(self) -> int:
        return int(struct.unpack(">H", self.take(2))[0])

    def count(self) -> int:
        found = int(struct.unpack(">i", self.take(4))[0])
        if not 0 <= found <= _MOST:
            raise ValueError(f"{found} is no count")
        return found

    def text(self) -> str:
        # Java writes both halves of a character alone.
        halves = self.take(self.short()).decode("utf-8", "surrogatepass")
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def chunks(self) -> str:
        return "".join(self.text() for _ in range(self.count()))


def read_families(data: bytes) -> tuple[Family, ...]:
    """Return the column families of a schema file; ValueError where it is none."""
    found = _Bytes(data)
    version = found.text()
    if version == "v1":
        return (Family("default", schema(found.text()), schema(found.text())),)
    if version == "v2":
        return (Family("default", schema(found.chunks()), schema(found.chunks())),)
    if version == "v3":
        return tuple(_family(found) for _ in range(found.count()))
    raise ValueError(f"schema version {version[:10]!r} is not known")


def _family(found: _Bytes) -> Family:
    name = found.text()
    found.short()
    key = schema(found.chunks())
    evolved = found.short()
    value = schema(found.chunks())
    found.chunks()
    found.chunks()
    return Family(name, key, value, evolved)


def schema(text: str) -> Schema:
    """Return the schema in Spark's JSON."""
    found: Any = read_json(text)
    return Schema(tuple(Field(f["name"], f["type"], bool(f["nullable"])) for f in found["fields"]))
