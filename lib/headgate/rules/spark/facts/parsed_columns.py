"""How two versions take one packed column apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headgate.model.output_columns import Parsed
from headgate.model.state_schema import Schema, type_text
from headgate.model.version import Version

_DEEPEST = 60
# Keys of an Avro schema that no byte depends on.
_WORDS = frozenset(("doc", "default", "aliases", "order", "namespace"))


def changed_reading(before: Version, after: Version) -> Iterator[tuple[Parsed, Parsed]]:
    """Yield the calls that parse the same column by the same function and whose schema changed."""
    old = _by_column(before)
    for key, now in _by_column(after).items():
        was = old.get(key)
        if was is not None and _differ(was, now):
            yield was, now


def _by_column(version: Version) -> dict[tuple[str, tuple[str, ...]], Parsed]:
    """Return the parsing calls by function and columns; columns parsed in two ways are left out."""
    found: dict[tuple[str, tuple[str, ...]], list[Parsed]] = {}
    for parsed in version.parsed:
        if parsed.columns:
            found.setdefault((parsed.function, parsed.columns), []).append(parsed)
    return {key: many[0] for key, many in found.items() if len(many) == 1}


def _differ(was: Parsed, now: Parsed) -> bool:
    if now.function != "from_json":
        compared = [(p.declared, p.evolved, p.message, mode_of(p)) for p in (was, now)]
        return compared[0] != compared[1]
    if was.schema is None or now.schema is None:
        return False
    old, new = (_types(p.schema) for p in (was, now) if p.schema)
    if was.is_pruned or now.is_pruned:
        # What the optimiser left out of one form may be in the other.
        return any(old[name] != new[name] for name in old.keys() & new.keys())
    return any(name not in old or old[name] != kind for name, kind in new.items())


def told_apart(parsed: Parsed) -> tuple[Any, ...]:
    """Return what says which bytes become which field, free of words."""
    return (
        layout_of(parsed.declared or ""),
        layout_of(parsed.evolved or ""),
        parsed.message,
    )


def mode_of(parsed: Parsed) -> str:
    """Return what becomes of a record that can't be read; Avro and Protobuf fail by default."""
    return (parsed.mode or "FAILFAST").upper()


def _types(schema: Schema) -> dict[str, str]:
    return {f.name: type_text(f.type) for f in schema.fields}


def layout_of(text: str) -> Any:
    """Return an Avro schema without what no byte depends on; the text if it isn't JSON."""
    try:
        return _bare(json.loads(text), 0)
    except (ValueError, RecursionError):
        return text


def shown_schema(text: str | None) -> str | list[str] | None:
    """Return an Avro record as a line for each of its fields, anything else as it is."""
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return text
    fields = found.get("fields") if isinstance(found, dict) else None
    if not isinstance(fields, list) or not all(isinstance(f, dict) for f in fields):
        return text
    return [f"{f.get('name')}: {_kind(f.get('type'))}" for f in fields]


def _kind(found: Any) -> str:
    if isinstance(found, list):
        return " | ".join(map(_kind, found))
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _bare(found: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(found, list):
        return [_bare(f, depth + 1) for f in found]
    if isinstance(found, dict):
        return {k: _bare(v, depth + 1) for k, v in found.items() if k not in _WORDS}
    return found
