"""Repair for a Spark query: a repaired copy of its checkpoint takes the broken one's place."""

from __future__ import annotations

from dataclasses import asdict

from headgate.errors import EvidenceError
from headgate.model.registry import Pipeline
from headgate.model.version import Version
from headgate.plan.checkpoint_files import CheckpointFiles
from headgate.plan.checkup import Checkup, check_up, known_of
from headgate.plan.flaw import Flaw
from headgate.plan.plan import Plan
from headgate.plan.ports.checkpoints import Checkpoint
from headgate.plan.ports.control import Status
from headgate.plan.scenario import Asked
from headgate.plan.scenarios import common
from headgate.plan.step import Step
from headgate.plan.steps.process import start_or_ask
from headgate.plan.steps.repair import ProveRepair, PutInPlace, RepairCopy
from headgate.plan.world import World


def build(asked: Asked) -> Plan:
    """Return the plan: repair a copy, rehearse on it, put it in place; or why there is none."""
    pipeline, world = asked.pipeline, asked.world
    if not pipeline.checkpoint:
        return asked.refuse("headgate.toml names no `checkpoint` of it")
    if world.status(pipeline.name) is Status.RUNS:
        return asked.refuse(
            f"{pipeline.name} runs: a batch that is under way looks like a broken one. Where it"
            " fails again and again, stop it first"
        )
    found = world.checkpoint_files(pipeline.checkpoint, _sink(asked.version))
    if found is None:
        return asked.refuse(f"there is no checkpoint at {pipeline.checkpoint}")
    looked = check_up(found, known_of(asked.version, dict(asked.options)))
    if looked.left or not looked.edits:
        return asked.refuse(*_reasons(pipeline, looked))
    return Plan(
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=_steps(pipeline, world, found, looked),
        preconditions={
            "checkpoint": {"location": found.location, "logs": found.digest},
            "flaws": [f"{flaw.code}: {flaw.what}" for flaw in looked.flaws],
            "commands": common.command_facts(pipeline),
        },
        impact={
            "flaws": [flaw.what for flaw in looked.flaws],
            "snapshot": asdict(world.snapshot_size(found.location)),
        },
        risks=tuple(_risks(pipeline, looked)),
        refusals=tuple(_refusals(pipeline, world, found)),
        resources=(f"checkpoint:{found.location}",),
    )


def _steps(
    pipeline: Pipeline, world: World, found: CheckpointFiles, looked: Checkup
) -> tuple[Step, ...]:
    watched = found.location if _readable(world, found.location) else None
    stop = common.stop_step(pipeline, checkpoint=watched)
    copy = RepairCopy(
        pipeline=pipeline.name,
        checkpoint=found.location,
        edits=looked.edits,
        logs=found.digest,
    )
    proof: tuple[Step, ...] = ()
    if pipeline.entry_point:
        entry = pipeline.entry_point
        proof = (ProveRepair(pipeline=pipeline.name, checkpoint=found.location, entry_point=entry),)
    place = PutInPlace(pipeline=pipeline.name, checkpoint=found.location)
    return (stop, copy, *proof, place, start_or_ask(stop))


def _readable(world: World, location: str) -> Checkpoint | None:
    """Return the checkpoint; None without a `metadata`: then its logs can't be watched."""
    try:
        return world.checkpoint(location)
    except EvidenceError:
        return None


def _reasons(pipeline: Pipeline, looked: Checkup) -> list[str]:
    """Say what can't be repaired and what gets over it, or that nothing is broken."""
    if looked.is_sound:
        reason = f"there is nothing to repair: the checkpoint of {pipeline.name} is sound"
        return ["; ".join((reason, *looked.notes))]
    repairable = [f"could be repaired: {flaw.what}" for flaw in looked.flaws]
    return [*map(_beyond, looked.left), *repairable]


def _beyond(flaw: Flaw) -> str:
    way = f": `headgate plan {flaw.scenario}` gets over it" if flaw.scenario else ""
    return f"can't be repaired: {flaw.what.rstrip('.')}{way}"


def _refusals(pipeline: Pipeline, world: World, found: CheckpointFiles) -> list[str]:
    refusals = common.must_be_stopped(pipeline, world)
    readable = _readable(world, found.location)
    if readable is None and pipeline.commands.status is None:
        refusals.append(
            f"{pipeline.name} has no status command, and without `metadata` its logs don't tell"
            " either whether it is stopped: register one"
        )
    if readable is not None and readable.fixed:
        refusals.append(f"{found.location} can't be replaced: {readable.fixed}")
    return refusals


def _risks(pipeline: Pipeline, looked: Checkup) -> list[str]:
    risks = [flaw.risk for flaw in looked.flaws if flaw.risk]
    if not pipeline.entry_point:
        risks.append(
            f"{pipeline.name} has no entry_point: no rehearsal proves the repair before it is put"
            " in place"
        )
    risks.append("an undo puts the broken checkpoint back: the query will not start with it")
    return risks


def _sink(version: Version | None) -> str | None:
    sink = version.sink if version else None
    return sink.target if sink is not None and sink.is_files else None
