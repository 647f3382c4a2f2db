"""Repartition a Kafka Streams application: more input partitions, and its state is rebuilt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.model.cluster import Partition, Topic
from headgate.model.kafka_streams import StreamsApplication
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.repartition.downstream_topics import own_numbers, reach
from headgate.reprocess.scenarios.repartition.kafka_streams_checks import (
    Growth,
    blockers,
    risks,
    unknown,
)
from headgate.reprocess.scenarios.shared import kafka_streams_options
from headgate.reprocess.scenarios.shared.consumer_group_offsets import preview
from headgate.reprocess.scenarios.shared.kafka_streams_reset import (
    ResetFacts,
    ResetRequest,
    build_plan_of,
    look,
    with_targets,
)
from headgate.reprocess.scenarios.shared.output_topics import with_outputs
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.offsets.partition_offsets import chosen
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind, find
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline
from headgate.reprocess.steps.topics.add_partitions import AddPartitions, VerifyPartitions
from headgate.reprocess.steps.topics.record_topics import RecordTopics

_BEGINNING = Target(place=TargetKind.BEGINNING)


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop, record, add partitions, reprocess if there is state, start, verify.

    Without state only the added partitions get an offset. Without an offset there, the application
    would begin at its `auto.offset.reset`, and if that is `latest`, skip what came before it
    starts.
    """
    facts = request.version.streams if request.version else None
    if (why := unknown(request)) or facts is None:
        return request.block(why or "")
    seen = look(request, _wish(request))
    growth = _growth(seen, facts)
    if not growth.reach.sized:
        stays = replace(seen.wish, target=None, internal=None, keep_internal=True)
        seen = replace(seen, wish=stays, intermediate=())
    seen = replace(seen, known=_grown(seen.known, growth))
    seen = replace(seen, found=with_targets(seen))
    plan = build_plan_of(seen, blockers=blockers(seen, growth), risks=risks(seen, growth))
    topics = (*plan.resources, *(f"topic:{name}" for name in sorted(growth.raised)))
    plan = replace(
        plan,
        steps=_with_raise(plan.steps, seen, growth),
        preconditions={**plan.preconditions, "partitions": dict(growth.now)},
        resources=tuple(dict.fromkeys(topics)),
    )
    if growth.reach.sized and "outputs" in request.options:
        plan = with_outputs(request, plan)
    return replace(plan, steps=_with_proof(plan.steps, seen, growth))


def _wish(request: PlanRequest) -> ResetRequest:
    internal = kafka_streams_options.names(request.options, kafka_streams_options.INTERNAL_TOPICS)
    return ResetRequest(
        target=_BEGINNING,
        intermediate=kafka_streams_options.names(
            request.options, kafka_streams_options.INTERMEDIATE_TOPICS
        ),
        internal=internal or None,
        instances=kafka_streams_options.names(request.options, kafka_streams_options.CLEARED),
        repartitions_inputs=True,
    )


def _growth(seen: ResetFacts, facts: StreamsApplication) -> Growth:
    named = kafka_streams_options.names(seen.request.options, kafka_streams_options.INPUT_TOPICS)
    topics = [t for t in named or seen.inputs if t in seen.inputs]
    there = seen.request.inspector.kafka.shapes([t for t in seen.internals if t in seen.topics])
    internal = {name: shape.partitions for name, shape in there.items()}
    other = _other_numbers(seen, facts, internal)
    # One that has ended may have ended of that: somebody has given an input more of them.
    fixed = other if seen.group.is_at_work else {}
    return Growth(
        application=seen.application,
        to=seen.request.options["partitions"],
        facts=facts,
        reach=reach(facts, topics, fixed),
        now={t: len(seen.known[t].partitions) for t in topics if t in seen.known},
        strangers=tuple(sorted(set(named) - set(topics))),
        internal=internal,
        fixed=fixed,
        odd=other,
    )


def _other_numbers(
    seen: ResetFacts, facts: StreamsApplication, internal: Mapping[str, int]
) -> dict[str, int]:
    """Return the repartition topics with a number of their own, as the facts name them."""
    bare = "" if facts.application_id else f"{seen.application}-"
    inputs = {name: len(topic.partitions) for name, topic in seen.known.items()}
    now = {**inputs, **{name.removeprefix(bare): count for name, count in internal.items()}}
    return own_numbers(facts, now)


def _grown(known: Mapping[str, Topic], growth: Growth) -> dict[str, Topic]:
    """Return the topics as they are once they are raised: what is added is empty."""
    return {
        name: replace(
            topic,
            partitions=(
                *topic.partitions,
                *(
                    Partition(number=number, begin=0, end=0)
                    for number in range(len(topic.partitions), growth.to)
                ),
            ),
        )
        if name in growth.raised
        else topic
        for name, topic in known.items()
    }


def _with_raise(steps: tuple[Step, ...], seen: ResetFacts, growth: Growth) -> tuple[Step, ...]:
    """Add partitions after all is recorded: a rollback is possible before, and not after."""
    at = next(i for i, s in enumerate(steps) if isinstance(s, RecordOffsets)) + 1
    return (*steps[:at], *_raise(seen, growth), *steps[at:])


def _raise(seen: ResetFacts, growth: Growth) -> list[Step]:
    if not growth.raised:
        return []
    who: dict[str, Any] = {
        "group": seen.group.id,
        "group_type": seen.group.type.value,
        "pipeline": seen.request.pipeline.name,
    }
    topics = {n: {"id": seen.known[n].id, "partitions": growth.raised[n]} for n in growth.raised}
    recorded = tuple(sorted({*growth.raised, *growth.internal}))
    steps: list[Step] = [
        RecordTopics(application=seen.application, topics=recorded),
        AddPartitions(topics=topics, to=growth.to, **who),
    ]
    return steps if growth.reach.sized else [*steps, _begin_added(seen, growth, who)]


def _begin_added(seen: ResetFacts, growth: Growth, who: dict[str, Any]) -> ResetOffsets:
    topics = topic_facts({name: seen.known[name] for name in growth.raised})
    only = {name: list(range(count, growth.to)) for name, count in growth.raised.items()}
    parts = chosen(topics, only)
    found = find(_BEGINNING, seen.request.inspector, seen.known, parts, seen.positions)
    return ResetOffsets(
        target=_BEGINNING,
        topics=topics,
        only=only,
        offsets=tuple(preview(parts, seen.positions, found)),
        **who,
    )


def _with_proof(steps: tuple[Step, ...], seen: ResetFacts, growth: Growth) -> tuple[Step, ...]:
    """Add the verification if the run itself waits for a start."""
    last = steps[-1]
    if not (isinstance(last, StartPipeline) or (isinstance(last, ManualStep) and last.waits)):
        return steps
    anew = {n: growth.internal[n] for n in seen.deleted if n in growth.internal}
    proof = VerifyPartitions(
        pipeline=seen.request.pipeline.name, group=seen.group.id, topics=anew, to=growth.to
    )
    return (*steps, proof)
