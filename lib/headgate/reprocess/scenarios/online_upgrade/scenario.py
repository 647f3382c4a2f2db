"""Online upgrade: run the new version beside the old one, compare, switch at a common offset."""

from __future__ import annotations

import re

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.conditions import (
    ALL_KAFKA,
    CHECKPOINT,
    LOCAL,
    Condition,
    commands,
    unknown,
)
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.evidence import FAIL_ON, read_fail_on
from headgate.reprocess.scenario import Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.online_upgrade import group_checks, groups, spark
from headgate.reprocess.scenarios.shared.compared_results import IGNORE, KEYS, TOLERANCE

_FUNCTION = re.compile(r"[\w.]+:\w+")
_COMMANDS = Condition(
    need="`stop`, `start`, `deploy` and `rollback` commands",
    ask=commands(
        "stop",
        "start",
        "deploy",
        "rollback",
        rest=" With `--deployed`, the `deploy` command isn't needed.",
    ),
)
_STOP_START = Condition(need="`stop` and `start` commands", ask=commands("stop", "start"))
_BESIDE = Condition(
    need=(
        "the new version as a separate pipeline in headgate.toml, with another `group`, and with a "
        "start command that passes ${HEADGATE_OUTPUT_TOPIC} to the program"
    ),
    ask=lambda _facts: unknown(
        "The plan checks that the new version is a separate pipeline in headgate.toml, with "
        "another group and a start command that passes ${HEADGATE_OUTPUT_TOPIC} to the program."
    ),
)
_SPARK = frozenset({Engine.SPARK})
_GROUPS = frozenset({Engine.CONSUMER_GROUP, Engine.KAFKA_STREAMS})


def build(request: PlanRequest) -> Plan:
    """Return the plan, blocked where the new version can't resume from the old one's state."""
    if request.pipeline.engine is not Engine.SPARK:
        return groups.build(request)
    after = str(request.options["after"])
    if not _FUNCTION.fullmatch(after):
        raise ScenarioError(f"--after: expected MODULE:FUNCTION, found {after!r}")
    commands = request.pipeline.commands
    wanted = ["stop", "start", "rollback"]
    wanted += [] if request.options.get("deployed") else ["deploy"]
    if missing := [word for word in wanted if getattr(commands, word) is None]:
        return request.block(
            f"{request.pipeline.name} has no {' and no '.join(missing)} command. Add each "
            "missing command under [pipeline.commands] in headgate.toml"
        )
    fail_on = read_fail_on(request.options.get("fail-on"))
    verdict = request.inspector.evidence.verdict(
        request.pipeline.name, after, request.options.get("before"), fail_on
    )
    # `before` is not resolved here: a version that is stored meanwhile must make the plan stale.
    if verdict.closed:
        return request.block(*verdict.blockers())
    return spark.build(request, verdict)


OPTIONS = (
    Option(
        name="after",
        ask="Function of the new version",
        help="Function of the new version, importable from the folder of headgate.toml.",
        metavar="MODULE:FUNCTION",
        required=True,
        engines=_SPARK,
    ),
    Option(
        name="new-pipeline",
        ask="Pipeline of the new version",
        help="Pipeline in headgate.toml that is the new version, with a group of its own.",
        metavar="PIPELINE",
        required=True,
        engines=_GROUPS,
    ),
    Option(
        name="output-topic",
        ask="Output topic",
        help="Topic that the old version writes to, and the new version after the switch.",
        metavar="TOPIC",
        required=True,
        engines=_GROUPS,
    ),
    Option(
        name="start-at",
        ask="First offsets of the new application",
        help=(
            "First offsets of the new application: earliest (default) to rebuild its state from "
            "all records of the inputs, or committed to start with empty state at the old "
            "version's committed offsets."
        ),
        kind=Kind.CHOICE,
        choices=(groups.EARLIEST, groups.COMMITTED),
        engines=frozenset({Engine.KAFKA_STREAMS}),
    ),
    KEYS,
    TOLERANCE,
    IGNORE,
    Option(
        name="compare-for",
        ask="Seconds of results to compare",
        help="Time in seconds in which results are collected before the comparison (default 60).",
        kind=Kind.NUMBER,
        metavar="SECONDS",
    ),
    Option(
        name="max-lag",
        ask="Maximum lag of the new version at the switch",
        help=(
            "Maximum lag of the new version when the old version is stopped, in batches (Spark, "
            "default 10) or in records (other engines, default 1000)."
        ),
        kind=Kind.NUMBER,
        metavar="COUNT",
    ),
    Option(
        name="allow-differences",
        ask="Switch even if the results differ",
        help="Switch even if the results differ (default: the run ends before the switch).",
        kind=Kind.FLAG,
    ),
    Option(
        name="confirm-switch",
        ask="Wait for a confirmation before the switch",
        help=(
            "Wait after the comparison until somebody confirms the switch with `headgate confirm "
            "RUN` or on the Runs page (default: the run switches by itself)."
        ),
        kind=Kind.FLAG,
    ),
    Option(
        name="shadow-topic",
        ask="Topic for results before the switch",
        help=(
            "Topic for the new version's results before the switch (default: the output topic's "
            "name followed by -shadow)."
        ),
        metavar="TOPIC",
    ),
    Option(
        name="before",
        ask="Running version",
        help="Version that is running now (default: the newest stored version).",
        metavar="EVIDENCE",
        engines=_SPARK,
    ),
    Option(
        name="fail-on",
        ask="Outcomes that fail the check",
        help="Outcomes that fail the check, separated by commas (default "
        f"{','.join(FAIL_ON)}). With `none`, the check never fails.",
        metavar="LIST",
        engines=_SPARK,
    ),
    Option(
        name="deployed",
        ask="Run no deploy command",
        help="Run no deploy command, because the start command deploys the new version.",
        kind=Kind.FLAG,
        engines=_SPARK,
    ),
)

SCENARIO = Scenario(
    name="online-upgrade",
    title="Online upgrade (blue/green)",
    short="Run the new version beside the old one, then switch.",
    what="Run the new version beside the old version, compare results, and switch.",
    build=build,
    steps=(
        "stop_pipeline",
        "back_up_offsets",
        "deploy_version",
        "start_version",
        "verify_version",
        "compare_version",
        "manual_step",
        "create_shadow_topic",
        "delete_shadow_topic",
        "stage_checkpoint",
        "run_beside",
        "compare_outputs",
        "check_production",
        "swap_staged_checkpoint",
        "verify_switch",
        "copy_offsets",
        "switch_offsets",
        "start_with_output",
        "stop_beside",
        "compare_versions",
        "confirm_switch",
        "await_equal_lag",
        "await_old_version",
    ),
    risks=lambda: (*spark.RISKS, *group_checks.RISKS),
    options=OPTIONS,
    support={
        Engine.SPARK: needs(
            _COMMANDS,
            CHECKPOINT,
            LOCAL,
            ALL_KAFKA,
            note="The query must write to one Kafka topic.",
        ),
        Engine.KAFKA_STREAMS: needs(
            _STOP_START,
            _BESIDE,
            note="The new version stops shortly before the old version. Results of records that "
            "the old version processes in between are written twice.",
        ),
        Engine.CONSUMER_GROUP: needs(
            _STOP_START,
            _BESIDE,
            note="The new version doesn't get the state that the old version keeps in its own "
            "memory or on disk.",
        ),
    },
)
