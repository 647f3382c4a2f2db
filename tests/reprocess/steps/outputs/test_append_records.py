"""What a run that appends to a topic does after a kill, and what its undo says."""

import pytest

from headgate.errors import StepError, next_step_of
from headgate.model.cluster import Group, GroupOffset, Partition, Topic
from headgate.reprocess.steps.outputs.append_records import AppendRecords
from support.flat_ports import FlatPorts

STEP = AppendRecords(topic="totals", topics={"totals": {"id": "1", "partitions": 2}})


class World(FlatPorts):
    """A staged topic with 3 and 2 records, and the group that has read it."""

    def __init__(self):
        self.run, self.files, self.at, self.published = "r-1", {}, {}, []

    def snapshot_folder(self):
        return "/runs/r-1"

    def read_record(self, path):
        return self.files.get(path)

    def write_record(self, path, text):
        self.files[path] = text

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=3), Partition(number=1, begin=0, end=2))
        assert list(names) == ["headgate-staged-r-1"]
        return {n: Topic(name=n, id="2", partitions=parts) for n in names}

    def group(self, name):
        assert name == "headgate-append-r-1"
        offsets = (
            GroupOffset(topic="headgate-staged-r-1", partition=p, offset=o)
            for p, o in self.at.items()
        )
        return Group(id=name, offsets=tuple(offsets))

    def alter_offsets(self, _group, offsets):
        self.at = {o.partition: o.offset for o in offsets}

    def publish(self, staged, to, group):
        self.published.append((staged, to, group))
        self.at = {0: 3, 1: 2}

    def note(self, text):
        self.said = text


def test_a_run_writes_from_the_offsets_of_its_group():
    world = World()
    was = STEP.bind(world)
    assert not STEP.is_applied(world, was)
    STEP.apply(world, was)
    STEP.verify(world, was)
    assert world.published == [("headgate-staged-r-1", "totals", "headgate-append-r-1")]
    assert world.said == "5 results appended to topic totals"
    (said,) = STEP.remains(world, was)
    assert said.startswith("can't be undone: 5 results of the run are in topic totals")


def test_an_undo_is_free_until_a_record_is_written():
    world = World()
    was = STEP.bind(world)
    # Kafka says nothing of the group: nobody knows.
    (said,) = STEP.remains(world, was)
    assert said.endswith("look for records with the header headgate.run=r-1")
    world.at = {0: 0, 1: 0}
    assert STEP.remains(world, was) == ()
    world.at = {0: 1, 1: 0}
    assert "1 result of the run is in topic totals" in STEP.remains(world, was)[0]
    with pytest.raises(StepError, match="not all results are in topic totals"):
        STEP.verify(world, was)


def test_a_run_whose_progress_expired_writes_nothing_twice():
    world = World()
    was = STEP.bind(world)
    STEP.apply(world, was)
    world.at = {}
    with pytest.raises(
        StepError, match="no longer has the offsets of group headgate-append-r-1"
    ) as e:
        STEP.apply(world, was)
    assert next_step_of(e.value) is None, "nothing that a second try needs comes back"
    assert len(world.published) == 1
