"""Reset a Kafka Streams application: what all its scenarios and the reset command share.

Inputs go to the target, intermediate topics to their end. Internal topics that are verified to be
the application's are deleted, local state is cleared; outputs stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.model.cluster import Group, Topic
from headgate.model.kafka_streams import InternalKind, internal_kind
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.consumer_group_offsets import impact_of, preview
from headgate.reprocess.scenarios.shared.internal_topics import (
    Claim,
    ClusterOwners,
    Internal,
    judge,
)
from headgate.reprocess.scenarios.shared.kafka_streams_topology import Topology, topology
from headgate.reprocess.steps.base.group_liveness import has_gone
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.offsets.await_transactions import AwaitTransactions
from headgate.reprocess.steps.offsets.partition_offsets import chosen
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.remove_members import RemoveMembers
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import Found, Target, TargetKind, TopicPart, find
from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.reprocess.steps.records.back_up_records import BackUpRecords, sizes_of
from headgate.reprocess.steps.records.back_up_unread import BackUpUnreadRecords
from headgate.reprocess.steps.topics.delete_topics import DeleteTopics, topic_shapes

END = Target(place=TargetKind.END)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest:
    """What is to be reset. Without a `target` offsets stay as they are.

    `inputs` None means all that are known. `internal` None means all that are verified, else
    exactly those. With `back_up` the records of internal topics are kept for an undo. `instances`
    are hosts whose local state somebody says is cleared. `repartitions_inputs` says that inputs get
    more partitions: then nothing may stay, and there is no rollback.
    """

    target: Target | None
    inputs: tuple[str, ...] | None = None
    intermediate: tuple[str, ...] = ()
    internal: tuple[str, ...] | None = None
    keep_internal: bool = False
    force: bool = False
    back_up: bool = False
    instances: tuple[str, ...] = ()
    repartitions_inputs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetFacts:
    """The wish beside the cluster state; the checks and the plan are made from this.

    `known` are the input and intermediate topics that exist, `internals` every topic that looks
    like an internal one of the application, `positions` what is committed by partition.
    """

    request: PlanRequest
    wish: ResetRequest
    group: Group
    groups: Mapping[str, Group]
    topology: Topology
    topics: frozenset[str]
    inputs: tuple[str, ...]
    intermediate: tuple[str, ...]
    known: Mapping[str, Topic]
    internals: Mapping[str, Internal]
    positions: Mapping[TopicPart, int]
    found: Mapping[str, Found] = field(default_factory=dict)

    @property
    def application(self) -> str:
        """The application id."""
        return self.group.id

    @property
    def deleted(self) -> tuple[str, ...]:
        """The internal topics to delete; a blocked one may be among them."""
        if self.wish.keep_internal:
            return ()
        if self.wish.internal is not None:
            return tuple(sorted(set(self.wish.internal)))
        return tuple(n for n, i in self.internals.items() if i.claim is Claim.OWNED)

    def parts(self, names: tuple[str, ...]) -> tuple[TopicPart, ...]:
        """Return all partitions of those of the topics that exist."""
        return chosen(topic_facts({n: self.known[n] for n in names if n in self.known}), {})


def look(request: PlanRequest, wish: ResetRequest) -> ResetFacts:
    """Read all cluster state that the plan depends on, each call for all topics at once."""
    inspector, application = request.inspector, str(request.pipeline.group)
    groups = inspector.kafka.groups()
    group = groups.get(application) or Group(id=application, state="dead", members=())
    told = topology(request.options, request.version, application, group)
    positions = {(o.topic, o.partition): o.offset for o in group.offsets if o.offset is not None}
    around = ClusterOwners(
        topics=inspector.kafka.topic_names(),
        groups=groups,
        pipelines=inspector.processes.pipelines(),
        versions=request.others,
    )
    every = judge(application, told.internal, around)
    inputs, intermediate = _reads(wish, told, every, {t for t, _ in positions}, request)
    named = {*inputs, *intermediate}
    kept = {n: i for n, i in every.items() if n not in named or i.claim is Claim.OWNED}
    return ResetFacts(
        request=request,
        wish=wish,
        group=group,
        groups=groups,
        topology=told,
        topics=around.topics,
        inputs=inputs,
        intermediate=intermediate,
        known=inspector.kafka.topics(named),
        internals=kept,
        positions=positions,
    )


def _reads(
    wish: ResetRequest,
    told: Topology,
    internals: Mapping[str, Internal],
    committed: set[str],
    request: PlanRequest,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return inputs and intermediate topics: as they are named, completed by the topology."""
    inputs = set(wish.inputs or ())
    # What the application itself writes would be read a second time.
    intermediate = set(wish.intermediate) | (told.loops - inputs)
    if wish.inputs is None:
        outside = {t for t in committed if t not in internals}
        registered = {t for t in request.pipeline.topics if t not in internals}
        matching = {t for t in outside if told.reads(t)}
        known = {*told.sources, *matching} if told.is_told else outside
        inputs = (known | registered) - intermediate
    return tuple(sorted(inputs)), tuple(sorted(intermediate))


def with_targets(seen: ResetFacts) -> dict[str, Found]:
    """Return where the partitions of inputs and intermediate topics go, by `inputs` and so on."""
    inspector, wish = seen.request.inspector, seen.wish
    wanted = {"inputs": (wish.target, seen.inputs), "intermediate": (END, seen.intermediate)}
    return {
        word: find(target, inspector, seen.known, seen.parts(names), seen.positions)
        for word, (target, names) in wanted.items()
        if target is not None and names
    }


def build_plan_of(seen: ResetFacts, *, blockers: tuple[str, ...], risks: tuple[str, ...]) -> Plan:
    """Return the plan of what was seen; its blockers and risks were found elsewhere."""
    request, pipeline, inspector = seen.request, seen.request.pipeline, seen.request.inspector
    shapes = topic_shapes(inspector.kafka.shapes([t for t in seen.deleted if t in seen.topics]))
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=tuple(_steps(seen, shapes)),
        preconditions={
            "cluster_id": inspector.kafka.cluster_id(),
            "group": {"id": seen.application, "type": seen.group.type.value},
            "topics": topic_facts(seen.known),
            "internal_topics": {name: shape["id"] for name, shape in shapes.items()},
            "commands": {**common.command_facts(pipeline), "clean": pipeline.commands.clean},
        },
        impact=_impact(seen),
        risks=risks,
        blockers=blockers,
        options=dict(request.options),
        resources=(f"group:{seen.application}", *(f"topic:{name}" for name in sorted(shapes))),
    )


def _steps(seen: ResetFacts, shapes: dict[str, dict[str, Any]]) -> list[Step]:
    pipeline, group = seen.request.pipeline, seen.group
    who: dict[str, Any] = {"group": group.id, "group_type": group.type.value}
    stop = common.stop_step(pipeline)
    steps: list[Step] = [RemoveMembers(**who)] if seen.wish.force else []
    steps += [stop, AwaitTransactions(application=group.id, topics=shapes)]
    steps.append(RecordOffsets(group=group.id))
    steps += [*back_up_steps(seen, shapes), *_moves(seen), *deletion_steps(seen, shapes)]
    # An application that nothing here starts or stops is nobody's duty to start now.
    has_commands = stop.command is not None or stop.start is not None
    if clears_state(seen):
        steps.append(
            ClearLocalState(
                pipeline=pipeline.name,
                command=pipeline.commands.clean,
                instances=seen.wish.instances,
                waits=has_commands,
                **who,
            )
        )
    return [*steps, start_or_ask(stop)] if has_commands else steps


def _by_kind(
    shapes: Mapping[str, dict[str, Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return changelogs and what is between sub-topologies."""
    changelogs = {n: s for n, s in shapes.items() if internal_kind(n) is InternalKind.CHANGELOG}
    return changelogs, {n: s for n, s in shapes.items() if n not in changelogs}


def back_up_steps(seen: ResetFacts, shapes: Mapping[str, dict[str, Any]]) -> list[Step]:
    """Return the steps that keep internal topics' records, where that is wished."""
    changelogs, between = _by_kind(shapes) if seen.wish.back_up else ({}, {})
    name, inspector = seen.request.pipeline.name, seen.request.inspector
    steps: list[Step] = []
    if changelogs:
        sizes = sizes_of(inspector, inspector.kafka.topics(changelogs))
        steps.append(BackUpRecords(topics=changelogs, pipeline=name, sizes=sizes))
    if between:
        steps.append(BackUpUnreadRecords(topics=between, pipeline=name, group=seen.group.id))
    return steps


def deletion_steps(seen: ResetFacts, shapes: dict[str, dict[str, Any]]) -> list[Step]:
    """Return the steps that delete internal topics; an undo restores what was backed up."""
    who: dict[str, Any] = {"pipeline": seen.request.pipeline.name}
    if not has_gone(seen.group):
        who |= {"group": seen.group.id, "group_type": seen.group.type.value}
    if not shapes:
        return []
    if not seen.wish.back_up:
        return [DeleteTopics(topics=shapes, outgrown=seen.wish.repartitions_inputs, **who)]
    changelogs, between = _by_kind(shapes)
    steps = [DeleteTopics(topics=changelogs, backed_up=True, **who)] if changelogs else []
    return [
        *steps,
        *([DeleteTopics(topics=between, unread_backed_up=True, **who)] if between else []),
    ]


def clears_state(seen: ResetFacts) -> bool:
    """Whether local state has to go: not without stores, and not where internal topics stay."""
    return not seen.wish.keep_internal and seen.topology.stores != frozenset()


def _moves(seen: ResetFacts) -> list[Step]:
    wanted = {"inputs": (seen.wish.target, seen.inputs), "intermediate": (END, seen.intermediate)}
    steps: list[Step] = []
    for word, (target, names) in wanted.items():
        if target is None or not names:
            continue
        parts = seen.parts(names)
        steps.append(
            ResetOffsets(
                group=seen.group.id,
                group_type=seen.group.type.value,
                target=target,
                topics=topic_facts({n: seen.known[n] for n in names if n in seen.known}),
                offsets=tuple(preview(parts, seen.positions, seen.found[word])),
                pipeline=seen.request.pipeline.name,
            )
        )
    return steps


def _impact(seen: ResetFacts) -> dict[str, Any]:
    every = Found()
    for found in seen.found.values():
        every.to.update(found.to)
    names = (*seen.inputs, *seen.intermediate) if seen.wish.target else seen.intermediate
    topics = {n: seen.known[n] for n in names if n in seen.known}
    owned = {n: seen.internals[n].why for n in seen.deleted if n in seen.internals}
    foreign = {n: i.why for n, i in seen.internals.items() if i.claim is Claim.FOREIGN}
    return {
        **impact_of(topics, seen.parts(tuple(sorted(topics))), seen.positions, every),
        "internal_topics": owned,
        "left_alone": foreign,
    }
