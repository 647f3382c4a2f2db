"""Let a world ask for verdicts; what judges is imported at the first question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from headgate.gateway.world_verdicts import VerdictWorld
from headgate.plan.verdict import Sight, Trace, Verdict
from headgate.usecases.context import Context

AnyWorld = TypeVar("AnyWorld", bound=VerdictWorld)


def with_judge(world: AnyWorld, context: Context) -> AnyWorld:
    """Return the world, which can ask for verdicts from now on."""

    def judge(pipeline: str, after: str, before: str | None, fail_on: Sequence[str]) -> Verdict:
        # All rules and parsers stand behind it, and most plans have nothing to compare.
        from headgate.usecases.judge_upgrade import judge_upgrade

        return judge_upgrade(context, pipeline, after, before, fail_on)

    def look(pipeline: str, after: str, version: str, trace: Trace) -> Sight:
        from headgate.usecases.judge_running import judge_running

        return judge_running(context, pipeline, after, version, trace)

    world.judge, world.look = judge, look
    return world
