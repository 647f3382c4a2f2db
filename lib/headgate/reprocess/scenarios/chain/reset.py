"""A pipeline downstream that starts with empty state where the rewritten records begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.chain.moves import (
    Cut,
    Cuts,
    Move,
    built,
    is_all,
    partly_rewritten,
    request_for,
    writers_of,
)
from headgate.reprocess.scenarios.shared import consumer_group_offsets, start_from_offsets
from headgate.reprocess.scenarios.shared.pipeline_links import Member
from headgate.text.numbers import name_list
from headgate.text.risk import Risk, without

# What a chain skips are records that it rewrites.
_SKIPPED = (consumer_group_offsets.SKIPPED, start_from_offsets.SKIPPED)

LACKS_EARLIER = Risk(
    "the new results lack all records from before the target time. For complete results, use "
    "--to-earliest"
)
LACKS_PARTLY = Risk(
    "the new results lack the records of {input} that aren't rewritten. Pass --at with a "
    "later time, from which the first pipeline's input still has all records",
    input="TOPICS",
)


def reset_downstream(request: PlanRequest, member: Member, cuts: Cuts) -> Move:
    """Begin with empty state where the rewritten records begin."""
    asked = request_for(request, member, "from-point", {"to-latest": True})
    others = sorted(member.reads - cuts.keys())
    from headgate.reprocess.scenarios.from_point import scenario as from_point

    whole = is_all(cuts)
    lacks = LACKS_EARLIER()
    if partly := partly_rewritten(cuts):
        lacks = LACKS_PARTLY(input=partly)
    out = Cut(
        at=min(c.at for c in cuts.values()),
        writer=member.name,
        is_exact=whole,
        is_target=any(c.is_target for c in cuts.values()),
    )
    plan = built(asked, from_point.build)
    return Move(
        member=member,
        choice=Choice.RESET,
        plan=replace(plan, risks=without(plan.risks, *_SKIPPED, pipeline=member.name)),
        said=("The pipeline starts with empty state at the first rewritten record.",),
        out=out if member.writes else None,
        is_exact=whole,
        risks=(*(() if whole else (lacks,)), *_unwatched(request, cuts)),
        blockers=(
            (
                f"the pipeline also reads {name_list(others)}, which the chain doesn't rewrite. "
                "With empty state, the results would lack the earlier records of these topics. "
                f"Pass --choose {member.name}=skip or --choose {member.name}=nothing",
            )
            if others
            else ()
        ),
    )


WRITERS_UNCHECKED = Risk(
    "Headgate doesn't check again before the reset whether these pipelines are stopped: "
    "{pipelines}. If one of them restarts during the run, records count twice. Register a "
    "`suspend` command for each of them"
)


def _unwatched(request: PlanRequest, cuts: Cuts) -> Iterator[str]:
    """Say which writers the steps of a reset, other than those of a skip, don't check again."""
    found = (request.inspector.processes.registered(name) for name in writers_of(cuts))
    if names := [p.name for p in found if p is not None and p.commands.suspend is None]:
        yield WRITERS_UNCHECKED(pipelines=name_list(names))


RISKS = (
    LACKS_EARLIER,
    LACKS_PARTLY,
    WRITERS_UNCHECKED,
)
