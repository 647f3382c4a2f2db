"""Apply a plan: check it now and queue it, so that a worker executes it."""

from __future__ import annotations

from contextlib import closing

from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.estimate import PROCESSING
from headgate.reprocess.plan import UNDO, Plan, dump_plan
from headgate.store.rows import NewRun
from headgate.store.sqlite_reader import open_soonest
from headgate.usecases.activity.list_paused import resumes
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.usecases.reprocess.rebuild_plan import approved_now
from headgate.usecases.reprocess.reset_registry import registry_of


def apply_plan(context: Context, plan: Plan, *, by: str) -> str:
    """Queue a run of the plan, and return its id.

    RefusedError if the plan is blocked, or another run uses its group or checkpoint; StalePlanError
    with the differences since it was made. The worker makes the same checks again.
    """
    with (
        closing(open_soonest(context.store_url)) as store,
        closing(
            with_judge(
                LiveInspector(registry_of(context.registry, store, plan), context.home), context
            )
        ) as inspector,
    ):
        now = estimated(context, approved_now(store, inspector, plan))
        context.before_queueing()
        return store.runs.enqueue(new_run(now), by=by, action="apply")


def estimated(context: Context, plan: Plan) -> Plan:
    """Return the plan with its estimate, so that it is stored before the run starts."""
    if plan.scenario not in PROCESSING:
        return plan
    # Imported here: an estimate reads the store and the landscape, and most plans have none.
    from headgate.usecases.reprocess.estimate_run import with_estimate

    return with_estimate(context, plan)


def new_run(plan: Plan) -> NewRun:
    """Return the row to queue for a plan; the row of an undo has the run that it rolls back."""
    return NewRun(
        scenario=plan.scenario,
        pipeline=plan.pipeline,
        plan_hash=plan.hash,
        plan=dump_plan(plan),
        resources=plan.resources,
        undo_of=plan.options["run"] if plan.scenario == UNDO else None,
        resumes=resumes(plan),
    )
