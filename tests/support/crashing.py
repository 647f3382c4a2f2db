"""Runs over shell commands and a checkpoint folder that crash at any of their effects."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.processes import ProcessAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.open_state import OpenState
from headgate.model.registered_pipelines import Commands, Registry
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import dump_plan
from headgate.reprocess.ports.processes import Status
from headgate.store import Store
from headgate.store.rows import NewRun
from headgate.store.step_records import step_records
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


class QuickProcesses(ProcessAdapter):
    def status(self, pipeline):
        """What the status command says, without a shell: it is asked hundreds of times here."""
        running = Path(self._context.registry.path).parent / "running"
        return Status.RUNS if running.exists() else Status.STOPPED


class CrashingApplier(LiveApplier):
    EFFECTS: ClassVar = {
        "processes": ("command", "manual_step"),
        "folders": (
            *("copy_tree", "move", "make_like", "remove_tree", "remove_results"),
            *("write_record", "move_files"),
        ),
        "kafka": (
            *("alter_offsets", "delete_offsets", "create_topic", "delete_topic"),
            *("configure_topic", "delete_records", "add_partitions"),
        ),
        "records": ("back_up", "restore", "publish"),
        "dead_letters": ("redrive", "forget", "write"),
        "checkpoints": (
            *("copy_beside", "edit_copy", "remove_beside", "create", "delete_draft"),
            *("copy_to_batch", "copy_newest", "move_schemas"),
        ),
        "sinks": ("copy_log",),
        "remote_checkpoints": ("copy", "create", "delete", "switch"),
        "spark_jobs": ("run",),
        "schedules": ("put", "restore"),
        "tables": ("stage", "replace_rows", "restore_rows", "drop"),
    }

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self.processes = QuickProcesses(context)
        # Nothing, without a JVM: tests/integration/spark/test_open_state.py reads real ones.
        self.state.open_state = lambda _location, batch: OpenState(
            batch=batch, unknown="not read in this test"
        )

    def crash_at(self, points: Points) -> CrashingApplier:
        for port, names in self.EFFECTS.items():
            adapter = getattr(self, port)
            for name in names:
                setattr(adapter, name, points.wrap(getattr(adapter, name)))
        return self


QUERY_ID = "5ca1ab1e-0000-4000-8000-000000000001"
"""The id of the query whose checkpoint a lab has."""


class Lab:
    """A folder with a registry; runs plans over real effects and a real store."""

    def __init__(self, folder: Path, registry: Registry, store: Store) -> None:
        self.folder = folder
        self.registry = registry
        self.home = folder / ".headgate"
        self.store = store
        # Who confirms what a person is asked to do, by word and request; None: not yet.
        self.person = lambda _word, _request: None
        # What watch and evidence say of outputs, by pipeline and query id; None: nothing.
        self.locate = None

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

    def applier(self, run: str = "preview") -> CrashingApplier:
        def note(message):
            self.notes.append(message)

        self.notes = []
        made = CrashingApplier(
            RunContext(
                registry=self.registry,
                home=self.home,
                run=run,
                note=note,
                ask=lambda word, request: self.person(word, request),
                schedules=self.store.schedules,
            )
        )
        made.evidence.locate = self.locate
        return made

    def execute(self, run: str, plan, undo_of=None, *, points: Points | None = None) -> None:
        points = points or Points()
        applier = self.applier(run).crash_at(points)
        journal = RunJournal(self.store, run, plan, undo_of=undo_of)
        for name in ("begin", "done"):
            setattr(journal, name, points.wrap(getattr(journal, name)))
        executor = Executor(applier, journal)
        for position, step in enumerate(plan.steps):
            executor.apply(position, step)

    def crash(self, run: str, plan, at: int, undo_of=None) -> bool:
        """Execute and crash at point `at`; False where the run ends before it."""
        try:
            self.execute(run, plan, undo_of, points=Points(at))
        except Crash:
            return True
        return False

    def undo(self, run: str, plan):
        """Return the plan of the run's undo."""
        records = step_records(self.store.journal.entries(run))
        past = Past(run=run, plan=plan, records={p: r.as_record() for p, r in records.items()})
        return build_undo(past, self.applier())
