"""Every kind of step, and how one is read back from a plan's file.

A step's module is imported when somebody asks for it: no plan has more than a few kinds, and a
command should not wait for all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headgate.errors import PlanFileError

if TYPE_CHECKING:
    from headgate.plan.step import Step
    from headgate.plan.steps.abort import AbortTransaction
    from headgate.plan.steps.aside import PutBack, SetAside
    from headgate.plan.steps.checkpoint import (
        DropSnapshot,
        ReplaceCheckpoint,
        RestoreCheckpoint,
        SnapshotCheckpoint,
    )
    from headgate.plan.steps.compare_version import CompareVersion
    from headgate.plan.steps.cut import CutCopy, PutCut
    from headgate.plan.steps.emptying import EmptyTopics
    from headgate.plan.steps.fence import Unfence
    from headgate.plan.steps.finish_batch import FinishBatch
    from headgate.plan.steps.groups import DeleteGroup, RestoreGroup
    from headgate.plan.steps.lead import LeadBack, LeadQuery, StartElsewhere
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
    from headgate.plan.steps.offset_record import RecordOffsets
    from headgate.plan.steps.offsets import ResetOffsets, RestoreOffsets
    from headgate.plan.steps.output_record import RecordOutput
    from headgate.plan.steps.park_unread import ParkUnread
    from headgate.plan.steps.parked import DropParking, ParkRecords
    from headgate.plan.steps.pause import ConfirmDrained, Notify, PauseProcessing, ResumeProcessing
    from headgate.plan.steps.places import CopyPlace, DropPlace, MakePlace, ReadPlace
    from headgate.plan.steps.process import AskPerson, StartPipeline, StopPipeline
    from headgate.plan.steps.prove_version import ProveVersion, StartVersion
    from headgate.plan.steps.raising import ProvePartitions, RaisePartitions
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
    from headgate.plan.steps.verify_output import VerifyOutput

    STEPS: tuple[type[Step], ...]

__all__ = [
    "STEPS",
    "AbortTransaction",
    "AskPerson",
    "AwaitTransactions",
    "ClearLocalState",
    "CompareVersion",
    "ConfigureTopics",
    "ConfirmDrained",
    "CopyPlace",
    "CopyToBatch",
    "CutCopy",
    "CutSinkLog",
    "DeleteGroup",
    "DeleteSubjects",
    "DeleteTopics",
    "DeployVersion",
    "DropCopy",
    "DropDraft",
    "DropParking",
    "DropPlace",
    "DropSnapshot",
    "EmptyTopics",
    "ExportState",
    "FinishBatch",
    "GateVersion",
    "KeepCheckpoint",
    "KeepOffsets",
    "LeadBack",
    "LeadQuery",
    "MakeCheckpoint",
    "MakePlace",
    "MakeTopics",
    "Notify",
    "OfferCheckpoint",
    "ParkRecords",
    "ParkUnread",
    "PauseProcessing",
    "PlaceCheckpoint",
    "ProvePartitions",
    "ProveRepair",
    "ProveVersion",
    "PutBack",
    "PutCheckpoint",
    "PutCut",
    "PutInPlace",
    "RaisePartitions",
    "ReadPlace",
    "ReadState",
    "RecordOffsets",
    "RecordOutput",
    "RecordTopics",
    "RefillTopics",
    "RehearseBeginning",
    "RemoveMembers",
    "RepairCopy",
    "ReplaceCheckpoint",
    "RescaleCopy",
    "ResetOffsets",
    "RestoreCheckpoint",
    "RestoreGroup",
    "RestoreOffsets",
    "RestoreSinkLog",
    "RestoreSubjects",
    "RestoreTopics",
    "ResumeProcessing",
    "SetAside",
    "SnapshotCheckpoint",
    "StartElsewhere",
    "StartPipeline",
    "StartVersion",
    "StepOver",
    "StopPipeline",
    "Unfence",
    "VerifyOutput",
    "WithdrawCheckpoint",
    "WithdrawVersion",
    "load_step",
]

# A step's action, which stands in plans, the module here that holds it, and its class.
_PLACES = {
    "stop_pipeline": "process:StopPipeline",
    "repair_copy": "repair:RepairCopy",
    "prove_repair": "repair:ProveRepair",
    "put_repaired_in_place": "repair:PutInPlace",
    "drop_copy": "repair:DropCopy",
    "gate_version": "upgrade:GateVersion",
    "keep_checkpoint": "upgrade:KeepCheckpoint",
    "keep_offsets": "upgrade:KeepOffsets",
    "record_topics": "topic_record:RecordTopics",
    "deploy_version": "upgrade:DeployVersion",
    "withdraw_version": "upgrade:WithdrawVersion",
    "start_version": "prove_version:StartVersion",
    "prove_version": "prove_version:ProveVersion",
    "compare_version": "compare_version:CompareVersion",
    "verify_output": "verify_output:VerifyOutput",
    "snapshot_checkpoint": "checkpoint:SnapshotCheckpoint",
    "replace_checkpoint": "checkpoint:ReplaceCheckpoint",
    "restore_checkpoint": "checkpoint:RestoreCheckpoint",
    "drop_snapshot": "checkpoint:DropSnapshot",
    "copy_to_batch": "rewind:CopyToBatch",
    "read_state": "rewind:ReadState",
    "put_checkpoint": "rewind:PutCheckpoint",
    "copy_place": "places:CopyPlace",
    "make_place": "places:MakePlace",
    "read_place": "places:ReadPlace",
    "cut_sink_log": "sink_log:CutSinkLog",
    "restore_sink_log": "sink_log:RestoreSinkLog",
    "record_offsets": "offset_record:RecordOffsets",
    "record_output": "output_record:RecordOutput",
    "reset_offsets": "offsets:ResetOffsets",
    "restore_offsets": "offsets:RestoreOffsets",
    "lead_query": "lead:LeadQuery",
    "start_elsewhere": "lead:StartElsewhere",
    "lead_back": "lead:LeadBack",
    "drop_place": "places:DropPlace",
    "start_pipeline": "process:StartPipeline",
    "ask_person": "process:AskPerson",
    "unfence": "fence:Unfence",
    "pause_processing": "pause:PauseProcessing",
    "resume_processing": "pause:ResumeProcessing",
    "confirm_drained": "pause:ConfirmDrained",
    "notify": "pause:Notify",
    "park_records": "parked:ParkRecords",
    "drop_parking": "parked:DropParking",
    "step_over": "skip:StepOver",
    "cut_copy": "cut:CutCopy",
    "put_cut": "cut:PutCut",
    "finish_batch": "finish_batch:FinishBatch",
    "delete_group": "groups:DeleteGroup",
    "restore_group": "groups:RestoreGroup",
    "delete_subjects": "subjects:DeleteSubjects",
    "restore_subjects": "subjects:RestoreSubjects",
    "set_aside": "aside:SetAside",
    "put_back": "aside:PutBack",
    "make_topics": "topics:MakeTopics",
    "raise_partitions": "raising:RaisePartitions",
    "delete_topics": "topics:DeleteTopics",
    "restore_topics": "topics:RestoreTopics",
    "empty_topics": "emptying:EmptyTopics",
    "refill_topics": "refill:RefillTopics",
    "configure_topics": "refill:ConfigureTopics",
    "park_unread": "park_unread:ParkUnread",
    "remove_members": "members:RemoveMembers",
    "abort_transaction": "abort:AbortTransaction",
    "await_transactions": "transactions:AwaitTransactions",
    "clear_local_state": "local_state:ClearLocalState",
    "drop_draft": "new_checkpoint:DropDraft",
    "make_checkpoint": "new_checkpoint:MakeCheckpoint",
    "offer_checkpoint": "new_checkpoint:OfferCheckpoint",
    "place_checkpoint": "new_checkpoint:PlaceCheckpoint",
    "withdraw_checkpoint": "new_checkpoint:WithdrawCheckpoint",
    "rescale_copy": "state:RescaleCopy",
    "prove_partitions": "raising:ProvePartitions",
    "export_state": "state:ExportState",
    "rehearse_beginning": "new_checkpoint:RehearseBeginning",
}
_MODULES = {name: module for module, name in (p.split(":") for p in _PLACES.values())}


def __getattr__(name: str) -> Any:
    """Import a step by its class's name, or all of them for `STEPS`."""
    if name == "STEPS":
        return tuple(_kind(action) for action in _PLACES)
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _kind(action: str) -> type[Step]:
    module, name = _PLACES[action].split(":")
    kind: type[Step] = getattr(import_module(f"{__name__}.{module}"), name)
    return kind


def load_step(action: str, details: Mapping[str, Any]) -> Step:
    """Return the step that wrote these `details`; PlanFileError where they are not a step's."""
    import msgspec

    if action not in _PLACES:
        raise PlanFileError(f"the plan has a step {action!r} that this headgate does not know")
    try:
        return msgspec.convert(dict(details), type=_kind(action))
    except msgspec.ValidationError as error:
        raise PlanFileError(f"step {action} of the plan: {error}") from None
