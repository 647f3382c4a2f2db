"""Old runs' snapshots go, and nothing that an undo may still need."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from headgate.errors import RefusedError, RegistryError
from headgate.gateway.checkpoint.backups import JOURNAL_KEYS
from headgate.reprocess.steps import all_steps
from headgate.reprocess.steps.checkpoint.backup_folder import RestoreFolder
from headgate.store import open_store
from headgate.store.rows import Event, NewRun, RunState
from headgate.store.tables import RUNS
from headgate.store.worker_slots import Slot
from headgate.text.times import read_duration
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.rebuild_plan import CLEAN, _undo_blockers, unfinished_runs
from headgate.usecases.runs.clean_runs import clean_runs
from headgate.usecases.runs.resume_run import resume_run
from headgate.worker.main import Worker

pytestmark = pytest.mark.slow

TOML = """\
[[pipeline]]
name = "q"
engine = "spark"
checkpoint = "ck"
[runs]
keep_snapshots = "2 days"
"""


@pytest.fixture
def home(tmp_path):
    """A team's folder with a checkpoint; `made.run(...)` puts something aside as a run does."""
    (tmp_path / "headgate.toml").write_text(TOML)
    (tmp_path / "ck").mkdir()
    return Home(tmp_path)


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.context = open_context(str(folder / "headgate.toml"))

    def run(
        self, *, days=3.0, state=RunState.DONE, undo_of=None, done=True, began=True, bounded=None
    ):
        """A run that ended so many days ago and left a folder beside the checkpoint and a copy."""
        resources = (f"checkpoint:{bounded}",) if bounded else ()
        new = NewRun(scenario="bounded" if bounded else "x", pipeline="q", plan_hash="h",
                     plan="{}", resources=resources, undo_of=undo_of)  # fmt: skip
        with closing(open_store(self.context.store_url)) as store:
            run = store.runs.enqueue(new, by="ann", action="apply")
            places = [self.folder / f".ck.before-{run}", self.context.home / "runs" / run]
            for place in places:
                place.mkdir(parents=True)
                (place / "file").write_bytes(bytes(1000))
            if began:
                store.journal.add(run, 0, Event.BEGUN, {"was": {"aside": str(places[0])}})
                if done:
                    store.journal.add(run, 0, Event.DONE)
            ended = (datetime.now(UTC) - timedelta(days=days)).isoformat()
            with store.runs._database.writing() as connection:
                values = {"state": state.value, "ended_at": None if state.is_active else ended}
                connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(**values))
        return run

    def clean(self, **how):
        return {c.run for c in clean_runs(self.context, by="ann", **how)}

    def left(self, run):
        return len(list(self.folder.glob(f".ck.*-{run}"))) + len(
            list((self.context.home / "runs").glob(run))
        )


def test_the_folder_of_every_step_that_restores_one_is_offered():
    kinds = [kind for kind in all_steps() if issubclass(kind, RestoreFolder)]
    assert len(kinds) >= 2
    assert {kind.key for kind in kinds} <= set(JOURNAL_KEYS)


def test_what_is_old_goes_and_what_is_young_stays(home):
    old, young = home.run(days=3), home.run(days=1)
    assert home.clean(dry=True) == {old} and home.left(old) == 2
    assert home.clean() == {old}
    assert (home.left(old), home.left(young)) == (0, 2)
    assert home.clean() == set()
    assert (home.folder / "ck").is_dir()


def test_a_cleaned_run_is_not_undone_any_more(home):
    run = home.run()
    home.clean()
    with closing(open_store(home.context.store_url)) as store:
        assert [row.action for row in store.audit.list(run)][-1] == CLEAN
        (reason,) = _undo_blockers(store, store.runs.get(run), None)
    assert "its snapshots expired" in reason and "were removed at" in reason


KEPT = {
    "under way": {"state": RunState.RUNNING},
    "failed half-way": {"state": RunState.FAILED},
    "in doubt": {"state": RunState.CANCELLED, "done": False},
}


@pytest.mark.parametrize("how", KEPT.values(), ids=KEPT)
def test_what_an_undo_may_need_stays(home, how):
    run = home.run(**how)
    assert home.clean() == set() and home.left(run) == 2


def test_bounded_runs_that_a_later_one_continued_are_over(home):
    """Ticks that end at their time limit are cancelled part-way, one after the other."""
    first, second = (home.run(state=RunState.CANCELLED, bounded="ck") for _ in range(2))
    other = home.run(state=RunState.CANCELLED, bounded="other")
    # It did nothing, so it continued nothing.
    home.run(state=RunState.FAILED, bounded="other", began=False, days=0)
    assert home.clean() == {first}
    assert home.left(first) == 0 and home.left(second) == home.left(other) == 2
    with closing(open_store(home.context.store_url)) as store:
        assert [r.id for r in unfinished_runs(store, ("checkpoint:ck",))] == [second]
        assert [r.id for r in unfinished_runs(store, ("checkpoint:other",))] == [other]
    done = home.run(bounded="ck", days=0)
    assert home.clean() == {second} and home.left(done) == 2
    with closing(open_store(home.context.store_url)) as store:
        assert unfinished_runs(store, ("checkpoint:ck",)) == ()


def test_a_run_whose_snapshots_are_gone_does_not_resume(home):
    first = home.run(state=RunState.CANCELLED, bounded="ck")
    later = home.run(bounded="ck", days=0)
    assert home.clean() == {first}
    with closing(open_store(home.context.store_url)) as store:
        store.journal.add(later, 0, Event.UNDONE)
    with pytest.raises(RefusedError, match="expired and were removed"):
        resume_run(home.context, first, by="ann")


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.RUNNING, RunState.CANCELLED])
def test_a_run_whose_undo_is_not_at_its_end_stays(home, state):
    run = home.run()
    undo = home.run(undo_of=run, state=state, days=0)
    assert home.clean() == set() and home.left(run) == home.left(undo) == 2


def test_a_run_that_was_undone_goes(home):
    run = home.run()
    undo = home.run(undo_of=run)
    assert home.clean() == {run, undo}


def test_a_run_whose_undo_waits_stays(home):
    run = home.run()
    undo = home.run(undo_of=run, state=RunState.QUEUED, began=False)
    assert home.clean() == set() and home.left(run) == home.left(undo) == 2


def worker_of(home, store):
    config = str(home.folder / "headgate.toml")
    return Worker(config, store, Slot(store.database), idle_exit=None)


def test_a_worker_cleans_between_runs_and_its_name_is_in_the_audit_trail(home):
    old, young = home.run(days=3), home.run(days=1)
    busy = home.run(state=RunState.RUNNING, began=False)
    with closing(open_store(home.context.store_url)) as store:
        worker = worker_of(home, store)
        worker._clean_now()
        assert home.left(old) == 2
        store.runs.finish(busy, RunState.DONE)
        worker._clean_now()
        assert (home.left(old), home.left(young), home.left(busy)) == (0, 2, 2)
        last = store.audit.list(old)[-1]
        assert (last.action, last.by) == (CLEAN, "slot-0")


def test_only_names_that_a_run_gives_are_removed(home):
    run = home.run(began=False)
    precious = home.folder / "precious"
    precious.mkdir()
    other = home.folder / ".ck.before-20200101-000000-abcdef"
    other.mkdir()
    with closing(open_store(home.context.store_url)) as store:
        was = {"aside": str(precious), "copy": str(other), "fresh": str(home.folder / "ck")}
        store.journal.add(run, 0, Event.BEGUN, {"was": was})
        store.journal.add(run, 0, Event.DONE)
    assert home.clean() == {run}
    assert precious.is_dir() and other.is_dir() and (home.folder / "ck").is_dir()


def test_a_folder_that_a_pipeline_works_in_is_never_removed(home):
    run = home.run()
    text = TOML.replace('"ck"', f'".ck.before-{run}"')
    (home.folder / "headgate.toml").write_text(text)
    home.context = open_context(str(home.folder / "headgate.toml"))
    home.clean()
    assert (home.folder / f".ck.before-{run}").is_dir()


DURATIONS = {"14 days": 336, "36h": 36, "1 hour": 1, "2 Weeks": 336, "0 days": 0}


@pytest.mark.parametrize(("text", "hours"), DURATIONS.items())
def test_durations(text, hours):
    assert read_duration(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["14", "days", "-1 days", "1.5 days", "14 months"])
def test_what_is_no_duration(tmp_path, text):
    (tmp_path / "headgate.toml").write_text(f'[runs]\nkeep_snapshots = "{text}"\n')
    with pytest.raises(RegistryError, match=r"headgate\.toml:2: .*14 days"):
        open_context(str(tmp_path / "headgate.toml"))
