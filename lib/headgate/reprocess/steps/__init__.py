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
    from headgate.reprocess.steps.base.step import Step
    from headgate.reprocess.steps.checkpoint.create import (
        DropDraft,
        MakeCheckpoint,
        OfferCheckpoint,
        PlaceCheckpoint,
        RehearseBeginning,
        WithdrawCheckpoint,
    )
    from headgate.reprocess.steps.checkpoint.create_remote import (
        CopyPlace,
        DropPlace,
        MakePlace,
        ReadPlace,
    )
    from headgate.reprocess.steps.checkpoint.cut_batch import CutCopy, PutCut
    from headgate.reprocess.steps.checkpoint.finish_batch import FinishBatch
    from headgate.reprocess.steps.checkpoint.move_to_backup import PutBack, SetAside
    from headgate.reprocess.steps.checkpoint.record_output import RecordOutput
    from headgate.reprocess.steps.checkpoint.repair import (
        DropCopy,
        ProveRepair,
        PutInPlace,
        RepairCopy,
    )
    from headgate.reprocess.steps.checkpoint.repartition_state import ExportState, RepartitionState
    from headgate.reprocess.steps.checkpoint.replace import (
        DropSnapshot,
        ReplaceCheckpoint,
        RestoreCheckpoint,
        SnapshotCheckpoint,
    )
    from headgate.reprocess.steps.checkpoint.rewind import CopyToBatch, PutCheckpoint, ReadState
    from headgate.reprocess.steps.checkpoint.spark_metadata import CutSinkLog, RestoreSinkLog
    from headgate.reprocess.steps.checkpoint.switch_checkpoint import (
        LeadBack,
        LeadQuery,
        StartElsewhere,
    )
    from headgate.reprocess.steps.offsets.abort_transaction import AbortTransaction
    from headgate.reprocess.steps.offsets.await_transactions import AwaitTransactions
    from headgate.reprocess.steps.offsets.delete_group import DeleteGroup, RestoreGroup
    from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
    from headgate.reprocess.steps.offsets.remove_members import RemoveMembers
    from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets, RestoreOffsets
    from headgate.reprocess.steps.offsets.skip_records import StepOver
    from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
    from headgate.reprocess.steps.process.pause import (
        ConfirmDrained,
        Notify,
        PauseProcessing,
        ResumeProcessing,
    )
    from headgate.reprocess.steps.process.reenable_restarts import Unfence
    from headgate.reprocess.steps.process.stop_start import AskPerson, StartPipeline, StopPipeline
    from headgate.reprocess.steps.process.verify_output import VerifyOutput
    from headgate.reprocess.steps.records.back_up_records import DropParking, ParkRecords
    from headgate.reprocess.steps.records.back_up_unread import ParkUnread
    from headgate.reprocess.steps.records.restore_records import ConfigureTopics, RefillTopics
    from headgate.reprocess.steps.topics.add_partitions import ProvePartitions, RaisePartitions
    from headgate.reprocess.steps.topics.delete_records import EmptyTopics
    from headgate.reprocess.steps.topics.delete_subjects import DeleteSubjects, RestoreSubjects
    from headgate.reprocess.steps.topics.delete_topics import (
        DeleteTopics,
        MakeTopics,
        RestoreTopics,
    )
    from headgate.reprocess.steps.topics.record_topics import RecordTopics
    from headgate.reprocess.steps.upgrade.compare_version import CompareVersion
    from headgate.reprocess.steps.upgrade.deploy_version import (
        DeployVersion,
        GateVersion,
        KeepCheckpoint,
        KeepOffsets,
        WithdrawVersion,
    )
    from headgate.reprocess.steps.upgrade.verify_version import ProveVersion, StartVersion

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
    "RepartitionState",
    "ReplaceCheckpoint",
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
    "stop_pipeline": "process.stop_start:StopPipeline",
    "repair_copy": "checkpoint.repair:RepairCopy",
    "prove_repair": "checkpoint.repair:ProveRepair",
    "put_repaired_in_place": "checkpoint.repair:PutInPlace",
    "drop_copy": "checkpoint.repair:DropCopy",
    "gate_version": "upgrade.deploy_version:GateVersion",
    "keep_checkpoint": "upgrade.deploy_version:KeepCheckpoint",
    "keep_offsets": "upgrade.deploy_version:KeepOffsets",
    "record_topics": "topics.record_topics:RecordTopics",
    "deploy_version": "upgrade.deploy_version:DeployVersion",
    "withdraw_version": "upgrade.deploy_version:WithdrawVersion",
    "start_version": "upgrade.verify_version:StartVersion",
    "prove_version": "upgrade.verify_version:ProveVersion",
    "compare_version": "upgrade.compare_version:CompareVersion",
    "verify_output": "process.verify_output:VerifyOutput",
    "snapshot_checkpoint": "checkpoint.replace:SnapshotCheckpoint",
    "replace_checkpoint": "checkpoint.replace:ReplaceCheckpoint",
    "restore_checkpoint": "checkpoint.replace:RestoreCheckpoint",
    "drop_snapshot": "checkpoint.replace:DropSnapshot",
    "copy_to_batch": "checkpoint.rewind:CopyToBatch",
    "read_state": "checkpoint.rewind:ReadState",
    "put_checkpoint": "checkpoint.rewind:PutCheckpoint",
    "copy_place": "checkpoint.create_remote:CopyPlace",
    "make_place": "checkpoint.create_remote:MakePlace",
    "read_place": "checkpoint.create_remote:ReadPlace",
    "cut_sink_log": "checkpoint.spark_metadata:CutSinkLog",
    "restore_sink_log": "checkpoint.spark_metadata:RestoreSinkLog",
    "record_offsets": "offsets.record_offsets:RecordOffsets",
    "record_output": "checkpoint.record_output:RecordOutput",
    "reset_offsets": "offsets.reset_offsets:ResetOffsets",
    "restore_offsets": "offsets.reset_offsets:RestoreOffsets",
    "lead_query": "checkpoint.switch_checkpoint:LeadQuery",
    "start_elsewhere": "checkpoint.switch_checkpoint:StartElsewhere",
    "lead_back": "checkpoint.switch_checkpoint:LeadBack",
    "drop_place": "checkpoint.create_remote:DropPlace",
    "start_pipeline": "process.stop_start:StartPipeline",
    "ask_person": "process.stop_start:AskPerson",
    "unfence": "process.reenable_restarts:Unfence",
    "pause_processing": "process.pause:PauseProcessing",
    "resume_processing": "process.pause:ResumeProcessing",
    "confirm_drained": "process.pause:ConfirmDrained",
    "notify": "process.pause:Notify",
    "park_records": "records.back_up_records:ParkRecords",
    "drop_parking": "records.back_up_records:DropParking",
    "step_over": "offsets.skip_records:StepOver",
    "cut_copy": "checkpoint.cut_batch:CutCopy",
    "put_cut": "checkpoint.cut_batch:PutCut",
    "finish_batch": "checkpoint.finish_batch:FinishBatch",
    "delete_group": "offsets.delete_group:DeleteGroup",
    "restore_group": "offsets.delete_group:RestoreGroup",
    "delete_subjects": "topics.delete_subjects:DeleteSubjects",
    "restore_subjects": "topics.delete_subjects:RestoreSubjects",
    "set_aside": "checkpoint.move_to_backup:SetAside",
    "put_back": "checkpoint.move_to_backup:PutBack",
    "make_topics": "topics.delete_topics:MakeTopics",
    "raise_partitions": "topics.add_partitions:RaisePartitions",
    "delete_topics": "topics.delete_topics:DeleteTopics",
    "restore_topics": "topics.delete_topics:RestoreTopics",
    "empty_topics": "topics.delete_records:EmptyTopics",
    "refill_topics": "records.restore_records:RefillTopics",
    "configure_topics": "records.restore_records:ConfigureTopics",
    "park_unread": "records.back_up_unread:ParkUnread",
    "remove_members": "offsets.remove_members:RemoveMembers",
    "abort_transaction": "offsets.abort_transaction:AbortTransaction",
    "await_transactions": "offsets.await_transactions:AwaitTransactions",
    "clear_local_state": "process.clear_local_state:ClearLocalState",
    "drop_draft": "checkpoint.create:DropDraft",
    "make_checkpoint": "checkpoint.create:MakeCheckpoint",
    "offer_checkpoint": "checkpoint.create:OfferCheckpoint",
    "place_checkpoint": "checkpoint.create:PlaceCheckpoint",
    "withdraw_checkpoint": "checkpoint.create:WithdrawCheckpoint",
    "repartition_state": "checkpoint.repartition_state:RepartitionState",
    "prove_partitions": "topics.add_partitions:ProvePartitions",
    "export_state": "checkpoint.repartition_state:ExportState",
    "rehearse_beginning": "checkpoint.create:RehearseBeginning",
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
