"""The state that a session planned, read like a checkpoint's."""

import pytest

from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.session.captured_state import captured_operators

STRUCT = {"type": "struct", "fields": [{"name": "k", "type": "string", "nullable": False}]}
STORE = {"store": "default", "key_schema": STRUCT, "value_schema": STRUCT, "partitions": 3}


def test_operators_and_stores():
    found = captured_operators(
        [
            {
                "operator_id": 1,
                "name": "transformWithState",
                "properties": {"timeMode": "None"},
                "stores": [STORE, {**STORE, "column_family": "count"}],
            }
        ]
    )
    (operator,) = found
    assert (operator.operator_id, operator.name) == (1, "transformWithState")
    assert operator.properties == {"timeMode": "None"}
    assert [s.store for s in operator.stores] == ["default", "count"]
    assert operator.stores[0].key_schema == Schema((Field("k", "string", False),))
    assert operator.stores[0].partitions == 3
    assert all(s.proven for s in operator.stores)


def test_none_where_nothing_was_planned():
    assert captured_operators(None) is None
    assert captured_operators([]) == ()


@pytest.mark.parametrize("found", [3, [3], [{}], [{"operator_id": 0, "stores": [{}]}]])
def test_another_shape_is_said(found):
    with pytest.raises(ValueError, match="an unexpected structure"):
        captured_operators(found)


@pytest.mark.parametrize(
    "change",
    [
        {"operator_id": float("inf")},
        {"operator_id": "one"},
        {"properties": 3},
        {"stores": [{**STORE, "partitions": "three"}]},
        {"stores": [{**STORE, "key_schema": {"fields": [3]}}]},
    ],
)
def test_values_of_another_kind_are_said(change):
    with pytest.raises(ValueError, match="an unexpected structure"):
        captured_operators([{"operator_id": 0, "stores": [STORE], **change}])


def test_a_name_is_text():
    (found,) = captured_operators([{"operator_id": 0, "name": 7, "stores": []}])
    assert found.name == "7"
