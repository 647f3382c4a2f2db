"""The plan that takes a run back: the undo of each of its steps, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.execution.execute import Record
from headgate.reprocess.execution.suspended_restarts import reenables
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import UNDO, Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.common import topic_facts
from headgate.reprocess.scenarios.shared.output_statements import BEHIND, UNDONE, UNSTATED
from headgate.reprocess.steps import (
    ReenableRestarts,
    RestoreCheckpoint,
    RestoreGroup,
    RestoreOffsets,
    RestoreTopics,
    SwitchToOldCheckpoint,
)
from headgate.reprocess.steps.base.step import Step, active_reason
from headgate.reprocess.steps.offsets.partition_offsets import committed, replace_was
from headgate.reprocess.steps.process.rebind_commands import rebind
from headgate.reprocess.steps.process.stop_start import StopPipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A run that has ended: its plan, and what the journal says of each step.

    `blockers` are the reasons that the run's row gives against an undo.
    """

    run: str
    plan: Plan
    records: Mapping[int, Record]
    blockers: tuple[str, ...] = ()


def build_undo(past: Past, inspector: Inspector) -> Plan:
    """Return the plan that puts back what the run changed, with or without blockers."""
    pipeline = past.plan.pipeline
    commands = _commands(pipeline, inspector)
    pairs: list[tuple[int | None, Step]] = [
        (position, _shown(back, inspector))
        for position, step in reversed(tuple(enumerate(past.plan.steps)))
        for back in _back(step, past.records.get(position), commands)
    ]
    pairs = [*_stop_first([step for _, step in pairs], commands), *pairs]
    pairs += _reenable_last([step for _, step in pairs], commands)
    steps = tuple(step for _, step in pairs)
    preconditions = _preconditions(past, steps, inspector)
    return Plan(
        scenario=UNDO,
        pipeline=pipeline,
        steps=steps,
        preconditions=preconditions,
        risks=tuple(_risks(steps, inspector)),
        blockers=(*past.blockers, *_blockers(past, steps, preconditions, inspector)),
        options={"run": past.run},
        resources=past.plan.resources,
        undoes=tuple(position for position, _ in pairs),
        outputs=_outputs(past, steps) if steps else OutputEffects(),
    )


def _outputs(past: Past, steps: tuple[Step, ...]) -> OutputEffects:
    """Return what the run's plan said of its undo, and which keys are wrong as it is now."""
    stated = past.plan.outputs
    return OutputEffects(
        run=(*(stated.undo or (UNSTATED,)), *_behind(past, steps)),
        undo=(UNDONE,),
        remains=stated.remains,
    )


def _behind(past: Past, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Say how much an application whose state was deleted has not reprocessed yet."""
    if not any(step.action in _FORGETS for step in past.plan.steps):
        return ()
    moves = [m for step in steps if isinstance(step, RestoreOffsets) for m in step.offsets]
    count = sum(max((m["to"] or 0) - (m["from"] or 0), 0) for m in moves)
    return (BEHIND.format(name=past.plan.pipeline, count=f"{count:,}"),) if count else ()


def _commands(pipeline: str | None, inspector: Inspector) -> Commands:
    registered = inspector.registered(pipeline) if pipeline else None
    return registered.commands if registered else Commands()


def _stop_first(steps: list[Step], commands: Commands) -> list[tuple[None, Step]]:
    """Return a stop of its own where a checkpoint would be put back without one before.

    A run that ended before its start step left the pipeline stopped; a person may have started
    it since.
    """
    for step in steps:
        # Of a group that the run deleted nothing can be proven but that it is gone.
        if isinstance(step, StopPipeline | RestoreGroup):
            break
        if isinstance(step, _NEEDS_STOP) and step.pipeline is not None:
            stop = StopPipeline(
                pipeline=step.pipeline,
                command=commands.stop,
                start=commands.start,
                has_status=commands.status is not None,
                checkpoint=_checkpoint_of(step),
                group=step.group if isinstance(step, RestoreTopics) else None,
                suspend=commands.suspend,
                reenable=commands.reenable,
            )
            return [(None, stop)]
    return []


def _reenable_last(steps: list[Step], commands: Commands) -> list[tuple[None, Step]]:
    """Return the step that re-enables restarts, if the undo suspends them and none does."""
    suspended: StopPipeline | None = None
    for step in steps:
        if isinstance(step, StopPipeline) and step.suspend is not None:
            suspended = step
        elif reenables(step):
            suspended = None
    if suspended is None or commands.reenable is None:
        return []
    off = ReenableRestarts(
        pipeline=suspended.pipeline, command=commands.reenable, suspend=commands.suspend
    )
    return [(None, off)]


# Steps after which an application counts from zero.
_FORGETS = frozenset({"clear_local_state", "delete_topics"})
_NEEDS_STOP = RestoreCheckpoint | SwitchToOldCheckpoint | RestoreTopics


def _checkpoint_of(step: RestoreCheckpoint | SwitchToOldCheckpoint | RestoreTopics) -> str | None:
    """Return where the query that must be stopped first has its checkpoint."""
    if isinstance(step, SwitchToOldCheckpoint):
        return step.place
    return step.checkpoint if isinstance(step, RestoreCheckpoint) else None


def _back(step: Step, record: Record | None, commands: Commands) -> tuple[Step, ...]:
    """Return the steps that undo `step`, with the commands that are registered now."""
    if record is None or not (record.begun and record.state.may_have_effect):
        return ()
    return tuple(rebind(back, commands) for back in step.undo(record.was))


def _shown(step: Step, inspector: Inspector) -> Step:
    """Fill in what the partitions of a step that moves offsets are at now."""
    if not isinstance(step, RestoreOffsets):
        return step
    now = committed(inspector, step.group)
    moves = (replace_was(m, now.get((m.topic, m.partition))) for m in step.moves)
    return replace(step, offsets=tuple(m.shown() for m in moves))


def _preconditions(past: Past, steps: tuple[Step, ...], inspector: Inspector) -> dict[str, Any]:
    facts: dict[str, Any] = {"run": past.run}
    for step in steps:
        facts |= step.facts(inspector)
        if isinstance(step, RestoreOffsets):
            facts["cluster_id"] = inspector.cluster_id()
            facts["group"] = {"id": step.group, "type": step.group_type}
            facts["topics"] = topic_facts(inspector.topics(step.topics))
        if isinstance(step, RestoreCheckpoint):
            facts["checkpoint"] = {"location": step.checkpoint, "hash": step.hash}
    return facts


def _blockers(
    past: Past, steps: tuple[Step, ...], facts: Mapping[str, Any], inspector: Inspector
) -> list[str]:
    if past.blockers:
        return []
    found = [
        reason
        for position, step in enumerate(past.plan.steps)
        if not step.undoable
        for reason in _remains(step, past.records.get(position, Record()), inspector)
    ]
    if not steps:
        return found or [f"run {past.run} left nothing to restore"]
    before, now = past.plan.preconditions.get("cluster_id"), facts.get("cluster_id")
    if now is not None and now != before:
        found.append(f"this is another Kafka cluster: {now}; the run was on {before}")
    stops = any(isinstance(s, StopPipeline) and s.command for s in steps)
    for step in steps:
        found += step.blockers(inspector)
        if isinstance(step, RestoreOffsets):
            found += _offset_blockers(step, facts["topics"], inspector, stops=stops)
    return found


def _remains(step: Step, record: Record, inspector: Inspector) -> tuple[str, ...]:
    """Return why the undo can't take a step back; nothing of one that was never begun."""
    if not (record.begun and record.state.may_have_effect):
        return ()
    said = step.remains(inspector, record.was)
    return (f"can't be undone: {step.describe()}",) if said is None else said


def _offset_blockers(
    step: RestoreOffsets, topics: Mapping[str, Any], inspector: Inspector, *, stops: bool
) -> list[str]:
    found = []
    for name, facts in sorted(step.topics.items()):
        if name not in topics:
            found.append(f"topic {name} does not exist any more")
        elif topics[name] != facts:
            found.append(f"topic {name} was recreated, or has other partitions since the run")
    group = inspector.group(step.group)
    if not group.is_inactive and not (stops and group.state != "dead"):
        found.append(active_reason(inspector, step.group))
    return found


def _risks(steps: tuple[Step, ...], inspector: Inspector) -> list[str]:
    risks: list[str] = []
    for step in steps:
        risks += step.risks(inspector)
        if isinstance(step, RestoreOffsets):
            risks += _expired(step, inspector)
            risks.append("what the group did with records since the run is not rolled back")
        if isinstance(step, RestoreCheckpoint):
            risks.append(
                "what the query wrote since the run stays in the sink. The old checkpoint does "
                "not know of it: the query resumes where that checkpoint stopped"
            )
    return risks


def _expired(step: RestoreOffsets, inspector: Inspector) -> list[str]:
    """Name the offsets that retention has passed: they come back, but their records don't."""
    begin = {
        (t.name, p.number): p.begin
        for t in inspector.topics(step.topics).values()
        for p in t.partitions
    }
    return [
        f"offset {m.to.offset} of {m.topic}[{m.partition}] is past retention, its log begins at "
        f"{first}. It is restored, and the consumer then follows its auto.offset.reset"
        for m in step.moves
        if m.to is not None
        and (first := begin.get((m.topic, m.partition))) is not None
        and m.to.offset < first
    ]
