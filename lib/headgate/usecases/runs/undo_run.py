"""Roll back a run: the undo is a plan that is checked and can be blocked."""

from __future__ import annotations

from contextlib import closing

from headgate.errors import RefusedError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.plan import Plan, load_plan
from headgate.store import Store, open_store
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import undo_plan
from headgate.usecases.reprocess.reset_registry import registry_of
from headgate.usecases.runs.apply_plan import new_run


def plan_undo(context: Context, run: str) -> Plan:
    """Return the plan that rolls the run back, with what it can't restore; nothing changes."""
    with (
        closing(open_store(context.store_url)) as store,
        closing(LiveInspector(_registry(context, store, run), context.home)) as inspector,
    ):
        return undo_plan(store, inspector, run)


def _registry(context: Context, store: Store, run: str) -> Registry:
    plan = load_plan(store.runs.get(run).plan, source=f"run {run}")
    return registry_of(context.registry, store, plan)


def undo_run(context: Context, run: str, *, by: str) -> str:
    """Queue the undo of `run` and return its id; RefusedError if the undo is blocked."""
    plan = plan_undo(context, run)
    if not plan.can_apply:
        raise RefusedError("; ".join(plan.blockers) or f"run {run} has nothing to undo")
    with closing(open_store(context.store_url)) as store:
        context.before_queueing()
        return store.runs.enqueue(new_run(plan), by=by, action="undo")
