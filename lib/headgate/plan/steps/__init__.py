"""Every kind of step, and how one is read back from a plan's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.errors import PlanFileError
from headgate.plan.step import Step
from headgate.plan.steps.checkpoint import (
    DropSnapshot,
    ReplaceCheckpoint,
    RestoreCheckpoint,
    SnapshotCheckpoint,
)
from headgate.plan.steps.fence import Unfence
from headgate.plan.steps.local_state import ClearLocalState
from headgate.plan.steps.members import RemoveMembers
from headgate.plan.steps.offsets import RecordOffsets, ResetOffsets, RestoreOffsets
from headgate.plan.steps.process import AskPerson, StartPipeline, StopPipeline
from headgate.plan.steps.topics import DeleteTopics, RestoreTopics
from headgate.plan.steps.transactions import AwaitTransactions

__all__ = [
    "STEPS",
    "AskPerson",
    "AwaitTransactions",
    "ClearLocalState",
    "DeleteTopics",
    "DropSnapshot",
    "RecordOffsets",
    "RemoveMembers",
    "ReplaceCheckpoint",
    "ResetOffsets",
    "RestoreCheckpoint",
    "RestoreOffsets",
    "RestoreTopics",
    "SnapshotCheckpoint",
    "StartPipeline",
    "StopPipeline",
    "Unfence",
    "load_step",
]

STEPS: tuple[type[Step], ...] = (
    StopPipeline,
    SnapshotCheckpoint,
    ReplaceCheckpoint,
    RestoreCheckpoint,
    DropSnapshot,
    RecordOffsets,
    ResetOffsets,
    RestoreOffsets,
    StartPipeline,
    AskPerson,
    Unfence,
    DeleteTopics,
    RestoreTopics,
    RemoveMembers,
    AwaitTransactions,
    ClearLocalState,
)
_BY_ACTION = {kind.action: kind for kind in STEPS}


def load_step(action: str, details: Mapping[str, Any]) -> Step:
    """Return the step that wrote these `details`; PlanFileError where they are not a step's."""
    kind = _BY_ACTION.get(action)
    if kind is None:
        raise PlanFileError(f"the plan has a step {action!r} that this headgate does not know")
    try:
        return msgspec.convert(dict(details), type=kind)
    except msgspec.ValidationError as error:
        raise PlanFileError(f"step {action} of the plan: {error}") from None
