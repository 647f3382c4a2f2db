"""Every kind of step, and how one is read back from a plan's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.errors import PlanFileError
from headgate.plan.step import Step
from headgate.plan.steps.aside import PutBack, SetAside
from headgate.plan.steps.checkpoint import (
    DropSnapshot,
    ReplaceCheckpoint,
    RestoreCheckpoint,
    SnapshotCheckpoint,
)
from headgate.plan.steps.emptying import EmptyTopics
from headgate.plan.steps.fence import Unfence
from headgate.plan.steps.groups import DeleteGroup, RestoreGroup
from headgate.plan.steps.local_state import ClearLocalState
from headgate.plan.steps.members import RemoveMembers
from headgate.plan.steps.new_checkpoint import (
    DropDraft,
    MakeCheckpoint,
    OfferCheckpoint,
    PlaceCheckpoint,
    RehearseBeginning,
    WithdrawCheckpoint,
)
from headgate.plan.steps.offsets import RecordOffsets, ResetOffsets, RestoreOffsets
from headgate.plan.steps.park_unread import ParkUnread
from headgate.plan.steps.parked import DropParking, ParkRecords
from headgate.plan.steps.pause import ConfirmDrained, Notify, PauseProcessing, ResumeProcessing
from headgate.plan.steps.process import AskPerson, StartPipeline, StopPipeline
from headgate.plan.steps.prove_version import ProveVersion, StartVersion
from headgate.plan.steps.refill import ConfigureTopics, RefillTopics
from headgate.plan.steps.repair import DropCopy, ProveRepair, PutInPlace, RepairCopy
from headgate.plan.steps.rewind import CopyToBatch, PutCheckpoint, ReadState
from headgate.plan.steps.sink_log import CutSinkLog, RestoreSinkLog
from headgate.plan.steps.skip import StepOver
from headgate.plan.steps.state import ExportState, RescaleCopy
from headgate.plan.steps.subjects import DeleteSubjects, RestoreSubjects
from headgate.plan.steps.topic_record import RecordTopics
from headgate.plan.steps.topics import DeleteTopics, MakeTopics, RestoreTopics
from headgate.plan.steps.transactions import AwaitTransactions
from headgate.plan.steps.upgrade import (
    DeployVersion,
    GateVersion,
    KeepCheckpoint,
    KeepOffsets,
    WithdrawVersion,
)

__all__ = [
    "STEPS",
    "AskPerson",
    "AwaitTransactions",
    "ClearLocalState",
    "ConfigureTopics",
    "CopyToBatch",
    "CutSinkLog",
    "DeleteGroup",
    "DeleteSubjects",
    "DeleteTopics",
    "DropDraft",
    "DropParking",
    "DropSnapshot",
    "EmptyTopics",
    "ExportState",
    "MakeCheckpoint",
    "MakeTopics",
    "OfferCheckpoint",
    "ParkRecords",
    "ParkUnread",
    "PlaceCheckpoint",
    "PutBack",
    "PutCheckpoint",
    "ReadState",
    "RecordOffsets",
    "RefillTopics",
    "RehearseBeginning",
    "RemoveMembers",
    "ReplaceCheckpoint",
    "RescaleCopy",
    "ResetOffsets",
    "RestoreCheckpoint",
    "RestoreGroup",
    "RestoreOffsets",
    "RestoreSinkLog",
    "RestoreSubjects",
    "RestoreTopics",
    "SetAside",
    "SnapshotCheckpoint",
    "StartPipeline",
    "StepOver",
    "StopPipeline",
    "Unfence",
    "WithdrawCheckpoint",
    "load_step",
]

STEPS: tuple[type[Step], ...] = (
    StopPipeline,
    RepairCopy,
    ProveRepair,
    PutInPlace,
    DropCopy,
    GateVersion,
    KeepCheckpoint,
    KeepOffsets,
    RecordTopics,
    DeployVersion,
    WithdrawVersion,
    StartVersion,
    ProveVersion,
    SnapshotCheckpoint,
    ReplaceCheckpoint,
    RestoreCheckpoint,
    DropSnapshot,
    CopyToBatch,
    ReadState,
    PutCheckpoint,
    CutSinkLog,
    RestoreSinkLog,
    RecordOffsets,
    ResetOffsets,
    RestoreOffsets,
    StartPipeline,
    AskPerson,
    Unfence,
    PauseProcessing,
    ResumeProcessing,
    ConfirmDrained,
    Notify,
    ParkRecords,
    DropParking,
    StepOver,
    DeleteGroup,
    RestoreGroup,
    DeleteSubjects,
    RestoreSubjects,
    SetAside,
    PutBack,
    MakeTopics,
    DeleteTopics,
    RestoreTopics,
    EmptyTopics,
    RefillTopics,
    ConfigureTopics,
    ParkUnread,
    RemoveMembers,
    AwaitTransactions,
    ClearLocalState,
    DropDraft,
    MakeCheckpoint,
    OfferCheckpoint,
    PlaceCheckpoint,
    WithdrawCheckpoint,
    RescaleCopy,
    ExportState,
    RehearseBeginning,
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
