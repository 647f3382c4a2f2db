"""Every kind of step, and how one is read back from a plan's file.

A step's module is imported when a plan's file names it: no plan has more than a few kinds, and a
command should not wait for all others. A scenario imports the steps that it makes by their modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headgate.errors import PlanFileError

if TYPE_CHECKING:
    from headgate.reprocess.steps.base.step import Step

# A step's action, which stands in plans, the module here that holds it, and its class.
_STEP_CLASSES = {
    "stop_pipeline": "process.stop_start:StopPipeline",
    "repair_copy": "checkpoint.repair:RepairCopy",
    "verify_repair": "checkpoint.repair:VerifyRepair",
    "swap_repaired_checkpoint": "checkpoint.repair:SwapRepairedCheckpoint",
    "delete_copy": "checkpoint.repair:DeleteCopy",
    "recheck_version": "upgrade.deploy_version:RecheckVersion",
    "back_up_checkpoint": "upgrade.deploy_version:BackUpCheckpoint",
    "back_up_offsets": "upgrade.deploy_version:BackUpOffsets",
    "record_topics": "topics.record_topics:RecordTopics",
    "deploy_version": "upgrade.deploy_version:DeployVersion",
    "roll_back_version": "upgrade.deploy_version:RollBackVersion",
    "start_version": "upgrade.verify_version:StartVersion",
    "verify_version": "upgrade.verify_version:VerifyVersion",
    "compare_version": "upgrade.compare_version:CompareVersion",
    "verify_output": "process.verify_output:VerifyOutput",
    "snapshot_checkpoint": "checkpoint.replace:SnapshotCheckpoint",
    "replace_checkpoint": "checkpoint.replace:ReplaceCheckpoint",
    "restore_checkpoint": "checkpoint.swap:RestoreCheckpoint",
    "delete_snapshot": "checkpoint.replace:DeleteSnapshot",
    "copy_to_batch": "checkpoint.rewind:CopyToBatch",
    "read_state": "checkpoint.rewind:ReadState",
    "swap_checkpoint": "checkpoint.rewind:SwapCheckpoint",
    "copy_remote_checkpoint": "checkpoint.create_remote:CopyRemoteCheckpoint",
    "create_remote_checkpoint": "checkpoint.create_remote:CreateRemoteCheckpoint",
    "read_remote_state": "checkpoint.create_remote:ReadRemoteState",
    "cut_sink_log": "checkpoint.spark_metadata:CutSinkLog",
    "restore_sink_log": "checkpoint.spark_metadata:RestoreSinkLog",
    "record_offsets": "offsets.record_offsets:RecordOffsets",
    "record_output": "checkpoint.record_output:RecordOutput",
    "reset_offsets": "offsets.reset_offsets:ResetOffsets",
    "restore_offsets": "offsets.reset_offsets:RestoreOffsets",
    "switch_checkpoint": "checkpoint.switch_checkpoint:SwitchCheckpoint",
    "start_at_checkpoint": "checkpoint.switch_checkpoint:StartAtCheckpoint",
    "switch_to_old_checkpoint": "checkpoint.switch_checkpoint:SwitchToOldCheckpoint",
    "delete_remote_checkpoint": "checkpoint.create_remote:DeleteRemoteCheckpoint",
    "start_pipeline": "process.stop_start:StartPipeline",
    "manual_step": "process.stop_start:ManualStep",
    "reenable_restarts": "process.reenable_restarts:ReenableRestarts",
    "pause_processing": "process.pause:PauseProcessing",
    "resume_processing": "process.pause:ResumeProcessing",
    "confirm_drained": "process.pause:ConfirmDrained",
    "notify": "process.pause:Notify",
    "back_up_records": "records.back_up_records:BackUpRecords",
    "delete_backup_topics": "records.back_up_records:DeleteBackupTopics",
    "skip_records": "offsets.skip_records:SkipRecords",
    "cut_copy": "checkpoint.cut_batch:CutCopy",
    "swap_cut_checkpoint": "checkpoint.cut_batch:SwapCutCheckpoint",
    "finish_batch": "checkpoint.finish_batch:FinishBatch",
    "delete_group": "offsets.delete_group:DeleteGroup",
    "restore_group": "offsets.delete_group:RestoreGroup",
    "delete_subjects": "topics.delete_subjects:DeleteSubjects",
    "restore_subjects": "topics.delete_subjects:RestoreSubjects",
    "move_to_backup": "checkpoint.move_to_backup:MoveToBackup",
    "restore_from_backup": "checkpoint.move_to_backup:RestoreFromBackup",
    "create_topics": "topics.delete_topics:CreateTopics",
    "add_partitions": "topics.add_partitions:AddPartitions",
    "delete_topics": "topics.delete_topics:DeleteTopics",
    "restore_topics": "topics.delete_topics:RestoreTopics",
    "delete_records": "topics.delete_records:DeleteRecords",
    "restore_records": "records.restore_records:RestoreRecords",
    "configure_topics": "records.restore_records:ConfigureTopics",
    "back_up_unread_records": "records.back_up_unread:BackUpUnreadRecords",
    "remove_members": "offsets.remove_members:RemoveMembers",
    "abort_transaction": "offsets.abort_transaction:AbortTransaction",
    "await_transactions": "offsets.await_transactions:AwaitTransactions",
    "clear_local_state": "process.clear_local_state:ClearLocalState",
    "delete_draft": "checkpoint.create:DeleteDraft",
    "create_checkpoint": "checkpoint.create:CreateCheckpoint",
    "install_new_checkpoint": "checkpoint.create:InstallNewCheckpoint",
    "swap_new_checkpoint": "checkpoint.create:SwapNewCheckpoint",
    "move_new_checkpoint_to_backup": "checkpoint.create:MoveNewCheckpointToBackup",
    "repartition_state": "checkpoint.repartition_state:RepartitionState",
    "verify_partitions": "topics.add_partitions:VerifyPartitions",
    "export_state": "checkpoint.repartition_state:ExportState",
    "rehearse_new_checkpoint": "checkpoint.create:RehearseNewCheckpoint",
    "run_bounded": "checkpoint.run_bounded:RunBounded",
    "run_to_offsets": "process.run_to_offsets:RunToOffsets",
    "redrive_records": "records.redrive_records:RedriveRecords",
    "write_dead_letters": "records.write_dead_letters:WriteDeadLetters",
    "delete_retry_topic": "records.delete_retry_topic:DeleteRetryTopic",
    "replace_results": "outputs.replace_results:ReplaceResults",
    "process_records": "outputs.process_records:ProcessRecords",
    "process_into_topic": "outputs.process_into_topic:ProcessIntoTopic",
    "delete_filled_topic": "outputs.process_into_topic:DeleteFilledTopic",
    "delete_results": "outputs.process_records:DeleteResults",
    "install_results": "outputs.install_results:InstallResults",
    "remove_results": "outputs.install_results:RemoveResults",
    "stage_rows": "outputs.stage_rows:StageRows",
    "stage_late_rows": "outputs.replace_results:StageLateRows",
    "drop_tables": "outputs.stage_rows:DropTables",
    "upsert_rows": "outputs.upsert_rows:UpsertRows",
    "restore_rows": "outputs.upsert_rows:RestoreRows",
    "stage_records": "outputs.append_records:StageRecords",
    "append_records": "outputs.append_records:AppendRecords",
    "delete_staged_records": "outputs.append_records:DeleteStagedRecords",
    "compare_results": "outputs.compare_results:CompareResults",
    "create_shadow_topic": "upgrade.shadow_topic:CreateShadowTopic",
    "delete_shadow_topic": "upgrade.shadow_topic:DeleteShadowTopic",
    "stage_checkpoint": "upgrade.stage_checkpoint:StageCheckpoint",
    "run_beside": "upgrade.run_beside:RunBeside",
    "compare_outputs": "upgrade.compare_outputs:CompareOutputs",
    "check_production": "upgrade.check_production:CheckProduction",
    "swap_staged_checkpoint": "upgrade.stage_checkpoint:SwapStagedCheckpoint",
    "verify_switch": "upgrade.verify_switch:VerifySwitch",
    "copy_offsets": "upgrade.copy_offsets:CopyOffsets",
    "switch_offsets": "upgrade.copy_offsets:SwitchOffsets",
    "count_reprocessed": "upgrade.copy_offsets:CountReprocessed",
    "start_with_output": "upgrade.start_with_output:StartWithOutput",
    "stop_beside": "upgrade.start_with_output:StopBeside",
    "compare_versions": "upgrade.compare_versions:CompareVersions",
    "confirm_switch": "upgrade.confirm_switch:ConfirmSwitch",
    "await_equal_lag": "upgrade.compare_versions:AwaitEqualLag",
    "await_old_version": "upgrade.compare_versions:AwaitOldVersion",
    "drop_application": "upgrade.drop_application:DropApplication",
    "set_schedule": "process.set_schedule:SetSchedule",
    "restore_schedule": "process.set_schedule:RestoreSchedule",
    "skip_replaced_records": "offsets.skip_replaced:SkipReplacedRecords",
    "skip_replaced_input": "checkpoint.skip_replaced:SkipReplacedInput",
}


def all_steps() -> tuple[type[Step], ...]:
    """Return every kind of step, in the table's order; this imports them all."""
    return tuple(_kind(action) for action in _STEP_CLASSES)


def _kind(action: str) -> type[Step]:
    module, name = _STEP_CLASSES[action].split(":")
    kind: type[Step] = getattr(import_module(f"{__name__}.{module}"), name)
    return kind


def load_step(action: str, details: Mapping[str, Any]) -> Step:
    """Return the step that wrote these `details`; PlanFileError where they are not a step's."""
    import msgspec

    if action not in _STEP_CLASSES:
        raise PlanFileError(
            f"the plan has a step {action!r} that this Headgate release doesn't know"
        )
    try:
        return msgspec.convert(dict(details), type=_kind(action))
    except msgspec.ValidationError as error:
        raise PlanFileError(f"step {action} of the plan is damaged: {error}") from None
