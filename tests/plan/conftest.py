"""A pipeline made of shell commands and a checkpoint folder, and a run over it that can crash."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from headgate.gateway.world import LiveEffects
from headgate.model.registry import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.plan import proof
from headgate.plan.execute import Executor
from headgate.plan.plan import dump_plan
from headgate.plan.steps import process
from headgate.plan.world import Status
from headgate.store import Store, open_store
from headgate.store.runs import NewRun
from headgate.worker.run_journal import RunJournal

# A start while it runs is written to `twice`: that must never be.
START = (
    "[ -e running ] && echo >> twice; touch running; mkdir -p ck/offsets;"
    '[ -e ck/metadata ] || echo \'{"id":"new"}\' > ck/metadata'
)
COMMANDS = Commands(stop="rm -f running", start=START, status="[ -e running ] && exit 0 || exit 3")


class Crash(BaseException):
    """The process is gone: no handler of ours may see it."""


class Points:
    """Counts effects and journal entries; crashes before or after the one that is `at`."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.count = 0

    def wrap(self, call):
        def counted(*args, **kwargs):
            self._hit()
            result = call(*args, **kwargs)
            self._hit()
            return result

        return counted

    def _hit(self) -> None:
        self.count += 1
        if self.count - 1 == self.at:
            raise Crash


class CrashingEffects(LiveEffects):
    NAMES = (
        *("command", "alter_offsets", "delete_offsets", "copy_tree", "move", "make_like"),
        *("remove_tree", "write_record", "create_topic", "delete_topic"),
        *("configure_topic", "empty_topic", "park", "unpark"),
        *("copy_beside", "remove_beside", "make_checkpoint", "drop_draft"),
        *("copy_to_batch", "copy_sink_log", "move_files", "remove_beside"),
    )

    def status(self, pipeline):
        """What the status command says, without a shell: it is asked hundreds of times here."""
        running = Path(self.registry.path).parent / "running"
        return Status.RUNS if running.exists() else Status.STOPPED

    def crash_at(self, points: Points) -> CrashingEffects:
        for name in self.NAMES:
            setattr(self, name, points.wrap(getattr(self, name)))
        return self


class Lab:
    """A folder with a registry; runs plans over real effects and a real store."""

    def __init__(self, folder: Path, registry: Registry, store: Store) -> None:
        self.folder = folder
        self.registry = registry
        self.home = folder / ".headgate"
        self.store = store

    def enqueue(self, plan, undo_of=None) -> str:
        new = NewRun(
            scenario=plan.scenario,
            pipeline=plan.pipeline,
            plan_hash=plan.hash,
            plan=dump_plan(plan),
            resources=(),
            undo_of=undo_of,
        )
        return self.store.runs.enqueue(new, by="ann", action="apply")

    def effects(self, run: str = "preview") -> CrashingEffects:
        def note(message):
            self.notes.append(message)

        self.notes = []
        return CrashingEffects(
            self.registry, self.home, run=run, pause=lambda _seconds: None, note=note
        )

    def execute(self, run: str, plan, undo_of=None, *, points: Points | None = None) -> None:
        points = points or Points()
        effects = self.effects(run).crash_at(points)
        journal = RunJournal(self.store, run, plan, undo_of=undo_of)
        for name in ("begin", "done"):
            setattr(journal, name, points.wrap(getattr(journal, name)))
        executor = Executor(effects, journal)
        for position, step in enumerate(plan.steps):
            executor.apply(position, step)

    def crash(self, run: str, plan, at: int, undo_of=None) -> bool:
        """Execute and crash at point `at`; False where the run ends before it."""
        try:
            self.execute(run, plan, undo_of, points=Points(at))
        except Crash:
            return True
        return False


@pytest.fixture
def quick(monkeypatch):
    """Waits that a person would want, not a test."""
    for name in ("QUIET_MIN", "QUIET_MAX"):
        monkeypatch.setattr(proof, name, 0.5)
    for name in ("SIGN_SECONDS", "GRACE_SECONDS"):
        monkeypatch.setattr(process, name, 0.5)


@pytest.fixture
def lab(tmp_path, quick):
    """Makes labs, each in a folder of its own, whose query runs and has a checkpoint."""
    numbers = itertools.count()
    store = open_store(f"sqlite:///{tmp_path / 'headgate.db'}")

    def make(commands: Commands = COMMANDS) -> Lab:
        folder = tmp_path / str(next(numbers))
        checkpoint = folder / "ck"
        (checkpoint / "offsets").mkdir(parents=True)
        (checkpoint / "commits").mkdir()
        (checkpoint / "metadata").write_text('{"id":"old"}')
        head = 'v1\n{"batchTimestampMs":1}\n{"logOffset":1}'
        (checkpoint / "offsets" / "4").write_text(head)
        (checkpoint / "commits" / "4").write_text("v1\n{}")
        (folder / "running").touch()
        pipeline = Pipeline(
            name="q", engine=Engine.SPARK, checkpoint=str(checkpoint), commands=commands
        )
        registry = Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,))
        return Lab(folder, registry, store)

    yield make
    store.close()
