"""A run fills, recreates and deletes only the topic that it has created."""

import pytest

from headgate.errors import RefusedError, StepError
from headgate.gateway.adapters.folders import FolderAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult
from headgate.reprocess.steps.outputs.process_into_topic import ProcessIntoTopic
from support.flat_ports import FlatPorts

COMPACT = {"cleanup.policy": "compact", "retention.ms": "1000"}
FILLING = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
STEP = ProcessIntoTopic(
    pipeline="p", entry_point="m:f", topics={}, offsets={}, topic="april",
    shape={"partitions": 2, "replication": 1, "configs": COMPACT},
)  # fmt: skip


class Killed(BaseException):
    """The worker dies here."""


class World(FlatPorts):
    """Topics by name, with records and settings; `dies` names the call that the worker dies in."""

    folders = None

    def __init__(self, home):
        (home / "runs").mkdir(parents=True)
        self.run, self.dies, self.writes = "run-1", None, 3
        self.folders = FolderAdapter(RunContext(registry=Registry(), home=home, run="run-1"))
        self.made, self.found, self.ends, self.filled_with = 0, {}, {}, None

    def shapes(self, names):
        return {n: self.found[n] for n in names if n in self.found}

    def topics(self, names):
        # What is before the begin was deleted by a retention time: it was written, too.
        parts = {n: (Partition(number=0, begin=0, end=0),
                     Partition(number=1, begin=self.ends[n] // 2, end=self.ends[n]))
                 for n in names if n in self.found}  # fmt: skip
        return {n: Topic(name=n, id=self.found[n].id, partitions=p) for n, p in parts.items()}

    def create_topic(self, shape):
        assert shape.name not in self.found
        self.made += 1
        self.found[shape.name] = TopicShape(
            name=shape.name, id=f"id-{self.made}", partitions=shape.partitions,
            replication=shape.replication, configs=shape.configs,
        )  # fmt: skip
        self.ends[shape.name] = 0
        self._die("create")

    def delete_topic(self, shape):
        assert self.found[shape.name].id == shape.id
        del self.found[shape.name]
        self._die("delete")

    def configure_topic(self, name, configs):
        self._die("configure")
        self.found[name].configs.clear()
        self.found[name].configs.update(configs)

    def spark_run(self, job):
        self.filled_with = dict(self.found["april"].configs)
        self.ends["april"] += self.writes
        self._die("spark")
        facts = {"read": 9, "written": 3, "seconds": 2.0, "startup_seconds": 1.0}
        return JobResult(JobOutcome.DONE, facts)

    def note(self, _text):
        """Notes are not looked at."""

    def _die(self, call):
        if self.dies == call:
            self.dies = None
            raise Killed


class Applier(World):
    """`run` is the run's id for steps, and what starts a program of `spark_jobs`."""

    @property
    def spark_jobs(self):
        world = self

        class Jobs:
            run = staticmethod(world.spark_run)

        return Jobs


@pytest.fixture
def world(tmp_path):
    return Applier(tmp_path / "home")


def undo(world, was):
    (back,) = STEP.undo(was)
    state = back.bind(world)
    back.apply(world, state)
    back.verify(world, state)


def test_a_topic_keeps_all_records_until_they_are_counted(world):
    was = STEP.bind(world)
    STEP.apply(world, was)
    STEP.verify(world, was)
    assert world.filled_with == {**COMPACT, **FILLING}
    assert world.found["april"].configs == COMPACT
    undo(world, was)
    assert world.found == {}


@pytest.mark.parametrize("call", ["create", "spark", "configure"])
def test_a_killed_run_recreates_its_own_topic(world, call):
    was = STEP.bind(world)
    world.dies = call
    with pytest.raises(Killed):
        STEP.apply(world, was)
    world.dies = "delete"
    with pytest.raises(Killed):
        STEP.apply(world, was)
    STEP.apply(world, was)
    STEP.verify(world, was)
    assert world.ends["april"] == 3
    assert world.made == 2
    undo(world, was)
    assert world.found == {}


def test_a_repeated_task_is_counted(world):
    was = STEP.bind(world)
    world.writes = 4
    with pytest.raises(StepError, match="april has 4 records, but the run wrote 3"):
        STEP.apply(world, was)
    world.writes = 3
    STEP.apply(world, was)
    assert world.ends["april"] == 3


@pytest.mark.parametrize("call", ["before", "create", "spark"])
def test_somebody_elses_topic_is_neither_filled_nor_deleted(world, call):
    was = STEP.bind(world)
    if call != "before":
        world.dies = call
        with pytest.raises(Killed):
            STEP.apply(world, was)
        del world.found["april"]
    world.create_topic(TopicShape(name="april", id="", **STEP.shape))
    world.ends["april"] = 7
    theirs = world.found["april"].id
    with pytest.raises(RefusedError, match="april exists, but this run didn't create it"):
        STEP.apply(world, was)
    with pytest.raises(StepError, match="of this run no longer exists"):
        STEP.verify(world, was)
    undo(world, was)
    assert (world.found["april"].id, world.ends["april"]) == (theirs, 7)
