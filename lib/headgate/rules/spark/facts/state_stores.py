"""State stores of two operators side by side, and whether their schemas fit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from headgate.model.state_schema import Field, Schema
from headgate.model.version import OperatorKind, StatefulOperator, StateStore
from headgate.rules.core.match_operators import OperatorPair
from headgate.rules.core.rule import Comparison
from headgate.rules.spark.facts.state_schema_check import Fit, fit
from headgate.rules.spark.facts.state_variables import is_internal

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


_FORMATTED = (OperatorKind.AGGREGATE, OperatorKind.STREAM_JOIN)
_ROWS = "keyWithIndexToValue"
_GROUP_STATE, _DEADLINE = "groupState", "timeoutTimestamp"
KEY, VALUE = "key", "value"
SCHEMA_CHECK = "spark.sql.streaming.stateStore.stateSchemaCheck"
FORMAT_CHECK = "spark.sql.streaming.stateStore.formatValidation.enabled"


@dataclass(frozen=True, slots=True)
class StorePair:
    """One store before and after, by name."""

    before: StateStore
    after: StateStore
    pinned_format: str | None = None
    by_name: bool = False

    @property
    def evolves(self) -> bool:
        """Say whether values are read by the names of their fields: in Avro, of user variables."""
        return self.by_name and not is_internal(self.name)

    @property
    def name(self) -> str:
        """The store's name in the checkpoint."""
        return self.before.store

    def stored(self, part: str) -> Schema | None:
        """Return the schema that the checkpoint holds (or that the old plan would write)."""
        return self.before.key_schema if part == KEY else self.before.value_schema

    def planned(self, part: str) -> Schema | None:
        """Return the schema that the new plan needs, in the format that is pinned."""
        if part == VALUE and None not in (self.pinned_format, self.after.format):
            return in_format(self.after, str(self.pinned_format))
        return self.after.key_schema if part == KEY else self.after.value_schema


def store_pairs(pair: OperatorPair) -> tuple[StorePair, ...]:
    """Return the stores that both sides have, in the old side's order."""
    if pair.before is None or pair.after is None:
        return ()
    new = {s.store: s for s in _in_their_format(pair, pair.after)}
    same = pair.before.kind in _FORMATTED
    grows = pair.before.kind is OperatorKind.TRANSFORM_WITH_STATE
    return tuple(
        StorePair(s, new[s.store], s.format if same else None, grows and s.encoding == "avro")
        for s in pair.before.stores
        if s.store in new
    )


def _in_their_format(pair: OperatorPair, after: StatefulOperator) -> tuple[StateStore, ...]:
    """Return the planned stores; those of a join under the names that the pinned format has."""
    if pair.kind is OperatorKind.MAP_GROUPS and pair.before is not None:
        return tuple(_groups_alike(pair.before.stores, store) for store in after.stores)
    if pair.kind is not OperatorKind.STREAM_JOIN or pair.before is None:
        return after.stores
    pinned = next((s.format for s in pair.before.stores if s.format), None)
    return in_pinned_format(after.stores, pinned)


def _groups_alike(stored: tuple[StateStore, ...], planned: StateStore) -> StateStore:
    """Return a planned state of groups in the stored one's format, which the offset log pins.

    Format 2 keeps the state's fields in one struct, format 1 beside each other. How 1 keeps a
    deadline is not measured: such a schema is not known.
    """
    old = next((s.value_schema for s in stored if s.store == planned.store), None)
    new = planned.value_schema
    if old is None or new is None or not old.fields or not new.fields:
        return planned
    nested, wanted = (s.fields[0].name == _GROUP_STATE for s in (new, old))
    if nested == wanted:
        return planned
    if any(f.name == _DEADLINE for s in (old, new) for f in s.fields):
        return replace(planned, value_schema=None)
    return replace(planned, value_schema=_flat(new) if nested else _in_one_struct(new))


def _in_one_struct(flat: Schema) -> Schema:
    fields = [
        {"name": f.name, "type": f.type, "nullable": f.nullable, "metadata": {}}
        for f in flat.fields
    ]
    return Schema((Field(_GROUP_STATE, {"type": "struct", "fields": fields}, True),))


def _flat(nested: Schema) -> Schema | None:
    kind = nested.fields[0].type
    if not isinstance(kind, dict):
        return None
    return Schema(tuple(Field(f["name"], f["type"], f.get("nullable")) for f in kind["fields"]))


def in_format(store: StateStore, pinned: str) -> Schema | None:
    """Return a planned value schema as the pinned state format would have it.

    The plan was made with the session's format, and the offset log's wins. Format 1 of an
    aggregate stores the key in the value, too; format 2 of a join adds whether a row was matched,
    and the third keeps that elsewhere.
    """
    value, key = store.value_schema, store.key_schema
    if value is None or key is None or store.format == pinned:
        return value
    if {store.format, pinned} <= {"2", "3"}:
        return value
    if "1" not in (store.format, pinned) or not {store.format, pinned} <= {"1", "2", "3"}:
        return None
    older = pinned == "1"
    if store.store == "default":
        keys = key.fields
        return Schema((*keys, *value.fields) if older else value.fields[len(keys) :])
    if store.store.endswith(_ROWS):
        return Schema(value.fields[:-1] if older else (*value.fields, MATCHED))
    return value


def worst_fit(pair: OperatorPair) -> Fit:
    """Return how the schemas of all stores fit together; UNKNOWN where there is nothing."""
    parts = [(s, p) for s in store_pairs(pair) for p in (KEY, VALUE)]
    fits = [fit(s.stored(p), s.planned(p)) for s, p in parts if p == KEY or not s.evolves]
    refused = [f for f in fits if f.refused]
    if refused:
        return refused[0]
    return Fit.UNKNOWN if not fits or Fit.UNKNOWN in fits else Fit.FITS


def keys_fit(pair: OperatorPair) -> bool:
    """Say whether Spark accepts all key schemas: the value schemas are compared apart from them."""
    return not any(fit(s.stored(KEY), s.planned(KEY)).refused for s in store_pairs(pair))


def is_read(c: Comparison, pair: OperatorPair) -> bool:
    """Say whether the engine will read the old state into the new operator at all.

    Meaning matters only where it does: after a refusal nothing is read.
    """
    if pair.kind is None:
        return False
    return check_is_off(c) or not worst_fit(pair).refused


def read_pairs(c: Comparison, kinds: Collection[OperatorKind]) -> Iterator[OperatorPair]:
    """Yield the operators of these kinds whose old state the new version will read."""
    yield from (p for p in c.operators if p.kind in kinds and is_read(c, p))


@cache
def _off(value: str | None) -> bool:
    return (value or "").lower() == "false"


def check_is_off(c: Comparison) -> bool:
    """Say whether the new session switches the state schema check off."""
    return _off(c.after.settings.get(SCHEMA_CHECK))


def format_check_is_off(c: Comparison) -> bool:
    """Say whether the new session doesn't check that stored rows have the planned fields."""
    return _off(c.after.settings.get(FORMAT_CHECK))
