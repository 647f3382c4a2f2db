"""See that what runs after an upgrade is the version that was judged, and no other one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.errors import StepError
from headgate.reprocess.ports.evidence import RunningVersion, Trace
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.upgrade.deploy_version import BEFORE

# A watch writes a plan within seconds of a batch, Spark its event log after some more.
TOLD_SECONDS = 20.0
_POLL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareVersion(StepBase):
    """Verify that the checked version runs; report if no evidence shows which version runs.

    `version` is the fingerprint of what was judged, `kept` where the old version's checkpoint stays
    when the new one works at another location.
    """

    action: ClassVar[str] = "compare_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    after: str
    version: str
    checkpoint: str | None = None
    query_id: str | None = None
    kept: str | None = None
    group: str | None = None
    can_be_told: bool = True

    def describe(self) -> str:
        return (
            f"compare the running version of {self.pipeline} with the checked version {self.after}"
        )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Wait a little until a source reports the running version, and note what it says."""
        wait = Wait(applier=applier, poll=_POLL)
        while True:
            seen = applier.evidence.running_version(
                self.pipeline, self.after, self.version, self._trace(applier)
            )
            if seen.told_by or not self.can_be_told or wait.seconds >= TOLD_SECONDS:
                break
            wait.pause()
        self._judge(applier, seen)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: the comparison was the verification."""

    def _trace(self, applier: Applier) -> Trace:
        if self.group is not None:
            return Trace(group=applier.kafka.group(self.group))
        old = applier.checkpoints.read(
            self.kept or beside(self.checkpoint or "", BEFORE, applier.run)
        )
        return Trace(
            query_id=self.query_id,
            committed=old.last_commit_batch if old else None,
            begun=old.last_offset_batch if old else None,
        )

    def _judge(self, applier: Applier, seen: RunningVersion) -> None:
        if seen.differs:
            raise StepError(
                f"{self.pipeline} doesn't run the version that the plan checked (source: "
                f"{seen.told_by}): {'; '.join(seen.differs)}. To roll back, run `headgate undo "
                f"{applier.run}`. To continue, deploy the checked version and run `headgate "
                f"resume {applier.run}`"
            )
        if seen.untold:
            applier.note(
                (
                    f"Headgate can't verify that {self.pipeline} runs the checked version: "
                    f"{'; '.join(seen.untold)}"
                )
                + (_as_told(seen) if seen.told_by else "")
            )
        else:
            applier.note(f"{seen.told_by} shows that {self.pipeline} runs the checked version")


def _as_told(seen: RunningVersion) -> str:
    return f". The parts that {seen.told_by} shows match the checked version"
