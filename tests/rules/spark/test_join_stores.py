"""A join's stores under another state format, with the schemas that Spark 4.2.0 planned in each."""

from headgate.model.state_schema import Field, Schema
from headgate.model.version import StateStore
from headgate.rules.spark.facts.state_stores import MATCHED, in_pinned_format

K, V = Field("field0", "string", True), Field("v", "integer", True)
INDEX, TIME = Field("index", "long", True), Field("__event_time", "long", False)
COUNT, NOTHING = Field("value", "long", True), Field("__dummy__", "void", True)


def store(name, key, value, kind):
    return StateStore(store=name, key_schema=Schema(key), value_schema=Schema(value), format=kind)


def by_number(kind, row=(V, MATCHED)):
    return tuple(
        made
        for side in ("left", "right")
        for made in (
            store(f"{side}-keyToNumValues", (K,), (COUNT,), kind),
            store(f"{side}-keyWithIndexToValue", (K, INDEX), row, kind),
        )
    )


def by_time():
    return tuple(
        made
        for side in ("left", "right")
        for made in (
            store(f"{side}-keyWithTsToValues", (K, TIME), (V, MATCHED), "4"),
            store(f"{side}-tsWithKey", (K, TIME), (NOTHING,), "4"),
        )
    )


def test_the_fourth_format_under_an_older_one():
    assert in_pinned_format(by_time(), "2") == by_number("2")
    assert in_pinned_format(by_time(), "1") == by_number("1", (V,))


def test_an_older_format_under_the_fourth():
    assert in_pinned_format(by_number("2"), "4") == by_time()
    assert in_pinned_format(by_number("1", (V,)), "4") == by_time()


def test_formats_of_one_layout_and_unknown_ones_stay():
    assert in_pinned_format(by_number("3"), "2") == by_number("3")
    assert in_pinned_format(by_time(), "4") == by_time()
    assert in_pinned_format(by_time(), None) == by_time()


def test_schemas_that_are_not_known_stay_unknown():
    bare = StateStore(store="left-keyWithTsToValues", format="4")
    counts, rows = in_pinned_format([bare], "2")
    assert counts.key_schema is counts.value_schema is rows.key_schema is rows.value_schema is None
