"""Records that Kafka deletes between plan and run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from paper_offsets import NOON, at, moves, of_orders, plan

from headgate.reprocess.deleted_records import deleted_records
from headgate.reprocess.scenarios.build import drift


@pytest.mark.parametrize(
    ("options", "first", "later", "differences"),
    [
        ({"to_earliest": True}, {}, 20, "orders[0] was to start at offset 0"),
        ({"to_earliest": True}, {}, 0, ""),
        # Retention deletes records all the time.
        ({"to_earliest": True}, {}, 4, ""),
        ({"to_datetime": NOON}, {("orders", 0): 60}, 60, "orders[0] was to start at offset 50"),
        # The record at the time is still there, or another partition is later.
        ({"to_datetime": NOON}, {}, 50, ""),
        ({"shift_by": "-60"}, {}, 11, "orders[0] was to start at offset 10"),
        ({"shift_by": "-60"}, {}, 10, ""),
    ],
)
def test_deleted_records_that_the_plan_starts_with_are_found(options, first, later, differences):
    made = plan(of_orders(0), topic=["orders"], **options)
    inspector = of_orders(later, {("orders", 0): 50, ("orders", 1): 50, **first})
    now = plan(inspector, topic=["orders"], **options)
    assert drift(made, now) == ()
    said = "; ".join(deleted_records(made, now, inspector).differences)
    assert (differences in said) if differences else said == ""
    if differences:
        assert f"but the earliest offset is now {later}" in said and "Kafka deleted up to" in said


def test_a_pipeline_that_reads_on_isnt_a_deletion():
    made = plan(of_orders(0), shift_by="-10", topic=["orders"])
    later = of_orders(65)
    later.groups["g"] = (at("orders", 0, 90), at("orders", 1, 90))
    now = plan(later, shift_by="-10", topic=["orders"])
    assert moves(now)["orders", 0] == (90, 80)
    assert deleted_records(made, now, later).differences == ()


def test_without_retention_no_deletion_is_tolerated():
    forever = {"retention_ms": -1, "retention_bytes": -1}
    made = plan(of_orders(0, **forever), to_earliest=True, topic=["orders"])
    inspector = of_orders(1, **forever)
    now = plan(inspector, to_earliest=True, topic=["orders"])
    assert deleted_records(made, now, inspector).differences


def test_tolerated_deletions_add_up_over_all_checks_since_the_approval():
    made = plan(of_orders(0), to_earliest=True, topic=["orders"])
    inspector = of_orders(6)
    once = plan(inspector, to_earliest=True, topic=["orders"])
    found = deleted_records(made, once, inspector)
    assert found.differences == () and found.counts == {"orders": 6}
    assert found.risks == (
        "since the plan was made, Kafka deleted up to 6 records of orders. The run starts at the "
        "earliest offset",
    )
    kept = replace(once, impact={**once.impact, "deleted_since_approval": found.counts})
    again = of_orders(12)
    now = plan(again, to_earliest=True, topic=["orders"])
    assert deleted_records(once, now, again).differences == ()
    assert deleted_records(kept, now, again).differences


def test_offsets_of_partitions_that_the_topic_lacks_are_told_apart():
    inspector = of_orders(0)
    inspector.groups["g"] = tuple(at("orders", number, 3) for number in range(4))
    found = plan(inspector, to_earliest=True)
    assert set(moves(found)) == {("orders", 0), ("orders", 1)}
    assert [r for r in found.risks if "orders[3]" in r] == [
        "group g has committed offsets of orders[2], orders[3], but orders has only partitions 0 "
        "to 1. The topic was recreated, so other committed offsets may also be of the old topic"
    ]
