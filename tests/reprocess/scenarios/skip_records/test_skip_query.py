"""Step over a record that fails a query: what is planned, what is refused, what a crash leaves."""

import itertools
import json

import pytest

from headgate.errors import RefusedError, StalePlanError
from headgate.gateway.adapters.driver_status import judge_life
from headgate.gateway.adapters.kafka import KafkaAdapter
from headgate.gateway.adapters.processes import ProcessAdapter
from headgate.gateway.adapters.record_backup import RecordBackupAdapter
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Commands, Registry
from headgate.parse.spark.checkpoint.offset_log import read_offsets
from headgate.parse.spark.watch.read import Life
from headgate.reprocess.checkpoint.offset_cut import (
    end_in,
    readers_of,
    unreadable_sources,
    with_end,
)
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.checkpoint import finish_batch
from headgate.store.rows import RunState
from headgate.usecases.runs.read_run import run_detail
from headgate.worker.run_journal import RunJournal

pytestmark = pytest.mark.slow

HEAD = 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1}\n'
# As Spark does: a batch that is logged is done over, up to its end in the log; the next one has
# the record, at 12 of partition 0, and can't be done.
START = """
[ -e running ] && echo >> twice
touch running
n=$(ls ck/offsets | sort -n | tail -1)
end=$(tail -1 ck/offsets/$n | sed 's/.*"0":\\([0-9]*\\).*/\\1/')
begin=$(tail -1 ck/offsets/$((n-1)) | sed 's/.*"0":\\([0-9]*\\).*/\\1/')
if [ ! -e ck/commits/$n ]; then
  if [ $begin -le 12 ] && [ $end -gt 12 ]; then rm running; exit 0; fi
  echo "$n $begin $end" >> done; echo v1 > ck/commits/$n; echo '{}' >> ck/commits/$n
fi
if [ $end -le 12 ]; then
  sed 's/"0":[0-9]*/"0":20/' ck/offsets/$n > ck/offsets/$((n+1)); rm running
fi
"""
COMMANDS = Commands(stop="rm -f running", start=START, status="[ -e running ] && exit 0 || exit 3")


def entry(first, second=5, head=HEAD):
    return head + json.dumps({"t": {"0": first, "1": second}}, separators=(",", ":"))


@pytest.fixture
def stuck(lab, monkeypatch):
    """A query that has done batch 4 up to 10, and dies of 12 in batch 5, which ends at 20."""
    monkeypatch.setattr(finish_batch, "STOPPED_SECONDS", 3.0)
    parts = (Partition(number=0, begin=0, end=30), Partition(number=1, begin=0, end=9))
    topic = Topic(name="t", id="T", partitions=parts, retention_ms=-1)

    def stuck(commands=COMMANDS):
        here = lab(commands)
        offsets = here.folder / "ck" / "offsets"
        for batch, end in ((3, 8), (4, 10), (5, 20)):
            (offsets / str(batch)).write_text(entry(end, batch))
        (here.folder / "ck" / "commits" / "3").write_text("v1\n{}")
        (here.folder / "running").unlink()
        (pipeline,) = here.registry.pipelines
        here.registry = Registry(
            path=here.registry.path, bootstrap_servers="nowhere:1", pipelines=(pipeline,)
        )
        return here

    for name, answer in {
        "has_cluster": lambda self: True,
        "cluster_id": lambda self: "C",
        "topics": lambda self, names: {"t": topic} if "t" in names else {},
        "identities": lambda self, names: {"t": ("T", 2)} if "t" in names else {},
        "topics_in_transaction": lambda self, names: (),
        "shapes": lambda self, names: {
            "t": TopicShape(name="t", id="T", partitions=2, replication=1)
        },
        "create_topic": lambda self, shape: None,
        "back_up": lambda self, spans, to: None,
        "verify_backup": lambda self, spans, to: {},
    }.items():
        adapter = RecordBackupAdapter if name in ("back_up", "verify_backup") else KafkaAdapter
        monkeypatch.setattr(adapter, name, answer)
    return stuck


def plan_of(here, records="t:0:12", **options):
    asked = {"records": records, "sink": "kafka"} | options
    return build_plan("skip-records", "q", here.applier(), asked)


def done(here):
    """What was done, by batch, begin and end of partition 0."""
    return (here.folder / "done").read_text().splitlines()


def test_what_is_in_front_is_done_first_and_the_rest_begins_behind(stuck):
    here = stuck()
    before = tree_hash(here.folder / "ck")
    plan = plan_of(here)
    assert plan.can_apply, plan.blockers
    again = load_plan(dump_plan(plan), source="x")
    assert again == plan and again.hash == plan.hash
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert done(here) == ["5 10 12"]
    log = here.folder / "ck" / "offsets"
    assert (log / "5").read_text() == entry(13, 5)
    assert not (log / "6").exists() and (here.folder / "running").exists()
    assert tree_hash(here.folder / f".ck.before-{run}") == before

    undo = here.undo(run, plan)
    assert undo.can_apply, undo.blockers
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert tree_hash(here.folder / "ck") == before
    assert not (here.folder / "running").exists() and not (here.folder / "twice").exists()


@pytest.mark.parametrize(
    ("records", "end"), [("t:0:10-12", 13), ("t:0:9-14", 15), ("t:0:10-25", 26)]
)
def test_what_begins_the_batch_only_moves_its_beginning(stuck, records, end):
    here = stuck()
    plan = plan_of(here, records)
    assert plan.can_apply, plan.blockers
    assert "finish_batch" not in [s.action for s in plan.steps]
    here.execute(here.enqueue(plan), plan)
    log = here.folder / "ck" / "offsets"
    assert (log / "4").read_text() == entry(end, 4)
    assert not (here.folder / "ck" / "commits" / "5").exists()


def without_batch_5(here):
    (here.folder / "ck" / "offsets" / "5").unlink()


def write(batch, text):
    return lambda here: (here.folder / "ck" / "offsets" / str(batch)).write_text(text)


def nothing_done(here):
    for file in (here.folder / "ck" / "commits").iterdir():
        file.unlink()


FILES = HEAD + '{"t":{"0":10,"1":4}}\n{"logOffset":3}'
TWICE = HEAD + '{"t":{"0":10,"1":4}}\n{"t":{"0":10,"1":4}}'
CANT = [
    ("t:0:20", None, "ends at offset 20, before the range to skip"),
    ("t:0:8", None, "the committed offset 10 is already past the range"),
    ("t:0:12", without_batch_5, "so the run would also skip up to 2 records before offset 12"),
    ("t:0:40", None, "it has offsets 0 to 29"),
    ("t:7:1", None, "has no partition 7"),
    ("u:0:1", None, "topic u does not exist"),
    ("t:0:12", nothing_done, "the query has not completed its first batch"),
    ("t:0:12", write(4, FILES), "the query has 1 source other than Kafka, or with an unknown"),
    ("t:0:12", write(4, TWICE), "2 of the query's sources read"),
    (
        "t:0:12",
        write(7, entry(21)),
        "the offset log ends at batch 7, and the commit log at batch 4",
    ),
    ("t:0:12", write(5, "v1\n"), "offsets/5 can't be read"),
    ("t:0:12", write(4, HEAD + '{"t":{"1":4}}'), "has no offset for"),
]  # fmt: skip


@pytest.mark.parametrize(("records", "change", "reason"), CANT)
def test_what_can_t_be_exact_is_refused(stuck, records, change, reason):
    here = stuck()
    if change:
        change(here)
    plan = plan_of(here, records)
    assert not plan.can_apply
    assert reason in "; ".join(plan.blockers)


@pytest.mark.parametrize("absent", ["stop", "start", "status"])
def test_without_commands_nobody_can_do_the_part_in_front(stuck, absent):
    words = {w: getattr(COMMANDS, w) for w in ("stop", "start", "status") if w != absent}
    plan = plan_of(stuck(Commands(**words)))
    assert f"Register the missing commands under [pipeline.commands]: {absent}" in "; ".join(
        plan.blockers
    )


SINKS = [
    ({"sink": None}, "the sink of q is unknown"),
    ({"sink": "file"}, "pass it with --sink-path"),
    ({"sink": "file", "sink-path": "out"}, "has no _spark_metadata"),
]


@pytest.mark.parametrize(("options", "reason"), SINKS)
def test_a_sink_that_is_not_known_is_refused(stuck, options, reason):
    given = {k: v for k, v in ({"sink": "kafka"} | options).items() if v is not None}
    here = stuck()
    plan = build_plan("skip-records", "q", here.applier(), {"records": "t:0:12", **given})
    assert reason in "; ".join(plan.blockers)


def test_a_batch_that_the_file_sink_has_is_not_done_over(stuck):
    here = stuck()
    log = here.folder / "out" / "_spark_metadata"
    log.mkdir(parents=True)
    for batch in range(6):
        (log / str(batch)).write_text("v1")
    plan = plan_of(here, sink="file", **{"sink-path": str(here.folder / "out")})
    assert "already has batch 5" in "; ".join(plan.blockers)


def test_logs_that_moved_since_refuse_the_run(stuck):
    here = stuck()
    plan = plan_of(here)
    write(5, entry(21))(here)
    before = tree_hash(here.folder / "ck")
    with pytest.raises(StalePlanError, match="changed since"):
        here.execute(here.enqueue(plan), plan)
    assert tree_hash(here.folder / "ck") == before


def test_another_record_that_fails_in_front_puts_everything_back(stuck):
    # It names 15, and dies of 12.
    here = stuck()
    before = tree_hash(here.folder / "ck")
    plan = plan_of(here, "t:0:15")
    run = here.enqueue(plan)
    with pytest.raises(RefusedError, match="The query may fail on another record"):
        here.execute(run, plan)
    Executor(here.applier(run), RunJournal(here.store, run, plan, undo_of=None)).roll_back(
        plan.steps
    )
    assert tree_hash(here.folder / "ck") == before


def healthy(end):
    """A query that does not fail on the record: the next batch is done up to `end`."""
    does = f"sed -i 's/:20/:{end}/' ck/offsets/$((n+1)); cp ck/commits/$n ck/commits/$((n+1))\nfi"
    start = START.replace("rm running\nfi", does)
    return Commands(stop="rm -f running", start=start, status=COMMANDS.status)


def test_a_record_that_does_not_fail_is_read_and_nothing_is_skipped(stuck):
    for at in itertools.count(step=5):
        here = stuck(healthy(20))
        before, plan = tree_hash(here.folder / "ck"), plan_of(here)
        assert any("the record is processed normally: nothing is skipped" in r for r in plan.risks)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        log = here.folder / "ck" / "offsets"
        assert [(log / n).read_text() for n in ("5", "6")] == [entry(12, 5), entry(20, 5)]
        assert not list(here.folder.glob(".ck.rewound-*")) and (here.folder / "running").exists()
        here.store.runs.claim("slot-0")
        here.store.runs.finish(run, RunState.DONE)
        (said,) = run_detail(here.store, run).state_after
        assert said.startswith(
            "q continued to batch 6, up to offset 20 of t[0]. The query has processed"
        )
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert tree_hash(here.folder / "ck") == before
        if not crashed:
            break
    assert at > 30


@pytest.mark.parametrize("end", [12, 14])
def test_what_a_healthy_query_left_of_the_range_is_stepped_over(stuck, end):
    here = stuck(healthy(end))
    plan = plan_of(here, "t:0:12-15")
    run = here.enqueue(plan)
    here.execute(run, plan)
    log = here.folder / "ck" / "offsets"
    assert [(log / n).read_text() for n in ("5", "6")] == [entry(12, 5), entry(16, 5)]
    assert (here.folder / "ck" / "commits" / "6").exists() and not (log / "7").exists()
    here.store.runs.claim("slot-0")
    here.store.runs.finish(run, RunState.DONE)
    (said,) = run_detail(here.store, run).state_after
    assert f"up to offset {end} of t[0]. Of the records to skip, the run skips" in said


TOLD = [
    (
        DriverStatus(Status.STOPPED, error="BOOM: this one"),
        None,
        "the watch of q reported that the query ended with `BOOM: this one`",
    ),
    (
        DriverStatus(Status.UNKNOWN),
        None,
        "batch 5, which has records to skip, is uncommitted",
    ),
    (DriverStatus(Status.UNKNOWN), without_batch_5, "no batch with these records has started"),
]


@pytest.mark.parametrize(("told", "change", "said"), TOLD)
def test_a_plan_says_what_shows_that_the_query_fails_on_the_record(
    stuck, monkeypatch, told, change, said
):
    here = stuck()
    if change:
        change(here)
    monkeypatch.setattr(ProcessAdapter, "driver_status", lambda self, name: told)
    assert said in plan_of(here, "t:0:10-12").risks[0]


def test_the_error_of_a_run_that_a_watch_told_of_is_kept_in_one_line():
    life = Life(query_id="i", run_id="r", ended=True, error_class="BOOM", exception="no\n at x")
    assert judge_life(life, 0.0).error == "BOOM: no"


@pytest.mark.slow
def test_a_crash_anywhere_is_gone_on_from(stuck):
    # Every third point: before effects and after them, by turns.
    for at in itertools.count(step=3):
        here = stuck()
        before = tree_hash(here.folder / "ck")
        plan = plan_of(here)
        run = here.enqueue(plan)
        if not here.crash(run, plan, at):
            break
        here.execute(run, plan)
        assert done(here) == ["5 10 12"]
        assert (here.folder / "ck" / "offsets" / "5").read_text() == entry(13, 5)
        assert not (here.folder / "twice").exists()
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert tree_hash(here.folder / "ck") == before
    assert at > 40


V2 = (
    'v2\n{"batchTimestampMs":1,"sourceMetadataInfo":{}}\n'
    'a:{"t":{"0":3},"u":{"0":1}}\nb:{"w":{"0":7}}\nc:-'
)


@pytest.mark.parametrize("text", [entry(3), entry(3) + '\n{"w":{"0":7}}\n-', V2])
def test_an_end_is_moved_and_nothing_else(text):
    moved = with_end(text, "t", 0, 12)
    log, was = read_offsets(moved.encode()), read_offsets(text.encode())
    assert (end_in(was, "t", 0), end_in(log, "t", 0), end_in(log, "t", 9)) == (3, 12, None)
    assert moved == text.replace('"t":{"0":3', '"t":{"0":12')
    assert readers_of(log, "t", 0) == 1 and unreadable_sources(log) == 0
