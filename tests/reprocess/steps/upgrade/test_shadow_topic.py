"""The shadow topic is known by its id: another topic of its name is nobody's to delete."""

from dataclasses import replace

import pytest

from headgate.errors import StepError
from headgate.model.cluster import Partition, Topic
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.steps.base.own_topic import CREATING
from headgate.reprocess.steps.upgrade.shadow_topic import CreateShadowTopic, DeleteShadowTopic
from support.flat_ports import FlatPorts

SHAPE = {"partitions": 2, "replication": 1, "configs": {}}
STEP = CreateShadowTopic(topic="known-shadow", like="known", shape=SHAPE)


class World(FlatPorts):
    """A cluster that gives each new topic an id, and the folder of a run."""

    def __init__(self):
        self.there, self.files, self.notes, self.made = {}, {}, [], 0
        self.end = 0

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=self.end),)
        return {n: Topic(name=n, partitions=parts) for n in names if n in self.there}

    def shapes(self, names):
        return {n: self.there[n] for n in names if n in self.there}

    def create_topic(self, shape):
        self.made += 1
        self.there[shape.name] = replace(shape, id=f"id-{self.made}")

    def delete_topic(self, shape):
        assert self.there.pop(shape.name) == shape

    def snapshot_folder(self):
        return "/runs/r"

    def read_record(self, path):
        return self.files.get(path)

    def write_record(self, path, text):
        self.files[path] = text

    def note(self, message):
        self.notes.append(message)


@pytest.fixture
def created():
    world = World()
    was = STEP.bind(world)
    STEP.apply(world, was)
    STEP.verify(world, was)
    return world, was


def test_the_topic_that_a_run_created_is_deleted(created):
    world, was = created
    STEP.apply(world, was)
    assert world.made == 1, "a resume keeps it"
    for step in (DeleteShadowTopic(topic="known-shadow"), *STEP.undo(was)):
        kept = dict(world.there)
        step.apply(world, {})
        step.verify(world, {})
        assert not world.there and not world.notes
        world.there = kept


def test_another_topic_of_that_name_stays(created):
    world, was = created
    del world.there["known-shadow"]
    world.create_topic(TopicShape(name="known-shadow", id="", **SHAPE))
    (back,) = STEP.undo(was)
    assert not back.is_applied(world, {})
    back.apply(world, {})
    back.verify(world, {})
    assert world.there["known-shadow"].id == "id-2"
    assert "Headgate keeps topic known-shadow" in world.notes[0]


def test_a_topic_that_appeared_before_a_resume_is_not_filled():
    world = World()
    was = STEP.bind(world)
    world.create_topic(TopicShape(name="known-shadow", id="", **SHAPE))
    with pytest.raises(StepError, match="verify that this run created the topic"):
        STEP.apply(world, was)
    (back,) = STEP.undo(was)
    back.apply(world, {})
    assert world.there


@pytest.mark.parametrize("end", [0, 1])
def test_a_worker_that_dies_before_the_id_is_kept_leaves_an_empty_topic_of_the_run(end):
    world = World()
    was, keep = STEP.bind(world), world.write_record

    def die(path, text):
        if text != CREATING:
            raise KeyboardInterrupt
        keep(path, text)

    world.write_record = die
    with pytest.raises(KeyboardInterrupt):
        STEP.apply(world, was)
    world.write_record, world.end = keep, end
    if end:
        # Somebody has written to it: it may be another one of the name.
        with pytest.raises(StepError, match="verify that this run created the topic"):
            STEP.apply(world, was)
        return
    STEP.apply(world, was)
    STEP.verify(world, was)
    assert world.made == 1 and world.files[was["record"]] == "id-1"


def test_a_topic_with_other_partitions_is_not_resumed_as_it_is(created):
    world, was = created
    world.there["known-shadow"] = replace(world.there["known-shadow"], partitions=3)
    with pytest.raises(StepError, match=r"has 3 partitions \(planned: 2\). Delete the topic"):
        STEP.verify(world, was)
    del world.there["known-shadow"]
    with pytest.raises(StepError, match=r"known-shadow no longer exists\. Resume the run"):
        STEP.verify(world, was)


def test_an_undo_says_that_all_records_go():
    assert "with all its records" in DeleteShadowTopic(topic="t").risks(World())[0]
