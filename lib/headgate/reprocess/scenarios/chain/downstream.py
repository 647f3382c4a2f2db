"""A pipeline downstream: what it has read of the replaced records, and what becomes of that.

Its input topic holds, in this order: records from before the moment, records that are replaced,
and what the pipelines before it write again after the run. Nothing can be taken out of the middle
of a topic, so each choice is about which of the three a pipeline reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headgate.model.sinks import BatchIds
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.chain.first import cut_of
from headgate.reprocess.scenarios.chain.moves import (
    Candidate,
    Cut,
    Cuts,
    Move,
    built,
    candidates,
    incomparable,
    is_all,
    kept_state_risks,
    lost_risks,
    newest_within,
    request_for,
    rewind_plan,
    rewinds,
    run_risks,
    writers_of,
)
from headgate.reprocess.scenarios.chain.reset import reset_downstream
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.consumer_group_offsets import (
    SKIPPED,
    OffsetsRequest,
    move_group,
)
from headgate.reprocess.scenarios.shared.pipeline_links import Member
from headgate.reprocess.steps.base.step import Step, topic_facts
from headgate.reprocess.steps.checkpoint.rewind import SwapCheckpoint
from headgate.reprocess.steps.checkpoint.run_bounded import RunBounded
from headgate.reprocess.steps.checkpoint.skip_replaced import SkipReplacedInput, unknown_partitions
from headgate.reprocess.steps.offsets.partition_offsets import commits_of
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.skip_replaced import (
    Replaced,
    SkipReplacedRecords,
    left_behind,
    positions,
    replaced_in,
    skipped_to,
    unread_before,
)
from headgate.reprocess.steps.offsets.target import (
    OFFSETS_KEPT,
    Listed,
    Target,
    TargetKind,
    TopicPart,
)
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.reprocess.steps.upgrade.deploy_version import BackUpCheckpoint
from headgate.text.numbers import plural
from headgate.text.risk import without

Replacements = Mapping[TopicPart, Replaced]

_NO_STATE = "The pipeline processes each rewritten record once."
_STAYS = "Its earlier results from replaced records are kept."
_AS_IF = "Its state then includes no replaced record."


def move_downstream(request: PlanRequest, member: Member, cuts: Cuts, choice: Choice) -> Move:
    """Return what a choice does to a pipeline that reads the topics of `cuts`."""
    match choice:
        case Choice.SKIP if member.pipeline.engine is Engine.SPARK:
            return _skip_query(request, member, cuts)
        case Choice.SKIP:
            return _skip_group(request, member, cuts)
        case Choice.REWIND if member.pipeline.engine is Engine.SPARK:
            return _rewind_query(request, member, cuts)
        case Choice.REWIND if member.pipeline.engine is Engine.CONSUMER_GROUP:
            return _rewind_group(request, member, cuts)
        case Choice.RESET if member.pipeline.engine is not Engine.CONSUMER_GROUP:
            return reset_downstream(request, member, cuts)
        case Choice.NOTHING:
            return untouched(member, cuts)
    what = {
        Engine.CONSUMER_GROUP: "a consumer group has no state to reset",
        Engine.KAFKA_STREAMS: "Kafka Streams keeps no old state, so a rewind isn't possible",
    }[member.pipeline.engine]
    return Move(
        member=member,
        choice=choice,
        blockers=(f"{what}. Use --choose {member.name}=skip or --choose {member.name}=nothing",),
    )


def untouched(member: Member, cuts: Cuts) -> Move:
    """Return the move of a pipeline that isn't stopped: it reads what is rewritten."""
    counted = "" if member.is_stateless else " Its state counts these records twice."
    return Move(
        member=member,
        choice=Choice.NOTHING,
        said=(
            "The pipeline keeps running and gets duplicates: the rewritten records of its inputs."
            f"{counted}",
        ),
        is_exact=False,
        out=_passed_on(member, cuts),
    )


def _passed_on(member: Member, cuts: Cuts) -> Cut | None:
    """Return the cut in what a pipeline writes that keeps its state: it has only a time."""
    if not member.writes:
        return None
    at = min(c.at for c in cuts.values())
    is_target = any(c.is_target for c in cuts.values())
    return Cut(at=at, writer=member.name, is_exact=is_all(cuts), is_target=is_target)


def _unread(replaced: Replacements, at: Mapping[TopicPart, int]) -> dict[str, int]:
    """Return by topic how many unread records a skip passes over."""
    found: dict[str, int] = {}
    for (topic, number), end in skipped_to(replaced, at).items():
        found[topic] = found.get(topic, 0) + max(end - at[topic, number], 0)
    return {topic: count for topic, count in sorted(found.items()) if count}


def _untold(
    request: PlanRequest, member: Member, cuts: Cuts, unread: Mapping[str, int]
) -> Iterator[str]:
    """Refuse a skip of unread records whose timestamps don't say which of them are rewritten."""
    for topic, why in incomparable(request.inspector, cuts).items():
        if topic in unread:
            yield (
                f"the run would skip {plural(unread[topic], 'unread record')} of {topic}, and lose "
                f"those that it doesn't rewrite. Headgate doesn't know which ones: {why}, so their "
                "timestamps say when they were written, but the target time is a record timestamp "
                f"in the first pipeline's input. Stop {cuts[topic].writer}, let {member.name} read "
                f"all unread records, then plan again. Or pass --choose {member.name}=nothing"
            )


def _since(cuts: Cuts) -> dict[str, int]:
    return {topic: cut.at for topic, cut in sorted(cuts.items())}


def _skip_group(request: PlanRequest, member: Member, cuts: Cuts) -> Move:
    asked = request_for(request, member, "from-point", {})
    since = _since(cuts)
    end = Target(place=TargetKind.END)
    plan = built(asked, lambda a: move_group(a, OffsetsRequest(target=end, topics=tuple(since))))
    steps = tuple(_skipping(s, since, writers_of(cuts)) for s in plan.steps)
    assert member.pipeline.group is not None
    commits = commits_of(request.inspector.kafka.group(member.pipeline.group))
    # What is skipped is rewritten, and the other topics stay where they are.
    risks = without(without(plan.risks, OFFSETS_KEPT), SKIPPED, pipeline=member.name)
    replaced = replaced_in(request.inspector, since)
    at = positions(replaced, commits)
    behind = left_behind(member.name, unread_before(replaced, at))
    unread = _unread(replaced, at)
    return Move(
        member=member,
        choice=Choice.SKIP,
        plan=replace(plan, steps=steps, risks=risks),
        said=(_NO_STATE, _STAYS),
        out=_passed_on(member, cuts),
        is_exact=member.is_stateless and not behind,
        risks=(*behind, *kept_state_risks(member, "reset"), *lost_risks(cuts, unread)),
        blockers=tuple(_untold(request, member, cuts, unread)),
    )


def _skipping(step: Step, since: dict[str, int], writers: tuple[str, ...]) -> Step:
    if not isinstance(step, ResetOffsets):
        return step
    return SkipReplacedRecords(
        group=step.group,
        group_type=step.group_type,
        target=step.target,
        topics=step.topics,
        offsets=step.offsets,
        pipeline=step.pipeline,
        since=since,
        writers=writers,
    )


def _rewind_group(request: PlanRequest, member: Member, cuts: Cuts) -> Move:
    """Back to the moment: it reads what is replaced a second time, and then what replaces it."""
    asked = request_for(request, member, "from-point", {})
    replaced = replaced_in(request.inspector, _since(cuts))
    assert member.pipeline.group is not None
    at = positions(replaced, commits_of(request.inspector.kafka.group(member.pipeline.group)))
    # A move forward would lose what it hasn't read of older records.
    behind = unread_before(replaced, at)
    rows = tuple(
        Listed(topic=t, partition=p, offset=r.begin)
        for (t, p), r in sorted(replaced.items())
        if (t, p) not in behind
    )
    if not rows:
        why = (
            "the group hasn't processed any replaced record, so there is nothing to rewind. "
            f"Pass --choose {member.name}=skip to skip the replaced records, or --choose "
            f"{member.name}=nothing to keep it running"
        )
        return Move(member=member, choice=Choice.REWIND, blockers=(why,))
    target = Target(place=TargetKind.LISTED, listed=rows)
    only: dict[str, list[int]] = {}
    for row in rows:
        only.setdefault(row.topic, []).append(row.partition)
    wish = OffsetsRequest(target=target, topics=tuple(sorted(only)), only=only)
    return Move(
        member=member,
        choice=Choice.REWIND,
        plan=built(asked, lambda a: move_group(a, wish)),
        risks=tuple(left_behind(member.name, behind)),
        said=(
            "The group processes the replaced records a second time, then the rewritten records.",
        ),
        out=_passed_on(member, cuts),
        is_exact=False,
    )


def _checkpoint(request: PlanRequest, member: Member) -> Checkpoint | None:
    location = member.pipeline.checkpoint
    return request.inspector.checkpoints.read(location) if location else None


def _skip_query(request: PlanRequest, member: Member, cuts: Cuts) -> Move:
    found = _checkpoint(request, member)
    if found is None:
        return _no_checkpoint(member, Choice.SKIP)
    stop = common.stop_step(member.pipeline, checkpoint=found.location)
    skip = _skip_step(request, member, found, cuts, first=True)
    at = {(t, p): o for t, parts in found.offsets.items() for p, o in parts.items()}
    replaced = replaced_in(request.inspector, _since(cuts))
    unknown = [part for part, r in sorted(replaced.items()) if part not in at and r.begin < r.end]
    behind = left_behind(member.name, unread_before(replaced, at))
    unread = _unread(replaced, at)
    plan = _plan(request, member, found, cuts, (stop, skip, start_or_ask(stop)))
    return Move(
        member=member,
        choice=Choice.SKIP,
        plan=plan,
        said=(_NO_STATE, _STAYS),
        out=_passed_on(member, cuts),
        is_exact=member.is_stateless and not behind,
        risks=(*behind, *kept_state_risks(member, "rewind", "reset"), *lost_risks(cuts, unread)),
        blockers=(
            *_of_remote(member, found),
            *((unknown_partitions(member.name, unknown),) if unknown else ()),
            *_untold(request, member, cuts, unread),
        ),
    )


def _no_checkpoint(member: Member, choice: Choice) -> Move:
    return Move(member=member, choice=choice, blockers=(common.no_checkpoint(member.pipeline),))


def _plan(
    request: PlanRequest, member: Member, found: Checkpoint, cuts: Cuts, steps: tuple[Step, ...]
) -> Plan:
    """Return the plan of a query that no existing scenario moves in this way."""
    topics = request.inspector.kafka.topics(cuts)
    blockers = common.must_be_stopped(member.pipeline, request.inspector)
    blockers += common.shared_checkpoint(member.pipeline, request.inspector)
    blockers += common.topic_blockers(set(cuts), topics)
    if found.fixed and not found.remote:
        blockers.append(f"Headgate can't replace checkpoint {found.location}: {found.fixed}")
    return Plan(
        scenario=request.scenario,
        pipeline=member.name,
        steps=steps,
        preconditions={
            "topics": topic_facts(topics),
            "checkpoint": {"location": found.location, "query_id": found.query_id},
            "commands": common.command_facts(member.pipeline),
        },
        blockers=tuple(blockers),
        resources=(f"checkpoint:{found.location}",),
    )


def _facts(request: PlanRequest, cuts: Cuts) -> dict[str, dict[str, Any]]:
    return topic_facts(request.inspector.kafka.topics(cuts))


def _skip_step(
    request: PlanRequest, member: Member, found: Checkpoint, cuts: Cuts, *, first: bool
) -> SkipReplacedInput:
    sink = member.version.sink if member.version else None
    drops = sink is None or sink.traits.batch_ids is not BatchIds.WRITES
    return SkipReplacedInput(
        pipeline=member.name,
        checkpoint=found.location,
        query_id=found.query_id,
        since=_since(cuts),
        writers=writers_of(cuts),
        first=first,
        by_batch=drops,
        topics=_facts(request, cuts),
    )


def _rewind_query(request: PlanRequest, member: Member, cuts: Cuts) -> Move:
    """Restore a state from before the moment, read up to it, continue after what is replaced."""
    found = _checkpoint(request, member)
    if found is None:
        return _no_checkpoint(member, Choice.REWIND)
    replaced = replaced_in(request.inspector, _since(cuts))
    limits = {part: r.begin for part, r in replaced.items()}
    chosen = newest_within(candidates(request, member), limits)
    if chosen is None:
        why = (
            "no batch or restore point ends before the replaced records, so no choice gives "
            "correct results. For correct results, use --to-earliest. To accept wrong results, "
            f"pass --choose {member.name}=CHOICE (skip, reset or nothing)"
        )
        return Move(member=member, choice=Choice.REWIND, blockers=(why,))
    is_last = chosen.point is None and chosen.batch.number == found.last_offset_batch
    # It reads only the records before those that are replaced.
    plan = (
        _kept(request, member, found, cuts)
        if is_last
        else rewind_plan(request, member, chosen, reads_all=False)
    )
    plan = replace(plan, impact=_reprocessed(plan.impact, chosen, found, limits))
    catch_up = tuple(_catch_up(request, member, found, cuts, chosen, limits))
    skip = _skip_step(request, member, found, cuts, first=False)
    cut = cut_of(plan, member, chosen.next_ms, min(c.at for c in cuts.values()))
    return Move(
        member=member,
        choice=Choice.REWIND,
        plan=replace(plan, steps=tuple(_with_skip(plan, (*catch_up, skip)))),
        said=(rewinds(chosen, is_last=is_last, is_behind=bool(catch_up)), _AS_IF),
        # Who has read nothing of it yet has written nothing of it.
        out=None if is_last else cut,
        batch=chosen.batch.number,
        blockers=tuple(_blockers(member, found, catch_up)),
        risks=tuple(run_risks(member, chosen.unread(limits))),
    )


def _reprocessed(
    impact: Mapping[str, Any],
    chosen: Candidate,
    found: Checkpoint,
    limits: Mapping[TopicPart, int],
) -> dict[str, Any]:
    """Return the impact without the replaced records, which are skipped."""
    again = dict(impact.get("records", {}))
    for topic in {topic for topic, _ in limits} & again.keys():
        now, at = found.offsets.get(topic, {}), chosen.batch.offsets.get(topic, {})
        again[topic] = sum(
            max(min(offset, limits.get((topic, p), offset)) - at.get(p, offset), 0)
            for p, offset in now.items()
        )
    return {**impact, "records": again} if again else dict(impact)


def _kept(request: PlanRequest, member: Member, found: Checkpoint, cuts: Cuts) -> Plan:
    """Return the plan of a query that has read nothing of what is replaced."""
    stop = common.stop_step(member.pipeline, checkpoint=found.location)
    keep = BackUpCheckpoint(
        pipeline=member.name, checkpoint=found.location, query_id=found.query_id
    )
    return _plan(request, member, found, cuts, (stop, keep, start_or_ask(stop)))


def _catch_up(
    request: PlanRequest,
    member: Member,
    found: Checkpoint,
    cuts: Cuts,
    chosen: Candidate,
    limits: Mapping[TopicPart, int],
) -> Iterator[RunBounded]:
    """Yield the run to the moment, if the batch ends before it."""
    if not any(chosen.unread(limits).values()):
        return
    yield RunBounded(
        pipeline=member.name,
        checkpoint=found.location,
        query_id=found.query_id,
        entry_point=member.pipeline.entry_point or "",
        query=member.pipeline.query,
        replaced_since=_since(cuts),
        topics=_facts(request, cuts),
    )


def _with_skip(plan: Plan, more: tuple[Step, ...]) -> Iterator[Step]:
    for step in plan.steps:
        yield step
        if isinstance(step, SwapCheckpoint | BackUpCheckpoint):
            yield from more


def _of_remote(member: Member, found: Checkpoint) -> Iterator[str]:
    if found.remote:
        yield (
            f"checkpoint {found.location} is remote, and a chain can rewind or skip only with a "
            f"local checkpoint. Pass --choose {member.name}=reset or --choose {member.name}=nothing"
        )


def _blockers(member: Member, found: Checkpoint, catch_up: tuple[Step, ...]) -> Iterator[str]:
    yield from _of_remote(member, found)
    if catch_up and member.pipeline.entry_point is None:
        yield (
            "the query must process the records before the replaced records, then stop. For "
            f"this, set `entry_point` of {member.name} to MODULE:FUNCTION in headgate.toml"
        )
