"""Stop a pipeline and prove it, start it, or ask a person to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from headgate.errors import StepError
from headgate.model.registry import Commands
from headgate.plan.step import Step, Was, check_command
from headgate.plan.steps.base import StepBase
from headgate.plan.steps.fence import Unfence
from headgate.plan.steps.local_state import ClearLocalState
from headgate.plan.stopped import wait_until_stopped
from headgate.plan.world import Effects, Status, World

START_SECONDS = 180.0
# After a crash within a start: how long to look for a sign that it runs before it is started
# again, while something of the start command lives and when nothing does.
SIGN_SECONDS, GRACE_SECONDS = 60.0, 5.0
# A status that says `stopped` for so long after a start means that the start failed.
STOPPED_SECONDS = 20.0
_POLL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPipeline(StepBase):
    """Fence the pipeline, run the registered stop command, and prove that it no longer runs.

    Without `command` it only proves; `plan.stopped` says how. Without `fence` nothing keeps an
    orchestrator from starting the pipeline again, so each destructive step proves it anew.
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
    fence: str | None = None
    unfence: str | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        fence = f"fence {self.pipeline} with `{self.fence}`, " if self.fence else ""
        if self.command is None:
            return f"{fence}make sure that {self.pipeline} is stopped"
        return f"{fence}stop {self.pipeline} with `{self.command}` and make sure that it is stopped"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the commands are not the planned ones."""
        check_command(world, self.pipeline, "stop", self.command)
        check_command(world, self.pipeline, "start", self.start)
        if self.fence is not None:
            check_command(world, self.pipeline, "fence", self.fence)
            check_command(world, self.pipeline, "unfence", self.unfence)

    def bind(self, effects: Effects) -> Was:
        """Remember whether it ran: an undo starts only what ran before."""
        return {"running": self._runs(effects)}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Never: stopping what is stopped does no harm, and the proof is wanted anyway."""
        return False

    def apply(self, effects: Effects, was: Was) -> None:
        """Fence it first, then run the command unless it is known that nothing runs."""
        if self.fence is not None:
            effects.command(self.pipeline, "fence")
        if self.command is not None and self._runs(effects) is not False:
            effects.command(self.pipeline, "stop")

    def verify(self, effects: Effects, was: Was) -> None:
        """Refuse where it is not proven that the pipeline has stopped: nothing else was done."""
        wait_until_stopped(
            effects,
            self.pipeline,
            group=self.group,
            checkpoint=self.checkpoint,
            patient=self.command is not None,
        )

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Start it again; only unfence what did not run before or was not stopped from here."""
        if was["running"] is not False and self.command is not None:
            return (start_or_ask(self),)
        if self.fence is None:
            return ()
        return (Unfence(pipeline=self.pipeline, command=self.unfence, fence=self.fence),)

    def _runs(self, world: World) -> bool | None:
        """Return whether it runs, None where that can't be told."""
        status = world.status(self.pipeline)
        if status is not Status.UNKNOWN:
            return status is not Status.STOPPED
        if self.group is not None:
            group = world.group(self.group)
            return False if group.is_inactive else (True if group.members else None)
        told = world.told(self.pipeline).status
        return None if told is Status.UNKNOWN else told is Status.RUNS


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPipeline(StepBase):
    """Take the fence off, run the registered start command and see the pipeline run.

    `fresh` says that it starts without a checkpoint: then it must write one of its own.
    """

    action: ClassVar[str] = "start_pipeline"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str
    stop: str | None
    has_status: bool
    checkpoint: str | None = None
    group: str | None = None
    fresh: bool = False
    fence: str | None = None
    unfence: str | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        unfence = f"unfence {self.pipeline} with `{self.unfence}`, " if self.unfence else ""
        return f"{unfence}start {self.pipeline} with `{self.command}`"

    def check(self, world: World, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(world, self.pipeline, "start", self.command)
        if self.unfence is not None:
            check_command(world, self.pipeline, "unfence", self.unfence)

    def bind(self, effects: Effects) -> Was:
        """Remember the logs' newest batches: later ones show that the query runs."""
        return {"head": self._head(effects)}

    def settled(self, effects: Effects, was: Was) -> bool:
        """Return whether it runs, its fence taken off; what was begun may take a while."""
        if not self._came_up(effects, was):
            return False
        if self.unfence is not None:
            # It may run behind its fence: it was never stopped, or a person started it.
            effects.command(self.pipeline, "unfence")
        return True

    def _came_up(self, effects: Effects, was: Was) -> bool:
        waited = 0.0
        while not self._runs(effects, was):
            # What the command left behind may still be on its way up.
            left = effects.has_left(self.pipeline, "start")
            if waited >= (SIGN_SECONDS if left else GRACE_SECONDS):
                return left and effects.status(self.pipeline) is Status.UNKNOWN
            effects.pause(_POLL)
            waited += _POLL
        return True

    def _runs(self, effects: Effects, was: Was) -> bool:
        status = effects.status(self.pipeline)
        if status is Status.UNKNOWN:
            return self._shows(effects, was)
        return status is Status.RUNS

    def apply(self, effects: Effects, was: Was) -> None:
        """Take the fence off; run the command unless it is known to run already."""
        if self.unfence is not None:
            effects.command(self.pipeline, "unfence")
        if effects.status(self.pipeline) is not Status.RUNS:
            effects.command(self.pipeline, "start")

    def verify(self, effects: Effects, was: Was) -> None:
        """Fail where the pipeline doesn't run, as far as that can be told."""
        waited = stopped = 0.0
        while not self._is_up(effects, was):
            is_stopped = effects.status(self.pipeline) is Status.STOPPED
            stopped = stopped + _POLL if is_stopped else 0.0
            if waited >= START_SECONDS or stopped >= STOPPED_SECONDS:
                raise StepError(f"{self.pipeline} does not run {waited:.0f} s after its start")
            effects.pause(_POLL)
            waited += _POLL

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Fence and stop it."""
        stop = StopPipeline(
            pipeline=self.pipeline,
            command=self.stop,
            start=self.command,
            has_status=self.has_status,
            checkpoint=self.checkpoint,
            group=self.group,
            fence=self.fence,
            unfence=self.unfence,
        )
        return (stop,)

    def _is_up(self, effects: Effects, was: Was) -> bool:
        if self.has_status and effects.status(self.pipeline) is not Status.RUNS:
            return False
        if self.fresh:
            # A process that runs is no proof: the query may still be refused at its start.
            return self._shows(effects, was)
        # A query without new input writes no batch, so its silence proves nothing.
        return self.has_status or self.group is None or self._shows(effects, was)

    def _shows(self, effects: Effects, was: Was) -> bool:
        """Return whether the pipeline itself shows a trace of running."""
        if self.group is not None:
            return bool(effects.group(self.group).members)
        head = self._head(effects)
        return head is not None and head != was["head"]

    def _head(self, effects: Effects) -> list[Any] | None:
        found = effects.checkpoint(self.checkpoint) if self.checkpoint else None
        return [found.query_id, *found.head] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson(StepBase):
    """Say what a person has to do, because no command is registered for it."""

    action: ClassVar[str] = "ask_person"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    request: str
    stop: str | None
    has_status: bool
    checkpoint: str | None = None
    group: str | None = None
    fence: str | None = None
    unfence: str | None = None

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""
        unfence = f"unfence {self.pipeline} with `{self.unfence}`, " if self.unfence else ""
        return f"{unfence}ask you to {self.request}: no command is registered for it"

    def check(self, world: World, *, again: bool = False) -> None:
        """Nothing to refuse: still no command may be registered, and one more does no harm."""

    def settled(self, effects: Effects, was: Was) -> bool:
        """Never: saying it once more does no harm."""
        return False

    def apply(self, effects: Effects, was: Was) -> None:
        """Take the fence off and say it; the run does not wait for it."""
        if self.unfence is not None:
            effects.command(self.pipeline, "unfence")
        effects.note(f"Now {self.request}.")

    def verify(self, effects: Effects, was: Was) -> None:
        """Nobody can tell when the person will have done it."""

    def undo(self, was: Was) -> tuple[Step, ...]:
        """Make sure that what the person started is stopped."""
        stop = StopPipeline(
            pipeline=self.pipeline,
            command=self.stop,
            start=None,
            has_status=self.has_status,
            checkpoint=self.checkpoint,
            group=self.group,
            fence=self.fence,
            unfence=self.unfence,
        )
        return (stop,)


def start_or_ask(stop: StopPipeline, *, fresh: bool = False) -> StartPipeline | AskPerson:
    """Return the step that starts what `stop` stopped, by its command or by a person."""
    if stop.start is None:
        return AskPerson(
            pipeline=stop.pipeline,
            request=f"start {stop.pipeline}",
            stop=stop.command,
            has_status=stop.has_status,
            checkpoint=stop.checkpoint,
            group=stop.group,
            fence=stop.fence,
            unfence=stop.unfence,
        )
    return StartPipeline(
        pipeline=stop.pipeline,
        command=stop.start,
        stop=stop.command,
        has_status=stop.has_status,
        checkpoint=stop.checkpoint,
        group=stop.group,
        fresh=fresh,
        fence=stop.fence,
        unfence=stop.unfence,
    )


def rebind(step: Step, commands: Commands) -> Step:
    """Return the step with the commands that are registered now.

    For steps that a person asks for anew, an undo or a resume: often the command was the fault.
    """
    stop, start = commands.stop, commands.start
    now: dict[str, Any] = {
        "has_status": commands.status is not None,
        "fence": commands.fence,
        "unfence": commands.unfence,
    }
    match step:
        case StopPipeline():
            return replace(step, command=stop, start=start, **now)
        case StartPipeline() if start is not None:
            return replace(step, command=start, stop=stop, **now)
        case AskPerson():
            return replace(step, stop=stop, **now)
        case ClearLocalState() if commands.clean is not None:
            return replace(step, command=commands.clean)
        case Unfence() if commands.unfence is not None:
            return replace(step, command=commands.unfence, fence=commands.fence)
        case _:
            return step
