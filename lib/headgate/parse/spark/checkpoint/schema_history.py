"""Which schema files of a transformWithState count, and which schemas they held before the newest.

The operator's metadata lists the files in the order in which they became valid. Spark compares a
new version's value schemas with those of all of them, finds a variable that comes back among them,
and counts them (`StateSchemaCompatibilityChecker`, 4.2.0). An attempt that was refused leaves a
file that is not listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from headgate.model.state_schema import Schema
from headgate.parse.spark.checkpoint.state_schema import Family

_FILE = re.compile(r"_stateSchema/(?P<store>[^/]+)/(?P<batch>[0-9]{1,18})_[^/.]+")
_PATHS = "stateSchemaFilePaths"


def listed_files(names: Sequence[str], infos: Any) -> dict[str, list[str]]:
    """Return the schema files of each store, the newest last; names are relative to `state/N`.

    All that are there, by their batches, where the metadata lists none of them.
    """
    found = sorted((int(m["batch"]), m["store"], n) for n in names if (m := _FILE.fullmatch(n)))
    places = {name: place for place, name in enumerate(_listed(infos))}
    out: dict[str, list[str]] = {}
    for _, store, name in found:
        out.setdefault(store, []).append(name)
    for store, files in out.items():
        known = [f for f in files if _end(f) in places]
        out[store] = sorted(known, key=lambda f: places[_end(f)]) if known else files
    return out


def _listed(infos: Any) -> list[str]:
    """Return the ends of the listed paths, `STORE/FILE`."""
    told = [i for i in infos if isinstance(i, dict)] if isinstance(infos, list) else []
    paths = [p for i in told for p in i.get(_PATHS) or () if isinstance(p, str)]
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
            told = {"key": _fields(family.key), "value": _fields(family.value)}
            older = [t for t in past.get(family.name, ()) if t != told]
            past[family.name] = [*older, told]
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
