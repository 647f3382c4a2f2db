"""What a query would read again from Kafka: still there, how much of it, what may be lost."""

from dataclasses import dataclass, field, replace

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.model.restore_points import LoggedBatch
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenarios.rewind.inputs import read_inputs
from headgate.reprocess.scenarios.shared.recreated_topics import KnownTopics
from support.flat_ports import FlatPorts


@dataclass
class PaperInspector(FlatPorts):
    """The port with answers written down; nothing here stands for Kafka's behaviour."""

    known: dict = field(default_factory=dict)
    cluster: bool = True

    def has_cluster(self):
        return self.cluster

    def cluster_id(self):
        return "c-1"

    def topics(self, names):
        return {n: self.known[n] for n in names if n in self.known}


def topic(begin=0, end=100, **more):
    parts = tuple(Partition(number=n, begin=begin, end=end) for n in (0, 1))
    return Topic(name="orders", id="id", partitions=parts, **more)


BATCH = LoggedBatch(number=3, offsets={"orders": {0: 20, 1: 30}}, watermark_ms=5000)
LAST = LoggedBatch(number=7, offsets={"orders": {0: 50, 1: 70}}, watermark_ms=9000)
NOW = Checkpoint(
    location="/ck", query_id="q", last_offset_batch=7, offsets={"orders": {0: 50, 1: 70}}
)


def inputs(inspector, batch=BATCH, files=0, known=None):
    return read_inputs(inspector, NOW, batch, (batch, LAST), files, known or KnownTopics())


def test_what_lies_between_is_counted():
    found = inputs(PaperInspector({"orders": topic()}))
    assert found.again == {"orders": 70} and found.blockers == ()
    assert found.unread == {("orders", 0): 80, ("orders", 1): 70}
    assert found.facts == {
        "cluster_id": "c-1",
        "topics": {"orders": {"id": "id", "partitions": 2}},
    }
    assert any("the watermark is rewound, too" in risk for risk in found.risks)


def test_records_of_files_and_other_sources_are_not_counted():
    known = {"orders": topic()}
    assert inputs(PaperInspector(known)).uncounted == []
    batch = replace(BATCH, other_sources=1)
    assert inputs(PaperInspector(known), batch, files=4).uncounted == [
        "up to 4 files",
        "1 source other than Kafka and files",
    ]


def test_a_partition_that_came_later_is_new_to_the_batch():
    batch = LoggedBatch(number=3, offsets={"orders": {0: 20}})
    (reason, *_) = inputs(PaperInspector({"orders": topic(begin=60)}), batch).blockers
    assert reason.startswith("up to 40 records of ")
    assert inputs(PaperInspector({"orders": topic()}), batch).again == {"orders": 30}


REFUSED = [
    ({}, "topic orders does not exist"),
    ({"orders": topic(begin=25)}, "5 records of orders[0] after batch 3 are past retention"),
    (
        {"orders": topic(end=25)},
        "batch 3 ended at offset 30 of orders[1], but the latest offset is 25",
    ),
    (
        {"orders": topic(begin=None)},
        "Headgate could not read the earliest and latest offset of orders[0]",
    ),
]


@pytest.mark.parametrize(("known", "reason"), REFUSED, ids=[r for _, r in REFUSED])
def test_refused_with_the_reason(known, reason):
    assert any(reason in blocker for blocker in inputs(PaperInspector(known)).blockers)


RISKS = [
    (PaperInspector({"orders": topic(cleanup_policy="compact")}), BATCH, "orders is compacted"),
    (PaperInspector({"orders": topic(retention_ms=3_600_000)}), BATCH, "keeps records for 1 h"),
    (PaperInspector(cluster=False), BATCH, "can't check whether the records still exist in orders"),
    (
        PaperInspector(),
        LoggedBatch(number=3, other_sources=1),
        "also reads from 1 source other than Kafka",
    ),
]


@pytest.mark.parametrize(("inspector", "batch", "risk"), RISKS, ids=[r for *_, r in RISKS])
def test_named_risks(inspector, batch, risk):
    assert any(risk in named for named in inputs(inspector, batch).risks)


def test_a_batch_of_an_older_topic_blocks_the_rewind():
    known = KnownTopics(ids={"orders": "old"}, at_ms=3000)
    planned = replace(BATCH, planned_ms=2000)
    inspector = PaperInspector({"orders": topic()})
    inspector.first_at = lambda parts, at: dict.fromkeys(parts)
    (reason,) = inputs(inspector, planned, known=known).blockers
    assert reason.startswith(
        "topic orders was deleted and recreated, and the offsets of batch 3 are of the old topic: "
        "orders had the id old, and now has id."
    )
    inspector.first_at = lambda parts, at: dict.fromkeys(parts, 19)
    found = inputs(inspector, planned)
    assert found.blockers == ()
    assert found.risks[0].startswith("topic orders was probably recreated: the record at offset 19")
