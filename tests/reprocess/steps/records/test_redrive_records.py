"""RedriveRecords: what a plan keeps of it, when it is done, and what an undo says."""

from dataclasses import replace

import pytest

from headgate.errors import StepError
from headgate.model.dead_letters import Decision
from headgate.reprocess.ports.dead_letters import Progress
from headgate.reprocess.ports.record_backup import Span
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.records.redrive_records import RedriveRecords
from support.flat_ports import FlatPorts

STEP = RedriveRecords(
    topic="dead",
    topics={"dead": {"id": "abc", "partitions": 2}, "orders": {"id": "def", "partitions": 1}},
    targets={"orders": 1},
    reasons=("Bad",),
    rate=10,
    count=3,
)


class Ports(FlatPorts):
    """A dead letter topic of two partitions, redriven as far as `at` says."""

    run = "r1"

    def __init__(self, most=None):
        self.at, self.topics, self.notes = {}, {}, []

    def identities(self, names):
        return {n: self.topics[n] for n in names if n in self.topics}

    def create_topic(self, shape):
        self.topics[shape.name] = ("new", shape.partitions)
        self.configs = shape.configs

    def stable_spans(self, topic, partitions):
        assert (topic, partitions) == ("dead", ())
        return (
            Span(topic="dead", partition=0, begin=0, end=4),
            Span(topic="dead", partition=1, begin=2, end=2),
        )

    def progress(self, ledger, run):
        assert (ledger, run) == (STEP.ledger, "r1")
        return self.at

    def redrive(self, selection, spans, ledger, rate):
        assert (selection.reasons, rate, [s.end for s in spans]) == (("Bad",), 10, [4, 2])
        self.at = {
            0: Progress(offset=4, counts={Decision.REDRIVE: 3, Decision.GUARDED: 1}),
            1: Progress(offset=2),
        }

    def note(self, message):
        self.notes.append(message)


def test_a_plan_s_file_keeps_it_and_its_count_is_not_approved():
    assert load_step(STEP.action, STEP.details()) == STEP
    assert replace(STEP, count=9).intent() == STEP.intent() != replace(STEP, rate=9).intent()


def test_it_creates_the_ledger_redrives_and_reports():
    ports = Ports()
    was = STEP.bind(ports)
    assert not STEP.is_applied(ports, was)
    with pytest.raises(StepError, match="Resume the run"):
        STEP.verify(ports, was)
    assert STEP.remains(ports, was) == ()
    STEP.apply(ports, was)
    STEP.verify(ports, was)
    assert STEP.is_applied(ports, was)
    assert ports.configs["cleanup.policy"] == "compact"
    assert ports.notes[0] == "records of dead: 3 redriven, 1 at the maximum number of attempts"
    (said,) = STEP.remains(ports, was)
    assert said.startswith("can't be undone: 3 records of dead are in orders")
    assert not STEP.undoable and STEP.undo(was) == ()


def test_a_limit_ends_it_before_the_end_of_the_topic():
    ports, step = Ports(), replace(STEP, most=3)
    was = step.bind(ports)
    ports.at = {0: Progress(offset=3, counts={Decision.REDRIVE: 2})}
    assert not step.is_applied(ports, was)
    ports.at = {0: Progress(offset=4, counts={Decision.REDRIVE: 3})}
    assert step.is_applied(ports, was)


def test_the_undo_deletes_only_a_topic_that_the_run_created():
    step = replace(STEP, to="orders", new_topic="orders")
    assert step.undoable
    (back,) = step.undo({"spans": [], "run": "r1"})
    said = back.details()
    assert (back.action, said["topic"]) == ("delete_retry_topic", "orders")
    assert said["ledger_topic"] == STEP.ledger.topic


def test_a_recreated_topic_has_another_ledger():
    other = replace(STEP, topics={**STEP.topics, "dead": {"id": "xyz", "partitions": 2}})
    assert other.ledger.topic != STEP.ledger.topic
