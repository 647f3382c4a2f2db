"""Build the plan of a scenario; no effects, only questions to the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headgate.errors import NotFoundError, RefusedError, ScenarioError
from headgate.model.version import Version
from headgate.plan.answers import read_answers
from headgate.plan.plan import RESET, Plan
from headgate.plan.scenario import Answer, Asked, Scenario
from headgate.plan.scenarios import (
    carry_over,
    common,
    from_old_state,
    from_point,
    from_scratch,
    offline_upgrade,
    pause,
    repair,
    rescale,
    reset,
    retire,
    skip,
)
from headgate.plan.world import World

SCENARIOS: dict[str, Scenario] = {
    s.name: s
    for s in (
        from_scratch.SCENARIO,
        from_point.SCENARIO,
        carry_over.SCENARIO,
        rescale.SCENARIO,
        from_old_state.SCENARIO,
        offline_upgrade.SCENARIO,
        repair.SCENARIO,
        skip.SCENARIO,
        retire.SCENARIO,
        pause.SCENARIO,
    )
}

# What the contract names and this release does not build yet.
PLANNED = (
    "historical-range",
    "bounded",
    "incremental",
    "online-upgrade",
    "late-batch",
    "dead-letters",
    "ab",
    "chain",
)


def build_plan(
    scenario: str,
    pipeline: str,
    world: World,
    options: Mapping[str, Any] | None = None,
    *,
    version: Version | None = None,
    others: Mapping[str, Version] | None = None,
) -> Plan:
    """Return the plan of `scenario` for a registered pipeline, appliable or not.

    `version` is the newest stored one, where there is one, `others` those of other Kafka Streams
    applications. ScenarioError for a scenario that there
    is none of and for options that it does not take, NotFoundError for a pipeline that is not
    registered, UnreachableError where the world does not answer.
    """
    registered = world.registered(pipeline)
    declared = _scenario(scenario)
    if registered is None:
        raise NotFoundError(f"no pipeline {pipeline} is registered in headgate.toml")
    asked = Asked(
        scenario=scenario,
        pipeline=registered,
        world=world,
        version=version,
        others=others or {},
    )
    support = declared.support[registered.engine]
    if support.answer is Answer.REFUSED:
        return asked.refuse(support.why)
    asked = replace(asked, options=read_answers(declared, options or {}, registered.engine))
    try:
        plan = declared.build(asked)
    except RefusedError as error:
        # A remote checkpoint, a group that may not be seen: still a plan, shown with its reason.
        plan = asked.refuse(str(error))
    plan = plan if plan.options else replace(plan, options=dict(asked.options))
    # Whatever is done: what is registered twice can be stopped under one name and run on.
    shared = common.shared_checkpoint(registered, world) if plan.steps else []
    more = tuple(reason for reason in shared if reason not in plan.refusals)
    return replace(plan, refusals=(*plan.refusals, *more)) if more else plan


def _scenario(name: str) -> Scenario:
    # Kafka's options have a command of their own: nobody is asked for them one by one.
    found = reset.SCENARIO if name == RESET else SCENARIOS.get(name)
    if found is None:
        reason = "is not built in this release" if name in PLANNED else "is no scenario"
        raise ScenarioError(f"{name} {reason}; there is {', '.join(SCENARIOS)}")
    return found


def moved(before: Plan, now: Plan) -> tuple[str, ...]:
    """Return what moved between a plan and the same plan built now; empty where nothing did.

    The impact may grow, because a live pipeline goes on: to twice what was approved, or by
    100,000 records. More than that was not approved.
    """
    found = [
        f"{name}: {_short(before.preconditions.get(name))} is now {_short(value)}"
        for name, value in now.preconditions.items()
        if before.preconditions.get(name) != value
    ]
    found += [f"{n} is gone" for n in before.preconditions if n not in now.preconditions]
    if not found and before.hash != now.hash:
        found = ["its steps would be others now"]
    return (*found, *_grown(before.impact.get("total"), now.impact.get("total")))


def _grown(approved: int | None, now: int | None) -> tuple[str, ...]:
    if approved is None or now is None or now <= max(2 * approved, approved + 100_000):
        return ()
    return (f"{now} records would be read again, {approved} were approved",)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."
