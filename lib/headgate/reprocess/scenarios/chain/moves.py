"""One pipeline's part of a chain: the plan of an existing scenario, and its consequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from headgate.errors import RefusedError
from headgate.model.restore_points import LoggedBatch, RestorePoint, skipped_after
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.rewind import scenario as rewind
from headgate.reprocess.scenarios.rewind.points import POINT, own_points
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.pipeline_links import Member
from headgate.reprocess.steps.offsets.skip_replaced import LEFT_BEHIND
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """From which time on a topic's records are replaced: `at` in Unix milliseconds, 0 for all.

    It is exact if it is when a batch of `writer` was planned, and no batch before it wrote later.
    `is_target`: it is the target time, a timestamp in the input of the first pipeline.
    """

    at: int
    writer: str
    is_exact: bool
    is_target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What the chain does to one pipeline. `plan` is None where it isn't touched.

    `said` says what comes of it, in whole sentences. `out` is the cut in what it writes, None if
    nothing of it is replaced. `batch` is what a query is rewound to.
    """

    member: Member
    choice: Choice
    plan: Plan | None = None
    said: tuple[str, ...] = ()
    out: Cut | None = None
    is_exact: bool = True
    batch: int | None = None
    blockers: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


def request_for(
    request: PlanRequest, member: Member, scenario: str, options: Mapping[str, Any]
) -> PlanRequest:
    """Return the question that an existing scenario is asked about one pipeline."""
    return replace(
        request,
        scenario=scenario,
        pipeline=member.pipeline,
        version=member.version,
        options=dict(options),
        known=request.known if member.name == request.pipeline.name else _nothing_known,
    )


def _nothing_known(_topics: object) -> dict[TopicPart, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A batch that a query can be rewound to; `point` is the restore point that has it.

    `next_ms` is when the batch after it was planned, None if nothing says it.
    """

    batch: LoggedBatch
    point: RestorePoint | None = None
    next_ms: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of `rewind`."""
        return {POINT: self.point.id} if self.point else {"batch": self.batch.number}

    def unread(self, limits: Mapping[TopicPart, int]) -> dict[TopicPart, int]:
        """Return how many offsets before these limits are after the batch."""
        at = self.batch.offsets
        return {(t, p): max(end - at.get(t, {}).get(p, 0), 0) for (t, p), end in limits.items()}


def has_checkpoint(request: PlanRequest, member: Member) -> bool:
    """Whether a query has a checkpoint to rewind."""
    location = member.pipeline.checkpoint
    return bool(location) and request.inspector.checkpoints.read(str(location)) is not None


def candidates(request: PlanRequest, member: Member) -> list[Candidate]:
    """Return what a query can be rewound to, oldest first: its own batches, and older points."""
    inspector, location = request.inspector, member.pipeline.checkpoint
    checkpoint = inspector.checkpoints.read(location) if location else None
    if checkpoint is None:
        return []
    batches = inspector.checkpoints.batches(checkpoint.location)
    points = own_points(request, member.name, checkpoint, batches)
    first = batches[0].number if batches else None
    now = checkpoint.history
    older = [
        p
        for p in points
        if p.batch is not None
        and (first is None or p.batch < first)
        # What was skipped since was replaced: going back to before it would read it after all.
        and not skipped_after(now, p.history, p.batch)
    ]
    logged = [
        Candidate(batch=b, next_ms=later.planned_ms if later else None)
        for b, later in zip(batches, (*batches[1:], None), strict=True)
        if not skipped_after(now, None, b.number)
    ]
    kept = (Candidate(batch=p.as_batch, point=p, next_ms=p.committed_ms) for p in older)
    return [*sorted(kept, key=lambda c: c.batch.number), *logged]


def newest_within(found: Iterable[Candidate], limits: Mapping[TopicPart, int]) -> Candidate | None:
    """Return the newest batch that ends at or before these offsets, in each partition."""
    fits = [
        c
        for c in found
        if all(c.batch.offsets.get(t, {}).get(p, 0) <= at for (t, p), at in limits.items())
    ]
    return fits[-1] if fits else None


def rewind_plan(
    request: PlanRequest, member: Member, to: Candidate, *, reads_all: bool = True
) -> Plan:
    """Return the plan of a rewind; it has the sink's steps, so that its results are replaced."""
    build = partial(rewind.build, reads_all=reads_all)
    return built(request_for(request, member, "rewind", to.options), build)


def rewinds(chosen: Candidate, *, is_last: bool, is_behind: bool) -> str:
    """Say what becomes of a rewound query's state, and what it reads."""
    number = chosen.batch.number
    state = f"The query restores the state of batch {number}."
    if is_last:
        state = f"The query keeps the state of its last batch {number}."
    if not is_behind:
        return f"{state} It skips the replaced records."
    return (
        f"{state} It processes the remaining records before the replaced records, then skips the "
        "replaced records."
    )


def built(request: PlanRequest, build: Any) -> Plan:
    """Return the plan of a scenario; one that can't be built is blocked with the reason."""
    try:
        plan: Plan = build(request)
    except RefusedError as error:
        return request.block(str(error))
    return plan


Cuts = Mapping[str, Cut]
"""By topic from when on its records are replaced."""


def is_all(cuts: Cuts) -> bool:
    """Whether all that the topics hold is rewritten."""
    return all(cut.at == 0 and cut.is_exact for cut in cuts.values())


def incomparable(inspector: Inspector, cuts: Cuts) -> dict[str, str]:
    """Return the topics whose cut is a time of the input, but whose timestamps are others: why.

    After a backfill, or where results lag, their older results seem to be newer than the cut.
    """
    found = {}
    for name, topic in sorted(inspector.kafka.topics(cuts).items()):
        if not cuts[name].is_target:
            continue
        writer = inspector.processes.registered(cuts[name].writer)
        if topic.timestamp_type == "LogAppendTime":
            found[name] = f"topic {name} has message.timestamp.type=LogAppendTime"
        elif writer is not None and writer.engine is Engine.SPARK:
            found[name] = f"Spark writes {name}"
    return found


def partly_rewritten(cuts: Cuts) -> str | None:
    """Return the topics that are replaced as a whole, but maybe not rewritten as a whole."""
    found = [topic for topic, cut in sorted(cuts.items()) if cut.at == 0 and not cut.is_exact]
    return name_list(found) if found else None


def writers_of(cuts: Cuts) -> tuple[str, ...]:
    """Return the pipelines whose records are replaced."""
    return tuple(sorted({cut.writer for cut in cuts.values()}))


UNREAD_SKIPPED = Risk(
    "the run skips {records} of {topics}. Unread records that aren't rewritten are lost. Let the "
    "pipeline read all unread records before the run",
    records="N unread records",
)


def lost_risks(cuts: Cuts, unread: Mapping[str, int]) -> Iterator[str]:
    """Say what is lost of unread records that are skipped, but maybe not rewritten."""
    found = [topic for topic in unread if not cuts[topic].is_exact]
    if found:
        count = sum(unread[topic] for topic in found)
        yield UNREAD_SKIPPED(records=plural(count, "unread record"), topics=name_list(found))


COUNTED_TWICE = Risk(
    "the state includes the replaced records, so the rewritten records count twice. To avoid "
    "this, pass {choice}",
    choice="--choose PIPELINE=CHOICE",
)
WATERMARK_KEPT = Risk(
    "the query keeps its watermark, so Spark drops rewritten records that are older than the "
    "watermark as late. To process them, pass {choice}",
    choice="--choose PIPELINE=CHOICE",
)


def kept_state_risks(member: Member, *choices: str) -> Iterator[str]:
    """Say what a kept state does to results; `choices` are those that avoid it."""
    if member.is_stateless:
        return
    instead = " or ".join(f"--choose {member.name}={choice}" for choice in choices)
    yield COUNTED_TWICE(choice=instead)
    if member.version is not None and member.version.watermarks:
        yield WATERMARK_KEPT(choice=instead)


PROCESSED_FIRST = Risk(
    "{entry_point} runs with the worker's credentials, to process the records before the "
    "replaced records. The results are written to the query's sink",
    entry_point="MODULE:FUNCTION",
)


def run_risks(member: Member, unread: Mapping[TopicPart, int]) -> Iterator[str]:
    """Say what runs before the switch, if records before the replaced ones are unread."""
    if any(unread.values()):
        yield from common.catch_up_risks(member.version, unread)
        yield PROCESSED_FIRST(entry_point=member.pipeline.entry_point)


RISKS = (COUNTED_TWICE, WATERMARK_KEPT, PROCESSED_FIRST, UNREAD_SKIPPED, LEFT_BEHIND)
