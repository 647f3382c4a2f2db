"""Start a new version, and see that it does its work where the old one stopped."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from headgate.errors import RefusedError, RunCancelledError, StepError
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.group_liveness import unassigned
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.process.stop_start import (
    ManualStep,
    StartPipeline,
    StopPipeline,
    start_or_ask,
)
from headgate.reprocess.steps.upgrade.deploy_version import BEFORE

# How long the first batch of a new version may take; how long one that has no input is watched; and
# for how long a status of `stopped` means that it has ended and is not merely on its way.
PROVE_SECONDS, IDLE_SECONDS, STOPPED_SECONDS = 600.0, 180.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartVersion(StartPipeline):
    """Start the new version; if it ends at once, roll back the run."""

    action: ClassVar[str] = "start_version"

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Refuse if it doesn't run: it has done nothing yet, so the old version can resume."""
        try:
            StartPipeline.verify(self, applier, was)
        except RunCancelledError:
            raise
        except StepError as error:
            raise RefusedError(f"starting the new version failed: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyVersion(StepBase):
    """Verify that the new version continues where the old version stopped.

    A query must commit a batch, a group must have members and move or have nothing to read. `kept`
    is where the old version's checkpoint stays when the new one works at another location.
    """

    action: ClassVar[str] = "verify_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str | None = None
    query_id: str | None = None
    group: str | None = None
    kept: str | None = None

    def describe(self) -> str:
        what = (
            f"group {self.group} commits new offsets (if it has unread records)"
            if self.group
            else "the query commits a batch"
        )
        return f"verify that {self.pipeline} runs and that {what}"

    def bind(self, applier: Applier) -> PriorState:
        """Remember the run whose end is already reported: it is the old version's."""
        told = applier.processes.driver_status(self.pipeline)
        return {"ended": told.run if told.status is Status.STOPPED else None}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait until it is verified; if the new version did nothing, the run is rolled back."""
        if self.checkpoint is not None:
            self._query(applier, self.checkpoint, was)
        elif self.group is not None:
            self._group(applier, self.group, was)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the waiting was the verification."""

    def _query(self, applier: Applier, location: str, was: PriorState) -> None:
        old = self._last(applier, location)
        wait = Wait(applier=applier)
        while True:
            now = applier.checkpoints.read(location)
            if now is None:
                raise StepError(
                    f"checkpoint {location} no longer exists: another process deleted it. Stop "
                    f"that process, then run `headgate undo {applier.run}`"
                )
            if now.query_id != self.query_id:
                raise StepError(
                    f"checkpoint {location} should have query id {self.query_id}, but has "
                    f"{now.query_id}: another process writes to the checkpoint. Stop that process, "
                    f"then run `headgate undo {applier.run}`"
                )
            if _later(now.last_commit_batch, old):
                applier.note(f"{self.pipeline} committed batch {now.last_commit_batch}")
                return
            wait.saw(has_ended=_has_ended(applier, self.pipeline, was))
            if wait.ended >= STOPPED_SECONDS:
                why = applier.processes.driver_status(self.pipeline).why
                raise RefusedError(
                    f"the new version of {self.pipeline} ended before it completed its first "
                    "batch"
                    + (f": {why.rstrip('.')}" if why else "")
                    + f". See the log of {self.pipeline} for the cause, then run `headgate plan` "
                    "again"
                )
            is_begun = now.last_offset_batch != now.last_commit_batch
            if not is_begun and wait.seconds >= IDLE_SECONDS and not _has_input(applier, now):
                self._idle(applier)
                return
            if wait.seconds >= PROVE_SECONDS:
                batch = f"batch {now.last_offset_batch}" if is_begun else "any batch"
                raise StepError(
                    f"{self.pipeline} has not committed {batch} after {wait.seconds:.0f} s: "
                    "resume the run to wait longer, or undo the run"
                )
            wait.pause()

    def _last(self, applier: Applier, location: str) -> int | None:
        """Return the last batch that was committed before the new version began."""
        kept = applier.checkpoints.read(self.kept or beside(location, BEFORE, applier.run))
        return kept.last_commit_batch if kept else None

    def _idle(self, applier: Applier) -> None:
        """Note that there is no batch without input, which isn't evidence of a working version."""
        told = applier.processes.driver_status(self.pipeline).status
        if Status.RUNS not in (applier.processes.status(self.pipeline), told):
            raise StepError(
                f"{self.pipeline} has started no batch, and neither its status nor its driver "
                "reports that the query runs. Check the query, then resume or undo the run"
            )
        applier.note(
            f"{self.pipeline} runs, but has started no batch: Headgate knows of no unread input. "
            "So Headgate did not verify that the new version completes a batch on the old state"
        )

    def _group(self, applier: Applier, group: str, was: PriorState) -> None:
        before = committed(applier, group)
        wait = Wait(applier=applier)
        while True:
            now = committed(applier, group)
            found = applier.kafka.group(group)
            has_members = bool(found.members)
            if has_members and (now != before or not _lagging(applier, group)):
                how = "committed new offsets" if now != before else "has no unread records"
                applier.note(f"group {group} has members and {how}")
                return
            wait.saw(has_ended=_has_ended(applier, self.pipeline, was))
            if wait.ended >= STOPPED_SECONDS and now == before:
                raise RefusedError(
                    f"{self.pipeline} ended before group {group} committed new offsets. See the "
                    f"log of {self.pipeline} for the cause, then run `headgate plan` again"
                )
            if wait.seconds >= PROVE_SECONDS:
                left = _lagging(applier, group)
                if left and unassigned(found, left) == left:
                    # Kafka keeps offsets of topics that the group no longer reads.
                    applier.note(
                        f"group {group} has members, and no unread records in the partitions that "
                        "they read"
                    )
                    return
                how = "has committed no new offsets" if has_members else "has no members"
                raise StepError(
                    f"group {group} {how} after {wait.seconds:.0f} s: resume the run to wait "
                    "longer, or undo the run"
                )
            wait.pause()


def start_version(stop: StopPipeline) -> StartVersion | ManualStep:
    """Return the step that starts the new version, by its command or by a person."""
    step = start_or_ask(stop)
    if not isinstance(step, StartPipeline):
        return step
    return StartVersion(**{f.name: getattr(step, f.name) for f in fields(step)})


def _later(batch: int | None, than: int | None) -> bool:
    return batch is not None and (than is None or batch > than)


def _has_input(applier: Applier, found: Checkpoint) -> bool:
    """Return whether Kafka has records that the query has not taken; of files nobody knows."""
    if not found.offsets or not applier.kafka.has_cluster():
        return False
    topics = applier.kafka.topics(found.offsets)
    ends = {(t.name, p.number): p.end for t in topics.values() for p in t.partitions}
    return any(
        (ends.get((topic, number)) or 0) > offset
        for topic, parts in found.offsets.items()
        for number, offset in parts.items()
    )


def _has_ended(applier: Applier, pipeline: str, was: PriorState) -> bool:
    """Return whether the new version has ended; the old one's reported end doesn't count.

    A query may end in a process that runs on, so the status command isn't enough.
    """
    if applier.processes.status(pipeline) is Status.STOPPED:
        return True
    told = applier.processes.driver_status(pipeline)
    return told.status is Status.STOPPED and (told.run is None or told.run != was.get("ended"))


def _lagging(applier: Applier, group: str) -> list[tuple[str, int]]:
    """Return the partitions of the group that have records that it has not read."""
    at = {part: c.offset for part, c in committed(applier, group).items()}
    topics = applier.kafka.topics({topic for topic, _ in at})
    ends = {(t.name, p.number): p.end for t in topics.values() for p in t.partitions}
    return sorted(part for part, offset in at.items() if (ends.get(part) or 0) > offset)
