"""The first pipeline of a chain: the target time is a record timestamp in its input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headgate.model.version import Engine, Source
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.chain.moves import (
    Cut,
    Move,
    built,
    candidates,
    has_checkpoint,
    newest_within,
    request_for,
    rewind_plan,
)
from headgate.reprocess.scenarios.from_scratch.kafka_starts import Start, start_of
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.pipeline_links import Member
from headgate.reprocess.steps.checkpoint.record_output import RecordOutput
from headgate.reprocess.steps.offsets.partition_offsets import commits_of
from headgate.reprocess.steps.offsets.skip_replaced import replaced_in, unread_before
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.numbers import name_list
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso


def move_first(request: PlanRequest, member: Member, at: int | None, choice: Choice | None) -> Move:
    """Return how the first pipeline rewinds to a time (Unix milliseconds), None: the earliest."""
    is_query = member.pipeline.engine is Engine.SPARK
    if choice not in (None, Choice.RESET, *((Choice.REWIND,) if is_query else ())):
        words = "reset or rewind" if is_query and at is not None else "reset"
        return _blocked(member, choice, f"--choose: for the first pipeline, use {words}")
    if at is None:
        if choice is Choice.REWIND:
            return _blocked(
                member,
                choice,
                "--choose: with --to-earliest, the first pipeline can only be reset. Omit the "
                "choice, or use --at",
            )
        return _from_scratch(request, member)
    if is_query and choice is not Choice.RESET:
        return _rewound(request, member, at, can_reset=choice is None and member.is_stateless)
    return _from_time(request, member, at)


def _blocked(member: Member, choice: Choice | None, why: str) -> Move:
    return Move(member=member, choice=choice or Choice.REWIND, blockers=(why,))


NOT_REWRITTEN = Risk("some old results may not be rewritten: {reason}")


def _from_scratch(request: PlanRequest, member: Member) -> Move:
    asked = request_for(request, member, "from-scratch", {})
    if member.pipeline.engine is Engine.SPARK:
        # Imported here: a group's plan needs nothing of a query's.
        from headgate.reprocess.scenarios.from_scratch import spark

        plan = built(asked, spark.build)
    else:
        from headgate.reprocess.scenarios.from_scratch import scenario

        plan = built(asked, scenario.build)
    gone = tuple(_not_rewritten(request, member))
    return Move(
        member=member,
        choice=Choice.RESET,
        plan=plan,
        said=(
            "The pipeline starts at the earliest offsets with empty state, and rewrites all its "
            "results.",
        ),
        out=Cut(at=0, writer=member.name, is_exact=not gone),
        is_exact=not gone,
        risks=tuple(NOT_REWRITTEN(reason=why) for why in gone),
    )


def _not_rewritten(request: PlanRequest, member: Member) -> Iterator[str]:
    """Yield why the input, or what is read of it, may be less than the output was made of."""
    for name, topic in sorted(request.inspector.kafka.topics(member.reads).items()):
        if any(part.begin != 0 for part in topic.partitions):
            yield f"topic {name} no longer has its first records"
        if topic.cleanup_policy is None:
            yield f"the cleanup.policy of topic {name} is unknown"
        elif "compact" in topic.cleanup_policy:
            yield f"topic {name} is compacted"
    if not member.reads:
        yield "the input of the pipeline is unknown"
    sources = (member.version.sources if member.version else None) or ()
    if any(s.format not in (None, "kafka") for s in sources):
        yield "the query also reads sources that aren't Kafka topics"
    if member.pipeline.engine is Engine.SPARK and not (
        sources and all(_is_from_earliest(s) for s in sources)
    ):
        yield "startingOffsets of the sources is unknown, or isn't `earliest`"


def _is_from_earliest(source: Source) -> bool:
    return source.format not in (None, "kafka") or start_of(source) is Start.EARLIEST


def _rewound(request: PlanRequest, member: Member, at: int, *, can_reset: bool) -> Move:
    if not has_checkpoint(request, member):
        return _blocked(member, Choice.REWIND, common.no_checkpoint(member.pipeline))
    found = candidates(request, member)
    chosen = newest_within(found, _offsets_at(request, member, at))
    if chosen is None and can_reset:
        return _from_time(request, member, at)
    if chosen is None:
        first = found[0].batch.planned_ms if found else None
        oldest = (
            f" The oldest batch was planned at {iso(from_milliseconds(first))}." if first else ""
        )
        return _blocked(
            member,
            Choice.REWIND,
            "no batch or restore point ends before the first record at or after "
            f"{iso(from_milliseconds(at))}.{oldest} Pass a later --at, or --to-earliest",
        )
    plan = rewind_plan(request, member, chosen)
    return Move(
        member=member,
        choice=Choice.REWIND,
        plan=plan,
        said=(
            f"The query restores the state of batch {chosen.batch.number}, and rewrites the "
            "results of all records after this batch.",
        ),
        out=cut_of(plan, member, chosen.next_ms, at),
        batch=chosen.batch.number,
    )


def cut_of(plan: Plan, member: Member, next_ms: int | None, at: int) -> Cut | None:
    """Return from when on the output of a rewound query is rewritten; None: it writes none.

    The step that records the output knows when the first batch of it was planned. A query that
    writes several topics, or to a sink that nothing describes, has only the moment.
    """
    if not member.writes:
        return None
    recorded = [s for s in plan.steps if isinstance(s, RecordOutput)]
    if recorded:
        return Cut(at=recorded[0].since, writer=member.name, is_exact=True)
    is_told = next_ms is not None
    return Cut(at=next_ms or at, writer=member.name, is_exact=is_told, is_target=not is_told)


def _offsets_at(request: PlanRequest, member: Member, at: int) -> dict[TopicPart, int]:
    """Return the offset of the first record at or after a time; a partition without is left out."""
    topics = request.inspector.kafka.topics(member.reads)
    parts = [(t.name, p.number) for t in topics.values() for p in t.partitions]
    found = request.inspector.kafka.first_at(parts, at)
    return {part: offset for part in parts if (offset := found.get(part)) is not None}


def _from_time(request: PlanRequest, member: Member, at: int) -> Move:
    """Begin at the moment with empty state: right only without state."""
    from headgate.reprocess.scenarios.from_point import scenario as from_point

    options: dict[str, Any] = {"to-datetime": iso(from_milliseconds(at)), "no-record": "end"}
    plan = built(request_for(request, member, "from-point", options), from_point.build)
    return Move(
        member=member,
        choice=Choice.RESET,
        plan=plan,
        said=(
            (
                "The pipeline starts at the first record at or after the target time, and "
                "rewrites the results of this and all later records."
            ),
        ),
        out=(
            Cut(at=at, writer=member.name, is_exact=False, is_target=True)
            if member.writes
            else None
        ),
        is_exact=member.is_stateless,
        risks=tuple(_state_risks(member)),
        blockers=tuple(_unread(request, member, at)),
    )


def _unread(request: PlanRequest, member: Member, at: int) -> Iterator[str]:
    """Refuse to continue from the moment where older records were not processed yet."""
    replaced = replaced_in(request.inspector, dict.fromkeys(member.reads, at))
    behind = unread_before(replaced, _committed(request, member))
    if behind:
        parts = name_list(f"{topic}[{number}]" for topic, number in behind)
        yield (
            f"unread records from before {iso(from_milliseconds(at))} in {parts} would be lost. "
            "Pass an earlier --at, or let the pipeline read these records first"
        )


def _committed(request: PlanRequest, member: Member) -> dict[TopicPart, int]:
    """Return where the pipeline is, of partitions for which that is known."""
    if (group := member.pipeline.group) is not None:
        commits = commits_of(request.inspector.kafka.group(group))
        return {part: commit.offset for part, commit in commits.items()}
    location = member.pipeline.checkpoint
    found = request.inspector.checkpoints.read(location) if location else None
    offsets = found.offsets if found else {}
    return {(t, p): o for t, parts in offsets.items() for p, o in parts.items()}


STATE_STARTS_EMPTY = Risk(
    "the state starts empty, so the new results lack all records from before the target time. "
    "For complete results, use --to-earliest"
)


def _state_risks(member: Member) -> Iterator[str]:
    if not member.is_stateless:
        yield STATE_STARTS_EMPTY()


RISKS = (
    NOT_REWRITTEN,
    STATE_STARTS_EMPTY,
)
