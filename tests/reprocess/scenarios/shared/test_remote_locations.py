"""A query whose checkpoint is on a remote file system is led to a new place; the old one stays.

The file system is a folder behind pyarrow's own interface; tests/gateway/remote has real servers.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.gateway.spark import rest_api
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.spark.checkpoint.source_log import READ_BEFORE
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context, open_context
from support.crashing import COMMANDS
from support.remote_lab import START, rewind_of, scratch_of

pytestmark = pytest.mark.slow

CASES_OF_SPARK = Path(__file__).parents[3] / "cases" / "spark"
# It takes the variable and does not use it.
DEAF = START.replace("${HEADGATE_CHECKPOINT#s3a://}", "$(cat bucket)/ck")


def test_the_query_begins_anew_at_a_new_place_and_goes_back(remote):
    lab = remote()
    old = lab.old_hash
    plan = scratch_of(lab)
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "switch_checkpoint",
        "start_at_checkpoint",
    ]
    assert plan.resources == (f"checkpoint:{lab.declared}", f"checkpoint:{lab.new}")
    run = lab.run(plan)
    assert lab.now == lab.new and lab.old_hash == old
    assert (lab.folder_of(lab.new) / "metadata").read_text() == '{"id":"new"}\n'
    undo = lab.undo(run, plan)
    assert undo.can_apply, undo.blockers
    lab.run(undo, undo_of=run)
    assert lab.now == lab.declared and lab.started() == [lab.new, lab.declared]
    # What a query has written stays, and the next run takes another place.
    assert scratch_of(lab).steps[1].place == f"{lab.declared}.3"


def test_the_plan_of_a_copy_says_what_it_costs(remote):
    lab = remote()
    plan = rewind_of(lab)
    size = sum(p.stat().st_size for p in lab.folder_of(lab.declared).rglob("*") if p.is_file())
    assert plan.impact["snapshot"] == {"files": 10, "bytes": size, "copied": size}
    copy = plan.steps[1]
    assert copy.describe().endswith(" B in 10 files")
    assert any("(scheduler, orchestrator, person)" in risk for risk in plan.risks)


def test_a_new_version_begins_where_the_old_one_stopped_and_goes_back(remote):
    lab = remote()
    old = lab.old_hash
    plan = build_plan("new-checkpoint", "q", lab.applier(), {"source": ["0=0"]})
    assert plan.can_apply, plan.blockers
    actions = [
        "stop_pipeline",
        "create_remote_checkpoint",
        "switch_checkpoint",
        "start_at_checkpoint",
    ]
    assert [s.action for s in plan.steps] == actions
    run = lab.run(plan)
    new = lab.folder_of(lab.new)
    assert lab.now == lab.new and lab.old_hash == old
    # The files that were read are known, under an entry number that no query reaches.
    read = [json.loads(line) for line in (new / "sources/0/0").read_text().split("\n")[1:]]
    assert [(row["path"], row["batchId"]) for row in read] == [
        (f"s3a://in/{batch}", READ_BEFORE) for batch in range(3)
    ]
    assert json.loads((new / "metadata").read_text())["id"] not in ("old", "new")
    lab.run(lab.undo(run, plan), undo_of=run)
    lab.forget_start()
    assert lab.now == lab.declared and lab.old_hash == old


UPGRADE = replace(
    COMMANDS,
    start=(
        "[ -e running ] && echo >> twice; touch running;"
        ' d="$PWD/store/${HEADGATE_CHECKPOINT#s3a://}"; . ./code.sh'
    ),
    deploy="cp new.sh code.sh",
    rollback="cp old.sh code.sh",
)
BATCH = 'cp "$d/offsets/0" "$d/offsets/1"; cp "$d/commits/0" "$d/commits/1"\n'


@pytest.fixture
def upgrade(remote):
    """A lab whose query has the checkpoint of a recorded case, and the plan of its upgrade."""

    def make(new):
        lab = remote(UPGRADE.start)
        case = CASES_OF_SPARK / "agg_map_add"
        shutil.rmtree(lab.folder_of(lab.declared))
        shutil.copytree(case / "before" / "checkpoint", lab.folder_of(lab.declared))
        (pipeline,) = lab.registry.pipelines
        lab.registry = replace(lab.registry, pipelines=(replace(pipeline, commands=UPGRADE),))
        for name, text in (("old.sh", "true\n"), ("code.sh", "true\n"), ("new.sh", new)):
            (lab.folder / name).write_text(text)
        plain = lab.applier
        lab.applier = lambda run="preview": with_judge(
            plain(run), Context(lab.led(), "sqlite://", lab.home)
        )
        given = {"after": str(case / "after"), "before": str(case / "before")}
        plan = build_plan("offline-upgrade", "q", lab.applier(), given)
        assert plan.can_apply, plan.blockers
        return lab, plan

    return make


def test_a_new_version_works_on_a_copy_and_the_old_one_goes_on_where_it_was(upgrade):
    lab, plan = upgrade(BATCH)
    old = lab.old_hash
    assert [s.action for s in plan.steps] == [
        *(
            "stop_pipeline",
            "recheck_version",
            "copy_remote_checkpoint",
            "switch_checkpoint",
            "deploy_version",
        ),
        *("start_at_checkpoint", "verify_version", "compare_version"),
    ]
    run = lab.run(plan)
    assert lab.now == lab.new and lab.old_hash == old
    assert lab.applier().checkpoints.read(lab.new).head == (1, 1)
    undo = lab.undo(run, plan)
    assert undo.can_apply, undo.blockers
    lab.run(undo, undo_of=run)
    assert lab.now == lab.declared and lab.old_hash == old
    assert (lab.folder / "code.sh").read_text() == "true\n"


def test_a_new_version_that_ends_before_its_first_batch_is_taken_back(upgrade):
    lab, plan = upgrade('cp "$d/offsets/0" "$d/offsets/1"; rm -f running\n')
    old = lab.old_hash
    assert "is not running" in lab.refused(plan)
    assert lab.now == lab.declared and lab.old_hash == old
    assert (lab.folder / "code.sh").read_text() == "true\n"
    assert (lab.folder / "running").exists()


def test_repartition_repair_and_decommission_say_why_they_do_not_work_there(remote):
    lab = remote()
    (lab.folder / "running").unlink()
    for scenario, options in (
        ("repartition", {"partitions": 4}),
        ("repair", {}),
        ("decommission", {}),
    ):
        plan = build_plan(scenario, "q", lab.applier(), options)
        assert not plan.can_apply
        assert any("remote file system" in blocker for blocker in plan.blockers), scenario


def test_a_start_command_that_does_not_say_where_is_refused(remote):
    plan = build_plan("from-scratch", "q", remote(COMMANDS.start).applier())
    assert "must pass ${HEADGATE_CHECKPOINT} as checkpointLocation" in plan.blockers[0]


def test_a_query_that_goes_on_at_the_old_place_is_seen_and_taken_back(remote):
    lab = remote(DEAF)
    said = lab.refused(scratch_of(lab))
    assert "runs on the old checkpoint s3a://b0/ck, at batch" in said
    assert lab.now == lab.declared and (lab.folder / "running").exists()


def test_an_old_place_that_was_changed_since_can_not_be_gone_back_to(remote):
    lab = remote()
    plan = scratch_of(lab)
    run = lab.run(plan)
    (lab.folder_of(lab.declared) / "offsets/5").write_text("v1")
    (blocker,) = lab.undo(run, plan).blockers
    assert "s3a://b0/ck has changed since the run" in blocker


def test_who_writes_another_checkpoint_into_the_file_has_the_last_word():
    said = Pipeline(name="q", engine=Engine.SPARK, checkpoint="s3a://b/ck")
    places = {"q": ("s3a://b/ck", "s3a://b/ck.2")}
    led = Registry(pipelines=(said,)).led(places).pipeline("q")
    assert (led.checkpoint, led.declared) == ("s3a://b/ck.2", "s3a://b/ck")
    other = replace(said, checkpoint="s3a://b/new")
    found = Registry(pipelines=(other,)).led(places).pipeline("q")
    assert (found.checkpoint, found.declared) == ("s3a://b/new", None)


def test_whoever_opens_the_registry_finds_the_place(remote):
    lab = remote()
    file = lab.folder / "headgate.toml"
    file.write_text(
        f'[store]\nurl = "{lab.store.database.url}"\n'
        '[[pipeline]]\nname = "q"\nengine = "spark"\ncheckpoint = "s3a://b0/ck"\n'
    )
    assert open_context(str(file)).registry.pipeline("q").checkpoint == "s3a://b0/ck"
    lab.store.checkpoint_locations.switch_checkpoint(
        "q", declared="s3a://b0/ck", location="s3a://b0/ck.2", run="r"
    )
    found = open_context(str(file)).registry.pipeline("q")
    assert (found.checkpoint, found.declared) == ("s3a://b0/ck.2", "s3a://b0/ck")


def test_a_user_interface_that_shows_a_batch_speaks_against_a_stop_there_too(remote, monkeypatch):
    lab = remote()
    (pipeline,) = lab.registry.pipelines
    seen = replace(pipeline, evidence=("http://127.0.0.1:4040",))
    lab.registry = replace(lab.registry, pipelines=(seen,))
    monkeypatch.setattr(rest_api, "running_queries", lambda _address: {"old"})
    assert lab.applier().processes.driver_status("q").status is Status.RUNS
