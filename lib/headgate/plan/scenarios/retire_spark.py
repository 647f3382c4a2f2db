"""Retire a Spark query: its checkpoint is set aside; what it wrote stays."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.plan.plan import Plan
from headgate.plan.scenario import Asked
from headgate.plan.scenarios import common
from headgate.plan.scenarios.retire_group import running
from headgate.plan.steps import SetAside
from headgate.plan.world import Checkpoint


def build(asked: Asked) -> Plan:
    """Return the plan: prove that the query has stopped, set its checkpoint aside."""
    pipeline, world = asked.pipeline, asked.world
    found = world.checkpoint(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        where = f"there is no checkpoint at {pipeline.checkpoint}"
        return asked.refuse(where if pipeline.checkpoint else "headgate.toml names no `checkpoint`")
    aside = SetAside(
        pipeline=pipeline.name,
        folder=found.location,
        what="checkpoint",
        checkpoint=found.location,
    )
    return Plan(
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=(common.stop_step(pipeline, checkpoint=found.location), aside),
        preconditions={
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
        },
        impact={"records": {}, "total": 0},
        risks=tuple(_risks(asked, found)),
        refusals=tuple(_refusals(asked, found)),
        options=dict(asked.options),
        resources=(f"checkpoint:{found.location}",),
    )


def _refusals(asked: Asked, found: Checkpoint) -> Iterator[str]:
    yield from running(asked)
    yield from common.shared_checkpoint(asked.pipeline, asked.world)
    if found.fixed:
        yield f"{found.location} can't be set aside: {found.fixed}"


def _risks(asked: Asked, found: Checkpoint) -> Iterator[str]:
    yield (
        "the checkpoint is kept beside its place, with all its state, until you remove it: until"
        " then an undo puts it back byte for byte"
    )
    sink = asked.version.sink if asked.version else None
    if sink is not None and (sink.target or sink.format):
        yield f"what the query wrote to {sink.target or sink.format} stays"
