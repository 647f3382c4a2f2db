"""DeleteRetryTopic: what blocks it, and which dead letters it can't mark as not redriven."""

import pytest

from headgate.errors import RefusedError
from headgate.model.cluster import Partition, Topic
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.records.delete_retry_topic import DeleteRetryTopic
from support.flat_ports import FlatPorts

STEP = DeleteRetryTopic(
    topic="retry", dead_letters="dead", ledger_topic="ledger", transactional_id="id"
)


class Ports(FlatPorts):
    """A retry topic of two partitions, which begin at the given offsets; None: it is gone."""

    def __init__(self, *begins, sources=("dead",)):
        self.begins, self.sources = begins, frozenset(sources)
        self.forgot, self.notes = [], []

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=b, end=9) for n, b in enumerate(self.begins))
        return {"retry": Topic(name="retry", id="r", partitions=parts)} if self.begins else {}

    def shapes(self, names):
        shape = TopicShape(name="retry", id="r", partitions=2, replication=1)
        return {"retry": shape} if self.begins else {}

    def topic_consumers(self, names):
        return {"retry": {}}

    def redriven_topics(self, topic):
        return self.sources if self.begins else frozenset()

    def forget(self, dead_letters, ledger, topic):
        self.forgot.append((dead_letters, ledger.topic, topic))

    def delete_topic(self, shape):
        assert shape.id == "r"
        self.begins = ()

    def note(self, message):
        self.notes.append(message)

    def carry_out(self):
        STEP.check(self)
        was = STEP.bind(self)
        STEP.apply(self, was)
        STEP.verify(self, was)


def test_a_whole_topic_is_forgotten_and_deleted():
    ports = Ports(0, 0)
    assert len(STEP.risks(ports)) == 1 and STEP.blockers(ports) == ()
    ports.carry_out()
    assert ports.forgot == [("dead", "ledger", "retry")]
    assert ports.begins == () and ports.notes == []


def test_what_the_topic_lost_is_a_risk_and_a_note():
    ports = Ports(0, 4)
    said = STEP.risks(ports)[1]
    assert said.startswith("the records at 4 offsets of topic retry expired or were deleted before")
    assert "still count as redriven: pass --again" in said
    ports.carry_out()
    assert ports.notes == [said] and ports.begins == ()


def test_a_topic_that_is_gone_leaves_its_dead_letters_marked_and_says_so():
    ports = Ports()
    said = STEP.risks(ports)[1]
    assert said.startswith("topic retry no longer exists") and "pass --again" in said
    ports.carry_out()
    assert ports.notes == [said]


def test_records_of_another_dead_letter_topic_block_it():
    ports = Ports(0, 0, sources=("dead", "dead-eu"))
    (said,) = STEP.blockers(ports)
    assert said.startswith("topic retry also has redriven records of dead-eu")
    with pytest.raises(RefusedError, match="dead-eu"):
        STEP.check(ports)
    assert ports.begins == (0, 0)
