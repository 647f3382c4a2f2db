"""Decommission a Spark query: its checkpoint is set aside, its group goes; what it wrote stays."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import Group
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import Asked
from headgate.reprocess.scenarios.decommission.consumer_group import (
    DELETABLE,
    group_blockers,
    running,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps import DeleteGroup, MoveToBackup, RecordOffsets
from headgate.reprocess.steps.base.step import Step
from headgate.text.numbers import named


def build(asked: Asked) -> Plan:
    """Return the plan: prove that it has stopped, set its checkpoint aside, delete its group.

    Spark commits no offsets; a group is its own only where the registry gives it one, into which
    the program commits for others to see its lag.
    """
    pipeline, world = asked.pipeline, asked.world
    found = world.checkpoint(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        where = f"there is no checkpoint at {pipeline.checkpoint}"
        return asked.block(where if pipeline.checkpoint else "headgate.toml names no `checkpoint`")
    group = _group(asked)
    aside = MoveToBackup(
        pipeline=pipeline.name,
        folder=found.location,
        what="checkpoint",
        checkpoint=found.location,
    )
    return Plan(
        scenario=asked.scenario,
        pipeline=pipeline.name,
        steps=(
            common.stop_step(pipeline, checkpoint=found.location),
            *_delete(asked, group),
            aside,
        ),
        preconditions={
            **_facts(asked, group),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
        },
        impact={"records": {}, "total": 0},
        risks=(*_risks(asked, found, group), *(common.group_risks(group) if group else ())),
        blockers=tuple(_blockers(asked, found, group)),
        options=dict(asked.options),
        resources=(
            f"checkpoint:{found.location}",
            *((f"group:{group.id}",) if group else ()),
        ),
    )


def _group(asked: Asked) -> Group | None:
    """Return the group that the registry names, None where the cluster has none of that name."""
    if asked.pipeline.group is None or not asked.world.has_cluster():
        return None
    found = asked.world.group(asked.pipeline.group)
    return None if found.state == "dead" else found


def _delete(asked: Asked, group: Group | None) -> tuple[Step, ...]:
    if group is None:
        return ()
    delete = DeleteGroup(group=group.id, group_type=group.type.value, pipeline=asked.pipeline.name)
    return (RecordOffsets(group=group.id), delete)


def _facts(asked: Asked, group: Group | None) -> dict[str, object]:
    if group is None:
        return {}
    return {
        "cluster_id": asked.world.cluster_id(),
        "group": {"id": group.id, "type": group.type.value},
    }


def _blockers(asked: Asked, found: Checkpoint, group: Group | None) -> Iterator[str]:
    yield from running(asked) if group is None else group_blockers(asked, group)
    if group is not None and group.type not in DELETABLE:
        yield f"group {group.id} is of type {group.type}: it can't be deleted and put back"
    yield from common.shared_checkpoint(asked.pipeline, asked.world)
    if found.fixed:
        yield f"{found.location} can't be set aside: {found.fixed}"


def _risks(asked: Asked, found: Checkpoint, group: Group | None) -> Iterator[str]:
    yield (
        "the checkpoint is kept beside its place, with all its state, as long as what an undo needs"
        " ([runs] keep_snapshots): until then an undo puts it back byte for byte"
    )
    if strange := _other_groups(asked):
        yield (
            f"its sources name the group {named(strange)}, and the registry does not: it stays. Say"
            " `group` in headgate.toml where it is this query's own"
        )
    if group is None and asked.pipeline.group is not None:
        yield f"there is no group {asked.pipeline.group}, or it can't be seen: none is deleted"
    if asked.pipeline.watch is not None:
        yield f"what {asked.pipeline.watch} was told of the query stays"
    sink = asked.version.sink if asked.version else None
    if sink is not None and (sink.target or sink.format):
        yield f"what the query wrote to {sink.target or sink.format} stays"


def _other_groups(asked: Asked) -> set[str]:
    sources = (asked.version.sources if asked.version else None) or ()
    told = {s.options.get("kafka.group.id") for s in sources}
    return {g for g in told if g is not None and g != asked.pipeline.group}
