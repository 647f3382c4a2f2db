"""What is true of a plan and decides what it does to outputs: read from its steps and answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.model.cluster import Group
from headgate.model.sinks import BatchIds
from headgate.model.version import Engine
from headgate.reprocess.impact import again
from headgate.reprocess.output_effects import Fact
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.steps.base.step import OUTPUT_FOLDER, Step
from headgate.text.numbers import name_list

# Scenarios after which a query begins with empty state.
_EMPTY = frozenset({"from-scratch", "from-point", "new-checkpoint"})


def facts_of(request: PlanRequest, plan: Plan) -> frozenset[Fact]:
    """Return what is true of the plan; what isn't known counts as the worse of both."""
    return frozenset(_facts(request, plan))


def words_of(request: PlanRequest) -> dict[str, str]:
    """Return what stands for the gaps in a statement: pipeline, outputs, and the point."""
    return {
        "name": request.pipeline.name,
        "to": outputs_of(request) or "the pipeline's outputs",
        "point": str(request.options.get("to-datetime", "the starting offset")),
    }


def outputs_of(request: PlanRequest) -> str:
    """Return where the pipeline writes, empty if no source says so."""
    if given := request.options.get("output-topics"):
        return name_list(n.strip() for text in given for n in text.split(","))
    sink = request.version.sink if request.version else None
    if sink is not None:
        return sink.place or ""
    if request.pipeline.engine is not Engine.KAFKA_STREAMS:
        return ""
    told = _topology(request)
    return name_list(told.sinks - told.loops)


def _facts(request: PlanRequest, plan: Plan) -> Iterator[Fact]:
    actions = {step.action for step in plan.steps}
    # How many rows of files a query reads again nothing tells; of a group its offsets do.
    read = (
        again(plan.impact) if request.pipeline.engine is Engine.SPARK else plan.impact.get("total")
    )
    if read != 0:
        yield Fact.REPROCESSES
    if sum(plan.impact.get("skipped", {}).values()):
        yield Fact.SKIPS
    yield from _of_outputs(request)
    yield from _of_actions(request, actions)
    if any(_takes_files_back(step) for step in plan.steps):
        yield Fact.FILES_BACK
    if request.pipeline.engine is Engine.SPARK:
        yield from _of_query(request)
    elif request.pipeline.engine is Engine.KAFKA_STREAMS:
        yield from _of_state(request, actions)
    if request.options.get("beyond") == "beginning":
        yield Fact.RECREATED
    if _is_cut(plan):
        yield Fact.CUT


def _of_outputs(request: PlanRequest) -> Iterator[Fact]:
    how = request.options.get("outputs")
    if request.has_new_outputs:
        yield Fact.NEW_OUTPUTS
    if how == "empty":
        yield Fact.EMPTIED
        if "back-up-outputs" in request.options:
            yield Fact.BACKED_UP


def _of_actions(request: PlanRequest, actions: set[str]) -> Iterator[Fact]:
    if "add_partitions" in actions:
        yield Fact.RAISED
    if "abort_transaction" in actions:
        yield Fact.ABORTED
    if request.options.get("resume"):
        yield Fact.RESUMED
    if "pause_processing" not in actions and "resume_processing" not in actions:
        yield Fact.RESTARTED


def _takes_files_back(step: Step) -> bool:
    """Whether the undo of a step moves the files that a file sink has written since the run."""
    if step.action == "move_to_backup":
        return bool(step.details()["what"] == OUTPUT_FOLDER)
    is_cut = step.action == "swap_cut_checkpoint"
    return step.action == "cut_sink_log" or (is_cut and step.details()["sink"] is not None)


def _of_query(request: PlanRequest) -> Iterator[Fact]:
    if request.scenario in _EMPTY and (request.version is None or request.version.stateful != ()):
        yield Fact.STATE_GONE
    # Imported here: only a Spark query has a sink that counts batches.
    from headgate.reprocess.scenarios.shared.sink_replay import sink_of

    sink = sink_of(request)
    if sink.batch_ids in (BatchIds.DROPS, BatchIds.DROPS_OF_QUERY):
        yield Fact.BY_BATCH
    if sink.format == "delta":
        yield Fact.DELTA


def _of_state(request: PlanRequest, actions: set[str]) -> Iterator[Fact]:
    """Say what becomes of an application's state; one that nothing describes may have some."""
    if _topology(request).stores == frozenset():
        return
    if actions & {"clear_local_state", "delete_topics"}:
        yield Fact.STATE_GONE
        if {"back-up-internal", "back-up"} & request.options.keys():
            yield Fact.STATE_RESTORED
    else:
        yield Fact.STATE_KEPT


def _topology(request: PlanRequest) -> Any:
    # Imported here: other engines' plans don't need what reads a Kafka Streams topology.
    from headgate.reprocess.scenarios.shared.kafka_streams_topology import topology

    application = str(request.pipeline.group)
    group = Group(id=application, state="dead", members=())
    return topology(request.options, request.version, application, group)


def _is_cut(plan: Plan) -> bool:
    """Whether an input's first record was ever before where it begins.

    The first step that moves offsets is the inputs'; intermediate topics follow it.
    """
    first = next((s for s in plan.steps if s.action == "reset_offsets"), None)
    moves = first.details()["offsets"] if first is not None else ()
    stays = plan.scenario == RESET and first is None
    return stays or any(move["to"] for move in moves)
