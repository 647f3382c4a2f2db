"""Find what keeps a query from starting on its checkpoint, and which files a repair removes.

A repair removes what an attempt left, or restores what is known from elsewhere. It never invents
what a batch did. The checks run in order, each on the checkpoint as the earlier edits leave it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from headgate.model.version import CheckpointDamageKind, Version
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.reprocess.checkpoint import source_log_issues
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.checkpoint.issue import CheckpointIssue, Known
from headgate.reprocess.checkpoint.log_issues import LOGS

Look: TypeAlias = Callable[[CheckpointFiles, Known], CheckpointIssue | None]
LOOKS: tuple[Look, ...] = (*LOGS, *source_log_issues.LOOKS)
_MOST = 12
# What gets over that which a repair can't give back.
_REWIND, _SCRATCH, _NEW_CHECKPOINT = "rewind", "from-scratch", "new-checkpoint"
_WAYS = {
    CheckpointDamageKind.NO_METADATA: _NEW_CHECKPOINT,
    CheckpointDamageKind.NO_OFFSETS: _SCRATCH,
    CheckpointDamageKind.NO_PREDECESSOR: _NEW_CHECKPOINT,
    CheckpointDamageKind.NO_SOURCE_LOG: _NEW_CHECKPOINT,
    CheckpointDamageKind.NO_STATE: _SCRATCH,
    CheckpointDamageKind.STATE_VERSION_GONE: _REWIND,
    CheckpointDamageKind.STATE_PARTITIONS: _REWIND,
    CheckpointDamageKind.UNREADABLE: _REWIND,
    CheckpointDamageKind.OFFSETS_WENT_BACK: _REWIND,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCheck:
    """`issues` are what was found, each with its edits; `left` is what no edit gets over.

    `notes` are worth knowing and no fault. `edits` in their order repair the checkpoint.
    """

    issues: tuple[CheckpointIssue, ...] = ()
    left: tuple[CheckpointIssue, ...] = ()
    notes: tuple[str, ...] = ()
    after: CheckpointFiles = field(repr=False)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What the repair does to files, in order."""
        return tuple(edit for issue in self.issues for edit in issue.edits)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.issues and not self.left


def check_checkpoint(found: CheckpointFiles, known: Known) -> CheckpointCheck:
    """Look for everything that is wrong, and say what is left once the edits are made."""
    issues: list[CheckpointIssue] = []
    left: list[CheckpointIssue] = []
    for _ in range(_MOST):
        issue = _next(found, known)
        if issue is None:
            break
        (issues if issue.edits else left).append(issue)
        if not issue.edits:
            break
        found = found.edited(issue.edits)
    if not left:
        left += _beyond_repair(found)
    notes = () if issues or left else _notes(found)
    return CheckpointCheck(issues=tuple(issues), left=tuple(left), notes=notes, after=found)


def known_of(version: Version | None, options: dict[str, object] | None = None) -> Known:
    """Return what the stored version and the answers say of a query."""
    answers = options or {}
    given = answers.get("query-id")
    return Known(
        query_id=str(given) if given else (version.query_id if version else None),
        sources=tuple(version.sources or ()) if version else (),
        drop_uncommitted=bool(answers.get("uncommitted")),
    )


def _next(found: CheckpointFiles, known: Known) -> CheckpointIssue | None:
    return next((issue for look in LOOKS if (issue := look(found, known))), None)


def _beyond_repair(found: CheckpointFiles) -> list[CheckpointIssue]:
    """Return the faults that the parser still sees: what rules about checkpoints speak of."""
    read = read_checkpoint(found.files, found.names, source=found.location)
    return [
        CheckpointIssue(
            code=fault.kind.value, what=fault.what, scenario=_WAYS.get(fault.kind, _SCRATCH)
        )
        for fault in read.faults
    ]


def _notes(found: CheckpointFiles) -> tuple[str, ...]:
    last = found.last_commit
    begun = [b for b in found.logged if last is None or b > last]
    if not begun:
        return ()
    # Without a completed batch, a repair removes nothing: the query starts at batch 0 in any case.
    way = "use from-scratch" if last is None else "remove the batch with --uncommitted"
    return (
        f"batch {begun[-1]} is uncommitted. This is normal after a stop: the query reprocesses "
        f"the batch on its next start. If the query fails on this batch, {way}",
    )
