"""The moment that a rewind offers for a chain: a record time, not when a batch was planned."""

from __future__ import annotations

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Sink, Source, Version
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.chain_offer import with_chain_offer
from headgate.reprocess.steps.checkpoint.rewind import CopyToBatch
from support.flat_ports import FlatPorts

PLANNED, PLANNED_MS = "2026-04-02T12:00:00.000Z", 1_775_131_200_000
FIRST = Pipeline(name="first", engine=Engine.SPARK)
NEXT = Pipeline(name="next", engine=Engine.SPARK)
VERSIONS = {
    name: Version(
        engine=Engine.SPARK,
        sources=(Source(position=0, format="kafka", topics=(reads,)),),
        sink=Sink(format="kafka", target=writes),
    )
    for name, reads, writes in (("first", "a", "b"), ("next", "b", "c"))
}


class Paper(FlatPorts):
    """The kept batch ended at offset 5; `first` is the first offset from its planning on."""

    def __init__(self, first):
        self.first = first

    def has_cluster(self):
        return True

    def pipelines(self):
        return (FIRST, NEXT)

    def topics(self, names):
        part = Partition(number=0, begin=0, end=9)
        return {n: Topic(name=n, id=n, partitions=(part,)) for n in names}

    def first_at(self, parts, at):
        assert at == PLANNED_MS
        return dict.fromkeys(parts, self.first)


def offered(first):
    copy = CopyToBatch(
        pipeline="first", checkpoint="/ck", query_id="q", batch=3, planned_at=PLANNED,
        offsets=({"topic": "a", "partition": 0, "from": 9, "to": 5},),
    )  # fmt: skip
    plan = Plan(scenario="rewind", pipeline="first", steps=(copy,))
    request = PlanRequest(
        scenario="rewind", pipeline=FIRST, inspector=Paper(first), versions=VERSIONS.get
    )
    (risk,) = with_chain_offer(request, plan).risks
    return risk


@pytest.mark.parametrize("first", [4, 5])
def test_what_arrived_in_time_begins_when_the_batch_was_planned(first):
    assert offered(first).endswith(f"run `headgate plan chain first --at={PLANNED}`")


@pytest.mark.parametrize("first", [7, None])
def test_after_a_batch_that_lagged_no_wrong_time_is_offered(first):
    """Records 5 and 6 are older than the planning: a chain to that time would keep them."""
    assert offered(first).endswith(
        "run `headgate plan chain first --at=TIME`. TIME is the timestamp of the first record "
        "after batch 3"
    )
