"""Which topics of a plan the steps of its run rely on while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.reprocess.plan import UNDO, Plan
from headgate.reprocess.steps.process.stop_start import ManualStep, StartPipeline
from headgate.reprocess.steps.topics.delete_topics import DeleteTopics


def relied_topics(plan: Plan, position: int) -> Mapping[str, Mapping[str, Any]]:
    """Return the topics that must still be the planned ones when a step begins: `id` by name.

    A plan is compared with the cluster when its run begins, but a run may wait for hours. Up to the
    last start of a pipeline its steps rely on the offsets of the plan's topics; what follows only
    verifies or cleans up. An undo recreates topics, and the run itself may delete some.
    """
    starts = [n for n, s in enumerate(plan.steps) if isinstance(s, StartPipeline | ManualStep)]
    if plan.scenario == UNDO or not starts or position > starts[-1]:
        return {}
    deleted = {name for s in plan.steps if isinstance(s, DeleteTopics) for name in s.topics}
    return {n: t for n, t in plan.preconditions.get("topics", {}).items() if n not in deleted}
