"""Decommission a Kafka Streams application: delete internal topics, local state and the group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.decommission.consumer_group import (
    DELETABLE,
    group_blockers,
    running,
    shared_group,
)
from headgate.reprocess.scenarios.shared import common, kafka_streams_options
from headgate.reprocess.scenarios.shared.internal_topics import Claim
from headgate.reprocess.scenarios.shared.kafka_streams_reset import (
    ResetFacts,
    ResetRequest,
    back_up_steps,
    clears_state,
    deletion_steps,
    look,
)
from headgate.reprocess.scenarios.shared.kafka_streams_reset_checks import (
    blockers as reset_blockers,
)
from headgate.reprocess.steps.base.group_liveness import has_gone
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.offsets.await_transactions import AwaitTransactions
from headgate.reprocess.steps.offsets.delete_group import DeleteGroup
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
from headgate.reprocess.steps.topics.delete_subjects import DeleteSubjects, ids_of
from headgate.reprocess.steps.topics.delete_topics import topic_shapes
from headgate.text.numbers import name_list
from headgate.text.risk import Risk


def build(request: PlanRequest) -> Plan:
    """Return the plan; it deletes only what is verified as the application's, or what is named."""
    internal = kafka_streams_options.names(request.options, kafka_streams_options.INTERNAL_TOPICS)
    wish = ResetRequest(
        target=None,
        internal=internal or None,
        keep_internal=kafka_streams_options.KEEP_INTERNAL.name in request.options,
        back_up="back-up" in request.options,
        instances=kafka_streams_options.names(request.options, kafka_streams_options.CLEARED),
    )
    seen = look(request, wish)
    inspector, pipeline = request.inspector, request.pipeline
    shapes = topic_shapes(inspector.kafka.shapes([t for t in seen.deleted if t in seen.topics]))
    subjects = ids_of(inspector, _subjects(shapes))
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=tuple(_steps(seen, shapes, subjects)),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": seen.application, "type": seen.group.type.value},
            "internal_topics": {name: shape["id"] for name, shape in shapes.items()},
            "commands": {**common.command_facts(pipeline), "clean": pipeline.commands.clean},
        },
        impact={
            "records": {},
            "total": 0,
            "internal_topics": {n: seen.internals[n].why for n in shapes if n in seen.internals},
            "left_alone": _left(seen),
            "subjects": sorted(subjects),
        },
        risks=tuple(_risks(seen, shapes)),
        blockers=tuple(dict.fromkeys(_blockers(seen))),
        options=dict(request.options),
        resources=(f"group:{seen.application}", *(f"topic:{name}" for name in sorted(shapes))),
    )


def _steps(
    seen: ResetFacts, shapes: dict[str, dict[str, Any]], subjects: dict[str, list[int]]
) -> Iterator[Step]:
    pipeline = seen.request.pipeline
    who: dict[str, Any] = {"group": seen.group.id, "group_type": seen.group.type.value}
    yield common.stop_step(pipeline)
    yield AwaitTransactions(application=seen.group.id, topics=shapes)
    if not has_gone(seen.group):
        yield RecordOffsets(group=seen.group.id)
    yield from back_up_steps(seen, shapes)
    yield from deletion_steps(seen, shapes)
    if subjects:
        yield DeleteSubjects(subjects=subjects)
    if clears_state(seen):
        yield ClearLocalState(
            pipeline=pipeline.name,
            command=pipeline.commands.clean,
            instances=seen.wish.instances,
            **who,
        )
    if seen.group.type in DELETABLE:
        yield DeleteGroup(pipeline=pipeline.name, **who)


def _blockers(seen: ResetFacts) -> Iterator[str]:
    """Block what runs or isn't verified; a group whose offsets expired may still have topics."""
    if not has_gone(seen.group):
        yield from group_blockers(seen.request, seen.group)
        yield from reset_blockers(seen)
        return
    if all(internal.claim is Claim.FOREIGN for internal in seen.internals.values()):
        # No topic shows that there ever was such an application.
        yield from reset_blockers(seen)
        return
    if seen.request.pipeline.commands.status is None:
        yield (
            f"group {seen.group.id} not found, so Headgate can't verify that "
            f"{seen.request.pipeline.name} is stopped. Register a status command"
        )
    yield from running(seen.request)
    yield from shared_group(seen.request, seen.group)
    yield from reset_blockers(seen, needs_group=False)


def _subjects(shapes: dict[str, Any]) -> list[str]:
    """Return the subjects that only the internal topics name: they are deleted with them."""
    return [f"{name}-{part}" for name in sorted(shapes) for part in ("key", "value")]


def _left(seen: ResetFacts) -> dict[str, str]:
    """Return what stays of all that looks like the application's, and why."""
    others = {n: i.why for n, i in seen.internals.items() if i.claim is Claim.FOREIGN}
    inputs = dict.fromkeys(
        (*seen.inputs, *seen.intermediate), "an input topic: the application doesn't own it"
    )
    return {**others, **inputs, **dict.fromkeys(seen.topology.sinks, "an output topic")}


TOPICS_KEPT = Risk("these topics are kept, because other applications may use them: {topics}")
RECORDS_RESTORED = Risk(
    "an undo restores the records of {topics} from backup topics (prefix headgate-backup- and "
    "the run id). The records get new offsets. Keep these backup topics as long as you may "
    "need the undo"
)
RECORDS_LOST = Risk(
    "the records of {topics} are permanently lost. Pass --back-up to copy them first"
)
GROUP_GONE = Risk(
    "Kafka has already removed group {group}, so the run records no offsets and an undo "
    "restores none"
)
GROUP_KEPT = Risk(
    "Headgate doesn't delete group {group} (type {type}). Kafka removes the group once its "
    "offsets expire"
)
LOCAL_STATE_KEPT = Risk(
    "local state on the instances' disks is not removed. Register a `clean` command, or "
    "delete the state yourself"
)


def _risks(seen: ResetFacts, shapes: dict[str, Any]) -> Iterator[str]:
    left = _left(seen)
    if left:
        yield TOPICS_KEPT(topics=name_list(left))
    if shapes and seen.wish.back_up:
        yield RECORDS_RESTORED(topics=name_list(shapes))
    elif shapes:
        yield RECORDS_LOST(topics=name_list(shapes))
    if has_gone(seen.group):
        yield GROUP_GONE(group=seen.group.id)
    if seen.group.type not in DELETABLE and seen.group.state != "dead":
        yield GROUP_KEPT(group=seen.group.id, type=seen.group.type)
    has_command = seen.request.pipeline.commands.clean is not None
    if clears_state(seen) and not has_command and not seen.wish.instances:
        yield LOCAL_STATE_KEPT()


RISKS = (
    TOPICS_KEPT,
    RECORDS_RESTORED,
    RECORDS_LOST,
    GROUP_GONE,
    GROUP_KEPT,
    LOCAL_STATE_KEPT,
)
