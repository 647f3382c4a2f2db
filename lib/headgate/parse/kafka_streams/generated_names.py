"""What the names say that Kafka Streams gives to processors, stores and topics.

A generated name is a word and a counter (`KSTREAM-FILTER-0000000003`); a name that the code gives
is used as it is, or with an ending that names the part (`pair-this-windowed`). The words were
copied from descriptions that Kafka Streams 4.3.1 printed; older ones are in the table as far as
recorded descriptions have them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_PREFIXES = "KSTREAM|KTABLE|COGROUPKSTREAM"
_COUNTED = re.compile(rf"(?P<word>(?:{_PREFIXES})-[A-Z-]+?)-(?P<number>\d{{10}})(?P<rest>.*)", re.S)
_TOPIC_STORE = re.compile(r".+-STATE-STORE-(?P<number>\d{10})$", re.S)

OPERATORS: dict[str, str] = {
    "KSTREAM-SOURCE": "source",
    "KSTREAM-SINK": "sink",
    "KSTREAM-FILTER": "filter",
    "KSTREAM-MAP": "map",
    "KSTREAM-MAPVALUES": "map_values",
    "KSTREAM-FLATMAP": "flat_map",
    "KSTREAM-FLATMAPVALUES": "flat_map_values",
    "KSTREAM-KEY-SELECT": "key_select",
    "KSTREAM-PEEK": "peek",
    "KSTREAM-FOREACH": "foreach",
    "KSTREAM-PRINTER": "print",
    "KSTREAM-PROCESSOR": "process",
    "KSTREAM-PROCESSVALUES": "process_values",
    "KSTREAM-TRANSFORM": "transform",
    "KSTREAM-TRANSFORMVALUES": "transform_values",
    "KSTREAM-FLATTRANSFORM": "flat_transform",
    "KSTREAM-FLATTRANSFORMVALUES": "flat_transform_values",
    "KSTREAM-BRANCH": "branch",
    "KSTREAM-BRANCHCHILD": "branch",
    "KSTREAM-MERGE": "merge",
    "KSTREAM-AGGREGATE": "aggregate",
    "KSTREAM-REDUCE": "reduce",
    "KSTREAM-WINDOWED": "join_window",
    "KSTREAM-JOINTHIS": "stream_join",
    "KSTREAM-JOINOTHER": "stream_join",
    "KSTREAM-OUTERTHIS": "stream_outer_join",
    "KSTREAM-OUTEROTHER": "stream_outer_join",
    "KSTREAM-JOIN": "table_join",
    "KSTREAM-LEFTJOIN": "table_left_join",
    "KSTREAM-TOTABLE": "to_table",
    "KSTREAM-REPARTITION": "repartition",
    "KTABLE-SOURCE": "table_source",
    "KTABLE-SINK": "sink",
    "KTABLE-TOSTREAM": "to_stream",
    "KTABLE-FILTER": "filter",
    "KTABLE-MAPVALUES": "map_values",
    "KTABLE-TRANSFORMVALUES": "transform_values",
    "KTABLE-SELECT": "key_select",
    "KTABLE-AGGREGATE": "aggregate",
    "KTABLE-REDUCE": "reduce",
    "KTABLE-JOINTHIS": "table_table_join",
    "KTABLE-JOINOTHER": "table_table_join",
    "KTABLE-OUTERTHIS": "table_table_join",
    "KTABLE-OUTEROTHER": "table_table_join",
    "KTABLE-MERGE": "table_table_join_merge",
    "KTABLE-SUPPRESS": "suppress",
    "KTABLE-FK-JOIN-OUTPUT": "foreign_key_join",
    "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION": "foreign_key_register",
    "KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR": "foreign_key_subscription",
    "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR": "foreign_key_resolve",
    "COGROUPKSTREAM-AGGREGATE": "cogroup_aggregate",
    "COGROUPKSTREAM-MERGE": "cogroup_merge",
}
"""The operator of each generated name. Any other name has the operator `unknown`."""

PARTS: tuple[tuple[str, str], ...] = (
    ("-repartition-filter", "filter"),
    ("-this-windowed", "join_window"),
    ("-other-windowed", "join_window"),
    ("-outer-this-join", "stream_outer_join"),
    ("-outer-other-join", "stream_outer_join"),
    ("-this-join", "stream_join"),
    ("-other-join", "stream_join"),
    ("-join-this", "table_table_join"),
    ("-join-other", "table_table_join"),
    ("-subscription-registration-processor", "foreign_key_register"),
    ("-subscription-receive", "foreign_key_subscription"),
    ("-subscription-join-foreign", "foreign_key_subscription"),
    ("-foreign-join-subscription", "foreign_key_subscription"),
    ("-subscription-response-resolver", "foreign_key_resolve"),
    ("-cogroup-merge", "cogroup_merge"),
)
"""Suffixes that Kafka Streams adds to a custom name, and the operator that each suffix means."""
_COGROUP_PART = re.compile(r"-cogroup-agg-\d+$")

_MOST_NAMES = 1 << 16
"""Maximum number of cached names. Reading a version needs each name about ten times."""
STORES: tuple[tuple[str, str], ...] = (
    ("KSTREAM-AGGREGATE-STATE-STORE", "aggregate"),
    ("KSTREAM-REDUCE-STATE-STORE", "reduce"),
    ("KTABLE-AGGREGATE-STATE-STORE", "aggregate"),
    ("KTABLE-REDUCE-STATE-STORE", "reduce"),
    ("KTABLE-SUPPRESS-STATE-STORE", "suppress"),
    ("KTABLE-MERGE-STATE-STORE", "table_table_join_merge"),
    ("KSTREAM-TOTABLE-STATE-STORE", "to_table"),
    ("COGROUPKSTREAM-AGGREGATE-STATE-STORE", "cogroup_aggregate"),
)
"""Generated store names that show the operator of a node with a custom name."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated name taken apart: `KSTREAM-FILTER`, 3, and what follows the counter."""

    word: str
    number: int
    rest: str = ""


@lru_cache(_MOST_NAMES)
def generated(name: str) -> Generated | None:
    """Return the parts of a generated name, None where the code gave it."""
    match = _COUNTED.fullmatch(name)
    return Generated(match["word"], int(match["number"]), match["rest"]) if match else None


@lru_cache(_MOST_NAMES)
def number_of(name: str) -> int | None:
    """Return the counter in a generated name of a processor, store or repartition topic."""
    if found := generated(name):
        return found.number
    match = _TOPIC_STORE.match(name.removesuffix("-repartition"))
    return int(match["number"]) if match else None


@lru_cache(_MOST_NAMES)
def operator_of(name: str) -> str | None:
    """Return the operator that a name shows, None if it shows none."""
    if found := generated(name):
        # Children of a split append their position to the counter: KSTREAM-BRANCH-00000000011.
        return OPERATORS.get(found.word)
    if _COGROUP_PART.search(name):
        return "cogroup_aggregate"
    return next((word for ending, word in PARTS if name.endswith(ending)), None)


def operator_of_store(store: str) -> str | None:
    """Return the operator that a generated store's name shows."""
    found = generated(store)
    return dict(STORES).get(found.word) if found else None
