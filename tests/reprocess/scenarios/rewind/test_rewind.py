"""A query goes back to an older batch: what is shown, what is refused, what a crash leaves."""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, RefusedError, ScenarioError
from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.restore_points import StoreRows
from headgate.model.version import Engine, Sink, Version
from headgate.reprocess.impact import again
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan
from headgate.usecases.evidence.read_version import read_version
from headgate.views.words.impact import impact_lines
from support.sampled import crash_points

# Seven batches of Spark 4.2 from files to files; both logs were compacted at 2 and 5.
GOLDEN = Path(__file__).parents[3] / "golden"
WRITTEN = GOLDEN / "checkpoints" / "files_to_files"
TO = 4
# One more batch comes with each start.
START = "[ -e running ] && echo >> twice; touch running"
COMMANDS = Commands(stop="rm -f running", start=START, status="[ -e running ] && exit 0 || exit 3")


@pytest.fixture
def old(lab):
    """Makes labs with that checkpoint, its input and its output, all in one folder."""

    def make(commands=COMMANDS):
        here = lab(commands)
        shutil.rmtree(here.folder / "ck")
        shutil.copytree(WRITTEN / "checkpoint", here.folder / "ck")
        shutil.copytree(WRITTEN / "output", here.folder / "out")
        for log in (here.folder / "ck" / "sources" / "0", here.folder / "out" / "_spark_metadata"):
            for file in log.iterdir():
                file.write_text(file.read_text().replace("/data/files_to_files", str(here.folder)))
                for line in file.read_text().splitlines()[1:]:
                    made = Path(json.loads(line)["path"].removeprefix("file://"))
                    made.parent.mkdir(parents=True, exist_ok=True)
                    made.write_text(made.name)
        return here

    return make


def plan_of(here, version=None, **options):
    given = {"batch": TO, "sink": "file", "sink-path": str(here.folder / "out")} | options
    asked = {name: value for name, value in given.items() if value is not None}
    return build_plan("rewind", "q", here.applier(), asked, version=version)


def log_of(here):
    return sorted(p.name for p in (here.folder / "out" / "_spark_metadata").iterdir())


def outputs(here):
    return sorted(str(p.relative_to(here.folder)) for p in (here.folder / "out").rglob("*.json"))


def visible(here):
    return [path for path in outputs(here) if "/." not in path]


@pytest.fixture
def read(monkeypatch):
    """Spark's reader needs Spark: what it reads is tested with it, here only when it is asked."""
    asked = []

    def read_state(self, location, batch):
        assert read_checkpoint(location).head == (batch, batch)
        asked.append(batch)
        return (StoreRows(operator=0, store="default", rows=2),)

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read_state)
    return asked


def test_the_plan_shows_what_was_in_the_batch(old):
    here = old()
    plan = plan_of(here)
    assert plan.blockers == ()
    assert [step.action for step in plan.steps] == [
        *("stop_pipeline", "copy_to_batch", "read_state", "cut_sink_log", "swap_checkpoint"),
        "start_pipeline",
    ]
    copy = plan.steps[1].details()
    assert (copy["planned_at"], copy["watermark"]) == (
        "2026-11-21T14:44:47.434Z",
        "2026-01-01T00:00:03.000Z",
    )
    assert (plan.impact["input_files"], plan.impact["batches"]) == (2, 2)
    assert plan.impact["snapshot"]["files"] == 38
    assert again(plan.impact) is None
    assert dict(impact_lines(plan))["Records reprocessed"] == (
        "unknown number of records (up to 2 files)"
    )
    assert "No record is reprocessed or skipped." not in plan.outputs.run
    assert any("a second time" in text for text in plan.outputs.run)
    assert all(step.undoable for step in plan.steps)
    loaded = load_plan(dump_plan(plan), source="x")
    assert loaded == plan and loaded.hash == plan.hash


def test_a_time_is_the_batch_that_was_planned_by_then(old):
    here = old()
    plan = plan_of(here, batch=None, at="2026-11-21T14:44:47.434Z")
    assert plan.options["batch"] == TO and plan.hash == plan_of(here).hash
    assert plan_of(here, batch=None, at="2026-11-21T14:44:47.433Z").options["batch"] == TO - 1
    plan = plan_of(here, batch=None, at="2020-01-01T00:00:00Z")
    assert "no batch was planned at or before" in plan.blockers[0]
    with pytest.raises(ScenarioError, match="not both"):
        plan_of(here, at="2026-11-21T14:44:47Z")
    with pytest.raises(ScenarioError, match="needs a batch"):
        plan_of(here, batch=None)


def test_batch_0_is_an_answer(old):
    assert plan_of(old(), batch=0).options["batch"] == 0


def remove(pattern):
    def change(here):
        found = list((here.folder).glob(pattern))
        assert found
        for path in found:
            path.unlink()

    return change


def gaps(here):
    for number in (1, 3, 5):
        remove(f"ck/commits/{number}")(here)


CANT = [
    ({"batch": 17}, None, "the commit log; available batches: 0 to 6"),
    ({"batch": 6}, None, "batch 6 is the last batch"),
    ({}, remove("ck/offsets/3"), "offsets/3 is missing: a restart after batch 4 needs this file"),
    ({}, remove("ck/commits/4"), "batch 4 is missing .*; available batches: 0 to 3, 5 to 6 "),
    ({"batch": 9}, gaps, "available batches: 2, 4, 6 .and 1 earlier range. "),
    ({}, remove("ck/state/0/1/3.delta"), "state/0/1 lacks 3.delta or 3.snapshot"),
    ({}, remove("ck/state/0/1/*.delta"), "state/0/1 lacks the file of version 5"),
    ({}, remove("in/06.json"), "1 of 2 input files of later batches no longer exist"),
    ({}, remove("out/_spark_metadata/3"), "batch 3 is missing. Choose batch 2 or later"),
    ({}, lambda here: shutil.rmtree(here.folder / "ck/state/0/1"), "no folder for partition 1"),
    ({"sink-path": "/nowhere"}, None, "/nowhere has no _spark_metadata"),
    ({"sink-path": "s3a://b/out"}, None, "on a remote file system"),
    ({"sink-path": None}, None, "pass it with --sink-path"),
    ({"sink": None, "sink-path": None}, None, "the sink of q is unknown"),
    ({"sink": "delta"}, None, "silently drops batches 5 to 6"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "change", "reason"), CANT, ids=[r for *_, r in CANT])
def test_what_can_not_be_gone_back_to(old, options, change, reason):
    here = old()
    if change is not None:
        change(here)
    plan = plan_of(here, **options)
    assert not plan.can_apply and re.search(reason, "; ".join(plan.blockers)), plan.blockers


def test_a_broken_log_names_the_repair_of_its_pipeline(old):
    here = old()
    newest = max((here.folder / "ck" / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
    newest.write_text("v1\n{")
    with pytest.raises(EvidenceError, match="Run `headgate plan repair q`"):
        plan_of(here, batch=1)


def test_a_delta_sink_is_one_whatever_its_evidence_calls_it(old):
    """The name that Delta itself prints in query progress."""
    here, none = old(), {"sink": None, "sink-path": None}
    version = read_version([str(GOLDEN / "sinks" / "delta_path" / "progress.json")])
    (reason,) = plan_of(here, version, **none).blockers
    assert "Delta table /data/out/delta has recorded the query's id" in reason
    assert plan_of(here, version, **none, **{"new-query-id": True}).can_apply


@pytest.mark.parametrize(
    ("sink", "reason"),
    [
        (Sink(format="hudi", target="/t"), "Hudi table /t has already recorded batches"),
        (Sink(format="iceberg", target="a.b"), "Iceberg table a.b has recorded the query's id"),
        (Sink(format="ours"), "whether the sink ours of q drops batches"),
    ],
)
def test_a_sink_that_drops_or_may_drop_batches_is_refused(old, sink, reason):
    version = Version(engine=Engine.SPARK, sink=sink)
    (found,) = plan_of(old(), version, **{"sink": None, "sink-path": None}).blockers
    assert reason in found


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sink": "kafka"}, "--sink kafka: the stored version has sink delta"),
        ({"sink": "other"}, "--sink other: the stored version has sink delta"),
        ({"sink": None, "sink-path": "/elsewhere"}, "--sink-path /elsewhere: the stored version"),
    ],
)
def test_an_answer_that_the_stored_version_contradicts_is_refused(old, options, reason):
    version = Version(engine=Engine.SPARK, sink=Sink(format="delta", target="file:/t"))
    given = {"sink-path": None, "new-query-id": True} | options
    plan = plan_of(old(), version, **given)
    assert any(reason in found for found in plan.blockers), plan.blockers
    assert (
        plan_of(old(), version, **{"sink": "delta", "sink-path": "/t"})
        .blockers[0]
        .startswith("the Delta table")
    )


SINKS = [
    ("kafka", "writes the results of batches 5 to 6 to out a second time"),
    (
        "foreachBatch",
        "If the function skips batch numbers that it has already processed, rows are lost",
    ),
]


@pytest.mark.parametrize(("format", "risk"), SINKS)
def test_a_stored_version_tells_the_sink(old, format, risk):
    version = Version(engine=Engine.SPARK, sink=Sink(format=format, target="out"))
    plan = plan_of(old(), version, **{"sink": None, "sink-path": None})
    assert plan.can_apply and any(risk in named for named in plan.risks)


def test_a_sink_that_knows_the_query_gets_another_id(old, read):
    here = old()
    plan = plan_of(here, **{"sink": "delta", "new-query-id": True})
    run = here.enqueue(plan)
    here.execute(run, plan)
    before = json.loads((WRITTEN / "checkpoint" / "metadata").read_text())["id"]
    assert read_checkpoint(str(here.folder / "ck")).query_id != before
    undo = here.undo(run, plan)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert read_checkpoint(str(here.folder / "ck")).query_id == before


@pytest.mark.parametrize("engine", [Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS])
def test_others_have_no_past(lab, engine):
    here = lab()
    pipeline = Pipeline(name="q", engine=engine, group="g")
    here.registry = Registry(path=here.registry.path, pipelines=(pipeline,))
    plan = build_plan("rewind", "q", here.applier(), {"batch": 1})
    assert "no old state to rewind to" in plan.blockers[0]


def test_state_that_spark_can_not_read_takes_everything_back(old, monkeypatch):
    here = old()
    before = tree_hash(here.folder / "ck")

    def read_state(self, location, batch):
        raise RefusedError("Spark can't read the state of operator 0, store default: damaged")

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read_state)
    plan = plan_of(here)
    run = here.enqueue(plan)
    with pytest.raises(RefusedError, match="damaged"):
        here.execute(run, plan)
    undo = here.undo(run, plan)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert tree_hash(here.folder / "ck") == before and not list(here.folder.glob(".ck.*"))


def test_a_session_that_writes_on_is_noticed(old, monkeypatch):
    here = old()

    def read_state(self, location, batch):
        (here.folder / "ck" / "state" / "0" / "0" / "7.snapshot").touch()
        return ()

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read_state)
    plan = plan_of(here)
    with pytest.raises(RefusedError, match="Stop the whole Spark application"):
        here.execute(here.enqueue(plan), plan)
    assert read_checkpoint(str(here.folder / "ck")).head == (6, 6)


def write_on(here):
    """What the query does after it went back: batch 5 once more, with another file."""
    (here.folder / "ck/offsets/5").write_text("v1\n{}\n-")
    (here.folder / "ck/commits/5").write_text("v1\n{}")
    made = here.folder / "out" / "k=k9" / "part-new.json"
    made.parent.mkdir(exist_ok=True)
    made.write_text("new")
    line = json.dumps({"path": f"file://{made}"})
    (here.folder / "out" / "_spark_metadata" / "5").write_text(f"v1\n{line}")


def assert_gone_back(here, run, before):
    assert read_checkpoint(str(here.folder / "ck")).head == (TO, TO)
    assert tree_hash(here.folder / f".ck.before-{run}") == before["ck"]
    assert log_of(here) == ["0", "1", "2.compact", "3", "4"]
    assert len(visible(here)) == len(before["visible"]) - 2
    assert len(outputs(here)) == len(before["visible"])
    assert (here.folder / "running").exists() and not (here.folder / "twice").exists()


def assert_undone(here, before):
    assert facts(here) == before
    assert (here.folder / "running").exists() and not (here.folder / "twice").exists()


def facts(here):
    return {
        "ck": tree_hash(here.folder / "ck"),
        "log": tree_hash(here.folder / "out" / "_spark_metadata"),
        "visible": visible(here),
    }


def test_an_undo_says_that_new_files_do_not_stay(old, read):
    here = old()
    plan = plan_of(here)
    assert not plan.outputs.remains
    run = here.enqueue(plan)
    here.execute(run, plan)
    write_on(here)
    undo = here.undo(run, plan)
    said = " ".join((*undo.risks, *undo.outputs.run))
    assert "to a backup folder" in said and "files written since the run get duplicates" in said
    assert "stays in the sink" not in said and "doesn't delete or correct" not in said
    assert "are written a second time" not in said


def test_an_undo_says_that_the_output_of_other_sinks_stays(old, read):
    here = old()
    plan = plan_of(here, **{"sink": "other", "sink-path": None})
    assert plan.outputs.remains
    run = here.enqueue(plan)
    here.execute(run, plan)
    undo = here.undo(run, plan)
    assert any("stays in the sink" in risk for risk in undo.risks)
    assert any("doesn't delete or correct" in text for text in undo.outputs.run)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["run", "undo", pytest.param("instead", marks=pytest.mark.long)])
@crash_points
def test_a_crash_at_every_point(old, read, when, step):
    for at in itertools.count(0, step):
        here = old()
        before = facts(here)
        plan = plan_of(here)
        run = here.enqueue(plan)
        crashed = False
        if when == "undo":
            here.execute(run, plan)
        else:
            crashed = here.crash(run, plan, at)
        if when == "run":
            here.execute(run, plan)
        if when != "instead":
            assert_gone_back(here, run, before)
            write_on(here)
        undo = here.undo(run, plan)
        back = here.enqueue(undo, undo_of=run) if undo.steps else None
        if when == "undo":
            crashed = here.crash(back, undo, at, undo_of=run)
        if back is not None:
            here.execute(back, undo, undo_of=run)
        assert_undone(here, before)
        if when == "run":
            fresh = list(here.folder.glob("out/.headgate-after-*/files/k=k9/part-new.json"))
            assert len(fresh) == 1
        if not crashed:
            break
    assert at > 20
