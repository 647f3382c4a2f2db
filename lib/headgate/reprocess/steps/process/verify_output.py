"""Verify after a start that a query writes to its new output and not to the old one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import HeadgateError, StepError
from headgate.model.sinks import is_one_location
from headgate.reprocess.ports.evidence import Output
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait
from headgate.text.numbers import name_list

# How long a first batch may take; how long one that never begins is waited for; and how long a
# watch may take to tell of a batch that is done.
BATCH_SECONDS, IDLE_SECONDS, TOLD_SECONDS = 600.0, 60.0, 20.0
_POLL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOutput(StepBase):
    """Verify where the started query writes; report if no evidence shows the output location.

    `checkpoint` is the one that it started with. `new` are the outputs that it should write to;
    `folder` is the one of a file sink, whose log shows each batch. `old` are those that it must not
    write to.
    """

    action: ClassVar[str] = "verify_output"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    moving: ClassVar[frozenset[str]] = frozenset({"old"})
    pipeline: str
    checkpoint: str
    new: tuple[str, ...] = ()
    folder: str | None = None
    old: tuple[str, ...] = ()

    def describe(self) -> str:
        location = name_list(self.new) if self.new else "a new output"
        return f"verify that {self.pipeline} writes to {location}{self._not_to}"

    @property
    def _not_to(self) -> str:
        return f", not to {name_list(self.old)}" if self.old else ""

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait for the first batch, then look; StepError if the query writes elsewhere."""
        wait, done = Wait(applier=applier, poll=_POLL), 0.0
        while not self._is_seen(applier, is_last=done >= TOLD_SECONDS):
            found = applier.checkpoints.read(self.checkpoint)
            begun = found is not None and found.last_offset_batch is not None
            if found is not None and found.last_commit_batch is not None:
                done += _POLL
            if done > TOLD_SECONDS or wait.seconds >= (BATCH_SECONDS if begun else IDLE_SECONDS):
                why = (
                    "no evidence shows where the query writes" if done else "no batch has completed"
                )
                applier.note(
                    f"Headgate can't verify where {self.pipeline} writes: {why}. Check its output"
                )
                return
            wait.pause()

    def verify(self, applier: Applier, was: PriorState) -> None:
        """`apply` looked."""

    def _is_seen(self, applier: Applier, *, is_last: bool) -> bool:
        """Return whether it writes where it should; `is_last` once its log must be there."""
        found = applier.checkpoints.read(self.checkpoint)
        query_id = found.query_id if found else None
        seen = applier.evidence.outputs(self.pipeline, query_id) if query_id else ()
        if seen:
            self._judge(applier, seen[0])
            return True
        if self.folder is None:
            return False
        try:
            batch = applier.sinks.newest_batch(self.folder)
        except HeadgateError as error:
            applier.note(f"the sink log of {self.folder} can't be read: {error}")
            return False
        if batch is not None:
            applier.note(f"{self.pipeline} wrote batch {batch} to {self.folder}")
        elif is_last:
            raise self._error(
                applier,
                f"a batch has completed, but the sink log of {self.folder} has no batch",
            )
        return batch is not None

    def _judge(self, applier: Applier, seen: Output) -> None:
        is_new = any(is_one_location(seen.place, place) for place in self.new)
        is_old = any(is_one_location(seen.place, place) for place in self.old)
        if not is_new and (self.new or is_old):
            raise self._error(applier, f"{seen.told_by} reports output to {seen.place}")
        applier.note(f"{seen.told_by} reports that {self.pipeline} writes to {seen.place}")

    def _error(self, applier: Applier, why: str) -> StepError:
        location = name_list(self.new) if self.new else "a new output"
        return StepError(
            f"{self.pipeline} does not write to {location}: {why}. Run `headgate undo "
            f"{applier.run}`, change the output of {self.pipeline}, then plan again"
        )
