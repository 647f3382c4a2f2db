"""The stores of a stream-stream join in the state format that its checkpoint pins.

A plan is made with the session's format, and the offset log's wins. Formats 1 to 3 count the rows
of a key and number them; the fourth (4.2) keeps rows by their time, and a second store to find
them by it. What is stored of a row is the same in 2, 3 and 4; format 1 lacks whether it matched.
Source: `SymmetricHashJoinStateManager` of Spark 4.2, and schemas that 4.2.0 planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headgate.model.state_schema import Field, Schema
from headgate.model.version import StateStore

MATCHED = Field("matched", "boolean", True)
_INDEX = Field("index", "long", True)
_TIME = Field("__event_time", "long", False)
_COUNT = Schema((Field("value", "long", True),))
_NOTHING = Schema((Field("__dummy__", "void", True),))
_COUNTED, _NUMBERED = "-keyToNumValues", "-keyWithIndexToValue"
_TIMED, _BY_TIME = "-keyWithTsToValues", "-tsWithKey"
_BY_ROW_NUMBER = ("1", "2", "3")


def in_pinned_format(stores: Sequence[StateStore], pinned: str | None) -> tuple[StateStore, ...]:
    """Return planned stores as they are under the pinned format; unchanged where they fit it."""
    timed = [s for s in stores if s.store.endswith(_TIMED)]
    numbered = [s for s in stores if s.store.endswith(_NUMBERED)]
    if pinned in _BY_ROW_NUMBER and timed:
        return tuple(made for s in timed for made in _by_row_number(s, pinned))
    if pinned == "4" and numbered:
        return tuple(made for s in numbered for made in _by_time(s))
    return tuple(stores)


def _by_row_number(store: StateStore, pinned: str) -> tuple[StateStore, ...]:
    side, keys, row = store.store.removesuffix(_TIMED), store.key_schema, store.value_schema
    key = None if keys is None else keys.fields[:-1]
    if row is not None and pinned == "1":
        row = Schema(row.fields[:-1])
    count = _COUNT if key is not None else None
    return (
        replace(
            store, store=side + _COUNTED, key_schema=_of(key), value_schema=count, format=pinned
        ),
        replace(
            store,
            store=side + _NUMBERED,
            key_schema=_of(None if key is None else (*key, _INDEX)),
            value_schema=row,
            format=pinned,
        ),
    )


def _by_time(store: StateStore) -> tuple[StateStore, ...]:
    side, keys, row = store.store.removesuffix(_NUMBERED), store.key_schema, store.value_schema
    key = _of(None if keys is None else (*keys.fields[:-1], _TIME))
    if row is not None and store.format == "1":
        row = Schema((*row.fields, MATCHED))
    empty = _NOTHING if key is not None else None
    return (
        replace(store, store=side + _TIMED, key_schema=key, value_schema=row, format="4"),
        replace(store, store=side + _BY_TIME, key_schema=key, value_schema=empty, format="4"),
    )


def _of(fields: tuple[Field, ...] | None) -> Schema | None:
    return None if fields is None else Schema(fields)
