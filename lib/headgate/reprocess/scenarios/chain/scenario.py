"""Chain: one pipeline and those downstream of it go to one moment, in order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from headgate.model.version import Engine
from headgate.reprocess.conditions import CHECKPOINT
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import SUPPORTED, Kind, Option, PlanRequest, Scenario, needs
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
from headgate.reprocess.scenarios.shared.pipeline_links import (
    Links,
    Member,
    Order,
    order,
    read_links,
)
from headgate.text.numbers import name_list
from headgate.text.times import from_milliseconds, iso, milliseconds, moment

_MOMENT = "moment"


def build(request: PlanRequest) -> Plan:
    """Return the plan: stop all, upstream first; move each; start all, upstream first.

    A pipeline that is stopped first writes nothing more, so what those after it skip ends where
    their input ends. One that is started first has written when those after it start. In between
    the last one is moved first: one before it may write while it catches up.
    """
    if not request.inspector.kafka.has_cluster():
        return request.block("no Kafka cluster is configured: only Kafka topics link pipelines")
    at = _moment(request)
    if at is not None and at > time.time() * 1000:
        return request.block(f"--at: {iso(from_milliseconds(at))} is in the future")
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
    if chain.cycle:
        yield (
            f"{name_list(chain.cycle)} read what they write by way of each other. A chain needs an "
            "order: exclude one of them with --exclude"
        )
    known = {m.name: m for m in chain.members} | {n: links.members[n] for n in chain.left_out}
    yield from unknown_names(choices, known, first)
    if len(chain.members) == 1:
        written = sorted(links.members[first].writes)
        why = f"no registered pipeline reads {name_list(written)}"
        if not written:
            why = "no stored version shows a topic that it writes"
        yield (
            f"{first} has no downstream pipeline that Headgate knows: {why}. Use rewind, "
            "from-point or from-scratch"
        )


def _moves(
    request: PlanRequest,
    links: Links,
    chain: Order,
    choices: dict[str, Choice],
    at: int | None,
) -> Iterator[Move]:
    """Yield what becomes of each pipeline; each leaves cuts in the topics that it writes."""
    cuts: dict[str, list[Cut]] = {}
    for number, member in enumerate(chain.members):
        chosen = choices.get(member.name)
        if number == 0:
            move = move_first(request, member, at, chosen)
        else:
            move = _next(request, links, chain, member, cuts, chosen, to_earliest=at is None)
        yield move
        if move.out is not None and move.choice is not Choice.NOTHING:
            for topic in member.writes:
                cuts.setdefault(topic, []).append(move.out)


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
            said=("Nothing of its input is replaced, so it isn't stopped.",),
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
                "Kafka Streams keeps no old state, so no choice gives correct results. Use "
                f"--to-earliest, or --choose {member.name}=skip, reset or nothing",
            ),
        )
    if mixed := list(_mixed(links, read)):
        return Move(member=member, choice=choice, blockers=tuple(mixed))
    move = move_downstream(request, member, own, choice)
    # What is right from a boundary on is no more exact than the boundary.
    return replace(move, is_exact=move.is_exact and all(cut.is_exact for cut in own.values()))


def _mixed(links: Links, read: dict[str, list[Cut]]) -> Iterator[str]:
    """Yield the topics of which not all records since the moment are replaced."""
    for topic, found in read.items():
        writers = {cut.writer for cut in found}
        others = sorted(set(links.writers_of(topic)) - writers)
        if others:
            yield (
                f"{name_list(others)} also writes {topic}, but isn't moved. Records that it wrote "
                "since the moment would be lost or counted twice. Choose nothing with --choose"
            )
        elif len(writers) > 1:
            yield (
                f"{name_list(sorted(writers))} write {topic} from different offsets on, so no "
                "choice gives correct results. Choose nothing with --choose"
            )


OPTIONS = (
    Option(
        name="at",
        ask="To which record time of the first pipeline's input?",
        help="Record time of the first pipeline's input to rewind to (default zone: UTC).",
        metavar="TIME",
        one_of=_MOMENT,
        required=True,
    ),
    Option(
        name="to-earliest",
        ask="To the earliest offsets, with empty state?",
        help="Reprocess everything that the first pipeline's input still holds, with empty state.",
        kind=Kind.FLAG,
        one_of=_MOMENT,
        required=True,
    ),
    Option(
        name="exclude",
        ask="Which downstream pipelines aren't touched?",
        help="Pipeline that keeps running; the plan names the consequence. Can be repeated.",
        kind=Kind.MANY,
        metavar="PIPELINE",
    ),
    Option(
        name="choose",
        ask="What happens to which pipeline?",
        help="reset, rewind, skip or nothing for one pipeline, in place of the plan's own choice. "
        "Can be repeated.",
        kind=Kind.MANY,
        metavar="PIPELINE=CHOICE",
    ),
)

SCENARIO = Scenario(
    name="chain",
    title="Chain",
    what="Take a pipeline and those downstream of it to one moment, in order.",
    build=build,
    options=OPTIONS,
    support={
        Engine.SPARK: needs(CHECKPOINT),
        Engine.CONSUMER_GROUP: SUPPORTED,
        Engine.KAFKA_STREAMS: SUPPORTED,
    },
)
