"""Judge a new version, keep what a rollback needs, deploy it, and roll it back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StalePlanError
from headgate.reprocess.ports.evidence import new_codes, said_findings
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, Step, check_command
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.backup_folder import beside
from headgate.reprocess.steps.checkpoint.replace import CheckpointCopy
from headgate.reprocess.steps.checkpoint.swap import restore_steps
from headgate.reprocess.steps.offsets.partition_offsets import Move, committed, moves_of
from headgate.reprocess.steps.offsets.reset_offsets import RestoreOffsets
from headgate.text.numbers import plural

BEFORE = "before"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckVersion(StepBase):
    """Check the new version again, on the state after the stop.

    `approved` are the findings that the plan showed, `version` the fingerprint of what was judged.
    """

    action: ClassVar[str] = "recheck_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    after: str
    before: str | None
    fail_on: tuple[str, ...]
    version: str
    approved: tuple[str, ...]

    def describe(self) -> str:
        return f"repeat the check of {self.after}, on the state of the stopped {self.pipeline}"

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Refuse where the gate is closed now, or says what nobody has approved."""
        now = applier.evidence.verdict(self.pipeline, self.after, self.before, self.fail_on)
        if now.after != self.version:
            raise StalePlanError(
                f"the new version {self.after} has changed since the plan was made. Run `headgate "
                "plan` again"
            )
        if now.closed:
            raise RefusedError(
                f"the new version {self.after} fails the check on the state of the stopped "
                f"{self.pipeline}: {said_findings(now.closed)} Change the new version, or accept "
                "the finding in headgate.toml, then run `headgate plan` again"
            )
        if more := new_codes(now, self.approved):
            raise StalePlanError(
                f"the check has findings that were not approved: {said_findings(more)} Run "
                "`headgate plan` again"
            )
        applier.note(f"the check passes (outcome: {now.outcome})")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpCheckpoint(CheckpointCopy):
    """Copy the checkpoint to a backup folder next to it."""

    action: ClassVar[str] = "back_up_checkpoint"
    key: ClassVar[str] = "aside"
    pipeline: str
    checkpoint: str
    query_id: str

    def describe(self) -> str:
        return f"copy checkpoint {self.checkpoint} to a backup folder next to it"

    def bind(self, applier: Applier) -> PriorState:
        """Decide where the copy goes, and take the hash that it must have."""
        aside = beside(self.checkpoint, BEFORE, applier.run)
        return {"aside": aside, "hash": applier.folders.tree_hash(self.checkpoint)}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Copy; what an earlier try left goes first."""
        applier.checkpoints.copy_beside(self.checkpoint, was["aside"])

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the checkpoint from backup."""
        return restore_steps(self.pipeline, self.checkpoint, was)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpOffsets(StepBase):
    """Record the group's committed offsets in the journal."""

    action: ClassVar[str] = "back_up_offsets"
    symbol: ClassVar[str] = "+"
    undoable: ClassVar[bool] = True
    pipeline: str
    group: str
    group_type: str
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)

    def describe(self) -> str:
        return f"back up the committed offsets of group {self.group}"

    def bind(self, applier: Applier) -> PriorState:
        """Read them."""
        rows = committed(applier, self.group).items()
        moves = [Move(topic=t, partition=p, was=c, to=c) for (t, p), c in sorted(rows)]
        return {"moves": [asdict(m) for m in moves if m.topic in self.topics]}

    def apply(self, applier: Applier, was: PriorState) -> None:
        """They are in the journal already."""
        applier.note(f"backed up {plural(len(was['moves']), 'offset')} of group {self.group}")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """The journal is on disk."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the offsets."""
        moves = moves_of(was)
        names = sorted({m.topic for m in moves})
        back = RestoreOffsets(
            group=self.group,
            group_type=self.group_type,
            topics={name: self.topics[name] for name in names},
            moves=moves,
            pipeline=self.pipeline,
        )
        return (back,) if moves else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployVersion(StepBase):
    """Deploy the new version with the registered deploy command.

    Without `command` it is deployed already, or the start command deploys it.
    """

    action: ClassVar[str] = "deploy_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    after: str
    command: str | None
    rollback: str

    def describe(self) -> str:
        if self.command is None:
            return (
                f"run no deploy command: {self.after} is already deployed, or the start command "
                "deploys it"
            )
        return f"deploy {self.after} with `{self.command}`"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs (again) or its commands are not the planned ones."""
        check_command(inspector, self.pipeline, "rollback", self.rollback)
        if self.command is not None:
            check_command(inspector, self.pipeline, "deploy", self.command)
        check_stopped(inspector, self.pipeline)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command; after a crash once more."""
        if self.command is not None:
            applier.processes.command(self.pipeline, "deploy", self.after)

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: before the start, only the command's success can be known."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Roll back to the old version with the registered rollback command."""
        return (RollBackVersion(pipeline=self.pipeline, command=self.rollback),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBackVersion(StepBase):
    """Roll back to the old version's code."""

    action: ClassVar[str] = "roll_back_version"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = False
    pipeline: str
    command: str

    def describe(self) -> str:
        return f"roll back to the old version with `{self.command}`"

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the pipeline runs or no such command is registered any more."""
        registered = inspector.processes.registered(self.pipeline)
        if registered is None or registered.commands.rollback is None:
            raise RefusedError(
                f"{self.pipeline} no longer has a rollback command. Add `rollback` under "
                "[pipeline.commands] in headgate.toml, then undo the run again"
            )
        check_stopped(inspector, self.pipeline)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the command; after a crash once more."""
        applier.processes.command(self.pipeline, "rollback")

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Do nothing: before the start, only the command's success can be known."""
