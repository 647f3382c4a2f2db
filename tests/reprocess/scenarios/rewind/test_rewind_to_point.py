"""A query goes back to a restore point: which one is chosen, what is refused, what a run does."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from headgate.model.registered_pipelines import Registry
from headgate.model.restore_points import StoreRows
from headgate.model.version import Engine, Sink, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan
from headgate.text.times import from_milliseconds
from headgate.usecases.context import Context
from headgate.usecases.restore_points.make_point import make_point
from support.checkpoint_writer import Writer
from support.crashing import COMMANDS

SINK = {"sink": "other"}
# The query writes its next batch with each start.
START = (
    "[ -e running ] && echo >> twice; touch running; n=$(ls ck/commits | sort -n | tail -1);"
    " for log in offsets commits; do cp ck/$log/$n ck/$log/$((n+1)); done"
)


@pytest.fixture
def read(monkeypatch):
    """Spark's reader needs Spark: tests/integration/spark/test_restore_points.py has it."""
    asked = []

    def read_state(self, location, batch):
        assert read_checkpoint(location).head == (batch, batch)
        asked.append(location)
        return (StoreRows(operator=0, store="default", rows=2),)

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read_state)
    return asked


@pytest.fixture
def here(lab):
    """A lab whose checkpoint has batches 9 to 11 in its logs, with points at 3 and 7."""
    made = lab(replace(COMMANDS, start=START))
    shutil.rmtree(made.folder / "ck")
    made.writer = Writer(made.folder / "ck")
    made.points = []
    for batch in range(12):
        made.writer.add()
        if batch in (3, 7):
            made.points.append(point_of(made))
    return made


def context_of(lab):
    path = str(lab.folder / "headgate.toml")
    registry = replace(lab.registry, path=path)
    return Context(registry, lab.store.database.url, lab.home)


def point_of(lab):
    return make_point(context_of(lab), "q")


def plan_of(lab, version=None, **options):
    asked = {name.replace("_", "-"): value for name, value in (SINK | options).items()}
    return build_plan(
        "rewind",
        "q",
        lab.applier(),
        asked,
        version=version,
        points=lambda name: lab.store.restore_points.of(name),
    )


def execute(lab, plan):
    loaded = load_plan(dump_plan(plan), source="test")
    run = lab.enqueue(loaded)
    lab.execute(run, loaded)
    return run, loaded


def newest_state(folder):
    stores = sorted(Path(folder).glob("state/0/[0-9]*"))
    names = (max(s.glob("[0-9]*.*"), key=lambda p: int(p.stem)) for s in stores)
    return [p.read_bytes().rstrip(b".").decode() for p in names]


def test_a_batch_that_the_logs_have_needs_no_point(here):
    plan = plan_of(here, batch=10)
    assert plan.can_apply, plan.blockers
    assert plan.options == {"batch": 10, **SINK}
    assert not any(name.startswith("point:") for name in plan.resources)


def test_a_point_of_the_logged_batch_has_the_state_that_spark_removed(here):
    point = point_of(here)
    lose_state(here, 11)
    assert plan_of(here, batch=11).options == {"restore-point": point.id, **SINK}


def test_a_point_of_a_batch_that_was_replaced_must_be_named(here):
    """A rewind has replaced batch 11: what was kept of the old one isn't what the log shows."""
    point = point_of(here)
    here.writer.replace_newest()
    here.writer.add()
    lose_state(here, 11)
    plan = plan_of(here, batch=11)
    assert plan.options == {"batch": 11, **SINK}
    assert not plan.can_apply
    assert not any(name.startswith("point:") for name in plan.resources)
    named = plan_of(here, restore_point=point.id)
    assert named.can_apply, named.blockers


def lose_state(lab, batch):
    for file in (lab.folder / "ck/state/0").glob(f"[0-9]*/{batch + 1}.*"):
        file.unlink()


@pytest.mark.parametrize(
    "asked",
    [
        {"batch": 3},
        {"at": "2023-11-14T22:13:24Z"},
        {"at": "2023-11-14T22:13:26.999Z"},
        {"restore_point": None},
    ],
)
def test_what_the_logs_do_not_have_is_found_in_a_point(here, asked):
    point = here.points[0]
    asked = {k: point.id if v is None else v for k, v in asked.items()}
    plan = plan_of(here, **asked)
    assert plan.can_apply, plan.blockers
    assert plan.options == {"restore-point": point.id, **SINK}
    assert plan.impact["batches"] == 8
    assert f"point:{point.id}" in plan.resources
    copy = next(s for s in plan.steps if s.action == "copy_to_batch")
    assert copy.describe().startswith(f"copy restore point {point.id} ")
    assert [m["to"] for m in copy.offsets] == [40]


def test_the_plan_is_the_same_when_it_is_built_from_its_own_options(here):
    plan = plan_of(here, batch=3)
    again = plan_of(here, **{k.replace("-", "_"): v for k, v in plan.options.items()})
    assert again.hash == plan.hash


def test_what_neither_has_is_refused_with_what_there_is(here):
    plan = plan_of(here, batch=5)
    ids = ", ".join(f"{p.id} (batch {p.batch})" for p in reversed(here.points))
    assert plan.blockers[0].endswith(f"restore points: {ids}")
    assert "available batches: 9 to 11" in plan.blockers[0]
    assert "no restore point x" in plan_of(here, restore_point="x").blockers[0]


def test_a_run_to_a_point_and_its_undo(here, read):
    point, checkpoint = here.points[0], here.folder / "ck"
    kept = tree_hash(Path(point.location))
    run, plan = execute(here, plan_of(here, batch=3))
    # The query has written one batch since its start.
    assert read_checkpoint(str(checkpoint)).head == (4, 4)
    assert newest_state(checkpoint) == [f"{n}/4" for n in range(4)]
    assert read == [point.location]
    # The query writes on: the point stays.
    here.writer.batch = 4
    for _ in range(5):
        here.writer.add()
    assert tree_hash(Path(point.location)) == kept

    # Its step compares every byte of the old checkpoint with what it was.
    back = here.undo(run, plan)
    assert back.can_apply, back.blockers
    undo = here.enqueue(back, undo_of=run)
    here.execute(undo, back, undo_of=run)
    assert read_checkpoint(str(checkpoint)).head == (12, 12)
    assert newest_state(checkpoint) == [f"{n}/12" for n in range(4)]
    assert tree_hash(Path(point.location)) == kept
    assert not (here.folder / "twice").exists()


def test_a_damaged_point_is_refused(here):
    point = here.points[0]
    (Path(point.location) / "state/0/1/4.delta").unlink()
    plan = plan_of(here, batch=3)
    assert any(f"restore point {point.id} is damaged" in reason for reason in plan.blockers)


def recreated(lab):
    metadata = json.dumps({"id": "6b5a2e0c-0000-4000-8000-000000000002"})
    (lab.folder / "ck/metadata").write_text(metadata)


def test_a_point_of_another_query_must_be_named(here):
    recreated(here)
    assert not plan_of(here, batch=3).can_apply
    plan = plan_of(here, restore_point=here.points[0].id)
    assert plan.can_apply, plan.blockers
    assert any("Since then, the checkpoint was recreated" in risk for risk in plan.risks)


def test_a_file_sink_has_the_other_query_s_batch_numbers(here):
    recreated(here)
    (here.folder / "out/_spark_metadata").mkdir(parents=True)
    asked = {"sink": "file", "sink_path": str(here.folder / "out")}
    plan = plan_of(here, restore_point=here.points[0].id, **asked)
    assert any("has batches of query" in reason for reason in plan.blockers)


def test_a_version_that_changed_since_is_a_risk(here):
    version = Version(engine=Engine.SPARK, sink=Sink(format="noop"))
    point = replace(here.points[0], id="other", fingerprint=fingerprint(version))
    here.store.restore_points.add(point)
    same = plan_of(here, version, restore_point="other")
    assert not any("changed since restore point" in risk for risk in same.risks)
    changed = replace(version, sink=Sink(format="console"))
    plan = plan_of(here, changed, restore_point="other")
    assert any("changed since restore point other" in risk for risk in plan.risks)


def test_a_registry_without_points_is_as_before(here):
    assert Registry().restore_points.every is None
    plan = build_plan("rewind", "q", here.applier(), {"batch": 3, **SINK})
    assert plan.blockers[0].endswith("available batches: 9 to 11 (2023-11-14T22:13:29.000Z to "
                                     "2023-11-14T22:13:31.000Z)")  # fmt: skip


def test_a_time_finds_no_point_that_an_earlier_rewind_left_behind(here, read):
    """Batch 7 of before the rewind has the number, but not the input, of a later batch 7."""
    kept, left = here.points
    before = read_checkpoint(str(here.folder / "ck")).history
    run, plan = execute(here, plan_of(here, restore_point=kept.id))
    now = read_checkpoint(str(here.folder / "ck"))
    assert before == () and [turn.batch for turn in now.history] == [3]
    for file in (here.folder / "ck/state/0").glob("[0-9]*/4.*"):
        shutil.copy(file, file.with_name(file.name.replace("4.", "5.")))
    assert point_of(here).history == now.history
    # The query continued, and Spark has removed the batches from before it.
    for log in ("offsets", "commits"):
        for file in (here.folder / "ck" / log).glob("[0-3]"):
            file.unlink()
    entry = here.folder / "ck/offsets/4"
    lines = entry.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"batchTimestampMs": 1_700_000_900_000})
    entry.write_text("\n".join(lines))
    at = from_milliseconds(left.planned_ms + 1).isoformat()
    assert plan_of(here, at=at).options == {"restore-point": kept.id, **SINK}
    assert plan_of(here, batch=7).blockers, "the left point was taken for batch 7"
    assert plan_of(here, restore_point=left.id).can_apply

    back = here.undo(run, plan)
    here.execute(here.enqueue(back, undo_of=run), back, undo_of=run)
    assert read_checkpoint(str(here.folder / "ck")).history == before
    assert plan_of(here, batch=7).options == {"restore-point": left.id, **SINK}
