"""Pause a pipeline whose processes stay up, resume it, and notify people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import unassigned
from headgate.reprocess.steps.base.step import PriorState, Step, check_command
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.base.wait import Wait

# Kafka Streams commits every 30 s unless configured: a paused one commits once more after that.
STILL_SECONDS, MOST_SECONDS = 65.0, 200.0
# How long a status may take to follow a command.
FOLLOW_SECONDS = 60.0
_POLL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseProcessing(StepBase):
    """Run the registered pause command, and verify that the pipeline makes no progress.

    It is verified by a status command that says `paused`. Otherwise the committed offsets, or the
    logs of the checkpoint, must not move although records are unread. Without unread records it
    can't be verified.
    """

    action: ClassVar[str] = "pause_processing"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str
    resume: str
    group: str | None = None
    checkpoint: str | None = None

    def describe(self) -> str:
        return f"pause {self.pipeline} with `{self.command}` and verify that it makes no progress"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the commands are not the planned ones."""
        check_command(inspector, self.pipeline, "pause", self.command)
        check_command(inspector, self.pipeline, "resume", self.resume)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command, unless the status says that it is paused."""
        if applier.processes.status(self.pipeline) is not Status.PAUSED:
            applier.processes.command(self.pipeline, "pause")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse if it isn't verified as paused: only the command was run so far."""
        if _follows(applier, self.pipeline, Status.PAUSED):
            applier.note(f"the status of {self.pipeline} is paused")
            return
        wait = Wait(applier=applier, poll=_POLL)
        while True:
            has_unread = _has_unread(applier, self.group, self.checkpoint)
            if not self._stands_still(applier, wait):
                continue
            if has_unread:
                applier.note(
                    f"{self.pipeline} is paused: it has unread records, and has committed nothing "
                    f"for {STILL_SECONDS:.0f} s"
                )
                return
            # Records may have arrived meanwhile: whether they stay unread is to be seen.
            if not _has_unread(applier, self.group, self.checkpoint):
                self._unverified(applier)
                return

    def _stands_still(self, applier: Applier, wait: Wait) -> bool:
        """Return whether there is no progress for long enough; RefusedError if it never ends."""
        before, still = self._position(applier), 0.0
        while still < STILL_SECONDS:
            if wait.seconds >= MOST_SECONDS:
                raise RefusedError(
                    f"{self.pipeline} still makes progress {wait.seconds:.0f} s after its pause "
                    "command. Check that the command reaches every process"
                )
            wait.pause()
            if self._position(applier) != before:
                return False
            still += _POLL
        return True

    def _unverified(self, applier: Applier) -> None:
        """Refuse if the status contradicts the pause; else say that nothing shows it."""
        if applier.processes.status(self.pipeline) is Status.RUNS:
            raise RefusedError(
                f"the status of {self.pipeline} is still running after its pause command. Headgate "
                f"knows of no unread records, so committed offsets don't show whether "
                f"{self.pipeline} is paused. Let the status command exit with code 4 if the "
                "pipeline is paused"
            )
        applier.note(
            f"the pause of {self.pipeline} is not verified: Headgate knows of no unread records, "
            "so it can't see whether the pipeline would process them. Register a status command "
            "that exits with code 4 if the pipeline is paused"
        )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Resume the pipeline."""
        return (ResumeProcessing(**asdict(self)),)

    def _position(self, applier: Applier) -> object:
        return position(applier, self.group, self.checkpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeProcessing(StepBase):
    """Run the registered resume command."""

    action: ClassVar[str] = "resume_processing"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str
    resume: str
    group: str | None = None
    checkpoint: str | None = None

    def describe(self) -> str:
        return f"resume {self.pipeline} with `{self.resume}`"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(inspector, self.pipeline, "resume", self.resume)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command, unless the status says that it runs."""
        if applier.processes.status(self.pipeline) is not Status.RUNS:
            applier.processes.command(self.pipeline, "resume")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Fail if the status still says `paused`; without a status it can't be verified at once."""
        _follows(applier, self.pipeline, Status.RUNS)
        if applier.processes.status(self.pipeline) is Status.PAUSED:
            raise StepError(
                f"the status of {self.pipeline} is still paused after its resume command. Check "
                "that the command reaches every process"
            )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Pause the pipeline again."""
        return (PauseProcessing(**asdict(self)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmDrained(StepBase):
    """Verify that the pipeline is still stopped; report its position and records in flight."""

    action: ClassVar[str] = "confirm_drained"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str | None = None
    checkpoint: str | None = None

    def describe(self) -> str:
        return (
            f"verify that {self.pipeline} is paused, and report its uncommitted batch or "
            "unread records"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where somebody runs it again."""
        check_stopped(inspector, self.pipeline, group=self.group, checkpoint=self.checkpoint)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Say it: nothing is changed."""
        applier.note(self._stands(applier))

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: it was verified before."""

    def _stands(self, applier: Applier) -> str:
        if self.group is not None:
            return f"{self.pipeline} is paused: {_waiting(applier, self.group)}"
        found = applier.checkpoints.read(self.checkpoint) if self.checkpoint else None
        if found is None:
            return f"{self.pipeline} is paused and has no checkpoint yet"
        begun, done = found.head
        if begun is None and done is None:
            return f"{self.pipeline} is paused before its first batch"
        if begun == done:
            return f"{self.pipeline} is paused after batch {done}: no batch is uncommitted"
        last = "before its first commit" if done is None else f"after batch {done}"
        return (
            f"{self.pipeline} is paused {last}. Batch {begun} is uncommitted: the query "
            "reprocesses this batch on the next start. The sink may already have part of the "
            "batch's output"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify(StepBase):
    """Run the registered notify command; if it fails, the run continues."""

    action: ClassVar[str] = "notify"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    command: str
    message: str
    back: str

    def describe(self) -> str:
        return f"notify with `{self.command}`: {self.message}"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the command is not the planned one."""
        check_command(inspector, self.pipeline, "notify", self.command)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command; twice after a crash."""
        try:
            applier.processes.command(
                self.pipeline, "notify", f"{self.message} (run {applier.run})"
            )
        except StepError as error:
            applier.note(f"the notification failed: {error}")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Whether anybody reads it is not ours to know."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Notify that the run is undone."""
        again = Notify(
            pipeline=self.pipeline, command=self.command, message=self.back, back=self.message
        )
        return (again,)


def position(inspector: Inspector, group: str | None, checkpoint: str | None) -> object:
    """Return what moves while something is processed."""
    if group is not None:
        offsets = inspector.kafka.group(group).offsets
        return sorted((o.topic, o.partition, o.offset or 0) for o in offsets)
    found = inspector.checkpoints.read(checkpoint) if checkpoint else None
    return found.head if found else None


def _has_unread(inspector: Inspector, group: str | None, checkpoint: str | None) -> bool:
    """Return whether Kafka is known to have records that the pipeline is to read next.

    Markers of transactions are no records, and a topic that no member reads stays unread.
    """
    if not inspector.kafka.has_cluster():
        return False
    members = inspector.kafka.group(group) if group is not None else None
    if members is not None:
        at = {(o.topic, o.partition): o.offset for o in members.offsets if o.offset is not None}
    else:
        found = inspector.checkpoints.read(checkpoint) if checkpoint else None
        offsets = found.offsets if found else {}
        at = {(t, p): offset for t, parts in offsets.items() for p, offset in parts.items()}
    topics = inspector.kafka.topics({topic for topic, _ in at}) if at else {}
    logs = {(t.name, p.number): p for t in topics.values() for p in t.partitions}
    ranges = {
        part: (max(offset, logs[part].begin or 0), logs[part].end or 0)
        for part, offset in at.items()
        if part in logs and (logs[part].end or 0) > offset
    }
    idle = unassigned(members, ranges) if members is not None else []
    ranges = {part: ends for part, ends in ranges.items() if part not in idle}
    first = inspector.kafka.first_records(ranges) if ranges else {}
    return any(offset is not None for offset in first.values())


def _follows(applier: Applier, pipeline: str, wanted: Status) -> bool:
    """Return whether the status comes to be the wanted one; one that knows no pause never does."""
    wait, found = Wait(applier=applier, poll=_POLL), applier.processes.status(pipeline)
    while found not in (wanted, Status.UNKNOWN) and wait.seconds < FOLLOW_SECONDS:
        wait.pause()
        found = applier.processes.status(pipeline)
    return found is wanted


def _waiting(applier: Applier, group: str) -> str:
    offsets = {
        (o.topic, o.partition): o.offset
        for o in applier.kafka.group(group).offsets
        if o.offset is not None
    }
    topics = applier.kafka.topics({topic for topic, _ in offsets})
    waits = sum(
        max((part.end or 0) - offsets.get((name, part.number), part.end or 0), 0)
        for name, topic in topics.items()
        for part in topic.partitions
    )
    return f"group {group} has no members. Unread records: {waits}"
