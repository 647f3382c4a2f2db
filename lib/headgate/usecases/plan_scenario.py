"""Plan a scenario: the steps, what they cost, and why they may be refused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from headgate.gateway.world import LiveWorld
from headgate.plan.plan import Plan
from headgate.store import open_store
from headgate.usecases.context import Context
from headgate.usecases.run_plans import fresh_plan


def plan_scenario(
    context: Context, scenario: str, pipeline: str, options: Mapping[str, Any] | None = None
) -> Plan:
    """Return the plan, appliable or not; nothing is changed.

    ScenarioError, NotFoundError (the pipeline) or UnreachableError (Kafka, the store).
    """
    with (
        closing(open_store(context.store_url)) as store,
        closing(LiveWorld(context.registry, context.home)) as world,
    ):
        return fresh_plan(store, world, scenario, pipeline, options or {})
