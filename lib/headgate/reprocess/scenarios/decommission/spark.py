"""Decommission a Spark query: back up its checkpoint, delete its group, and keep its output."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import Group
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.decommission.consumer_group import (
    DELETABLE,
    group_blockers,
    running,
)
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.move_to_backup import MoveToBackup
from headgate.reprocess.steps.offsets.delete_group import DeleteGroup
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan: verify that it is stopped, move its checkpoint to backup, delete its group.

    Spark commits no offsets. The query has a group only if the registry names one, into which the
    program commits so that others see its lag.
    """
    pipeline, inspector = request.pipeline, request.inspector
    found = inspector.checkpoints.read(pipeline.checkpoint) if pipeline.checkpoint else None
    if found is None:
        return request.block(common.no_checkpoint(pipeline))
    group = _group(request)
    aside = MoveToBackup(
        pipeline=pipeline.name,
        folder=found.location,
        what="checkpoint",
        checkpoint=found.location,
    )
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=(
            common.stop_step(pipeline, checkpoint=found.location),
            *_delete(request, group),
            aside,
        ),
        preconditions={
            **_facts(request, group),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(pipeline),
        },
        impact={"records": {}, "total": 0},
        risks=(*_risks(request, group), *(common.group_risks(group) if group else ())),
        blockers=tuple(_blockers(request, found, group)),
        options=dict(request.options),
        resources=(
            f"checkpoint:{found.location}",
            *((f"group:{group.id}",) if group else ()),
        ),
    )


def _group(request: PlanRequest) -> Group | None:
    """Return the group that the registry names, None where the cluster has none of that name."""
    if request.pipeline.group is None or not request.inspector.kafka.has_cluster():
        return None
    found = request.inspector.kafka.group(request.pipeline.group)
    return None if found.state == "dead" else found


def _delete(request: PlanRequest, group: Group | None) -> tuple[Step, ...]:
    if group is None:
        return ()
    delete = DeleteGroup(
        group=group.id, group_type=group.type.value, pipeline=request.pipeline.name
    )
    return (RecordOffsets(group=group.id), delete)


def _facts(request: PlanRequest, group: Group | None) -> dict[str, object]:
    if group is None:
        return {}
    return {
        "cluster_id": request.inspector.kafka.cluster_id(),
        "group": {"id": group.id, "type": group.type.value},
    }


def _blockers(request: PlanRequest, found: Checkpoint, group: Group | None) -> Iterator[str]:
    yield from running(request) if group is None else group_blockers(request, group)
    if group is not None and group.type not in DELETABLE:
        yield (
            f"an undo can't restore a group of type {group.type}, so Headgate doesn't delete group "
            f"{group.id}. To decommission the query without the group, remove `group` of this "
            "pipeline from headgate.toml"
        )
    yield from common.shared_checkpoint(request.pipeline, request.inspector)
    if found.fixed:
        more = ". Delete the checkpoint yourself" if found.remote else ""
        yield f"Headgate can't move checkpoint {found.location} to backup: {found.fixed}{more}"


CHECKPOINT_MOVES = Risk(
    "the checkpoint and its state move to a backup folder next to the checkpoint. An undo "
    "restores both byte for byte, as long as Headgate keeps the backup (`keep_snapshots` "
    "under [runs] in headgate.toml)"
)
GROUPS_KEPT = Risk(
    "the query's sources use the groups {groups} (kafka.group.id), which headgate.toml "
    "doesn't set for this pipeline. Headgate keeps these groups"
)
GROUP_KEPT = Risk(
    "the query's sources use group {group} (kafka.group.id), which headgate.toml doesn't set "
    "for this pipeline. Headgate keeps the group. If only this query uses the group, set "
    "`group` in headgate.toml: the plan then deletes it, too"
)
GROUP_NOT_FOUND = Risk("group {group} not found, or not visible to Headgate: no group is deleted")
REPORTS_KEPT = Risk("the reports that headgate.watch wrote to {location} are kept")
OUTPUT_KEPT = Risk("the output of the query in {output} is kept")


def _risks(request: PlanRequest, group: Group | None) -> Iterator[str]:
    yield CHECKPOINT_MOVES()
    if strange := _other_groups(request):
        yield (
            GROUPS_KEPT(groups=name_list(strange))
            if len(strange) > 1
            else GROUP_KEPT(group=name_list(strange))
        )
    has_cluster = request.inspector.kafka.has_cluster()
    if group is None and request.pipeline.group is not None and has_cluster:
        yield GROUP_NOT_FOUND(group=request.pipeline.group)
    if request.pipeline.watch is not None:
        yield REPORTS_KEPT(location=request.pipeline.watch)
    sink = request.version.sink if request.version else None
    if sink is not None and (sink.target or sink.format):
        target = sink.target or f"its {sink.format} sink"
        yield OUTPUT_KEPT(output=target)


def _other_groups(request: PlanRequest) -> set[str]:
    sources = (request.version.sources if request.version else None) or ()
    told = {s.options.get("kafka.group.id") for s in sources}
    return {g for g in told if g is not None and g != request.pipeline.group}


RISKS = (
    CHECKPOINT_MOVES,
    GROUPS_KEPT,
    GROUP_KEPT,
    GROUP_NOT_FOUND,
    REPORTS_KEPT,
    OUTPUT_KEPT,
    *common.GROUP_RISKS,
)
