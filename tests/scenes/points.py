"""Points of a run where a fault may strike: before and after each journal entry and each effect.

`install` wraps the product's own classes within a worker's process; the product has no hook.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# What only reads or talks is no point: a crash there is one after the point before.
_NO_EFFECT = frozenset(
    {"run", "note", "pause", "progress", "exists", "has_left", "tree_hash", "snapshot_place"}
)
# So long after an effect began it is killed where `how` is `inside`.
_INSIDE_SECONDS = 0.12


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a run: `side` of `what` (an effect, or a journal entry) in step `position`."""

    number: int
    position: int
    what: str
    side: str

    @property
    def is_entry(self) -> bool:
        """Whether it is beside a journal entry, not an effect."""
        return self.what in ("begin", "done")

    def __str__(self) -> str:
        return f"{self.side} {self.what} of step {self.position}"


def read_trace(trace: Path) -> list[Point]:
    """Return the points that a process passed, in order."""
    lines = trace.read_text().splitlines() if trace.exists() else []
    return [Point(**json.loads(line)) for line in lines]


class _Passing:
    """Counts the points as they are passed, and strikes at one."""

    def __init__(self, trace: str, at: int | str | None, how: str) -> None:
        self._trace, self._at, self._how = trace, at, how
        self._count, self._position = 0, -1
        self._lock = threading.Lock()

    def wrap(self, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def passing(this: Any, *args: Any, **kwargs: Any) -> Any:
            if what in ("begin", "done"):
                self._position = args[0]
            self._hit(what, "before")
            result = call(this, *args, **kwargs)
            self._hit(what, "after")
            return result

        return passing

    def _hit(self, what: str, side: str) -> None:
        with self._lock:
            point = Point(self._count, self._position, what, side)
            self._count += 1
        with open(self._trace, "a") as file:  # noqa: PTH123
            file.write(json.dumps(asdict(point)) + "\n")
        if self._at in (point.number, str(point)):
            self._at = None
            self._strike()

    def _strike(self) -> None:
        match self._how:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "inside":
                threading.Thread(target=_kill_soon, daemon=True).start()
            case "stop":
                # The one who watches does something to the world, and lets it go on.
                os.kill(os.getpid(), signal.SIGSTOP)


def _kill_soon() -> None:
    time.sleep(_INSIDE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def install(
    *, trace: str, at: int | str | None = None, how: str = "kill", busy_seconds: float | None = None
) -> None:
    """Wrap effects and journal of this process; strike at point `at`, if there is one.

    A point is given by its number or as it is written, as `after begin of step 2`; it strikes once.
    `how`: `kill` is SIGKILL at once, `inside` a moment later, in the midst of what begins there,
    `stop` is SIGSTOP. `busy_seconds` is how long the store is waited for, where not as usual.
    """
    from headgate.gateway.world import LiveEffects
    from headgate.plan.world import Effects, World
    from headgate.worker.run_journal import RunJournal

    passing = _Passing(trace, at, how)
    reads = {name for kind in World.__mro__ for name in vars(kind)} | _NO_EFFECT
    for name in {name for kind in Effects.__mro__ for name in vars(kind)} - reads:
        call = getattr(LiveEffects, name, None)
        if callable(call) and not name.startswith("_"):
            setattr(LiveEffects, name, passing.wrap(name, call))
    for name in ("begin", "done"):
        setattr(RunJournal, name, passing.wrap(name, getattr(RunJournal, name)))
    if busy_seconds is not None:
        _wait_less(busy_seconds)


def _wait_less(seconds: float) -> None:
    """Lock waits of half a minute are right for people, not for a hundred trials."""
    from headgate.store.store import open_store

    open_store.__kwdefaults__["busy_seconds"] = seconds
