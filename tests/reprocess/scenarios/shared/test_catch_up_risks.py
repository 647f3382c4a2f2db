"""What a plan says of a query that starts again and has many records to read."""

import pytest

from headgate.model.version import (
    Engine,
    OperatorKind,
    Source,
    StatefulOperator,
    Version,
    Watermark,
)
from headgate.reprocess.scenarios.shared.common import catch_up_risks

UNREAD = {("orders", 0): 60, ("orders", 1): 40}
WATERMARK = (Watermark(column="s0.time", delay="10 minutes"),)
COUNTS = (StatefulOperator(kind=OperatorKind.AGGREGATE),)


def version(*limits, **more):
    """Return a version whose sources have these values of `maxOffsetsPerTrigger`."""
    options = [{} if limit is None else {"maxOffsetsPerTrigger": limit} for limit in limits]
    sources = tuple(
        Source(position=n, format="kafka", topics=("orders",), options=given)
        for n, given in enumerate(options)
    )
    return Version(engine=Engine.SPARK, sources=sources, **more)


def said(*args):
    return [r.partition(" ")[0] for r in catch_up_risks(*args)]


@pytest.mark.parametrize("unlimited", [None, version(None), version("10", None)])
def test_a_first_batch_without_a_limit_is_named_with_its_size(unlimited):
    (risk,) = catch_up_risks(unlimited, UNREAD)
    assert "no known `maxOffsetsPerTrigger`" in risk
    assert risk.endswith(
        "contains all records to process (now 100), and can exceed memory. Set this option in "
        "the query"
    )
    assert not said(unlimited, {}) and not said(unlimited, {("orders", 0): 0})


def test_a_watermark_that_runs_ahead_is_named_only_if_it_drops_records():
    counts = {"watermarks": WATERMARK, "stateful": COUNTS}
    (risk,) = catch_up_risks(version("30", **counts), UNREAD)
    assert risk.startswith("the query catches up in batches of `maxOffsetsPerTrigger` records")
    assert "the watermark runs ahead, and Spark drops more records as late" in risk
    for can_not in (
        (version("30", watermarks=WATERMARK), UNREAD),
        (version("30", stateful=COUNTS), UNREAD),
        # One batch has all of them, and one partition can't be ahead of itself.
        (version("100", **counts), UNREAD),
        (version("30", **counts), {("orders", 0): 100, ("orders", 1): 0}),
    ):
        assert said(*can_not) == []
    assert said(version(None, **counts), UNREAD) == ["at"]
    assert said(version("30", None, **counts), UNREAD) == ["at", "the"]
