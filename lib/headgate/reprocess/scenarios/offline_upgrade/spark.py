"""Offline upgrade of a Spark query: its checkpoint is backed up byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess import remote_checkpoint
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.evidence import FAIL_ON, UpgradeVerdict, read_fail_on
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.create_remote import CopyRemoteCheckpoint
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.reprocess.steps.upgrade.compare_version import CompareVersion
from headgate.reprocess.steps.upgrade.deploy_version import (
    BackUpCheckpoint,
    DeployVersion,
    RecheckVersion,
)
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion, start_version
from headgate.text.risk import Risk


def build(request: PlanRequest, verdict: UpgradeVerdict) -> Plan:
    """Return the plan for a verdict that doesn't fail the check."""
    pipeline, inspector = request.pipeline, request.inspector
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        missing = common.no_checkpoint(pipeline)
        return request.block(
            f"{missing}. If the new version should start without a checkpoint, deploy and start "
            "it yourself, without this scenario"
        )
    blockers = common.must_be_stopped(pipeline, inspector)
    place = remote_checkpoint.new_place(inspector, pipeline) if found.remote else None
    if found.remote:
        blockers += remote_checkpoint.blockers(pipeline)
    elif found.fixed:
        blockers.append(f"Headgate can't restore checkpoint {found.location}: {found.fixed}")
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=steps(request, verdict, found, place),
        preconditions={
            **common.input_facts(inspector, found.offsets),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "versions": {"before": verdict.before, "after": verdict.after},
            "commands": upgrade_commands(pipeline),
        },
        impact={
            "verdict": verdict.outcome,
            "findings": list(verdict.codes),
            "snapshot": asdict(inspector.checkpoints.snapshot_size(found.location)),
        },
        risks=(
            *risks_of(verdict),
            *_risks(pipeline),
            *(remote_checkpoint.risks(pipeline, found, place) if place else ()),
        ),
        blockers=tuple(blockers),
        resources=tuple(f"checkpoint:{at}" for at in (found.location, place) if at),
    )


def steps(
    request: PlanRequest, verdict: UpgradeVerdict, found: Checkpoint, place: str | None = None
) -> tuple[Step, ...]:
    """Return the steps in order; at a new location the new version works on a copy."""
    pipeline = request.pipeline
    stop = common.stop_step(pipeline, checkpoint=found.location)
    if place is not None:
        return _steps_elsewhere(request, verdict, stop, found, place)
    keep = BackUpCheckpoint(
        pipeline=pipeline.name, checkpoint=found.location, query_id=found.query_id
    )
    prove = VerifyVersion(
        pipeline=pipeline.name, checkpoint=found.location, query_id=found.query_id
    )
    look = compare_step(request, verdict, found.location, found.query_id)
    gate = gate_step(request, verdict)
    return (stop, gate, keep, deploy_step(request), start_version(stop), prove, look)


def _steps_elsewhere(
    request: PlanRequest, verdict: UpgradeVerdict, stop: StopPipeline, found: Checkpoint, place: str
) -> tuple[Step, ...]:
    size = request.inspector.checkpoints.snapshot_size(found.location)
    copy = CopyRemoteCheckpoint(
        pipeline=request.pipeline.name,
        checkpoint=found.location,
        query_id=found.query_id,
        place=place,
        bytes=size.bytes,
        files=size.files,
    )
    lead, start = remote_checkpoint.switch_and_start(stop, found, place, fresh=False, made=True)
    prove = VerifyVersion(
        pipeline=request.pipeline.name,
        checkpoint=place,
        query_id=found.query_id,
        kept=found.location,
    )
    gate = gate_step(request, verdict)
    look = compare_step(request, verdict, place, found.query_id, kept=found.location)
    return (stop, gate, copy, lead, deploy_step(request), start, prove, look)


def gate_step(request: PlanRequest, verdict: UpgradeVerdict) -> RecheckVersion:
    """Return the step that judges once more after the stop."""
    return RecheckVersion(
        pipeline=request.pipeline.name,
        after=verdict.evidence,
        before=verdict.compared or None,
        fail_on=read_fail_on(request.options.get("fail-on")),
        version=verdict.after,
        approved=verdict.codes,
    )


def compare_step(
    request: PlanRequest,
    verdict: UpgradeVerdict,
    checkpoint: str | None = None,
    query_id: str | None = None,
    *,
    kept: str | None = None,
    group: str | None = None,
) -> CompareVersion:
    """Return the step that compares what runs with the version that was judged."""
    return CompareVersion(
        pipeline=request.pipeline.name,
        after=verdict.evidence,
        version=verdict.after,
        checkpoint=checkpoint,
        query_id=query_id,
        kept=kept,
        group=group,
        can_be_told=group is not None or _can_be_told(request.pipeline),
    )


def _can_be_told(pipeline: Pipeline) -> bool:
    return bool(pipeline.watch or pipeline.evidence)


def deploy_step(request: PlanRequest) -> DeployVersion:
    """Return the step that puts the new code in place."""
    commands = request.pipeline.commands
    assert commands.rollback is not None
    return DeployVersion(
        pipeline=request.pipeline.name,
        after=request.options.get("after", "the new version"),
        command=None if request.options.get("deployed") else commands.deploy,
        rollback=commands.rollback,
    )


def upgrade_commands(pipeline: Pipeline) -> dict[str, str | None]:
    """Return the commands that were shown and must not change until the run."""
    commands = pipeline.commands
    shown = {"deploy": commands.deploy, "rollback": commands.rollback}
    return {**common.command_facts(pipeline), **shown}


FINDING = Risk(
    "{finding}{accepted}",
    finding="Each finding of the check that has an effect, but doesn't block the upgrade",
    accepted=" (accepted: REASON)",
)
OLD_CANNOT_RESUME = Risk(
    "once the new version has completed a batch, the old version can't resume from the "
    "checkpoint. A rollback restores the backup, and batches since the upgrade are "
    "reprocessed"
)


def risks_of(verdict: UpgradeVerdict) -> Iterator[str]:
    """Name the findings that pass the check, and the ones by which the rollback is lost."""
    for finding in verdict.findings:
        if finding.outcome in FAIL_ON or finding.outcome == "no_effect":
            why = f" (accepted: {finding.accepted})" if finding.accepted else ""
            yield FINDING(finding=finding.sentence(), accepted=why)
    if verdict.rollback == "lost":
        yield OLD_CANNOT_RESUME()


NO_STATUS_COMMAND = Risk(
    "{pipeline} has no status command: only new batches in its checkpoint show whether the "
    "new version runs. Register a status command"
)
VERSION_UNVERIFIED = Risk(
    "Headgate can't verify that the checked version is the one that runs, because no "
    "registered evidence shows it. Register the query's `watch`, or `evidence` such as the "
    "address of its Spark UI or an event log"
)
OUTPUT_STAYS_AFTER_ROLLBACK = Risk(
    "after a rollback the sink keeps the new version's output. The old version writes the "
    "results of the same records a second time"
)


def _risks(pipeline: Pipeline) -> Iterator[str]:
    if pipeline.commands.status is None:
        yield NO_STATUS_COMMAND(pipeline=pipeline.name)
    if not _can_be_told(pipeline):
        yield VERSION_UNVERIFIED()
    yield OUTPUT_STAYS_AFTER_ROLLBACK()


CHECK_RISKS = (
    FINDING,
    OLD_CANNOT_RESUME,
)
RISKS = (
    *CHECK_RISKS,
    NO_STATUS_COMMAND,
    VERSION_UNVERIFIED,
    OUTPUT_STAYS_AFTER_ROLLBACK,
    *remote_checkpoint.RISKS,
)
