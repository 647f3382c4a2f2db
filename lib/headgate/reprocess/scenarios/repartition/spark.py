"""Repartition a Spark query: another number of partitions for its state."""

from __future__ import annotations

from headgate.model.version import OperatorKind, StatefulOperator, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.conditions import Answered, Condition, Facts, met, missing, unknown
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.start_from_offsets import found_query
from headgate.reprocess.steps.checkpoint.create import SwapNewCheckpoint
from headgate.reprocess.steps.checkpoint.repartition_state import (
    PARTITIONS,
    REPARTITIONED,
    RepartitionState,
)
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_FIRST = (4, 2)
# An operator's own word in the state's metadata; measured on Spark 4.2.0.
_LIMIT = "globalLimit"


def _spreads(facts: Facts) -> Answered:
    position = facts.position
    if position is None:
        return unknown(facts.unread or "No checkpoint found, so the query's state is unknown.")
    if position.batch is None:
        return unknown("No batch has completed, so the query's state is unknown.")
    if not position.operators:
        return missing("The query has no state.")
    if "RocksDB" not in _provider(position):
        return missing(f"The state store provider is {_provider(position).rpartition('.')[2]}.")
    if _LIMIT in position.operators:
        return missing("The query has a limit().")
    return met("The state is in RocksDB.")


def _is_new_enough(facts: Facts) -> Answered:
    runs = facts.version.engine_version if facts.version else None
    known = _number(runs)
    if known is None:
        why = (
            "the pipeline's newest version doesn't record the release"
            if facts.version
            else "the pipeline has no stored version"
        )
        return unknown(
            f"The Spark release is unknown: {why}. Run `headgate capture` with an event log or an "
            "entry point, which show the release."
        )
    return (
        met(f"The query runs on Spark {runs}.")
        if known >= _FIRST
        else missing(f"The query runs on Spark {runs}.")
    )


SPREADS = Condition(need="state in RocksDB and no limit()", ask=_spreads)
NEW_ENOUGH = Condition(need="a query on Spark 4.2 or newer", ask=_is_new_enough)


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, copy, let Spark spread the copy's state, put it in place, start."""
    found = found_query(request)
    if isinstance(found, Plan):
        return found
    checkpoint, position = found
    wanted = request.options["partitions"]
    pipeline = request.pipeline
    what = {
        "pipeline": pipeline.name,
        "checkpoint": checkpoint.location,
        "query_id": checkpoint.query_id,
    }
    now = position.pinned.get(PARTITIONS)
    stopped = request.inspector.processes.status(pipeline.name) is Status.STOPPED
    stop = common.stop_step(pipeline, checkpoint=checkpoint.location)
    was = int(now) if now and now.isdecimal() else None
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(
            stop,
            common.snapshot_step(request.inspector, **what),
            RepartitionState(**what, partitions=wanted, was_partitions=was),
            SwapNewCheckpoint(**what, word=REPARTITIONED),
            start_or_ask(stop),
        ),
        preconditions={
            **common.input_facts(request.inspector, checkpoint.offsets),
            "checkpoint": {"location": checkpoint.location, "query_id": checkpoint.query_id},
            "partitions": now,
            "provider": _provider(position),
            "commands": common.command_facts(pipeline),
        },
        risks=tuple(_risks(request.version)),
        blockers=(
            *common.must_be_stopped(pipeline, request.inspector),
            *common.shared_checkpoint(pipeline, request.inspector),
            *_blockers(checkpoint, position, request.version, wanted, stopped=stopped),
        ),
        options=dict(request.options),
        resources=(f"checkpoint:{checkpoint.location}",),
    )


def _blockers(
    found: Checkpoint,
    position: QueryPosition,
    version: Version | None,
    wanted: int,
    *,
    stopped: bool,
) -> list[str]:
    blockers = []
    if not position.operators:
        blockers.append(
            "the query has no state. A stateless query uses the new spark.sql.shuffle.partitions "
            "after a restart, without this scenario"
        )
    elif "RocksDB" not in _provider(position):
        blockers.append(
            f"the state store provider is {_provider(position).rpartition('.')[2]}, but Spark "
            "repartitions only RocksDB state "
            "(STATE_REPARTITION_INVALID_CHECKPOINT.UNSUPPORTED_PROVIDER). To change "
            "the number of partitions without keeping the state, use from-scratch, from-point or "
            "new-checkpoint"
        )
    if _LIMIT in position.operators:
        blockers.append(
            "Spark doesn't repartition the state of a query with a limit() "
            "(STATE_REPARTITION_INVALID_CHECKPOINT.UNSUPPORTED_STATEFUL_OPERATOR). To change the "
            "number of partitions without keeping the state, use from-scratch, from-point or "
            "new-checkpoint"
        )
    if position.pinned.get(PARTITIONS) == str(wanted):
        blockers.append(
            f"the state already has {wanted} partitions. Choose another number with --partitions"
        )
    if version and (known := _number(version.engine_version)) and known < _FIRST:
        blockers.append(
            f"the query runs on Spark {version.engine_version}, but Headgate repartitions with "
            "Spark 4.2, and an older release may be unable to read the new checkpoint. Upgrade "
            "the query to Spark 4.2 or newer first"
        )
    if position.batch is None:
        blockers.append(
            "no batch has completed, so there is no state to repartition. Wait for the first batch"
        )
    if position.begun is not None and stopped:
        blockers.append(
            f"batch {position.begun} is uncommitted: start the query to complete this batch, or "
            "remove the batch with `headgate plan repair` and its option --uncommitted"
        )
    if found.fixed:
        other = ". Use from-scratch, from-point or new-checkpoint" if found.remote else ""
        blockers.append(f"Headgate can't replace checkpoint {found.location}: {found.fixed}{other}")
    return blockers


def _provider(position: QueryPosition) -> str:
    return position.pinned.get(_PROVIDER, "unknown (not in the offset log)")


def _number(version: str | None) -> tuple[int, ...] | None:
    parts = (version or "").split(".")[:2]
    return tuple(map(int, parts)) if len(parts) == 2 and all(p.isdecimal() for p in parts) else None


UNCOMMITTED_BATCH = Risk(
    "if the stop leaves an uncommitted batch, the run fails and its changes are rolled back. "
    "Stop the query between two batches"
)
EXPERIMENTAL = Risk(
    "Spark marks state repartitioning as experimental. So Headgate compares the old and the "
    "new state row by row"
)
EMPTY_BATCH = Risk(
    "the run adds a batch without input: the sink gets no rows for that batch number"
)
TIMERS = Risk(
    "timers of {operators} move with the state: each timer fires once. Timers that come due "
    "while the query is stopped fire in the first batch, as after any restart. Measured only "
    "on Spark 4.2.0 (transformWithState and applyInPandasWithState, processing time and event "
    "time)"
)
PROCESSING_TIME = Risk(
    "a query with processing-time timers runs a batch at each trigger, even without input. So "
    "a stop is likely to leave an uncommitted batch, and the run then fails. If the run "
    "fails, either remove the batch with `headgate plan repair` and its option --uncommitted, "
    "or restart the query with a long trigger interval and stop it again"
)
RELEASE_UNKNOWN = Risk(
    "the query's Spark release is unknown. A release older than 4.2 may be unable to read the "
    "new checkpoint, which Spark 4.2 writes"
)


def _risks(version: Version | None) -> list[str]:
    risks = [
        UNCOMMITTED_BATCH(),
        EXPERIMENTAL(),
        EMPTY_BATCH(),
    ]
    if timed := [o for o in (version.stateful if version else None) or () if _has_timers(o)]:
        names = name_list(o.name or o.kind.value for o in timed)
        risks.append(TIMERS(operators=names))
        if any(_has_processing_time(o) for o in timed):
            risks.append(PROCESSING_TIME())
    if version is None or version.engine_version is None:
        risks.append(RELEASE_UNKNOWN())
    return risks


def _has_processing_time(operator: StatefulOperator) -> bool:
    said = operator.extra.get("timeout"), operator.extra.get("time_mode")
    return any(str(word).startswith("ProcessingTime") for word in said)


def _has_timers(operator: StatefulOperator) -> bool:
    if operator.kind is OperatorKind.MAP_GROUPS:
        return str(operator.extra.get("timeout")) != "NoTimeout"
    return (
        operator.kind is OperatorKind.TRANSFORM_WITH_STATE
        and str(operator.extra.get("time_mode")) != "NoTime"
    )


RISKS = (
    UNCOMMITTED_BATCH,
    EXPERIMENTAL,
    EMPTY_BATCH,
    TIMERS,
    PROCESSING_TIME,
    RELEASE_UNKNOWN,
)
