"""The steps of an online upgrade: a moment between two batches, batch ends, conflicts, fields."""

import json
from dataclasses import replace

import pytest

from headgate.errors import RefusedError, RunCancelledError, StepError, UnreachableError
from headgate.model.cluster import Partition, Topic
from headgate.model.output_comparison import ComparedColumn, OutputComparison
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import LoggedBatch
from headgate.model.version import Engine
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.evidence import Judged, UpgradeVerdict
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult
from headgate.reprocess.steps.upgrade.check_production import CheckProduction
from headgate.reprocess.steps.upgrade.compare_outputs import CompareOutputs
from headgate.reprocess.steps.upgrade.run_beside import RunBeside
from headgate.reprocess.steps.upgrade.stage_checkpoint import (
    StageCheckpoint,
    SwapStagedCheckpoint,
    batch_ends,
    between_batches,
)
from support.flat_ports import FlatPorts

WHAT = {"pipeline": "p", "checkpoint": "/d/ck", "query_id": "q"}
COPY = "/d/.ck.staged-r"
VERDICT = UpgradeVerdict(outcome="resumes", before="b", after="a", evidence="m:n", compared="p@1")


def batches(*ends, first=1, watermark=0):
    """Return batches of the topic t, which end there in its partition 0."""
    return tuple(
        LoggedBatch(number=n, offsets={"t": {0: end}}, watermark_ms=watermark)
        for n, end in enumerate(ends, first)
    )


class World(FlatPorts):
    """A running query and its copy; `heads` are what its logs end at, question by question."""

    run = "r"

    def __init__(self):
        self.logs = {"/d/ck": batches(10, 20, 20, 35), COPY: batches(10, 20)}
        self.heads, self.ends, self.files, self.notes = [], {0: 7, 1: 9}, {}, []
        self.copies, self.judged, self.compared, self.asked = [], VERDICT, None, None

    def read(self, location):
        found = self.logs.get(location)
        if not found:
            return None
        head = self.heads.pop(0) if self.heads and location == "/d/ck" else None
        offset, commit = head or (found[-1].number, found[-1].number)
        return Checkpoint(
            location=location,
            query_id="q",
            last_offset_batch=offset,
            last_commit_batch=commit,
            offsets=found[-1].offsets,
        )

    def batches(self, location):
        return self.logs[location]

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=0, end=end) for n, end in self.ends.items())
        return {name: Topic(name=name, id="1", partitions=parts) for name in names}

    def topic_consumers(self, names):
        return {n: {"mailer": False} for n in names}

    def pipelines(self):
        return (Pipeline(name="p", engine=Engine.SPARK, checkpoint="/d/ck"),)

    def snapshot_folder(self):
        return "/runs/r"

    def write_record(self, path, text):
        self.files[path] = text

    def read_record(self, path):
        return self.files.get(path)

    def copy_newest(self, location, to):
        self.copies.append(to)
        self.logs[to] = self.logs[location]
        return self.logs[location][-1].number

    def verdict(self, *_):
        return self.judged

    def compare(self, a, b, **given):
        self.asked = (a, b, given)
        return self.compared

    def note(self, message):
        self.notes.append(message)

    def pause(self, seconds):
        pass

    def keep(self, name, found):
        self.files[f"/runs/r/{name}.json"] = json.dumps(found)

    def kept(self, name):
        return json.loads(self.files[f"/runs/r/{name}.json"])


class Running(World):
    """As the world; its Spark programs are only written down."""

    spark_jobs = property(lambda self: self.programs)

    def __init__(self):
        super().__init__()
        self.programs = Programs()


class Programs:
    def __init__(self):
        self.jobs = []
        self.result = JobResult(JobOutcome.DONE, {"records": 1, "batches": 1, "seconds": 1.0})

    def run(self, job):
        self.jobs.append(job)
        return self.result


def test_a_moment_between_batches_is_the_same_before_and_after_the_question():
    world = World()
    # A batch is in flight; then one begins while the topic is asked; then nothing moves.
    world.heads = [(5, 4), (5, 5), (6, 5), (6, 6), (6, 6)]
    assert between_batches(world, "/d/ck", "known") == (6, {"0": 7, "1": 9})
    assert world.heads == []


def test_without_such_a_moment_nothing_was_changed_so_the_run_is_refused():
    world = World()
    world.heads = [(5, 4)] * 5000
    with pytest.raises(RefusedError, match="longer trigger interval"):
        between_batches(world, "/d/ck", "known")


def test_the_copy_ends_where_the_topic_was_asked():
    world = World()
    step = StageCheckpoint(**WHAT, topic="known")
    was = step.bind(world)
    world.heads = [(3, 3), (3, 3)]  # The query continues to batch 4 before the copy.
    step.apply(world, was)
    assert world.copies == [COPY, COPY]
    kept = {"batch": 4, "offsets": {"t": {"0": 35}}, "output": {"0": 7, "1": 9}}
    assert world.kept("staged") == kept
    step.verify(world, was)


def test_a_no_data_batch_repeats_an_end():
    assert [e["t"]["0"] for e in batch_ends(batches(10, 20, 20, 35))] == [10, 20, 20, 35]


def beside(goal):
    return RunBeside(
        **WHAT, entry_point="m:n", topic="shadow", sink_topic="known", goal=goal, seconds=2
    )


def test_the_new_version_gets_the_batches_that_it_has_not_done():
    world, step = Running(), beside("switch")
    step.apply(world, {"copy": COPY})
    # The copy ends at batch 2; batch 3 is a no-data batch.
    kept = world.kept("ends-switch")
    assert (kept["first"], [e["t"]["0"] for e in kept["ends"]]) == (2, [20, 20, 35])
    (job,) = world.programs.jobs
    assert job.program == "run_beside" and f"--checkpoint={COPY}" in job.arguments
    with pytest.raises(RefusedError, match="stopped at batch 2"):
        step.verify(world, {"copy": COPY})
    world.logs[COPY] = batches(10, 20, 20, 35)
    step.apply(world, {"copy": COPY})
    assert len(world.programs.jobs) == 1, "it had nothing left to do"
    step.verify(world, {"copy": COPY})
    del world.logs[COPY]
    with pytest.raises(StepError, match=r"copy .* no longer exists"):
        step.verify(world, {"copy": COPY})


def test_it_catches_up_until_few_batches_are_left():
    world, step = Running(), replace(beside("catch_up"), max_lag=1)
    world.logs["/d/ck"] = batches(10, 20, 30, 40, 50)
    # While it does three batches, two come; while it does these, one.
    done = batches(10, 20, 30, 40, 50, 60, 70, 80)
    logs = [(done[:5], done[4:7]), (done[:7], done[5:])]

    def run(job):
        world.programs.jobs.append(job)
        world.logs[COPY], world.logs["/d/ck"] = logs[len(world.programs.jobs) - 1]
        return world.programs.result

    world.programs.run = run
    step.apply(world, {"copy": COPY})
    assert len(world.programs.jobs) == 2
    assert [e["t"]["0"] for e in world.kept("ends-catch_up")["ends"]] == [50, 60, 70]
    step.verify(world, {"copy": COPY})


def test_a_version_that_never_catches_up_is_given_up():
    world = Running()
    with pytest.raises(RefusedError, match="doesn't catch up"):
        beside("catch_up").apply(world, {"copy": COPY})
    assert len(world.programs.jobs) == 5


def test_a_version_that_fails_ends_the_run_before_anything_is_switched():
    world = Running()
    world.programs.result = JobResult(JobOutcome.FAILED, {}, "boom")
    with pytest.raises(RefusedError, match="m:n failed on the checkpoint copy: boom"):
        beside("catch_up").apply(world, {"copy": COPY})
    assert len(world.programs.jobs) == 2, "a broker may have been away for a moment"


def test_a_failure_while_kafka_is_away_can_be_resumed():
    world = Running()
    world.programs.result = JobResult(JobOutcome.FAILED, {}, "timeout")

    def away(names):
        raise UnreachableError("Kafka did not respond")

    world.topics = away
    with pytest.raises(UnreachableError):
        beside("catch_up").apply(world, {"copy": COPY})


def test_results_of_the_running_version_are_waited_for():
    world, step = Running(), beside("compare")
    world.keep("staged", {"batch": 2, "offsets": {}, "output": {"0": 7, "1": 9}})
    ends, real = iter([{0: 7, 1: 9}, {0: 7, 1: 9}, {0: 8, 1: 9}]), world.topics

    def topics(names):
        world.ends = next(ends)
        return real(names)

    world.topics = topics
    step.apply(world, {"copy": COPY})
    assert world.kept("beside-compare")["output"] == {"0": 8, "1": 9}
    assert world.kept("beside-compare")["batch"] == 4


@pytest.mark.parametrize(
    ("copied", "said"),
    [
        # A no-data batch too many, or one too few, leaves other windows in the state.
        (batches(10, 20, 20, 35, 35), "stopped at batch 5"),
        (batches(10, 20, 35), "stopped at batch 3"),
        (batches(10, 20, 20, 36), r"t\[0\] offset 36"),
        (
            batches(10, 20, 20, 35, watermark=7),
            "the watermark of m:n is 1970-01-01T00:00:00.007Z, but the",
        ),
        (
            (*batches(10, 20, 20, watermark=7), *batches(35, first=4)),
            "the watermark of m:n is 1970-01-01T00:00:00.007Z, but the",
        ),
    ],
)
def test_a_copy_that_ends_otherwise_is_not_switched_to(copied, said):
    world, step = Running(), beside("switch")
    step.apply(world, {"copy": COPY})
    world.logs[COPY] = copied
    with pytest.raises(RefusedError, match=said):
        step.verify(world, {"copy": COPY})


def test_a_resume_switches_where_the_running_version_ended_since():
    world, step = Running(), beside("switch")
    step.apply(world, {"copy": COPY})
    world.logs[COPY] = batches(10, 20, 20, 35)
    # The run failed here. The old version was started, did a batch, and was stopped again.
    world.logs["/d/ck"] = batches(10, 20, 20, 35, 50)
    step.apply(world, {"copy": COPY})
    assert [e["t"]["0"] for e in world.kept("ends-switch")["ends"]] == [35, 50]
    with pytest.raises(RefusedError, match="stopped at batch 4"):
        step.verify(world, {"copy": COPY})
    world.logs[COPY] = world.logs["/d/ck"]
    step.verify(world, {"copy": COPY})


class Folders(World):
    """As the world, before the swap: the copy ends where the old version ends."""

    def __init__(self):
        super().__init__()
        self.logs[COPY] = self.logs["/d/ck"]
        self.moves = []

    def exists(self, path):
        return path == COPY

    def move(self, path, to):
        self.moves.append((path, to))

    def move_schemas(self, copy, location):
        pass

    def registered(self, name):
        return Pipeline(name=name, engine=Engine.SPARK, commands=Commands(status="ask"))

    def status(self, name):
        return Status.STOPPED

    def driver_status(self, name):
        return DriverStatus(Status.STOPPED)


def test_the_swap_moves_a_copy_with_the_old_versions_last_batch():
    world = Folders()
    was = {"copy": COPY, "aside": "/d/.ck.before-r", "made": [4, 4]}
    SwapStagedCheckpoint(**WHAT).apply(world, was)
    assert world.moves == [("/d/ck", "/d/.ck.before-r"), (COPY, "/d/ck")]
    # So the new version's next batch is 5, of which a watch can tell that it is new.
    assert world.kept("switched") == {"batch": 4}


@pytest.mark.parametrize(
    "log", [batches(10, 20, 20, 35, 50), batches(10, 20, 20, 36), batches(10, 20, 20, 35, 35)]
)
def test_a_version_that_was_restarted_before_the_swap_is_not_replaced(log):
    world = Folders()
    world.logs["/d/ck"] = log
    was = {"copy": COPY, "aside": "/d/.ck.before-r", "made": [4, 4]}
    with pytest.raises(RefusedError, match="processed batches after batch 4"):
        SwapStagedCheckpoint(**WHAT).apply(world, was)
    assert world.moves == []


def test_batches_that_spark_removes_during_the_wait_are_known():
    world, step = Running(), replace(beside("compare"), seconds=60)
    world.keep("staged", {"batch": 2, "offsets": {}, "output": {}})
    log = batches(*range(10, 2000, 10))
    passed = []

    def pause(seconds):
        passed.append(seconds)
        at = 4 + len(passed)  # A batch each second, of which Spark keeps ten.
        world.logs["/d/ck"] = log[max(at - 10, 0) : at]

    world.pause = pause
    step.apply(world, {"copy": COPY})
    kept = world.kept("ends-compare")
    assert [e["t"]["0"] for e in kept["ends"]] == [b.offsets["t"][0] for b in log[1:64]]


def test_batches_that_are_no_longer_logged_end_the_run():
    world, step = Running(), beside("switch")
    world.logs["/d/ck"] = batches(40, 50, first=4)
    with pytest.raises(RefusedError, match="batch 3 is no longer in the logs of checkpoint /d/ck"):
        step.apply(world, {"copy": COPY})
    world.logs["/d/ck"] = batches(5)
    with pytest.raises(RefusedError, match="reset or rewound"):
        step.apply(world, {"copy": COPY})
    assert not world.programs.jobs


def test_an_interrupted_batch_is_announced_with_its_records():
    world = Running()
    world.logs["/d/ck"] = batches(10, 20)
    uncommitted = Checkpoint(
        location="/d/ck",
        query_id="q",
        last_offset_batch=3,
        last_commit_batch=2,
        offsets={"t": {0: 26}},
    )
    real = world.read
    world.read = lambda at: uncommitted if at == "/d/ck" else real(at)
    beside("switch").apply(world, {"copy": COPY})
    assert any("interrupted batch 3. Results of up to 6 records" in n for n in world.notes)


def check(**more):
    given = {
        "sink_topic": "known",
        "sink": {"id": "1", "partitions": 2},
        "after": "m:n",
        "before": "p@1",
        "fail_on": ("refuses",),
        "running": "b",
        "version": "a",
        "approved": (),
    }
    return CheckProduction(**WHAT, **(given | more))


def staged(batch=2, end=20):
    world = World()
    world.keep("staged", {"batch": batch, "offsets": {"t": {"0": end}}, "output": {}})
    return world


def test_production_that_only_went_on_is_no_conflict():
    check().apply(staged(), {})
    # The batch of the copy is older than what Spark retains.
    world = staged()
    world.logs["/d/ck"] = batches(60, 70, first=120)
    check().apply(world, {})


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        (batches(10, 15), "reset or rewound"),
        (batches(5), "reset or rewound"),
        ((), "no longer has the copied batches"),
    ],
)
def test_production_that_was_reset_is_a_conflict(logs, said):
    world = staged()
    world.logs["/d/ck"] = logs
    with pytest.raises(RefusedError, match=said):
        check().apply(world, {})


def test_production_without_the_record_of_the_copy_is_not_switched():
    world = World()
    with pytest.raises(RefusedError, match="no file with the copied batches"):
        check().apply(world, {})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"running": "x"}, "the running version of p changed"),
        ({"version": "x"}, "m:n has changed since the plan"),
    ],
)
def test_other_versions_are_a_conflict(more, said):
    with pytest.raises(RefusedError, match=said):
        check(**more).apply(staged(), {})


def test_findings_that_nobody_approved_are_a_conflict():
    world = staged()
    finding = Judged(rule="SSS001", outcome="mixed", why="no", closes=False)
    world.judged = UpgradeVerdict(
        outcome="mixed", before="b", after="a", evidence="m:n", compared="p@1", findings=(finding,)
    )
    with pytest.raises(RefusedError, match="SSS001"):
        check().apply(world, {})
    check(approved=("SSS001 mixed",)).apply(world, {})


def comparison(*columns, rows=(3, 3), different=0):
    return OutputComparison(
        a="a",
        b="b",
        equal=not different,
        rows_a=rows[0],
        rows_b=rows[1],
        missing=0,
        extra=0,
        different=different,
        columns=columns,
        samples=(),
        keys=("id",),
    )


def compare(found, *, must_match=True, readers=("mailer",)):
    world = World()
    world.compared = found
    world.topic_consumers = lambda names: {n: dict.fromkeys(readers, True) for n in names}
    world.keep("staged", {"batch": 2, "offsets": {}, "output": {"0": 3, "1": 4}})
    world.keep("beside-compare", {"ends": [], "batch": 4, "output": {"0": 7, "1": 9}})
    step = CompareOutputs(
        pipeline="p", sink_topic="known", topic="shadow", keys=("id",), must_match=must_match
    )
    step.apply(world, {})
    return world


def test_exactly_the_results_since_the_copy_are_compared():
    a, b, given = compare(comparison()).asked
    assert (a, b) == ("kafka:known@0:3,1:4..0:7,1:9", "kafka:shadow")
    assert given["newest"] and given["keys"] == ("id",)


def test_differences_end_the_run_unless_they_are_allowed():
    with pytest.raises(RefusedError, match="results differ"):
        compare(comparison(different=1))
    compare(comparison(different=1), must_match=False)


def test_results_that_cannot_be_compared_end_the_run_before_the_switch(monkeypatch):
    def compare_fails(self, a, b, **given):
        raise StepError("neither output has column ident.")

    monkeypatch.setattr(World, "compare", compare_fails)
    with pytest.raises(RefusedError, match=r"column ident\)\. Correct the cause"):
        compare(comparison())

    def cancelled(self, a, b, **given):
        raise RunCancelledError("cancelled")

    monkeypatch.setattr(World, "compare", cancelled)
    with pytest.raises(RunCancelledError):
        compare(comparison())


def test_no_results_are_no_proof():
    with pytest.raises(RefusedError, match="nothing was compared"):
        compare(comparison(rows=(0, 0)))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (ComparedColumn("city", 3, "string", None), "field city is missing"),
        (ComparedColumn("n", 3, "bigint", "string"), "field n changes from bigint to string"),
    ],
)
def test_consumers_keep_the_fields_that_they_read(column, said):
    with pytest.raises(RefusedError, match=f"{said}. Consumers of known: mailer"):
        compare(comparison(column, different=3), must_match=False)
    world = compare(comparison(column, different=3), must_match=False, readers=())
    assert any(said in note and "no known consumers" in note for note in world.notes)


def test_a_new_field_is_compatible():
    compare(comparison(ComparedColumn("by", 0, None, "string")))
