"""What all adapters of one plan or run work in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from headgate.model.registered_pipelines import Registry
from headgate.model.schedules import Schedule, StoredSchedule


class KeptSchedules(Protocol):
    """Where schedules are kept; the store's repository is one."""

    def get(self, pipeline: str, /) -> StoredSchedule | None:
        """Return the pipeline's schedule, None if it has none."""

    def put(self, schedule: Schedule, run: str, /) -> None:
        """Write a schedule in a run's name."""

    def restore(self, pipeline: str, before: StoredSchedule | None, /) -> None:
        """Write a schedule as it was; with None, remove it."""


class NoSchedules:
    """Keeps none: a plan has nothing to do with them."""

    def get(self, _pipeline: str) -> StoredSchedule | None:
        """Return None."""
        return None

    def put(self, _schedule: Schedule, _run: str) -> None:
        """Keep nothing."""

    def restore(self, _pipeline: str, _before: StoredSchedule | None) -> None:
        """Keep nothing."""


@dataclass(slots=True, kw_only=True)
class RunContext:
    """The registry as it is now, Headgate's home, and what the executor of a run supplies.

    A plan has no `run`; its calls neither wait nor report. `registry` changes when the run
    switches a pipeline to another checkpoint. `switch_checkpoint` records that: pipeline, the
    declared location, the new one. `keep` stores what a step's program reports, by a name.
    """

    registry: Registry
    home: Path
    run: str = ""
    pause: Callable[[float], None] = lambda _seconds: None
    note: Callable[[str], None] = lambda _message: None
    ask: Callable[[str, str], str | None] = lambda _word, _request: None
    progress: Callable[[int, int | None, str], None] = lambda _done, _total, _unit: None
    switch_checkpoint: Callable[[str, str, str], None] = lambda _pipeline, _declared, _to: None
    keep: Callable[[str, Mapping[str, Any]], None] = lambda _name, _document: None
    schedules: KeptSchedules = field(default_factory=NoSchedules)

    @property
    def run_folder(self) -> Path:
        """The folder that is this run's own, for copies and records."""
        return self.home / "runs" / self.run

    @property
    def folder(self) -> Path:
        """What relative paths are relative to, wherever a command or a worker runs."""
        return Path(self.registry.path).parent if self.registry.path else Path.cwd()

    def is_cancelled(self) -> bool:
        """Return False; a cancelled run stops here by an exception of its own."""
        self.pause(0)
        return False
