"""Chain: rewind a pipeline and its downstream pipelines to one target time, in order."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario, needs
from headgate.reprocess.scenarios.chain import first, join, moves, reset
from headgate.reprocess.scenarios.chain.choices import (
    Choice,
    default_of,
    read_choices,
    unknown_names,
)
from headgate.reprocess.scenarios.chain.downstream import move_downstream, untouched
from headgate.reprocess.scenarios.chain.first import move_first
from headgate.reprocess.scenarios.chain.join import joined
from headgate.reprocess.scenarios.chain.moves import Cut, Move
from headgate.reprocess.scenarios.rewind import scenario as rewind
from headgate.reprocess.scenarios.shared.chain_offer import DOWNSTREAM_DUPLICATES
from headgate.reprocess.scenarios.shared.pipeline_links import (
    Links,
    Member,
    Order,
    order,
    read_links,
)
from headgate.text.numbers import name_list
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso, milliseconds, moment

_MOMENT = "target time"
# Of many pipelines only the first are named in a sentence.
_NAMED = 3


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop all, upstream first; move each; start all, upstream first.

    A pipeline that is stopped first writes nothing more, so what those after it skip ends where
    their input ends. One that is started first has written when those after it start. In between
    the last one is moved first: one before it may write while it catches up.
    """
    if not request.inspector.kafka.has_cluster():
        return request.block(
            "no Kafka cluster is configured, and a chain links pipelines by Kafka topics. Set "
            "`bootstrap_servers` under [kafka]"
        )
    at = _moment(request)
    if at is not None and at > time.time() * 1000:
        return request.block(
            f"--at: {iso(from_milliseconds(at))} is in the future. Pass an earlier time"
        )
    excluded = request.options.get("exclude", ())
    choices = read_choices(request.options.get("choose", ()), excluded)
    links = read_links(request)
    untouched_ = [name for name, choice in choices.items() if choice is Choice.NOTHING]
    chain = order(links, request.pipeline.name, untouched_)
    if reasons := list(_unusable(request, links, chain, choices)):
        return request.block(*reasons)
    moves = tuple(_moves(request, links, chain, choices, at))
    options = dict(request.options)
    if at is not None:
        options["at"] = iso(from_milliseconds(at))
    return joined(request, links, chain, moves, options)


def _moment(request: PlanRequest) -> int | None:
    """Return the moment in Unix milliseconds; None is the earliest."""
    at = request.options.get("at")
    return None if at is None else milliseconds(moment(str(at), option="at"))


def _unusable(
    request: PlanRequest, links: Links, chain: Order, choices: dict[str, Choice]
) -> Iterator[str]:
    first = request.pipeline.name
    if choices.get(first) is Choice.NOTHING:
        yield (
            f"{first} is the first pipeline of the chain, so it can't be excluded. Omit it from "
            "--exclude and --choose"
        )
        return
    if chain.cycle:
        yield _cycle(links, chain, first, choices)
    known = {m.name: m for m in chain.members} | {n: links.members[n] for n in chain.left_out}
    yield from unknown_names(choices, known, first)
    if len(chain.members) == 1:
        yield f"Headgate knows no pipeline downstream of {first}: {_alone(request, links)}"


def _cycle(links: Links, chain: Order, first: str, choices: Mapping[str, Choice]) -> str:
    """Say which exclusions break a cycle: what an excluded pipeline writes still counts."""
    out = {name for name, choice in choices.items() if choice is Choice.NOTHING}
    ways = [
        name
        for name in chain.cycle
        if name != first and len(order(links, first, {*out, name}).cycle) < len(chain.cycle)
    ]
    said = (
        f"these pipelines form a cycle: {name_list(chain.cycle)}. Each of them reads its own "
        "output through the others. "
    )
    if ways:
        return f"{said}Pass --exclude with {' or '.join(ways[:_NAMED])}"
    return f"{said}No exclusion breaks this cycle: plan each pipeline separately"


def _alone(request: PlanRequest, links: Links) -> str:
    """Say why nothing is downstream of the first pipeline, and what to use instead."""
    first, engine = request.pipeline.name, request.pipeline.engine
    ways = "from-point or from-scratch"
    if engine is Engine.SPARK:
        ways = f"rewind, {ways}"
    if written := sorted(links.members[first].writes):
        return f"no registered pipeline reads {name_list(written)}. Use {ways}"
    if engine is Engine.CONSUMER_GROUP:
        return (
            "nothing shows which topics a consumer group writes. Use from-point for the group, and "
            "for each pipeline that reads its results"
        )
    version = links.members[first].version
    sink = version.sink if version else None
    if sink is not None and sink.format not in (None, "kafka"):
        return f"{first} writes to sink {sink.format}, not to a Kafka topic. Use {ways}"
    return f"no stored version shows the output topics of {first}. Capture {first}, or use {ways}"


def _moves(
    request: PlanRequest,
    links: Links,
    chain: Order,
    choices: dict[str, Choice],
    at: int | None,
) -> Iterator[Move]:
    """Yield what becomes of each pipeline; each leaves cuts in the topics that it writes."""
    cuts: dict[str, list[Cut]] = {}
    # By topic, the pipeline that isn't moved and writes duplicates to it.
    twice: dict[str, str] = {}
    inexact: set[str] = set()
    for number, member in enumerate(chain.members):
        chosen = choices.get(member.name)
        if number == 0:
            move = move_first(request, member, at, chosen)
        else:
            move = _next(request, links, chain, member, cuts, chosen, to_earliest=at is None)
        move = _with_duplicates(move, twice)
        if member.reads & inexact:
            move = replace(move, is_exact=False)
        yield move
        if not move.is_exact:
            inexact |= member.writes
        if move.choice is Choice.NOTHING:
            repeats = move.out is not None or member.reads & twice.keys()
            twice |= dict.fromkeys(member.writes, member.name) if repeats else {}
        elif move.out is not None:
            for topic in member.writes:
                cuts.setdefault(topic, []).append(move.out)


DUPLICATES_UPSTREAM = Risk(
    "{writers} {keep} duplicates to {topics}. {pipeline} processes the duplicates{counted}",
    writers="PIPELINES",
    keep="keep running and write",
    counted=", and its state counts them twice",
)


def _with_duplicates(move: Move, twice: Mapping[str, str]) -> Move:
    """Return the move with what it gets from pipelines that aren't moved, if it reads from them."""
    found = sorted(move.member.reads & twice.keys())
    if not found:
        return move
    writers = sorted({twice[topic] for topic in found})
    keep = "keeps running and writes" if len(writers) == 1 else None
    counted = "" if move.member.is_stateless else None
    risk = DUPLICATES_UPSTREAM(
        writers=name_list(writers),
        keep=keep,
        topics=name_list(found),
        pipeline=move.member.name,
        counted=counted,
    )
    return replace(move, is_exact=False, risks=(*move.risks, risk))


def _next(
    request: PlanRequest,
    links: Links,
    chain: Order,
    member: Member,
    cuts: dict[str, list[Cut]],
    chosen: Choice | None,
    *,
    to_earliest: bool,
) -> Move:
    read = {topic: cuts[topic] for topic in sorted(member.reads & cuts.keys())}
    if not read:
        return Move(
            member=member,
            choice=Choice.NOTHING,
            said=("The run doesn't rewrite this pipeline's input, so the pipeline keeps running.",),
        )
    own = {topic: found[0] for topic, found in read.items()}
    if chosen is Choice.NOTHING:
        return untouched(member, own)
    leads_on = any(m.name in {c.name for c in chain.members} for m in links.next_of(member.name))
    choice = chosen or default_of(member, to_earliest=to_earliest, leads_on=leads_on)
    if choice is None:
        return Move(
            member=member,
            choice=Choice.NOTHING,
            blockers=(
                "Kafka Streams keeps no old state, so no choice gives correct results. For "
                "correct results, use --to-earliest. To accept wrong results, pass --choose "
                f"{member.name}=CHOICE (skip, reset or nothing)",
            ),
        )
    if mixed := list(_mixed(links, member.name, read)):
        return Move(member=member, choice=choice, blockers=tuple(mixed))
    move = move_downstream(request, member, own, choice)
    # What is right from a boundary on is no more exact than the boundary.
    return replace(move, is_exact=move.is_exact and all(cut.is_exact for cut in own.values()))


def _mixed(links: Links, name: str, read: dict[str, list[Cut]]) -> Iterator[str]:
    """Yield the topics of which not all records since the moment are replaced."""
    for topic, found in read.items():
        writers = {cut.writer for cut in found}
        others = sorted(set(links.writers_of(topic)) - writers)
        if others:
            yield (
                f"topic {topic} also gets records from {name_list(others)}, which the chain "
                f"doesn't rewrite. If these records are from after the target time, {name} would "
                f"lose them or count them twice. Pass --choose {name}=nothing"
            )
        elif len(writers) > 1:
            yield (
                f"{name_list(sorted(writers))} rewrite {topic} from different offsets, so {name}, "
                f"which reads {topic}, can't get correct results. Pass --choose {name}=nothing: "
                f"{name} then keeps running and gets duplicates"
            )


OPTIONS = (
    Option(
        name="at",
        ask="Record timestamp in the first pipeline's input",
        help="Target time: a record timestamp in the first pipeline's input (default zone: UTC).",
        metavar="TIME",
        one_of=_MOMENT,
        required=True,
    ),
    Option(
        name="to-earliest",
        ask="Earliest offsets, with empty state",
        help="Reprocess all records that the first pipeline's input still has, with empty state.",
        kind=Kind.FLAG,
        one_of=_MOMENT,
        required=True,
    ),
    Option(
        name="exclude",
        ask="Pipelines that keep running unchanged",
        help="Pipeline that keeps running unchanged. The plan shows the consequences. Can be "
        "repeated.",
        kind=Kind.MANY,
        metavar="PIPELINE",
    ),
    Option(
        name="choose",
        ask="Choices other than the default",
        help="Choice for a pipeline instead of the default: reset (empty state), rewind (earlier "
        "state), skip (keep the state, skip replaced records) or nothing (keep running). Can be "
        "repeated.",
        kind=Kind.MANY,
        metavar="PIPELINE=CHOICE",
    ),
)


def risks() -> tuple[Risk, ...]:
    """Return its own risks, and those of the scenarios that move its pipelines."""
    from headgate.reprocess.scenarios.from_point import scenario as from_point
    from headgate.reprocess.scenarios.from_scratch import scenario as from_scratch

    own = (*join.RISKS, *first.RISKS, *reset.RISKS, *moves.RISKS, DUPLICATES_UPSTREAM)
    others = (from_scratch.risks(), from_point.risks(), rewind.SCENARIO.risks())
    return own + tuple(r for of in others for r in of if r is not DOWNSTREAM_DUPLICATES)


SCENARIO = Scenario(
    name="chain",
    title="Chain",
    short="Rewind a pipeline and its downstream pipelines.",
    what="Rewind a pipeline and its downstream pipelines to one target time, in order.",
    build=build,
    steps=(
        "create_checkpoint",
        "create_remote_checkpoint",
        "stop_pipeline",
        "back_up_checkpoint",
        "snapshot_checkpoint",
        "replace_checkpoint",
        "copy_to_batch",
        "read_state",
        "swap_checkpoint",
        "copy_remote_checkpoint",
        "read_remote_state",
        "cut_sink_log",
        "record_offsets",
        "record_output",
        "reset_offsets",
        "switch_checkpoint",
        "start_at_checkpoint",
        "start_pipeline",
        "manual_step",
        "delete_topics",
        "await_transactions",
        "clear_local_state",
        "swap_new_checkpoint",
        "run_bounded",
        "skip_replaced_records",
        "skip_replaced_input",
    ),
    risks=risks,
    options=OPTIONS,
    support={
        Engine.SPARK: needs(CHECKPOINT),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
