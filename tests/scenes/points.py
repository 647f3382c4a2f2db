"""Points of a run where a fault may strike: before and after each journal entry and each effect.

`install` wraps the product's own classes within a worker's process; the product has no hook.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

from scenes.spark_programs import begun_jobs, stop

# What only reads or talks is no point: a crash there is one after the point before.
_NO_EFFECT = frozenset(
    {
        *("exists", "has_left", "tree_hash", "snapshot_folder", "read_record"),
        *("staged_rows", "is_replaced", "is_restored"),
    }
)
# At most so long after an effect began it is killed where `how` is `inside`.
_INSIDE_SECONDS = 0.12
_POLL_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a run: `side` of `what` (an effect, or a journal entry) in step `position`.

    `seconds` is when it was passed, by a clock of its own; behind an effect, `jobs` is how many
    jobs its Spark programs began.
    """

    number: int
    position: int
    what: str
    side: str
    seconds: float = 0.0
    jobs: int = 0

    @property
    def is_entry(self) -> bool:
        """Whether it is beside a journal entry, not an effect."""
        return self.what in ("begin", "done")

    def __str__(self) -> str:
        return f"{self.side} {self.what} of step {self.position}"


@dataclass(frozen=True, slots=True)
class Target:
    """A point whose number does not matter: the `nth` one of its kind, and what is done there.

    A worker that goes on where another one was killed passes fewer points, with other numbers.
    Where `how` is `inside` or `stop inside`, it is struck `after` so many seconds, or where `jobs`
    is given once its Spark programs have begun so many.
    """

    position: int
    what: str
    side: str
    nth: int
    how: str
    after: float = _INSIDE_SECONDS
    jobs: int = 0


def read_trace(trace: Path) -> list[Point]:
    """Return the points that a process passed, in order."""
    lines = trace.read_text().splitlines() if trace.exists() else []
    return [Point(**json.loads(line)) for line in lines]


def targets(points: Sequence[Point]) -> dict[int, Target]:
    """Return the targets of a run that passed these points, by the point's number.

    The midst of an effect is after half of the time, or of the Spark jobs, that it took there.
    """
    seen: Counter[tuple[int, str, str]] = Counter()
    found = {}
    for number, point in enumerate(points):
        name = (point.position, point.what, point.side)
        end = _end(points[number:])
        after = min((end.seconds - point.seconds) / 2, _INSIDE_SECONDS)
        found[point.number] = Target(*name, seen[name], "kill", after, (end.jobs + 1) // 2)
        seen[name] += 1
    return found


def _end(points: Sequence[Point]) -> Point:
    """Return where what begins at the first of these points ended."""
    first = points[0]
    return next((p for p in points if p.what == first.what and p.side == "after"), first)


def read_struck(trace: Path) -> list[Target]:
    """Return the targets at which the process with that trace was struck, in order."""
    file = _struck(trace)
    lines = file.read_text().splitlines() if file.exists() else []
    return [Target(*json.loads(line)) for line in lines]


def _struck(trace: Path) -> Path:
    return trace.with_name(f"{trace.name}.struck")


class _Passing:
    """Counts the points as they are passed, and strikes at one, or at the first of several."""

    def __init__(
        self, trace: str, at: int | str | None, how: str, targets: Iterable[Target]
    ) -> None:
        self._trace, self._at, self._how = trace, at, how
        self._targets: dict[Target, list[Target]] = {}
        for target in targets:
            name = replace(target, how="", after=0.0, jobs=0)
            self._targets.setdefault(name, []).append(target)
        self._count, self._position = 0, -1
        self._seen: Counter[tuple[int, str, str]] = Counter()
        self._lock = threading.Lock()
        # Of the effect that is under way.
        self._jobs, self._over = begun_jobs(), threading.Event()

    def at_step(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap what is first asked of a step, also of one that another process has begun."""

        def asking(this: Any, position: int) -> Any:
            self._position = position
            # What a resumed run passes again is once more the first one of its kind.
            self._seen = Counter({n: k for n, k in self._seen.items() if n[0] != position})
            return call(this, position)

        return asking

    def wrap(self, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def passing(this: Any, *args: Any, **kwargs: Any) -> Any:
            if what in ("begin", "done"):
                self._position = args[0]
            jobs, over = self._jobs, self._over = begun_jobs(), threading.Event()
            self._hit(what, "before")
            try:
                result = call(this, *args, **kwargs)
            finally:
                over.set()
            self._hit(what, "after", jobs())
            return result

        return passing

    def _hit(self, what: str, side: str, jobs: int = 0) -> None:
        with self._lock:
            point = Point(self._count, self._position, what, side, time.monotonic(), jobs)
            self._count += 1
            name = (point.position, what, side)
            its = self._targets.get(Target(*name, self._seen[name], "", 0.0))
            target = its.pop(0) if its else None
            self._seen[name] += 1
        with open(self._trace, "a") as file:  # noqa: PTH123
            file.write(json.dumps(asdict(point)) + "\n")
        if self._at in (point.number, str(point)):
            self._at = None
            self._strike(self._how)
        elif target is not None:
            if not target.how.startswith("stop"):
                # It dies of this one, perhaps a moment later.
                self._targets.clear()
            with _struck(Path(self._trace)).open("a") as file:
                file.write(json.dumps(astuple(target)) + "\n")
            self._strike(target.how, target.after, target.jobs)

    def _strike(self, how: str, after: float = _INSIDE_SECONDS, jobs: int = 0) -> None:
        # Stopped, the one who watches does something to the world, and lets it go on.
        number = signal.SIGSTOP if how.startswith("stop") else signal.SIGKILL
        if how.endswith("inside"):
            over = self._over
            wait = partial(_until_begun, self._jobs, jobs, over) if jobs else partial(sleep, after)
            act = partial(stop, os.getpid()) if number is signal.SIGSTOP else _die
            threading.Thread(target=lambda: (wait(), act()), daemon=True).start()
        else:
            os.kill(os.getpid(), number)


def _until_begun(count: Callable[[], int], jobs: int, over: threading.Event) -> None:
    """Wait until so many jobs were begun, or the effect was over before."""
    while count() < jobs and not over.wait(_POLL_SECONDS):
        pass


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def install(
    *,
    trace: str,
    at: int | str | None = None,
    how: str = "kill",
    targets: Sequence[Sequence[Any]] = (),
    busy_seconds: float | None = None,
    recoveries: int | None = None,
) -> None:
    """Wrap effects and journal of this process; strike at point `at`, if there is one.

    A point is given by its number or as it is written, as `after begin of step 2`; it strikes once.
    Of `targets`, each as the fields of a `Target`, that one strikes which comes first, and a `stop`
    leaves the others to come. `how`: `kill` is SIGKILL at once, `inside` a moment later, in the
    midst of what begins there, `stop` and `stop inside` are SIGSTOP, of its Spark programs, too.
    `busy_seconds` is how long the store is waited for, `recoveries` how often a run is taken up
    again, where not as usual.
    """
    from headgate.worker.run_journal import RunJournal

    passing = _Passing(trace, at, how, [Target(*given) for given in targets])
    for adapter, name in _effects():
        setattr(adapter, name, passing.wrap(name, getattr(adapter, name)))
    for name in ("begin", "done"):
        setattr(RunJournal, name, passing.wrap(name, getattr(RunJournal, name)))
    setattr(RunJournal, "record", passing.at_step(RunJournal.record))  # noqa: B010
    _take_up_soon()
    if busy_seconds is not None:
        _wait_less(busy_seconds)
    if recoveries is not None:
        _recover_less(recoveries)


def _effects() -> Iterator[tuple[type, str]]:
    """Yield the methods of the adapters that are effects: what an applier has and no inspector."""
    from headgate.gateway.adapters.checkpoint_location import RemoteCheckpointAdapter
    from headgate.gateway.adapters.checkpoints import CheckpointAdapter
    from headgate.gateway.adapters.dead_letters import DeadLetterAdapter
    from headgate.gateway.adapters.folders import FolderAdapter
    from headgate.gateway.adapters.kafka import KafkaAdapter
    from headgate.gateway.adapters.processes import ProcessAdapter
    from headgate.gateway.adapters.record_backup import RecordBackupAdapter
    from headgate.gateway.adapters.schedules import ScheduleAdapter
    from headgate.gateway.adapters.schema_registry import SchemaAdapter
    from headgate.gateway.adapters.sinks import SinkAdapter
    from headgate.gateway.adapters.spark_jobs import SparkJobAdapter
    from headgate.gateway.adapters.state import StateAdapter
    from headgate.gateway.adapters.tables import TableAdapter
    from headgate.reprocess.ports.checkpoint_location import RemoteCheckpointApplier
    from headgate.reprocess.ports.checkpoints import CheckpointApplier
    from headgate.reprocess.ports.dead_letters import DeadLetterApplier
    from headgate.reprocess.ports.folders import FolderApplier
    from headgate.reprocess.ports.kafka import KafkaApplier
    from headgate.reprocess.ports.processes import ProcessApplier
    from headgate.reprocess.ports.record_backup import RecordBackupApplier
    from headgate.reprocess.ports.schedules import ScheduleApplier
    from headgate.reprocess.ports.schema_registry import SchemaApplier
    from headgate.reprocess.ports.sinks import SinkApplier
    from headgate.reprocess.ports.spark_jobs import SparkJobApplier
    from headgate.reprocess.ports.state import StateApplier
    from headgate.reprocess.ports.tables import TableApplier

    pairs = {
        CheckpointApplier: CheckpointAdapter,
        DeadLetterApplier: DeadLetterAdapter,
        FolderApplier: FolderAdapter,
        KafkaApplier: KafkaAdapter,
        ProcessApplier: ProcessAdapter,
        RecordBackupApplier: RecordBackupAdapter,
        RemoteCheckpointApplier: RemoteCheckpointAdapter,
        ScheduleApplier: ScheduleAdapter,
        SchemaApplier: SchemaAdapter,
        SinkApplier: SinkAdapter,
        SparkJobApplier: SparkJobAdapter,
        StateApplier: StateAdapter,
        TableApplier: TableAdapter,
    }
    for port, adapter in pairs.items():
        for name in vars(port):
            if not name.startswith("_") and name not in _NO_EFFECT:
                yield adapter, name


def _take_up_soon() -> None:
    """What is recovered stands in a queue that DBOS looks at once a second."""
    from dbos._dbos import _get_or_create_dbos_registry

    _get_or_create_dbos_registry().get_internal_queue()._polling_interval_sec = 0.05


def _wait_less(seconds: float) -> None:
    """Lock waits of half a minute are right for people, not for a hundred trials."""
    from headgate.store.store import open_store

    open_store.__kwdefaults__["busy_seconds"] = seconds


def _recover_less(times: int) -> None:
    from dbos._registrations import get_func_info

    from headgate.worker import dbos_engine

    info = get_func_info(dbos_engine.execute_run)
    assert info is not None and info.max_recovery_attempts == dbos_engine.MOST_RECOVERIES
    info.max_recovery_attempts = times
