"""The plan that takes a run back: the undo of each of its steps, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.model.registered_pipelines import Commands
from headgate.reprocess.execution.execute import Record
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import UNDO, Plan, changed
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenarios.shared.output_statements import BEHIND, UNDONE, UNSTATED
from headgate.reprocess.scenarios.shared.shared_commands import with_shared_stops
from headgate.reprocess.steps.base.step import Step, pipeline_of
from headgate.reprocess.steps.checkpoint.swap import OUTPUT_MOVED, OUTPUT_STAYS


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
    """Return the plan that restores what the run changed, with or without blockers."""
    pipeline = past.plan.pipeline
    commands = _CommandsOf(pipeline, inspector)
    pairs: list[tuple[int | None, Step]] = [
        (position, back.preview(inspector))
        for position, step in reversed(tuple(enumerate(past.plan.steps)))
        for back in _back(step, past.records.get(position), commands)
    ]
    first = _stop_first([step for _, step in pairs], commands)
    pairs = [*((None, step) for step in first), *pairs]
    pairs += [(None, step) for step in _reenable_last([step for _, step in pairs], commands)]
    steps = tuple(step for _, step in pairs)
    preconditions = _preconditions(past, steps, inspector)
    plan = Plan(
        scenario=UNDO,
        pipeline=pipeline,
        steps=steps,
        preconditions=preconditions,
        risks=tuple(_risks(steps, inspector)),
        blockers=(*past.blockers, *_blockers(past, steps, preconditions, inspector)),
        options={"run": past.run},
        # Other pipelines may share a command now than at the run.
        resources=changed(past.plan.resources),
        undoes=tuple(position for position, _ in pairs),
        outputs=_outputs(past, steps) if steps else OutputEffects(),
    )
    return with_shared_stops(plan, inspector)


def _risks(steps: tuple[Step, ...], inspector: Inspector) -> Iterator[str]:
    """Yield what the steps don't bring back, or lose; one step may bring back another's output."""
    is_moved = any(step.takes_output_back for step in steps)
    for step in steps:
        for risk in step.risks(inspector):
            yield OUTPUT_MOVED if is_moved and risk == OUTPUT_STAYS else risk


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
    if not any(step.forgets for step in past.plan.steps):
        return ()
    count = sum(step.lag() for step in steps)
    return (BEHIND.format(name=past.plan.pipeline, count=f"{count:,}"),) if count else ()


class _CommandsOf:
    """The commands that are registered now for the pipeline that a step is about."""

    def __init__(self, pipeline: str | None, inspector: Inspector) -> None:
        self._pipeline, self._inspector = pipeline, inspector
        self._known: dict[str | None, Commands] = {}

    def name(self, step: Step) -> str | None:
        """Return the pipeline of a step."""
        return pipeline_of(step, self._pipeline)

    def __call__(self, step: Step) -> Commands:
        """Return its commands; none where it is no longer registered."""
        name = self.name(step)
        if name not in self._known:
            found = self._inspector.processes.registered(name) if name else None
            self._known[name] = found.commands if found else Commands()
        return self._known[name]


def _stop_first(steps: list[Step], commands: _CommandsOf) -> tuple[Step, ...]:
    """Return a stop of its own where what a live pipeline uses would be restored without one.

    A run that ended before its start step left the pipeline stopped; a person may have started
    it since. Each pipeline has its own.
    """
    said: dict[str | None, tuple[Step, ...]] = {}
    for step in steps:
        if commands.name(step) in said:
            continue
        if (first := step.stop_first(commands(step))) is not None:
            said[commands.name(step)] = first
    return tuple(step for first in said.values() for step in first)


def _reenable_last(steps: list[Step], commands: _CommandsOf) -> tuple[Step, ...]:
    """Return the steps that re-enable restarts, if the undo suspends them and none does."""
    last: dict[str | None, tuple[Step, ...]] = {}
    for step in steps:
        name = commands.name(step)
        before = last.get(name, ())
        last[name] = () if step.reenables else step.reenable_last(commands(step)) or before
    return tuple(step for found in last.values() for step in found)


def _back(step: Step, record: Record | None, commands: _CommandsOf) -> tuple[Step, ...]:
    """Return the steps that undo `step`, with the commands that are registered now."""
    if record is None or not (record.begun and record.state.may_have_effect):
        return ()
    return tuple(back.rebind(commands(step)) for back in step.undo(record.was))


def _preconditions(past: Past, steps: tuple[Step, ...], inspector: Inspector) -> dict[str, Any]:
    facts: dict[str, Any] = {"run": past.run}
    for step in steps:
        for name, value in step.facts(inspector).items():
            # Two steps may restore offsets, each of topics of its own.
            if name == "topics":
                facts[name] = {**facts.get(name, {}), **value}
                continue
            of = pipeline_of(step, past.plan.pipeline)
            own = of == past.plan.pipeline or name == "cluster_id"
            facts[name if own else f"{name} of {of}"] = value
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
        return found or [f"run {past.run} changed nothing, so there is nothing to restore"]
    before, now = past.plan.preconditions.get("cluster_id"), facts.get("cluster_id")
    # A plan that reads no topic, but empties or fills one, may not have recorded its cluster.
    if now is not None and before is not None and now != before:
        found.append(
            f"the configured Kafka cluster is {now}, but the run was on {before}. Correct "
            "`bootstrap_servers` under [kafka]"
        )
    # A stop of one pipeline proves nothing of another one in the same plan.
    of = past.plan.pipeline
    stopped = {pipeline_of(step, of) for step in steps if step.stops}
    return [
        *found,
        *(
            reason
            for step in steps
            for reason in step.blockers(inspector, stops=pipeline_of(step, of) in stopped)
        ),
    ]


def _remains(step: Step, record: Record, inspector: Inspector) -> tuple[str, ...]:
    """Return why the undo can't roll back a step; empty for a step that was never started."""
    if not (record.begun and record.state.may_have_effect):
        return ()
    said = step.remains(inspector, record.was)
    return (f"can't be undone: {step.describe()}",) if said is None else said
