"""Read the state store's schema files, versions 1 to 3.

All begin with Java's `writeUTF` of `v1`, `v2` or `v3`. In a v1 file key and value schema follow,
each a `writeUTF`. Later versions cut a long schema into chunks: a count, then so many `writeUTF`.
A v3 file holds several column families: a count, then for each a name, two 2-byte schema ids and
chunked key schema, value schema, key encoder and user metadata.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
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
            raise ValueError("the file is incomplete")
        self.at += count
        return self.data[self.at - count : self.at]

    def short(self) -> int:
        return int(struct.unpack(">H", self.take(2))[0])

    def count(self) -> int:
        found = int(struct.unpack(">i", self.take(4))[0])
        if not 0 <= found <= _MOST:
            raise ValueError(f"expected a number of entries from 0 to {_MOST:,}, found {found:,}")
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
    raise ValueError(f"unknown schema version {version[:10]!r}")


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


_FILE = re.compile(r"_stateSchema/(?P<store>[^/]+)/(?P<batch>[0-9]{1,18})_[^/.]+")
_PATHS = "stateSchemaFilePaths"


def listed_files(names: Sequence[str], infos: Any) -> dict[str, list[str]]:
    """Return the schema files of each store, the newest last; names are relative to `state/N`.

    All that are there, by their batches, where the metadata lists none of them.
    """
    found = sorted((int(m["batch"]), m["store"], n) for n in names if (m := _FILE.fullmatch(n)))
    order = {name: index for index, name in enumerate(_listed(infos))}
    out: dict[str, list[str]] = {}
    for _, store, name in found:
        out.setdefault(store, []).append(name)
    for store, files in out.items():
        known = [f for f in files if _end(f) in order]
        out[store] = sorted(known, key=lambda f: order[_end(f)]) if known else files
    return out


def _listed(infos: Any) -> list[str]:
    """Return the ends of the listed paths, `STORE/FILE`."""
    entries = [i for i in infos if isinstance(i, dict)] if isinstance(infos, list) else []
    paths = [p for i in entries for p in i.get(_PATHS) or () if isinstance(p, str)]
    return [_end(path) for path in paths]


def _end(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])


def history(files: Sequence[tuple[Family, ...]]) -> dict[str, Any]:
    """Return `schema_files` (their number) and, where there are any, `past` schemas and `evolved`.

    `past` is {variable: [{"key": fields, "value": fields}, ...]} of those schemas that the newest
    file has not, each where it was valid last, oldest first, as Spark's JSON; `evolved` is
    {variable: how often its value evolved}. Nothing for a store without such files.
    """
    if not files:
        return {}
    newest = {f.name: (f.key, f.value) for f in files[-1]}
    past: dict[str, list[dict[str, Any]]] = {}
    for family in (f for file in files[:-1] for f in file):
        if newest.get(family.name) != (family.key, family.value):
            schemas = {"key": _fields(family.key), "value": _fields(family.value)}
            older = [t for t in past.get(family.name, ()) if t != schemas]
            past[family.name] = [*older, schemas]
    evolved = _evolved(files)
    return (
        {"schema_files": len(files)}
        | ({"past": past} if past else {})
        | ({"evolved": evolved} if evolved else {})
    )


def _evolved(files: Sequence[tuple[Family, ...]]) -> Mapping[str, int]:
    out: dict[str, int] = {}
    for family in (f for file in files for f in file):
        if family.evolved:
            out[family.name] = max(out.get(family.name, 0), family.evolved)
    return out


def _fields(schema: Schema | None) -> list[dict[str, Any]]:
    fields = schema.fields if schema else ()
    return [{"name": f.name, "type": f.type, "nullable": f.nullable} for f in fields]
