"""Offline upgrade: stop, check, back up, deploy, start and verify the new version; or roll back."""

from __future__ import annotations

import dataclasses

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT, PASSES_LOCATION, Condition, commands
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.evidence import FAIL_ON, read_fail_on
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.offline_upgrade import group_and_kafka_streams as upgrade_group
from headgate.reprocess.scenarios.offline_upgrade import spark as upgrade_spark

_COMMANDS = Condition(
    need="`deploy` and `rollback` commands (each can be a manual step)",
    ask=commands("deploy", "rollback", rest=" With `--deployed`, only `rollback` is needed."),
)
_JUDGED = frozenset({Engine.SPARK, Engine.KAFKA_STREAMS})


def build(request: PlanRequest) -> Plan:
    """Return the plan for the pipeline's engine, closed by the verdict where there is one."""
    fail_on = read_fail_on(request.options.get("fail-on"))
    pipeline = request.pipeline
    if pipeline.commands.rollback is None:
        return request.block(
            f"{pipeline.name} has no rollback command, so the upgrade could not be rolled back. "
            "Register `deploy` and `rollback` under [pipeline.commands]; either can be a manual "
            "step"
        )
    if pipeline.commands.deploy is None and not request.options.get("deployed"):
        return request.block(
            f"{pipeline.name} has no deploy command: register `deploy`, or pass --deployed if the "
            "start command also deploys the new version"
        )
    if pipeline.engine is Engine.CONSUMER_GROUP:
        return upgrade_group.build(request, None)
    verdict = request.inspector.evidence.verdict(
        pipeline.name, request.options["after"], request.options.get("before"), fail_on
    )
    # Built anew it must read the same version, also from another folder, also when a newer one
    # is stored.
    options = {**request.options, "after": verdict.evidence}
    if verdict.compared:
        options["before"] = verdict.compared
    request = dataclasses.replace(request, options=options)
    if verdict.closed:
        return dataclasses.replace(request.block(*verdict.blockers()), options=options)
    if pipeline.engine is Engine.SPARK:
        plan = upgrade_spark.build(request, verdict)
    else:
        plan = upgrade_group.build(request, verdict)
    return dataclasses.replace(plan, options=options)


OPTIONS = (
    Option(
        name="after",
        ask="New version",
        help="New version: module:function, NAME@N, a version file or other evidence.",
        metavar="EVIDENCE",
        required=True,
        engines=_JUDGED,
    ),
    Option(
        name="before",
        ask="Running version",
        help="Version that is running now (default: the newest stored version).",
        metavar="EVIDENCE",
        engines=_JUDGED,
    ),
    Option(
        name="fail-on",
        ask="Outcomes that fail the check",
        help="Outcomes that fail the check, separated by commas (default "
        f"{','.join(FAIL_ON)}). With `none`, the check never fails.",
        metavar="LIST",
        engines=_JUDGED,
    ),
    Option(
        name="deployed",
        ask="Run no deploy command",
        help="Run no deploy command: the new code is already deployed, or the start command "
        "deploys it.",
        kind=Kind.FLAG,
    ),
)

SCENARIO = Scenario(
    name="offline-upgrade",
    title="Offline upgrade",
    short="Stop the old version, then start the new version.",
    what="Stop the pipeline, back up its checkpoint or offsets, start the checked new version and "
    "verify it.",
    build=build,
    steps=(
        "stop_pipeline",
        "recheck_version",
        "back_up_checkpoint",
        "back_up_offsets",
        "record_topics",
        "deploy_version",
        "start_version",
        "verify_version",
        "compare_version",
        "copy_remote_checkpoint",
        "record_offsets",
        "switch_checkpoint",
        "start_at_checkpoint",
        "manual_step",
    ),
    risks=lambda: (*upgrade_spark.RISKS, *upgrade_group.RISKS),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(_COMMANDS, CHECKPOINT, PASSES_LOCATION),
        Engine.KAFKA_STREAMS: needs(
            _COMMANDS,
            note=(
                "Local state and changelogs aren't backed up: after a rollback the old version "
                "continues with the new version's state."
            ),
        ),
        Engine.CONSUMER_GROUP: needs(
            _COMMANDS, note="Headgate reports no outcome: a consumer group has no state to check."
        ),
    },
)
