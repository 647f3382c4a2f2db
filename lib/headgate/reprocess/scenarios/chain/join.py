"""Join the plans of a chain's pipelines into one plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from headgate.model.registered_pipelines import Effects
from headgate.reprocess.deleted_records import EARLIEST_OFFSETS
from headgate.reprocess.impact import again, uncounted
from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.chain.moves import Cuts, Move, incomparable
from headgate.reprocess.scenarios.shared.common import CONSUMERS_GET_DUPLICATES
from headgate.reprocess.scenarios.shared.output_statements import EXTERNAL
from headgate.reprocess.scenarios.shared.pipeline_links import Links, Order, unregistered
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.record_output import RecordOutput
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.reprocess.steps.offsets.skip_replaced import replaced_in
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline, StopPipeline
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso

_OPTIONS = {"--at", "--to-earliest", "--exclude", "--choose"}
# The end of a risk that names an option which a chain doesn't have.
_NOT_HERE = " and pass --local-state-cleared INSTANCE"
# A sentence with one of these says where its options belong.
_OTHER_COMMANDS = ("`headgate plan ", "use new-checkpoint ")
_COUNTS = ("records", "skipped", "to_read")


def joined(
    request: PlanRequest,
    links: Links,
    chain: Order,
    moves: tuple[Move, ...],
    options: dict[str, Any],
) -> Plan:
    """Return one plan: all stops, what is done to each pipeline (last one first), all starts."""
    blockers = tuple(map(_own_options, _sentences(moves, "blockers")))
    plans = [m.plan for m in moves if m.plan is not None]
    topics = {t for m in moves for t in m.member.writes if m.out is not None}
    return Plan(
        scenario=request.scenario,
        pipeline=request.pipeline.name,
        # A part of the chain without the rest would be worse than none.
        steps=() if any(not p.steps for p in plans) else tuple(_steps(moves)),
        preconditions=_preconditions(request, moves),
        impact=_impact(moves),
        risks=(*_own_risks(request, links, chain, moves), *_sentences(moves, "risks", topics)),
        blockers=blockers,
        options=options,
        resources=tuple(dict.fromkeys(r for p in plans for r in p.resources)),
        outputs=_outputs(chain, moves),
    )


def _steps(moves: Iterable[Move]) -> Iterator[Step]:
    parts = [m.plan.steps for m in moves if m.plan is not None]
    yield from (s for steps in parts for s in steps if isinstance(s, StopPipeline))
    recorded, outputs = False, 0
    # The last one first: a query that catches up writes to what those after it read, and where
    # they continue is found before that.
    for step in (s for steps in reversed(parts) for s in steps):
        if isinstance(step, StopPipeline | StartPipeline | ManualStep):
            continue
        # The file has room for one group; the journal keeps the offsets of all.
        if isinstance(step, RecordOffsets):
            if recorded:
                continue
            recorded = True
        if isinstance(step, RecordOutput):
            # Each pipeline that is rewound has such a file.
            outputs += 1
            step = replace(step, file=f"output-{outputs}.json") if outputs > 1 else step
        yield step
    for number, steps in enumerate(parts):
        yield from (_started(s, number) for s in steps if isinstance(s, StartPipeline | ManualStep))


def _started(step: StartPipeline | ManualStep, number: int) -> Step:
    """Return the start; a query downstream may wait long for its first new record."""
    return step if number == 0 or not step.has_status else replace(step, fresh=False)


def _sentences(moves: Iterable[Move], field: str, topics: Iterable[str] = ()) -> Iterator[str]:
    """Yield blockers or risks, each with the name of its pipeline.

    Consumers of the `topics` of the chain are left out: the chain itself names them.
    """
    for move in moves:
        found = (*getattr(move, field), *(getattr(move.plan, field) if move.plan else ()))
        for text in dict.fromkeys(found):
            if not any(CONSUMERS_GET_DUPLICATES.is_of(text, topic=topic) for topic in topics):
                name, text = move.member.name, text.removesuffix(_NOT_HERE)
                text = _without_options(text) if field == "risks" else text
                yield text if text.startswith(f"{name} ") else f"{name}: {text}"


def _foreign_options(text: str) -> list[str]:
    """Return the options in a text that a chain doesn't have."""
    return sorted(set(re.findall(r"--[a-z][a-z-]*", text)) - _OPTIONS)


def _without_options(text: str) -> str:
    """Return a risk without advice that only the other scenario's command can follow."""
    said = text.split(". ")
    kept = [s for s in said if not _foreign_options(s) or any(w in s for w in _OTHER_COMMANDS)]
    return ". ".join(kept) or text


def _own_options(text: str) -> str:
    """Return a blocker with what to do if it names options that only the other scenario has."""
    if not (found := _foreign_options(text)):
        return text
    return (
        f"{text}. But `headgate plan chain` doesn't have {name_list(found)}. Either plan this "
        "pipeline separately, or change what the chain does to it with --choose PIPELINE=CHOICE"
    )


def _preconditions(request: PlanRequest, moves: Iterable[Move]) -> dict[str, Any]:
    topics: dict[str, Any] = {}
    of: dict[str, Any] = {}
    for move in moves:
        facts = dict(move.plan.preconditions) if move.plan else {}
        topics |= facts.pop("topics", {})
        facts.pop("cluster_id", None)
        of[move.member.name] = {"choice": move.choice.value, **facts}
    return {
        "cluster_id": request.inspector.kafka.cluster_id(),
        "topics": dict(sorted(topics.items())),
        "pipelines": of,
    }


def _impact(moves: tuple[Move, ...]) -> dict[str, Any]:
    """Return the sums over all pipelines, and what is done to each as a row of `chain`."""
    impacts = [m.plan.impact for m in moves if m.plan is not None]
    found: dict[str, Any] = {}
    for word in _COUNTS:
        sums: dict[str, int] = {}
        for impact in impacts:
            for topic, count in impact.get(word, {}).items():
                sums[topic] = sums.get(topic, 0) + count
        found[word] = sums
    if earliest := {t: at for i in impacts for t, at in i.get(EARLIEST_OFFSETS, {}).items()}:
        found[EARLIEST_OFFSETS] = earliest
    snapshots = [i["snapshot"] for i in impacts if "snapshot" in i]
    if snapshots:
        found["snapshot"] = {k: sum(s[k] for s in snapshots) for k in ("bytes", "copied")}
    return {
        **found,
        "total": sum(found["records"].values()),
        "uncounted": [
            f"{move.member.name}: {text}"
            for move in moves
            if move.plan is not None and (text := uncounted(move.plan.impact))
        ],
        "chain": list(map(_row, moves)),
    }


def _row(move: Move) -> dict[str, Any]:
    return {
        "pipeline": move.member.name,
        "choice": move.choice.value,
        "batch": move.batch,
        "is_exact": move.is_exact,
        "replaced_since": iso(from_milliseconds(move.out.at)) if move.out and move.out.at else None,
    }


def _outputs(chain: Order, moves: Iterable[Move]) -> OutputEffects:
    run = [f"{m.member.name}: {_word(m)}. {text}" for m in moves for text in _joined(m.said)]
    run += [
        (
            f"{name}: nothing. The pipeline keeps running and gets duplicates from {by}, which "
            "also keeps running."
        )
        for name, by in chain.left_out.items()
    ]
    return OutputEffects(run=tuple(run))


def _joined(said: tuple[str, ...]) -> tuple[str, ...]:
    return (" ".join(said),) if said else ()


def _word(move: Move) -> str:
    return {
        Choice.RESET: "reset",
        Choice.REWIND: f"rewind to batch {move.batch}" if move.batch is not None else "rewind",
        Choice.SKIP: "skip to the latest offsets",
        Choice.NOTHING: "nothing",
    }[move.choice]


UNREGISTERED_CONSUMERS = Risk(
    "{topic} is also read by {groups}. These consumers aren't in headgate.toml, and get "
    "duplicates. Register them, or make them idempotent"
)
UNKNOWN_INPUTS = Risk(
    "Headgate doesn't know which topics these pipelines read: {pipelines}. Any of them that "
    "is downstream of the chain gets duplicates. Set `topics` of these pipelines in "
    "headgate.toml"
)
UNKNOWN_OUTPUTS = Risk(
    "these pipelines choose the output topic for each record: {pipelines}. So Headgate may "
    "not know all their downstream pipelines, and these may get duplicates. Check which "
    "pipelines read these topics, and make them idempotent"
)


def _own_risks(
    request: PlanRequest, links: Links, chain: Order, moves: tuple[Move, ...]
) -> Iterator[str]:
    for move in moves:
        yield from _boundary(request, move)
        yield from _effects(request, move)
    written = {t for m in moves if m.out is not None for t in m.member.writes}
    for topic, groups in unregistered(request.inspector, links, written).items():
        yield UNREGISTERED_CONSUMERS(topic=topic, groups=name_list(groups))
    inside = {m.name for m in chain.members}
    if strange := [n for n in links.unknown if n not in inside]:
        yield UNKNOWN_INPUTS(pipelines=name_list(strange))
    if anywhere := [n for n in links.anywhere if n in inside]:
        yield UNKNOWN_OUTPUTS(pipelines=name_list(anywhere))


def _effects(request: PlanRequest, move: Move) -> Iterator[str]:
    """Say it of those downstream; of the first one it is said of every plan."""
    pipeline = move.member.pipeline
    is_next = pipeline.name != request.pipeline.name
    # Who skips processes rewritten records, and who isn't touched does as well.
    if is_next and pipeline.effects is Effects.EXTERNAL:
        yield EXTERNAL(name=pipeline.name)


REPLACED_EXACTLY = Risk(
    "records in {topics} with a timestamp from {time} on are replaced. No record is missing "
    "or counts twice if the clocks of all machines agree and only {pipeline} writes to "
    "{topics}"
)


REPLACED_BY_WRITING = Risk(
    "records in {topics} with a timestamp from {time} on are replaced. This time is a record "
    "timestamp in the first pipeline's input, but {reason}, so the timestamps in {topics} say "
    "when a record was written. Results that were written after this time from older input "
    "records also count as replaced, but aren't rewritten: pipelines that skip the replaced "
    "records lose them"
)
REPLACED_ABOUT = Risk(
    "records in {topics} with a timestamp from {time} on are replaced. This time is "
    "approximate: records around it can be missing or count twice"
)


def _boundary(request: PlanRequest, move: Move) -> Iterator[str]:
    """Say where the boundary in an output comes from, and how exact it is."""
    if move.out is None or move.out.at == 0 or move.choice is Choice.NOTHING:
        return
    topics, at = name_list(sorted(move.member.writes)), iso(from_milliseconds(move.out.at))
    if move.out.is_exact:
        yield REPLACED_EXACTLY(topics=topics, time=at, pipeline=move.member.name)
        return
    cuts = dict.fromkeys(sorted(move.member.writes), move.out)
    others = incomparable(request.inspector, cuts)
    if others:
        yield REPLACED_BY_WRITING(topics=topics, time=at, reason=name_list(others.values()))
    else:
        yield REPLACED_ABOUT(topics=topics, time=at)
    if move.member.name == request.pipeline.name:
        yield from _fewer(request, move, cuts)


FEWER_REPROCESSED = Risk(
    "up to {replaced} of {topic} count as replaced, but {pipeline} reprocesses up to "
    "{reprocessed}. If it writes at most one result per record, the others are older results, "
    "which aren't rewritten",
    replaced="N records",
    reprocessed="N records",
)


def _fewer(request: PlanRequest, move: Move, cuts: Cuts) -> Iterator[str]:
    """Say it where fewer records are reprocessed than replaced: older ones may be among these."""
    read = again(move.plan.impact) if move.plan else None
    counts: dict[str, int] = {}
    for row in replaced_in(request.inspector, {t: cut.at for t, cut in cuts.items()}).values():
        counts[row.topic] = counts.get(row.topic, 0) + row.end - row.begin
    for topic, count in counts.items():
        if read is not None and count > read:
            yield FEWER_REPROCESSED(
                replaced=plural(count, "record"),
                topic=topic,
                pipeline=move.member.name,
                reprocessed=plural(read, "record"),
            )


RISKS = (
    UNREGISTERED_CONSUMERS,
    UNKNOWN_INPUTS,
    UNKNOWN_OUTPUTS,
    REPLACED_EXACTLY,
    REPLACED_BY_WRITING,
    REPLACED_ABOUT,
    FEWER_REPROCESSED,
)
