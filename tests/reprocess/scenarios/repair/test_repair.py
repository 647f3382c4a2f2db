"""A checkpoint is repaired beside the broken one, survives crashes, and comes back by the undo."""

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import RefusedError, ScenarioError, StalePlanError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.reprocess.impact import again
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.checkpoints import Proof
from headgate.reprocess.scenarios.build import build_plan, drift
from support.crashing import QUERY_ID
from support.sampled import crash_points

CHECKPOINTS = Path(__file__).parents[3] / "golden" / "checkpoints"
ENTRY = 'v1\n{"batchTimestampMs":1}\n{"logOffset":%d}'


@pytest.fixture
def broken(lab):
    """Makes labs whose query is stopped and has a batch that was not written to its end."""

    def make(**fields):
        here = lab()
        (here.folder / "running").unlink()
        folder = here.folder / "ck"
        (folder / "sources" / "0").mkdir(parents=True)
        for batch in (3, 4):
            (folder / "offsets" / str(batch)).write_text(ENTRY % batch)
            (folder / "commits" / str(batch)).write_text("v1\n{}")
        for batch in range(5):
            text = f'v1\n{{"path":"file:///in/{batch}","batchId":{batch}}}'
            (folder / "sources" / "0" / str(batch)).write_text(text)
        here.sound = tree_hash(folder)
        (folder / "offsets" / "5").write_bytes(b"v1\n{")
        (folder / "offsets" / ".5.crc").write_bytes(b"crc")
        [pipeline] = here.registry.pipelines
        pipeline = replace(pipeline, **fields)
        here.registry = replace(here.registry, pipelines=(pipeline,))
        return here

    return make


def repair_of(here, **options):
    return build_plan("repair", "q", here.applier(), options)


def test_the_plan_says_what_is_wrong_and_what_goes(broken):
    plan = repair_of(broken())
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "repair_copy",
        "swap_repaired_checkpoint",
        "start_pipeline",
    ]
    assert plan.preconditions["issues"] == ["torn-offsets: `offsets/5` can't be read"]
    assert "remove offsets/5" in plan.steps[1].describe()
    assert plan.impact["uncounted"] == ["batch 5"]
    assert any("A removed batch is reprocessed" in text for text in plan.outputs.run)
    assert "No record is reprocessed or skipped." not in plan.outputs.run
    assert any("sets no `entry_point` for q" in risk for risk in plan.risks)
    assert load_plan(dump_plan(plan), source="the file").hash == plan.hash


@pytest.mark.slow
@crash_points
def test_a_repair_survives_a_crash_at_every_point_and_is_undone(broken, step):
    for at in itertools.count(0, step):
        here = broken()
        old = tree_hash(here.folder / "ck")
        plan = repair_of(here)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        assert tree_hash(here.folder / "ck") == here.sound
        assert tree_hash(here.folder / f".ck.broken-{run}") == old
        assert (here.folder / "running").exists() and not (here.folder / "twice").exists()
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert tree_hash(here.folder / "ck") == old
        assert not list(here.folder.glob(".ck.broken-*"))
        assert not list(here.folder.glob(".ck.repaired-*"))
        if not crashed:
            break
    assert at > 15


@pytest.mark.slow
@crash_points
def test_what_a_crash_left_of_a_repair_can_be_undone_instead(broken, step):
    for at in itertools.count(0, step):
        here = broken()
        old = tree_hash(here.folder / "ck")
        plan = repair_of(here)
        run = here.enqueue(plan)
        if not here.crash(run, plan, at):
            break
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert tree_hash(here.folder / "ck") == old
        assert [p.name for p in here.folder.glob(".ck.[br]*")] == []
    assert at > 15


@pytest.mark.parametrize("outcome", ["refuses", "unknown"])
def test_what_the_engine_does_not_start_on_is_not_put_in_place(broken, monkeypatch, outcome):
    here = broken(entry_point="jobs:counts")
    old = tree_hash(here.folder / "ck")
    plan = repair_of(here)
    assert plan.steps[2].action == "verify_repair"
    applier = here.applier("run-1")
    # Spark's own word is tested where Spark is: here it is what follows from it.
    proof = Proof(outcome=outcome, error_class="CANNOT_LOAD_STATE_STORE", message="no")
    monkeypatch.setattr(applier.checkpoints, "rehearse", lambda _copy, _entry: proof)
    plan.steps[1].apply(applier, plan.steps[1].bind(applier))
    with pytest.raises(RefusedError, match=r"not verified: jobs:counts .*CANNOT_LOAD_STATE_STORE"):
        plan.steps[2].apply(applier, {})
    assert tree_hash(here.folder / "ck") == old


@pytest.mark.parametrize(
    ("rows", "said"), [(3, "read 3 rows"), (0, "verified only that the query starts")]
)
def test_a_rehearsal_without_records_is_not_sold_for_more(broken, monkeypatch, rows, said):
    here = broken(entry_point="jobs:counts")
    applier = here.applier("run-1")
    proof = Proof(outcome="resumes", rows_in=rows)
    monkeypatch.setattr(applier.checkpoints, "rehearse", lambda _copy, _entry: proof)
    repair_of(here).steps[2].apply(applier, {})
    assert said in here.notes[-1]


def test_what_is_sound_has_no_repair(broken):
    here = broken()
    for name in ("5", ".5.crc"):
        (here.folder / "ck" / "offsets" / name).unlink()
    plan = repair_of(here)
    assert not plan.steps and "nothing to repair" in plan.blockers[0]


def test_what_runs_is_not_looked_at(broken):
    here = broken()
    (here.folder / "running").touch()
    plan = repair_of(here)
    assert not plan.steps and "q runs" in plan.blockers[0]


def test_what_can_not_be_repaired_names_what_gets_over_it(broken):
    here = broken()
    (here.folder / "ck" / "sources" / "0" / "4").unlink()
    plan = repair_of(here)
    assert not plan.steps
    # Which files were read is not known any more, so new-checkpoint would not know where to begin.
    assert "Use `headgate plan from-scratch q`" in plan.blockers[0]
    assert plan.blockers[1].startswith(
        "Headgate can repair this fault once the other faults are fixed: `off"
    )


@pytest.fixture
def recorded(lab):
    """Makes labs with a checkpoint that a query over state has left, and a broken copy of it."""

    def make(name):
        here = lab()
        (here.folder / "running").unlink()
        shutil.rmtree(here.folder / "ck")
        shutil.copytree(CHECKPOINTS / name / "checkpoint", here.folder / "ck")
        assert "no fault found" in repair_of(here).blockers[0]
        return here, here.folder / "ck"

    return make


def test_state_that_any_partition_lacks_is_no_sound_checkpoint(recorded):
    here, folder = recorded("files_to_files")
    last = max(int(f.name) for f in (folder / "commits").iterdir() if f.name.isdigit())
    (store,) = {f.parent for f in (folder / "state" / "0" / "1").rglob(f"{last + 1}.*")}
    shutil.move(store, here.folder / "elsewhere")
    store.mkdir()
    (said, *_) = repair_of(here).blockers
    assert said.startswith(
        f"Headgate can't repair this fault: state/0/1 lacks the file of version {last + 1},"
    )
    assert said.endswith("Use `headgate plan from-scratch q`")
    # Where only the newest file is gone, an older batch is whole.
    for file in (here.folder / "elsewhere").iterdir():
        if not file.name.lstrip(".").startswith(f"{last + 1}."):
            file.rename(store / file.name)
    (said, *_) = repair_of(here).blockers
    assert said.endswith(f"Use `headgate plan rewind q --batch {last - 1}`")
    sink = {"batch": last - 1, "sink": "kafka"}
    way = build_plan("rewind", "q", here.applier(), sink)
    assert not any("can't rewind to batch" in blocker for blocker in way.blockers)


def test_a_checkpoint_without_state_is_sound_only_where_somebody_told_so(recorded):
    here, folder = recorded("files_to_files")
    shutil.rmtree(folder / "state")
    assert "If the query keeps state, all of its state is lost" in repair_of(here).blockers[0]
    operator = StatefulOperator(operator_id=0, kind=OperatorKind.AGGREGATE)
    version = Version(engine=Engine.SPARK, stateful=(operator,))
    (said, *_) = build_plan("repair", "q", here.applier(), version=version).blockers
    assert said.startswith(
        "Headgate can't repair this fault: folder `state` is missing, but the stored version has "
        "state"
    )


def test_what_can_not_be_read_at_all_begins_from_scratch(recorded):
    here, folder = recorded("files_to_files")
    for file in (folder / "offsets").iterdir():
        file.write_text("garbage")
    (said, *_) = repair_of(here).blockers
    assert said.endswith("Use `headgate plan from-scratch q`")
    (folder / "metadata").unlink()
    (said, *_) = repair_of(here).blockers
    # No scenario takes a folder without `metadata` for a checkpoint: the id is what is needed.
    assert "logs with --query-id" in said and "Use `headgate plan" not in said


def test_lost_metadata_takes_the_id_of_the_stored_version(broken):
    here = broken()
    (here.folder / "ck" / "metadata").write_bytes(b"")
    assert "--query-id" in repair_of(here).blockers[0]
    version = Version(engine=Engine.SPARK, query_id=QUERY_ID)
    plan = build_plan("repair", "q", here.applier(), version=version)
    assert plan.can_apply, plan.blockers
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert (here.folder / "ck" / "metadata").read_text() == f'{{"id":"{QUERY_ID}"}}'


ID = "0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10"


def test_an_id_that_spark_can_not_read_is_not_written(broken):
    here = broken()
    (here.folder / "ck" / "metadata").unlink()
    for wrong in ("foo", ID[:-1], f"{{{ID}}}", ID.replace("-", "")):
        with pytest.raises(ScenarioError, match="--query-id: expected a UUID"):
            repair_of(here, **{"query-id": wrong})
    (here.folder / "ck" / "offsets" / "5").unlink()
    (here.folder / "ck" / "offsets" / ".5.crc").unlink()
    plan = repair_of(here, **{"query-id": ID})
    assert plan.can_apply, plan.blockers
    assert plan.impact["uncounted"] == [] and again(plan.impact) == 0
    assert "No record is reprocessed or skipped." in plan.outputs.run
    assert not any("removed batch" in text for text in plan.outputs.run)


def test_a_batch_that_came_since_makes_the_plan_stale(broken):
    here = broken()
    plan = repair_of(here)
    (here.folder / "ck" / "commits" / "5").write_text("v1\n{}")
    assert drift(plan, repair_of(here))
    # Also where it came between the look at the plan and the stop.
    with pytest.raises(StalePlanError, match="have changed since"):
        plan.steps[1].check(here.applier("run-1"))


def test_who_starts_the_query_meanwhile_stops_the_repair(broken):
    here = broken()
    plan = repair_of(here)
    (here.folder / "running").touch()
    applier = here.applier("run-1")
    with pytest.raises((RefusedError, StalePlanError), match="status is running"):
        plan.steps[1].check(applier)
