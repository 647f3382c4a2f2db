"""Stop a pipeline and verify it, start it, or request a manual step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from headgate.errors import RunCancelledError, StepError
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import DriverStatus, Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_command
from headgate.reprocess.steps.base.wait import Wait, ask_and_wait
from headgate.reprocess.steps.process.reenable_restarts import ReenableRestarts
from headgate.reprocess.steps.process.wait_until_stopped import is_running, wait_until_stopped

START_SECONDS = 180.0
# A program that runs may wait for executors or load its state for long before its first batch.
SLOW_SECONDS = 600.0
# When a start is first said to be slow, and how often after that.
SLOW_NOTE_SECONDS, NOTE_SECONDS = 15.0, 60.0
# After a crash within a start: how long to look for a sign that it runs before it is started
# again, while something of the start command lives and when nothing does.
SIGN_SECONDS, GRACE_SECONDS = 60.0, 5.0
# A status that says `stopped` for so long after a start means that the start failed.
STOPPED_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPipeline(StepBase):
    """Suspend restarts, run the registered stop command, and verify that the pipeline is stopped.

    Without `command` it only verifies; `verify_stopped` says how. Without `suspend` nothing keeps
    an orchestrator from starting the pipeline again, so each destructive step verifies it again.
    """

    action: ClassVar[str] = "stop_pipeline"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str | None
    start: str | None
    has_status: bool
    checkpoint: str | None = None
    group: str | None = None
    suspend: str | None = None
    reenable: str | None = None

    def describe(self) -> str:
        first = f"suspend restarts with `{self.suspend}`, " if self.suspend else ""
        if self.command is None:
            return f"{first}{'and ' if first else ''}make sure that {self.pipeline} is stopped"
        return f"{first}stop {self.pipeline} with `{self.command}` and make sure that it is stopped"

    @property
    def stops(self) -> bool:
        """Whether it has a command: without one it only verifies."""
        return self.command is not None

    def rebind(self, commands: Commands) -> Self:
        """Take all of them."""
        return replace(self, command=commands.stop, start=commands.start, **_others(commands))

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """It is the stop."""
        return ()

    def reenable_last(self, commands: Commands) -> tuple[Step, ...]:
        """Re-enable what it suspends, if a command does."""
        if self.suspend is None or commands.reenable is None:
            return ()
        return (
            ReenableRestarts(
                pipeline=self.pipeline, command=commands.reenable, suspend=commands.suspend
            ),
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the commands are not the planned ones."""
        check_command(inspector, self.pipeline, "stop", self.command)
        check_command(inspector, self.pipeline, "start", self.start)
        if self.suspend is not None:
            check_command(inspector, self.pipeline, "suspend", self.suspend)
            check_command(inspector, self.pipeline, "reenable", self.reenable)

    def bind(self, applier: Applier) -> PriorState:
        """Remember whether it ran: an undo starts only what ran before."""
        return {"running": is_running(applier, self.pipeline, self.group)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Suspend restarts first, then run the command unless it is known that nothing runs."""
        if self.suspend is not None:
            applier.processes.command(self.pipeline, "suspend")
        if self.command is None:
            return
        if is_running(applier, self.pipeline, self.group) is not False:
            self._stop(applier)

    def _stop(self, applier: Applier) -> None:
        """Run the command; if it fails, the pipeline may have stopped all the same."""
        try:
            applier.processes.command(self.pipeline, "stop")
        except RunCancelledError:
            raise
        except StepError as error:
            if is_running(applier, self.pipeline, self.group) is not False:
                raise
            applier.note(
                f"A second check shows that {self.pipeline} is stopped. Earlier error: {error}"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse if it isn't verified that the pipeline has stopped: nothing else was done."""
        wait_until_stopped(
            applier,
            self.pipeline,
            group=self.group,
            checkpoint=self.checkpoint,
            patient=self.command is not None,
        )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Start the pipeline. If the run did not stop it, only re-enable restarts."""
        if was["running"] is not False and self.command is not None:
            return (start_or_ask(self),)
        if self.suspend is None:
            return ()
        return (
            ReenableRestarts(pipeline=self.pipeline, command=self.reenable, suspend=self.suspend),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStep(StepBase):
    """What all steps have in common after which a pipeline runs: to see it run, and to stop it.

    `fresh` says that it starts without a checkpoint: then it must write one of its own.
    """

    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    stop: str | None
    has_status: bool
    checkpoint: str | None = None
    group: str | None = None
    fresh: bool = False
    suspend: str | None = None
    reenable: str | None = None

    @property
    def start(self) -> str | None:
        """The command that starts it, None where there is none."""
        return None

    @property
    def reenables(self) -> bool:
        """Whether there is a command for it."""
        return self.reenable is not None

    @property
    def _reenables(self) -> str:
        return f"re-enable restarts with `{self.reenable}`, " if self.reenable else ""

    def _reenable_restarts(self, applier: Applier) -> None:
        if self.reenable is not None:
            applier.processes.command(self.pipeline, "reenable")

    def bind(self, applier: Applier) -> PriorState:
        """Remember the logs' newest batches and the watched run: later ones show that it runs."""
        return {
            "head": self._head(applier),
            "run": applier.processes.driver_status(self.pipeline).run,
        }

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the pipeline doesn't run, as far as Headgate can see."""
        wait, note_at = Wait(applier=applier), SLOW_NOTE_SECONDS
        status = applier.processes.status(self.pipeline)
        while not self._is_up(applier, was, status):
            wait.saw(has_ended=status is Status.STOPPED)
            limit = SLOW_SECONDS if status is Status.RUNS else START_SECONDS
            if wait.elapsed >= limit or wait.ended >= STOPPED_SECONDS:
                raise StepError(
                    f"{wait.elapsed:.0f} s after the start, {self._missing(status)}. See the log "
                    f"of {self.pipeline}"
                )
            if wait.elapsed >= note_at:
                note_at = wait.elapsed + NOTE_SECONDS
                applier.note(
                    f"waiting for {self.pipeline} ({wait.elapsed:.0f} s): {self._missing(status)}"
                )
            wait.pause()
            status = applier.processes.status(self.pipeline)

    def _missing(self, status: Status) -> str:
        """Say what does not show yet that the pipeline runs."""
        if self.has_status and status is not Status.RUNS:
            return f"{self.pipeline} is not running (status: {status.word})"
        running = f"the status of {self.pipeline} is running, but " if self.has_status else ""
        if self.group is not None:
            return f"{running}group {self.group} has no members"
        location = self.checkpoint or f"of {self.pipeline}"
        return f"{running}checkpoint {location} has no new batch"

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Suspend restarts and stop the pipeline."""
        stop = StopPipeline(
            pipeline=self.pipeline,
            command=self.stop,
            start=self.start,
            has_status=self.has_status,
            checkpoint=self.checkpoint,
            group=self.group,
            suspend=self.suspend,
            reenable=self.reenable,
        )
        return (stop,)

    def _is_up(self, applier: Applier, was: PriorState, status: Status) -> bool:
        if self.has_status and status is not Status.RUNS:
            return False
        if self.fresh:
            # A process that runs is no proof: the query may still be refused at its start.
            return self._shows(applier, was)
        # A query without new input writes no batch, so its silence proves nothing.
        return self.has_status or self.group is None or self._shows(applier, was)

    def _shows(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the pipeline itself shows a trace of running."""
        if self.group is not None:
            return bool(applier.kafka.group(self.group).members)
        head = self._head(applier)
        return head is not None and head != was["head"]

    def _head(self, applier: Applier) -> list[Any] | None:
        found = applier.checkpoints.read(self.checkpoint) if self.checkpoint else None
        return [found.query_id, *found.head] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPipeline(StartStep):
    """Re-enable restarts, run the registered start command, and verify that the pipeline runs."""

    action: ClassVar[str] = "start_pipeline"
    command: str

    @property
    def start(self) -> str | None:
        """The command that starts it."""
        return self.command

    def rebind(self, commands: Commands) -> Self:
        """Take all of them, if one starts it."""
        if commands.start is None:
            return self
        return replace(self, command=commands.start, stop=commands.stop, **_others(commands))

    def describe(self) -> str:
        return f"{self._reenables}start {self.pipeline} with `{self.command}`"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(inspector, self.pipeline, "start", self.command)
        if self.reenable is not None:
            check_command(inspector, self.pipeline, "reenable", self.reenable)

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it runs, its restarts re-enabled; a start may take a while."""
        if not self._came_up(applier, was):
            return False
        # It may run while restarts are suspended: it was never stopped, or a person started it.
        self._reenable_restarts(applier)
        return True

    def _came_up(self, applier: Applier, was: PriorState) -> bool:
        wait = Wait(applier=applier)
        while not self._runs(applier, was):
            # What the command left behind may still be on its way up.
            left = applier.processes.has_left(self.pipeline, "start")
            if wait.seconds >= (SIGN_SECONDS if left else GRACE_SECONDS):
                return left and applier.processes.status(self.pipeline) is Status.UNKNOWN
            wait.pause()
        return True

    def _runs(self, applier: Applier, was: PriorState) -> bool:
        status = applier.processes.status(self.pipeline)
        if status is Status.UNKNOWN:
            return self._shows(applier, was)
        return status is Status.RUNS

    def reached(self, applier: Applier, was: PriorState) -> bool:
        """Return whether it runs although its start command failed, or gave up waiting for it.

        A sign of the pipeline itself is waited for. If nothing could give one, its status command
        is believed once it has said `runs` for a while: a process may live on without its query.
        """
        if not self._runs_after_all(applier, was):
            return False
        self._reenable_restarts(applier)
        return True

    def _runs_after_all(self, applier: Applier, was: PriorState) -> bool:
        wait, told = Wait(applier=applier), applier.processes.driver_status(self.pipeline)
        while not self._gives_sign(applier, was, told):
            status = applier.processes.status(self.pipeline)
            is_silent = told.status is Status.UNKNOWN and not self.fresh and self.group is None
            if status is Status.RUNS and is_silent and wait.seconds >= STOPPED_SECONDS:
                return True
            if status is Status.STOPPED or wait.seconds >= self._patience(applier, status):
                return False
            wait.pause()
            told = applier.processes.driver_status(self.pipeline)
        return True

    def _patience(self, applier: Applier, status: Status) -> float:
        """Return for how long a sign is waited for after a start command that failed."""
        if status is Status.RUNS:
            return START_SECONDS
        return SIGN_SECONDS if applier.processes.has_left(self.pipeline, "start") else GRACE_SECONDS

    def _gives_sign(self, applier: Applier, was: PriorState, told: DriverStatus) -> bool:
        is_new_run = told.status is Status.RUNS and told.run != was.get("run")
        return self._shows(applier, was) or (is_new_run and not self.fresh)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Re-enable restarts; run the command unless it is known to run already."""
        self._reenable_restarts(applier)
        if applier.processes.status(self.pipeline) is not Status.RUNS:
            applier.processes.command(self.pipeline, "start")


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualStep(StartStep):
    """Ask a person to start the pipeline, and verify that it runs.

    Either it has no start command, or its command doesn't do what is needed: `request` says what.

    Whoever stopped the pipeline before the run starts it when they like: without `waits` they are
    notified, and no more. If it has to be configured first, restarts stay suspended until it is
    (`reenable_first`): an orchestrator would bring it back as it was.
    """

    action: ClassVar[str] = "manual_step"
    symbol: ClassVar[str] = "+"
    request: str
    waits: bool = True
    reenable_first: bool = True

    def rebind(self, commands: Commands) -> Self:
        """Take those that stop and suspend: a person starts it."""
        return replace(self, stop=commands.stop, **_others(commands))

    def describe(self) -> str:
        if not self.waits:
            return f"{self._reenables}manual step after the run: {self.request}{self._why}"
        ask = f"manual step: {self.request}{self._why}, "
        steps = (self._reenables, ask) if self.reenable_first else (ask, self._reenables)
        return f"{''.join(steps)}and verify that {self.pipeline} runs"

    @property
    def _why(self) -> str:
        """Only a plain start has a command's work to do: other requests say for themselves."""
        is_plain = self.request == _plain_start(self.pipeline)
        return " (no start command is registered)" if is_plain else ""

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Re-enable restarts, ask, and wait until somebody confirms it."""
        if self.reenable_first:
            self._reenable_restarts(applier)
        if self.waits:
            ask_and_wait(applier, "start", self.request)
        else:
            applier.note(f"Manual step: {self.request}.")
        if self.waits and not self.reenable_first:
            self._reenable_restarts(applier)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if it doesn't run though somebody confirmed it, as far as Headgate can see."""
        if self.waits:
            # Named, because dataclass(slots=True) recreates the class, which super() does not know.
            StartStep.verify(self, applier, was)


def _others(commands: Commands) -> dict[str, Any]:
    """Return what every step that stops or starts has of the commands."""
    return {
        "has_status": commands.status is not None,
        "suspend": commands.suspend,
        "reenable": commands.reenable,
    }


def stop_with(
    commands: Commands, pipeline: str, *, checkpoint: str | None = None, group: str | None = None
) -> StopPipeline:
    """Return the step that stops the pipeline, or only verifies that it is stopped."""
    return StopPipeline(
        pipeline=pipeline,
        command=commands.stop,
        start=commands.start,
        checkpoint=checkpoint,
        group=group,
        **_others(commands),
    )


def start_or_ask(stop: StopPipeline, *, fresh: bool = False) -> StartPipeline | ManualStep:
    """Return the step that starts what `stop` stopped, by its command or by a person."""
    rest: dict[str, Any] = {
        "pipeline": stop.pipeline,
        "stop": stop.command,
        "has_status": stop.has_status,
        "checkpoint": stop.checkpoint,
        "group": stop.group,
        "fresh": fresh,
        "suspend": stop.suspend,
        "reenable": stop.reenable,
    }
    if stop.start is not None:
        return StartPipeline(command=stop.start, **rest)
    # Who stopped it without the run is not waited for to start it.
    waits = stop.command is not None
    return ManualStep(request=_plain_start(stop.pipeline), waits=waits, **rest)


def _plain_start(pipeline: str) -> str:
    return f"start {pipeline}"
