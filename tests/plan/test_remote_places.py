"""A query whose checkpoint is on a remote file system is led to a new place; the old one stays.

The file system is a folder behind pyarrow's own interface; tests/gateway/remote has real servers.
"""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import fs

from crashing import COMMANDS, Crash, CrashingEffects, Lab, Points
from headgate.errors import RefusedError, StepError, UnreachableError
from headgate.gateway import place_copy, remote_changes, remote_open, spark_rest
from headgate.gateway.checkpoints import tree_hash
from headgate.model.registry import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.spark.source_log import READ_BEFORE
from headgate.plan.build import build_plan
from headgate.plan.execute import Executor
from headgate.plan.ports.control import Status
from headgate.plan.undo import Past, build_undo
from headgate.store import open_store
from headgate.usecases.ask_verdict import with_judge
from headgate.usecases.context import Context, open_context
from headgate.usecases.run_records import step_records
from headgate.worker.run_journal import RunJournal

CASES_OF_SPARK = Path(__file__).parents[1] / "cases" / "spark"
START = (
    "[ -e running ] && echo >> twice; touch running;"
    ' d="$PWD/store/${HEADGATE_CHECKPOINT#s3a://}"; mkdir -p "$d/offsets" "$d/commits";'
    ' [ -e "$d/metadata" ] || echo \'{"id":"new"}\' > "$d/metadata";'
    ' echo v1 > "$d/offsets/9"; echo "$HEADGATE_CHECKPOINT" >> started'
)
# It takes the variable and does not use it.
DEAF = START.replace("${HEADGATE_CHECKPOINT#s3a://}", "$(cat bucket)/ck")
COPY, WRITE = remote_changes.RemoteChanges.copy, remote_changes.RemoteChanges.write


class RemoteLab(Lab):
    """A lab whose query has its checkpoint at `s3a://BUCKET/ck`; its registry is led."""

    declared: str

    @property
    def now(self):
        """Where the query's checkpoint is now."""
        return self.led().pipeline("q").checkpoint

    @property
    def new(self):
        return f"{self.declared}.2"

    def folder_of(self, location):
        return self.folder / "store" / location.removeprefix("s3a://")

    @property
    def old_hash(self):
        return tree_hash(self.folder_of(self.declared))

    def led(self):
        return self.registry.led(self.store.places.all())

    def started(self):
        file = self.folder / "started"
        return file.read_text().split() if file.exists() else []

    def forget_start(self):
        """Take back what the old query writes when it is started again."""
        (self.folder_of(self.declared) / "offsets/9").unlink(missing_ok=True)

    def effects(self, run="preview"):
        self.notes = []

        def lead(pipeline, declared, location):
            self.store.places.lead(pipeline, declared=declared, location=location, run=run)

        return CrashingEffects(
            self.led(),
            self.home,
            run=run,
            pause=lambda _seconds: None,
            note=self.notes.append,
            lead=lead,
        )

    def run(self, plan, undo_of=None):
        run = self.enqueue(plan, undo_of)
        self.execute(run, plan, undo_of)
        return run

    def refused(self, plan):
        """Execute as a worker does: what a refusal finds is rolled back."""
        run = self.enqueue(plan)
        with pytest.raises(RefusedError) as raised:
            self.execute(run, plan)
        journal = RunJournal(self.store, run, plan, undo_of=None)
        Executor(self.effects(run), journal).roll_back(plan.steps)
        return str(raised.value)

    def undo(self, run, plan):
        records = step_records(self.store.journal.entries(run))
        past = Past(run=run, plan=plan, records={p: r.as_record() for p, r in records.items()})
        return build_undo(past, self.effects())


def fill(checkpoint):
    """Write a query without state that has read a file in each of two batches."""
    for name in ("offsets", "commits", "sources/0"):
        (checkpoint / name).mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"old"}')
    for batch in range(3):
        head = f'v1\n{{"batchTimestampMs":{batch}}}\n{{"logOffset":{batch}}}'
        (checkpoint / "offsets" / str(batch)).write_text(head)
        (checkpoint / "commits" / str(batch)).write_text("v1\n{}")
        taken = f'{{"path":"s3a://in/{batch}","timestamp":1,"batchId":{batch}}}'
        (checkpoint / "sources/0" / str(batch)).write_text(f"v1\n{taken}")


@pytest.fixture
def remote(tmp_path, quick, monkeypatch):
    """Makes labs, each with a bucket of its own."""
    numbers = itertools.count()
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")

    def opened(found, _settings):
        folder = tmp_path / found.host.removeprefix("b") / "store"
        below = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        return below, f"{found.host}/{found.path}"

    monkeypatch.setitem(remote_open._OPEN, "s3", opened)

    def make(start=START):
        number = next(numbers)
        folder, bucket = tmp_path / str(number), f"b{number}"
        fill(folder / "store" / bucket / "ck")
        (folder / "running").touch()
        (folder / "bucket").write_text(bucket)
        pipeline = Pipeline(
            name="q",
            engine=Engine.SPARK,
            checkpoint=f"s3a://{bucket}/ck",
            commands=replace(COMMANDS, start=start),
        )
        registry = Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,))
        made = RemoteLab(folder, registry, store)
        made.declared = pipeline.checkpoint
        return made

    yield make
    store.close()


def scratch_of(lab):
    plan = build_plan("from-scratch", "q", lab.effects())
    assert plan.appliable, plan.refusals
    return plan


def rewind_of(lab):
    plan = build_plan("from-old-state", "q", lab.effects(), {"batch": 1, "sink": "kafka"})
    assert plan.appliable, plan.refusals
    return plan


def assert_scratched(lab):
    assert (lab.folder_of(lab.new) / "metadata").read_text() == '{"id":"new"}\n'


def assert_rewound(lab):
    """The copy is what the same cut by hand is, and the query wrote its next batch to it."""
    new, old = lab.folder_of(lab.new), lab.folder_of(lab.declared)
    found = {p.relative_to(new).as_posix() for p in new.rglob("*") if p.is_file()}
    logs = ("offsets", "commits", "sources/0")
    kept = {"metadata", *(f"{log}/{batch}" for log in logs for batch in range(2))}
    assert found == {*kept, "offsets/9"}
    assert all((new / name).read_bytes() == (old / name).read_bytes() for name in kept)


CASES = pytest.mark.parametrize(
    ("planned", "check"),
    [(scratch_of, assert_scratched), (rewind_of, assert_rewound)],
    ids=["scratch", "old-state"],
)


def test_the_query_begins_anew_at_a_new_place_and_goes_back(remote):
    lab = remote()
    old = lab.old_hash
    plan = scratch_of(lab)
    assert [s.action for s in plan.steps] == ["stop_pipeline", "lead_query", "start_elsewhere"]
    assert plan.resources == (f"checkpoint:{lab.declared}", f"checkpoint:{lab.new}")
    run = lab.run(plan)
    assert lab.now == lab.new and lab.old_hash == old
    assert_scratched(lab)
    undo = lab.undo(run, plan)
    assert undo.appliable, undo.refusals
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
    assert any("a schedule, an orchestrator, a person" in risk for risk in plan.risks)


class Crashing(remote_changes.RemoteChanges):
    """The file system, where the process may be killed before or after each file."""

    points = Points()

    def copy(self, source, target, size):
        self.points.wrap(super().copy)(source, target, size)

    def write(self, path, data):
        self.points.wrap(super().write)(path, data)

    def remove(self, path):
        self.points.wrap(super().remove)(path)


@pytest.fixture
def killed(monkeypatch):
    """Counts each file that is written as a point, too; one at a time, to have an order."""
    monkeypatch.setattr(remote_changes, "RemoteChanges", Crashing)
    monkeypatch.setattr(place_copy, "_AT_ONCE", 1)

    def crash(lab, run, plan, at, undo_of=None):
        points = Crashing.points = Points(at)
        try:
            lab.execute(run, plan, undo_of, points=points)
        except Crash:
            return True
        finally:
            Crashing.points = Points()
        return False

    return crash


@pytest.mark.slow
@CASES
def test_a_crash_at_every_point(remote, killed, planned, check):
    for at in itertools.count():
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.enqueue(plan)
        crashed = killed(lab, run, plan, at)
        lab.execute(run, plan)
        check(lab)
        assert lab.now == lab.new and lab.old_hash == old
        assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()
        if not crashed:
            break
    assert at > 12


@pytest.mark.slow
@CASES
def test_a_crash_at_every_point_of_the_undo(remote, killed, planned, check):
    for at in itertools.count():
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.run(plan)
        undo = lab.undo(run, plan)
        back = lab.enqueue(undo, undo_of=run)
        crashed = killed(lab, back, undo, at, undo_of=run)
        lab.execute(back, undo, undo_of=run)
        assert lab.now == lab.declared and lab.started() == [lab.new, lab.declared]
        check(lab)
        lab.forget_start()
        assert lab.old_hash == old and not (lab.folder / "twice").exists()
        if not crashed:
            break
    assert at > 10


@pytest.mark.slow
@CASES
def test_what_a_crash_left_can_be_undone_instead(remote, killed, planned, check):
    for at in itertools.count():
        lab = remote()
        old = lab.old_hash
        plan = planned(lab)
        run = lab.enqueue(plan)
        crashed = killed(lab, run, plan, at)
        undo = lab.undo(run, plan)
        if undo.steps:
            assert undo.appliable, undo.refusals
            lab.run(undo, undo_of=run)
        assert lab.now == lab.declared
        lab.forget_start()
        assert lab.old_hash == old
        assert (lab.folder / "running").exists() and not (lab.folder / "twice").exists()
        # What no query has used goes; what one has written to stays.
        left = any(p.is_file() for p in lab.folder_of(lab.new).rglob("*"))
        assert left == (lab.new in lab.started())
        if not crashed:
            break
    assert at > 12


def test_a_new_version_begins_where_the_old_one_stopped_and_goes_back(remote):
    lab = remote()
    old = lab.old_hash
    plan = build_plan("carry-over", "q", lab.effects(), {"source": ["0=0"]})
    assert plan.appliable, plan.refusals
    actions = ["stop_pipeline", "make_place", "lead_query", "start_elsewhere"]
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
    withdraw="cp old.sh code.sh",
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
        plain = lab.effects
        lab.effects = lambda run="preview": with_judge(
            plain(run), Context(lab.led(), "sqlite://", lab.home)
        )
        given = {"after": str(case / "after"), "before": str(case / "before")}
        plan = build_plan("offline-upgrade", "q", lab.effects(), given)
        assert plan.appliable, plan.refusals
        return lab, plan

    return make


def test_a_new_version_works_on_a_copy_and_the_old_one_goes_on_where_it_was(upgrade):
    lab, plan = upgrade(BATCH)
    old = lab.old_hash
    assert [s.action for s in plan.steps] == [
        *("stop_pipeline", "gate_version", "copy_place", "lead_query", "deploy_version"),
        *("start_elsewhere", "prove_version", "compare_version"),
    ]
    run = lab.run(plan)
    assert lab.now == lab.new and lab.old_hash == old
    assert lab.effects().checkpoint(lab.new).head == (1, 1)
    undo = lab.undo(run, plan)
    assert undo.appliable, undo.refusals
    lab.run(undo, undo_of=run)
    assert lab.now == lab.declared and lab.old_hash == old
    assert (lab.folder / "code.sh").read_text() == "true\n"


def test_a_new_version_that_ends_before_its_first_batch_is_taken_back(upgrade):
    lab, plan = upgrade('cp "$d/offsets/0" "$d/offsets/1"; rm -f running\n')
    old = lab.old_hash
    assert "does not run" in lab.refused(plan)
    assert lab.now == lab.declared and lab.old_hash == old
    assert (lab.folder / "code.sh").read_text() == "true\n"
    assert (lab.folder / "running").exists()


def test_rescale_repair_and_retire_say_why_they_do_not_work_there(remote):
    lab = remote()
    (lab.folder / "running").unlink()
    for scenario, options in (("rescale", {"partitions": 4}), ("repair", {}), ("retire", {})):
        plan = build_plan(scenario, "q", lab.effects(), options)
        assert not plan.appliable
        assert any("remote file system" in refusal for refusal in plan.refusals), scenario


def test_a_start_command_that_does_not_say_where_is_refused(remote):
    plan = build_plan("from-scratch", "q", remote(COMMANDS.start).effects())
    assert "has to hand on ${HEADGATE_CHECKPOINT} as checkpointLocation" in plan.refusals[0]


def test_a_query_that_goes_on_at_the_old_place_is_seen_and_taken_back(remote):
    lab = remote(DEAF)
    said = lab.refused(scratch_of(lab))
    assert "goes on at the old checkpoint s3a://b0/ck, at batch" in said
    assert lab.now == lab.declared and (lab.folder / "running").exists()


def test_an_old_place_that_was_changed_since_can_not_be_gone_back_to(remote):
    lab = remote()
    plan = scratch_of(lab)
    run = lab.run(plan)
    (lab.folder_of(lab.declared) / "offsets/5").write_text("v1")
    (refusal,) = lab.undo(run, plan).refusals
    assert "s3a://b0/ck was changed since the run" in refusal


def test_a_write_that_is_not_allowed_costs_a_sentence_and_nothing_else(remote, monkeypatch):
    lab = remote()
    old = lab.old_hash

    def forbidden(self, path, data):
        raise PermissionError("the store refuses access")

    monkeypatch.setattr(remote_changes.RemoteChanges, "write", forbidden)
    said = lab.refused(rewind_of(lab))
    assert said == "s3a://b0/ck.2 may not be written: the store refuses access"
    lab.forget_start()
    assert lab.old_hash == old and lab.now == lab.declared
    assert not [p for p in lab.folder_of(lab.new).rglob("*") if p.is_file()]
    assert (lab.folder / "running").exists()


def test_an_object_that_changes_while_it_is_copied_is_seen(remote, monkeypatch):
    lab = remote()
    plan = rewind_of(lab)

    def slow(self, source, target, size):
        COPY(self, source, target, size)
        (lab.folder_of(lab.declared) / "sources/0/5").write_text("v1")

    monkeypatch.setattr(remote_changes.RemoteChanges, "copy", slow)
    assert "changed while it was copied: something writes" in lab.refused(plan)
    assert lab.now == lab.declared


def test_a_copy_goes_on_where_it_was_and_is_nothing_without_its_manifest(remote, monkeypatch):
    lab = remote()
    effects = lab.effects("run")
    expected = effects.listing_hash(lab.declared)
    copied = []

    def failing(self, source, target, size):
        if len(copied) == 2:
            raise OSError("the line is dead")
        copied.append(target)
        COPY(self, source, target, size)

    monkeypatch.setattr(place_copy, "_AT_ONCE", 1)
    monkeypatch.setattr(remote_changes.RemoteChanges, "copy", failing)
    with pytest.raises(UnreachableError, match="the line is dead"):
        effects.copy_place(lab.declared, lab.new, expected=expected)
    assert effects.place_flaw(lab.new) == f"{lab.new} has no manifest: its copy did not end"
    before = {p: p.stat().st_mtime_ns for p in lab.folder_of(lab.new).rglob("*") if p.is_file()}
    monkeypatch.setattr(remote_changes.RemoteChanges, "copy", COPY)
    effects.copy_place(lab.declared, lab.new, expected=expected)
    assert len(before) == 2 and all(p.stat().st_mtime_ns == at for p, at in before.items())
    assert effects.place_flaw(lab.new) is None
    assert tree_hash(lab.folder_of(lab.new)) == lab.old_hash
    (lab.folder_of(lab.new) / "metadata").write_text('{"id":"other one"}')
    assert "metadata is not what was to be written" in effects.place_flaw(lab.new)


def test_only_a_numbered_neighbour_is_written_or_removed(remote):
    lab = remote()
    effects = lab.effects("run")
    for place in (lab.declared, "s3a://b0/other", "s3a://b0/ck.x", "s3a://b0/ck/offsets"):
        with pytest.raises(StepError, match="is no place that a run makes"):
            effects.drop_place(place, None)


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
    lab.store.places.lead("q", declared="s3a://b0/ck", location="s3a://b0/ck.2", run="r")
    found = open_context(str(file)).registry.pipeline("q")
    assert (found.checkpoint, found.declared) == ("s3a://b0/ck.2", "s3a://b0/ck")


def test_a_user_interface_that_shows_a_batch_speaks_against_a_stop_there_too(remote, monkeypatch):
    lab = remote()
    (pipeline,) = lab.registry.pipelines
    seen = replace(pipeline, evidence=("http://127.0.0.1:4040",))
    lab.registry = replace(lab.registry, pipelines=(seen,))
    monkeypatch.setattr(spark_rest, "running_queries", lambda _address: {"old"})
    assert lab.effects().told("q").status is Status.RUNS
