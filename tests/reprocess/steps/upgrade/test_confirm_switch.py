"""A person decides on the switch of an online upgrade, while both versions run."""

from itertools import count

import pytest
from test_online_steps import COPY, WHAT, Running, batches

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult
from headgate.reprocess.steps.upgrade.confirm_switch import ConfirmSwitch
from headgate.reprocess.steps.upgrade.run_beside import RunBeside
from support.crashing import Crash, Points

STEP = ConfirmSwitch(pipeline="p", new="p2", topic="out-shadow")
BESIDE = RunBeside(
    **WHAT, entry_point="m:n", topic="shadow", sink_topic="known", goal="confirm", max_lag=1
)


class Person(Running):
    """As the running query and its copy; somebody confirms after some looks, or never does."""

    def __init__(self, looks=0, state=Status.RUNS):
        super().__init__()
        self.looks, self.life, self.requests = looks, state, []

    def status(self, name):
        assert name == "p2"
        return self.life

    def manual_step(self, word, request, meanwhile):
        self.requests.append((word, request))
        for _ in range(self.looks):
            meanwhile()
        if not self.looks:
            raise RefusedError("nobody confirmed the manual step within a day")


def test_the_question_names_both_versions_and_the_results():
    world = Person(looks=30)
    STEP.apply(world, {})
    ((word, text),) = world.requests
    assert word == "confirm"
    assert "running version of p," in text and "p2" in text and "topic out-shadow" in text
    assert STEP.undo({}) == ()


def test_a_version_that_ends_while_it_is_waited_for_is_not_switched_to():
    with pytest.raises(RefusedError, match="p2 ended before somebody confirmed the switch"):
        STEP.apply(Person(looks=30, state=Status.STOPPED), {})
    # One look may fall into a restart.
    STEP.apply(Person(looks=5, state=Status.STOPPED), {})


def test_a_switch_that_nobody_confirms_leaves_both_versions_as_they_are():
    # A refusal would roll the run back, and the new version would have to start from the beginning.
    with pytest.raises(StepError, match="nobody confirmed"):
        STEP.apply(Person(), {})


def test_a_spark_version_repeats_batches_while_it_is_waited_for():
    world = Person(looks=16)
    logs = iter([batches(10, 20, 30), batches(10, 20, 30, 40)])

    def read(location):
        # Spark removes the first batches of its logs meanwhile.
        if location == "/d/ck":
            world.logs[location] = next(logs, batches(50, 60, first=5))
        return world.logs[location]

    world.batches = read

    def run(job):
        world.programs.jobs.append(job)
        world.logs[COPY] = batches(10, 20, 30, 40, 50, 60)[
            : 4 if len(world.programs.jobs) < 2 else 6
        ]
        return world.programs.result

    world.programs.run = run
    BESIDE.apply(world, {"copy": COPY})
    assert len(world.programs.jobs) == 2
    kept = world.kept("ends-confirm")
    assert (kept["first"], [e["t"]["0"] for e in kept["ends"]]) == (4, [40, 50, 60])
    BESIDE.verify(world, {"copy": COPY})


def test_a_spark_version_that_fails_meanwhile_is_not_switched_to():
    world = Person(looks=1)
    world.programs.result = JobResult(JobOutcome.FAILED, {}, "boom")
    with pytest.raises(RefusedError, match="m:n failed on the checkpoint copy: boom"):
        BESIDE.apply(world, {"copy": COPY})


def test_batches_that_were_seen_before_spark_removed_them_can_be_repeated():
    world = Person(looks=6)
    logs = iter([batches(10, 20, 30), batches(40, 50, first=4)])
    world.batches = lambda location: next(logs) if location == "/d/ck" else world.logs[location]
    BESIDE.apply(world, {"copy": COPY})
    # The log begins with batch 4 by now; batch 3 was read while it was there.
    assert [e["t"]["0"] for e in world.kept("ends-confirm")["ends"]] == [20, 30, 40, 50]


def test_looks_write_nothing_until_the_new_version_is_started():
    world, written = Person(looks=300), []
    world.write_record = lambda path, text: written.append(path)
    world.logs["/d/ck"] = batches(10, 20, 30)
    BESIDE.apply(world, {"copy": COPY})
    assert not written and not world.programs.jobs
    world.logs["/d/ck"] = batches(10, 20, 30, 40)
    BESIDE.apply(world, {"copy": COPY})
    assert set(written) == {"/runs/r/ends-confirm.json"} and world.programs.jobs


class Killed(Person):
    """As a person who confirms late; the worker is killed at any file and any repeated batch."""

    def __init__(self, points):
        super().__init__(looks=60)
        self.ends = [10, 20]
        self.logs["/d/ck"] = self.logs[COPY]
        self.programs.run, self.hit = self.repeat, points.wrap(lambda: None)

    def write_record(self, path, text):
        self.hit()
        super().write_record(path, text)
        self.hit()

    def manual_step(self, word, request, meanwhile):
        def look():
            # Spark writes a batch each second, and keeps twelve.
            self.ends.append(self.ends[-1] + 10)
            self.logs["/d/ck"] = batches(*self.ends)[-12:]
            meanwhile()

        super().manual_step(word, request, look)

    def repeat(self, job):
        """Do as the program: it continues in the copy from the ends that it is given."""
        given, done = self.kept("ends-confirm"), self.logs[COPY]
        assert (given["first"], given["ends"][0]) == (done[-1].number, {"t": {"0": self.at(done)}})
        for end in given["ends"][1:]:
            self.hit()
            self.logs[COPY] += batches(end["t"]["0"], first=self.logs[COPY][-1].number + 1)
            self.hit()
        return self.programs.result

    @staticmethod
    def at(log):
        return log[-1].offsets["t"][0]


def test_a_worker_that_is_killed_at_any_moment_repeats_each_batch_once():
    for at in count():
        world = Killed(Points(at))
        try:
            BESIDE.apply(world, {"copy": COPY})
        except Crash:
            pass
        else:
            break
        BESIDE.apply(world, {"copy": COPY})
        copied = world.logs[COPY]
        assert copied == batches(*world.ends)[: len(copied)] and len(world.ends) - len(copied) <= 5
    assert at > 50
