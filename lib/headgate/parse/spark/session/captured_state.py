"""The state that a session planned for a query before its start, out of `capture.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.model.version import StateStore
from headgate.parse.spark.checkpoint.checkpoint import LoggedOperator
from headgate.text.json_text import optional_text


def captured_operators(found: Any) -> tuple[LoggedOperator, ...] | None:
    """Return the operators under `state`, as a checkpoint would have them; None without it.

    The engine planned them itself, so their schemas are verified. ValueError if the structure is
    another one.
    """
    if found is None:
        return None
    try:
        return tuple(_operator(o) for o in found)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"the captured state has an unexpected structure ({error!r}): capture the query again"
        ) from error


def _operator(found: Mapping[str, Any]) -> LoggedOperator:
    number = int(found["operator_id"])
    return LoggedOperator(
        operator_id=number,
        name=optional_text(found.get("name")),
        stores=tuple(_store(s, number) for s in found["stores"]),
        properties=dict(found.get("properties") or {}),
    )


def _store(found: Mapping[str, Any], number: int) -> StateStore:
    """Return one store; a column family is known by its own name, as in a checkpoint."""
    return StateStore(
        store=str(found.get("column_family") or found["store"]),
        operator_id=number,
        key_schema=_schema(found["key_schema"]["fields"]),
        value_schema=_schema(found["value_schema"]["fields"]),
        partitions=_whole(found.get("partitions")),
        prefix_columns=_whole(found.get("prefix_columns")),
        proven=True,
    )


def _schema(fields: Sequence[Mapping[str, Any]]) -> Schema:
    return Schema(tuple(Field(str(f["name"]), f["type"], bool(f["nullable"])) for f in fields))


def _whole(found: Any) -> int | None:
    if found is not None and not isinstance(found, int):
        raise TypeError(f"{found!r} isn't a number")
    return found
