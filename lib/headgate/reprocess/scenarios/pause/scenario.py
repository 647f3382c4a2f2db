"""Pause a pipeline without loss, and resume it at the same position."""

from __future__ import annotations

from typing import Any

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.conditions import Condition, any_command
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.reprocess.steps.process.pause import (
    ConfirmDrained,
    Notify,
    PauseProcessing,
    ResumeProcessing,
)
from headgate.reprocess.steps.process.stop_start import StopPipeline, start_or_ask
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan: pause, verify and notify; or, with `resume`, resume and notify."""
    pipeline, inspector = request.pipeline, request.inspector
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    location = found.location if found else None
    resume = bool(request.options.get("resume"))
    facts: dict[str, Any] = common.input_facts(inspector, found.offsets) if found else {}
    if pipeline.group and inspector.kafka.has_cluster():
        read = {topic for topic, _ in committed(inspector, pipeline.group)}
        facts |= common.input_facts(inspector, {*facts.get("topics", ()), *read})
        facts |= {"cluster_id": inspector.kafka.cluster_id(), "group": pipeline.group}
    steps = _resume(pipeline, location) if resume else _pause(pipeline, location)
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=steps,
        preconditions={**facts, "commands": _commands(pipeline)},
        risks=tuple(_risks(pipeline, resume=resume)),
        blockers=tuple(_blockers(pipeline, inspector, resume=resume)),
        options=dict(request.options),
        resources=tuple(_resources(pipeline, location)),
    )


def _pause(pipeline: Pipeline, location: str | None) -> tuple[Step, ...]:
    commands = pipeline.commands
    told = _notify(pipeline, f"{pipeline.name} is paused", f"{pipeline.name} is being resumed")
    if commands.pause is not None:
        return (PauseProcessing(**_hold(pipeline, location)), *told)
    drained = ConfirmDrained(pipeline=pipeline.name, group=pipeline.group, checkpoint=location)
    return (_stop(pipeline, location), drained, *told)


def _resume(pipeline: Pipeline, location: str | None) -> tuple[Step, ...]:
    told = _notify(pipeline, f"{pipeline.name} has resumed", f"{pipeline.name} is being paused")
    if pipeline.commands.pause is not None:
        return (ResumeProcessing(**_hold(pipeline, location)), *told)
    return (start_or_ask(_stop(pipeline, location)), *told)


def _hold(pipeline: Pipeline, location: str | None) -> dict[str, str]:
    commands = pipeline.commands
    assert commands.pause is not None and commands.resume is not None
    found = {
        "pipeline": pipeline.name,
        "command": commands.pause,
        "resume": commands.resume,
        "group": pipeline.group,
        "checkpoint": location,
    }
    return {name: value for name, value in found.items() if value is not None}


def _stop(pipeline: Pipeline, location: str | None) -> StopPipeline:
    return common.stop_step(pipeline, checkpoint=location)


def _notify(pipeline: Pipeline, message: str, back: str) -> tuple[Step, ...]:
    command = pipeline.commands.notify
    if command is None:
        return ()
    return (Notify(pipeline=pipeline.name, command=command, message=message, back=back),)


def _commands(pipeline: Pipeline) -> dict[str, str | None]:
    commands = pipeline.commands
    return {**common.command_facts(pipeline), "pause": commands.pause, "resume": commands.resume}


def _resources(pipeline: Pipeline, location: str | None) -> list[str]:
    group = [f"group:{pipeline.group}"] if pipeline.group else []
    return [*group, *([f"checkpoint:{location}"] if location else [])]


def _blockers(pipeline: Pipeline, inspector: Inspector, *, resume: bool) -> list[str]:
    commands = pipeline.commands
    if commands.pause is None and commands.stop is None:
        needed = _NEEDED[pipeline.engine].why
        return [f"{pipeline.name} has neither a pause nor a stop command. A pause needs {needed}"]
    status = inspector.processes.status(pipeline.name)
    if resume:
        runs = status is Status.RUNS or (
            commands.pause is None and _has_members(pipeline, inspector)
        )
        return [f"{pipeline.name} runs: there is nothing to resume"] if runs else []
    if status is Status.PAUSED:
        return [f"{pipeline.name} is already paused. To resume it, pass --resume"]
    stopped = status is Status.STOPPED
    if pipeline.group and status is Status.UNKNOWN:
        stopped = inspector.kafka.group(pipeline.group).is_inactive
    return [f"{pipeline.name} is stopped: there is nothing to pause"] if stopped else []


def _has_members(pipeline: Pipeline, inspector: Inspector) -> bool:
    return bool(pipeline.group and inspector.kafka.group(pipeline.group).members)


EXPIRE_IN_PAUSE = Risk(
    "records that expire during the pause are never processed: check the retention of the "
    "input topics"
)
PAUSE_UNVERIFIED = Risk(
    "if no status command reports `paused` (exit code 4), Headgate verifies the pause only by "
    "unread records that stay unread. Without unread records, the pause isn't verified: the "
    "run then reports this, and is rolled back if the status is `running`"
)
STOPPED_BY_RUN = Risk(
    "{pipeline} has neither a pause nor a start command, so the run stops the pipeline, and "
    "you must start it yourself to resume. Records in flight at the stop are then reprocessed"
)
STOPPED_TO_PAUSE = Risk(
    "{pipeline} has no pause command, so the run stops the pipeline. To resume, Headgate "
    "starts it again. Records in flight at the stop are then reprocessed"
)
MEMBERS_STAY = Risk(
    "the paused processes stay members of the consumer group: stop them before a reset. A "
    "process that starts during the pause is not paused"
)


def _risks(pipeline: Pipeline, *, resume: bool) -> list[str]:
    commands = pipeline.commands
    if resume:
        return []
    risks = [EXPIRE_IN_PAUSE()]
    if commands.pause is not None:
        risks.append(PAUSE_UNVERIFIED())
    if commands.pause is None and commands.start is None:
        risks.append(STOPPED_BY_RUN(pipeline=pipeline.name))
    elif commands.pause is None:
        risks.append(STOPPED_TO_PAUSE(pipeline=pipeline.name))
    elif pipeline.engine is not Engine.SPARK:
        risks.append(MEMBERS_STAY())
    return risks


_STOP = "a registered `stop` command (a shell command, an HTTP call or a manual step)"
_PAUSES = any_command("pause", "stop")
_NEEDED = {
    Engine.SPARK: needs(
        Condition(need=_STOP, ask=any_command("stop")),
        note="With `stop = { watch = true }`, the Spark driver stops the query between two "
        "batches.",
    ),
    Engine.KAFKA_STREAMS: needs(
        Condition(
            need=f"a registered `pause` command that reaches every instance, or {_STOP}",
            ask=_PAUSES,
        ),
        note=(
            "`KafkaStreams.pause()` pauses only one instance. Without a `pause` command, "
            "Headgate stops the application to pause it, and starts it to resume."
        ),
    ),
    Engine.CONSUMER_GROUP: needs(
        Condition(
            need=f"a registered `pause` command that reaches every member, or {_STOP}",
            ask=_PAUSES,
        )
    ),
}

SCENARIO = Scenario(
    name="pause",
    title="Pause and resume",
    short="Pause the pipeline, and resume without losing records.",
    what="Pause the pipeline without losing records, and resume later at the same position.",
    build=build,
    steps=(
        "stop_pipeline",
        "start_pipeline",
        "manual_step",
        "pause_processing",
        "resume_processing",
        "confirm_drained",
        "notify",
    ),
    risks=lambda: (
        EXPIRE_IN_PAUSE,
        PAUSE_UNVERIFIED,
        STOPPED_BY_RUN,
        STOPPED_TO_PAUSE,
        MEMBERS_STAY,
    ),
    options=(
        Option(
            name="resume",
            ask="Resume the paused pipeline",
            help="Resume instead of pausing. An undo of the run that paused the pipeline "
            "(`headgate undo RUN`) does the same.",
            kind=Kind.FLAG,
        ),
    ),
    support=_NEEDED,
)
