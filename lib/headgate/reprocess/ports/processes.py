"""What plans ask of pipelines, and do to them, by their registered commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from headgate.model.registered_pipelines import Pipeline


class Status(StrEnum):
    """Whether a pipeline runs, as its status command says; UNKNOWN is never read as stopped.

    PAUSED is neither: its processes are up and in their groups.
    """

    RUNS = "runs"
    STOPPED = "stopped"
    PAUSED = "paused"
    UNKNOWN = "unknown"

    @property
    def word(self) -> str:
        """Return the status as an adjective, for sentences."""
        return "running" if self is Status.RUNS else self.value


@dataclass(frozen=True, slots=True)
class DriverStatus:
    """What a pipeline's driver reports: STOPPED if it reported its own end; `why` is a clause.

    `error` is what the reported run failed with, in one line; empty if it didn't fail.
    `run` is the id of the query's run, if a watch reports it.
    """

    status: Status
    why: str = ""
    error: str = ""
    run: str | None = None


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run that a watch reports, and when it did last (ISO 8601)."""

    query_id: str
    name: str | None = None
    at: str | None = None


class ProcessInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return every registered pipeline."""

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it now."""

    def status(self, pipeline: str) -> Status:
        """Ask the pipeline's status command; UNKNOWN where there is none."""

    def driver_status(self, pipeline: str) -> DriverStatus:
        """Return what the driver reports by `headgate.watch` or Spark's REST interface.

        UNKNOWN if it reports nothing, or nothing that can be trusted now.
        """

    def reported_runs(self, pipeline: str) -> tuple[ReportedRun, ...]:
        """Return all runs that the pipeline's watch reports, its own or not; it never fails."""


class ProcessApplier(ProcessInspector, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def command(self, pipeline: str, word: str, message: str = "", output: str = "") -> None:
        """Run the registered command `word` (see `Commands`) and wait for its end.

        Where the command is a person, they are asked and waited for. `message` is for `notify`.
        `output` is the topic that a start writes to, empty for the program's own.

        What an earlier try of this run left of the same command is ended first.
        """

    def manual_step(
        self, word: str, request: str, meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Request a manual step, and wait until somebody confirms it; RefusedError after a day.

        `word` is the command that the person replaces. After a crash a confirmation still holds. If
        the run is resumed, the step is requested once more. `meanwhile` is called about once a
        second while the run waits; what it raises ends the wait.
        """

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""
