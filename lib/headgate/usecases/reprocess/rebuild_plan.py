"""Build plans from cluster state and store: for a preview, and a second time before a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headgate.errors import HeadgateError, RefusedError, StalePlanError
from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.reprocess.deleted_records import DELETED, DeletedRecords, deleted_records
from headgate.reprocess.impact import measured
from headgate.reprocess.plan import RESET, UNDO, Plan, changed, load_plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import LastPositions, no_positions
from headgate.reprocess.scenarios.build import APPROVED, approved_counts, build_plan, drift
from headgate.reprocess.steps.base.step import pipeline_of
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.store.rows import RunFacts, RunFilter, RunState
from headgate.store.step_records import step_records
from headgate.store.worker_slots import is_served
from headgate.text.numbers import name_list, short_time
from headgate.usecases.activity.list_paused import PAUSE, STARTS, ended_by, pause_of
from headgate.usecases.reprocess.complete_version import complete_version

if TYPE_CHECKING:
    from headgate.model.activity import Position
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

# The audit's word for snapshots that were removed.
CLEAN = "clean"
# A run of it processes what earlier runs left unread.
BOUNDED = "bounded"
_ENDED_EARLY = (RunState.FAILED, RunState.CANCELLED)


def fresh_plan(
    store: Store | SqliteReader,
    inspector: Inspector,
    scenario: str,
    pipeline: str,
    options: Mapping[str, Any],
    *,
    but: str | None = None,
    again: bool = False,
) -> Plan:
    """Return the scenario's plan, blocked if another run is active on the same resource.

    `but` is the run of this plan, which doesn't block it. `again`: a plan with these options was
    made before.
    """
    version, others = known_versions(store, inspector, scenario, pipeline)
    unread: list[str] = []
    if version is None:
        version, unread = described(inspector, pipeline)
    known = _known(store, inspector.processes.registered(pipeline))
    plan = build_plan(
        scenario,
        pipeline,
        inspector,
        options,
        version=version,
        others=others,
        known=known,
        points=store.restore_points.of,
        schedule=store.schedules.get,
        versions=lambda name: complete_version(store, name),
        again=again,
    )
    touching = [r for name in plan.resources for r in store.runs.touching(name) if r.id != but]
    active = {r.id: r for r in touching if r.state.is_active}
    return replace(
        plan,
        blockers=(
            *plan.blockers,
            *_checkpoints_of_other_queries(store, inspector, plan, version),
            *(
                (
                    f"run {r.id}{_of_other(r, plan)} is {r.state} and uses "
                    f"{shared_words(store, plan.resources, r.id)}{_ways_to_end(store, r)}"
                )
                for r in active.values()
            ),
        ),
        risks=(
            *plan.risks,
            *unread,
            *_pause_risks(store, plan),
            *(_unfinished_runs(store, plan, r) for r in unfinished_runs(store, plan.resources)),
        ),
    )


def _pause_risks(store: Store | SqliteReader, plan: Plan) -> list[str]:
    """Name paused pipelines that the run starts, and by whom they were paused."""
    if plan.scenario == PAUSE:
        return []
    starting = (s for s in plan.steps if s.action in STARTS)
    names = {name for step in starting if (name := pipeline_of(step, plan.pipeline))}
    return [
        f"{name} is {paused.words}. The run of this plan starts {name}, and ends the pause"
        for name in sorted(names)
        if (paused := pause_of(store, name))
    ]


def _checkpoints_of_other_queries(
    store: Store | SqliteReader, inspector: Inspector, plan: Plan, version: Version | None
) -> list[str]:
    """Return why a checkpoint of the plan's pipelines is another query's; see below."""
    names = {name for step in plan.steps if (name := pipeline_of(step, plan.pipeline))}
    versions = {n: version if n == plan.pipeline else store.versions.running(n) for n in names}
    return [r for n in sorted(names) for r in checkpoint_of_other_query(inspector, n, versions[n])]


def checkpoint_of_other_query(
    inspector: Inspector, name: str, version: Version | None
) -> tuple[str, ...]:
    """Return why the registered checkpoint is another query's; empty if nothing shows this."""
    pipeline = inspector.processes.registered(name)
    if pipeline is None or not pipeline.checkpoint:
        return ()
    try:
        found = inspector.checkpoints.read(pipeline.checkpoint)
    except HeadgateError:
        return ()
    # Imported here: what has no checkpoint needs none of it.
    from headgate.reprocess.checkpoint_owner import other_query

    return (
        other_query(pipeline, found, version, inspector.processes.reported_runs(name))
        if found
        else ()
    )


def described(inspector: Inspector, pipeline: str) -> tuple[Version | None, list[str]]:
    """Return the version in a pipeline's registered evidence, or why it can't be read.

    Used if no version of the pipeline is stored.
    """
    try:
        return inspector.evidence.described(pipeline), []
    except HeadgateError as error:
        said = str(error).rstrip(".")
        return None, [
            (
                f"The registered evidence of {pipeline} can't be read, so the plan ignores "
                f"this evidence: {said}. Correct {_evidence_keys(inspector, pipeline, said)} in "
                "headgate.toml"
            )
        ]


def _evidence_keys(inspector: Inspector, name: str, said: str) -> str:
    """Return the keys of headgate.toml that name what can't be read: one if `said` names it."""
    pipeline = inspector.processes.registered(name)
    if pipeline is None:
        return "`evidence` or `watch`"
    given = {"evidence": pipeline.evidence, "watch": (pipeline.watch,)}
    given["checkpoint"] = (pipeline.checkpoint,)
    keys = {key: [v for v in values if v] for key, values in given.items()}
    named = [key for key, values in keys.items() if any(v in said for v in values)]
    found = named[:1] if len(named) == 1 else [key for key, values in keys.items() if values]
    return " or ".join(f"`{key}`" for key in found or ("evidence",))


def _known(store: Store | SqliteReader, pipeline: Pipeline | None) -> LastPositions:
    """Return a function for a group's last positions; the store is read only at its call."""
    if pipeline is None or pipeline.group is None:
        return no_positions

    def known(topics: Mapping[str, Topic]) -> dict[TopicPart, Position]:
        # Imported here: hardly a group is outside of its logs.
        from headgate.usecases.activity.last_positions import last_positions

        return last_positions(store, pipeline, topics)

    return known


def known_versions(
    store: Store | SqliteReader, inspector: Inspector, scenario: str, pipeline: str
) -> tuple[Version | None, dict[str, Version]]:
    """Return the pipeline's newest version; for Kafka Streams, also the versions of all others.

    A worker observes a checkpoint, which doesn't show the sink; a capture does. For a reset,
    `pipeline` is an application id, which any registered pipeline may have.
    """
    registered = inspector.processes.registered(pipeline)
    if registered is None or registered.engine is not Engine.KAFKA_STREAMS:
        return complete_version(store, pipeline), {}
    streams = [p for p in inspector.processes.pipelines() if p.engine is Engine.KAFKA_STREAMS]
    found = {
        p.name: v for p in inspector.processes.pipelines() if (v := store.versions.running(p.name))
    }
    own = [p.name for p in streams if p.group == registered.group and p.name in found]
    name = pipeline if scenario != RESET else next(iter(own), pipeline)
    return found.get(name), {n: v for n, v in found.items() if n not in own}


def undo_plan(
    store: Store | SqliteReader, inspector: Inspector, run: str, *, but: str | None = None
) -> Plan:
    """Return the plan that rolls a run back; `but` is the run of the undo itself."""
    # Imported here: hardly a plan is an undo.
    from headgate.reprocess.execution.undo import Past, build_undo

    row = store.runs.get(run)
    entries = step_records(store.journal.entries(run))
    past = Past(
        run=run,
        plan=load_plan(row.plan, source=f"run {run}"),
        records={position: record.as_record() for position, record in entries.items()},
        blockers=tuple(_undo_blockers(store, row, but)),
    )
    return build_undo(past, inspector)


def approved_now(
    store: Store | SqliteReader, inspector: Inspector, plan: Plan, *, but: str | None = None
) -> Plan:
    """Return the plan, built from the current state.

    RefusedError if it is blocked, StalePlanError with the differences.
    """
    if plan.scenario == UNDO:
        now = undo_plan(store, inspector, plan.options["run"], but=but)
    else:
        assert plan.pipeline is not None
        given = (plan.scenario, plan.pipeline, plan.options)
        now = fresh_plan(store, inspector, *given, but=but, again=True)
    if not plan.can_apply:
        raise RefusedError(
            f"the plan is blocked: {_sentences(plan.blockers).rstrip('.')}. Correct this, then run "
            "`headgate plan` again"
        )
    if not now.steps:
        # Nothing to compare with: the reason says more than that all preconditions are gone.
        raise RefusedError(_sentences(now.blockers))
    deleted = DeletedRecords()
    if not (differences := drift(plan, now)):
        deleted = deleted_records(plan, now, inspector)
        differences = deleted.differences
    if differences:
        raise StalePlanError("the plan is stale: " + "; ".join(differences))
    if not now.can_apply:
        raise RefusedError(_sentences(now.blockers))
    # What was measured for whoever decided stays with the run, and what they have approved.
    kept = {APPROVED: approved_counts(plan), DELETED: deleted.counts}
    return replace(
        now,
        impact={**measured(plan.impact), **now.impact, **{k: v for k, v in kept.items() if v}},
        risks=(*now.risks, *deleted.risks),
    )


def _sentences(blockers: tuple[str, ...]) -> str:
    return "; ".join(blockers) or "there is nothing to do"


def _undo_blockers(store: Store | SqliteReader, row: RunFacts, but: str | None) -> list[str]:
    if row.undo_of is not None:
        return [f"run {row.id} is an undo, and an undo can't be undone: run `headgate plan` again"]
    if row.state.is_active:
        return [f"run {row.id} is {row.state}{_ways_to_end(store, row)}"]
    cleaned = [entry.at for entry in store.audit.list(row.id) if entry.action == CLEAN]
    if cleaned:
        return [
            (
                f"run {row.id} can't be undone, because its snapshots expired and were removed at "
                f"{short_time(cleaned[-1])} UTC. Plan a scenario instead: `headgate plan --help` "
                "lists them"
            )
        ]
    undone = store.runs.list(RunFilter(undo_of=row.id, states=(RunState.DONE,)))
    if undone and not has_effect(store, row.id):
        return [f"run {row.id} was already undone by run {undone[0].id}"]
    if ended := ended_by(store, row):
        return [
            f"the pause by run {row.id} has ended, because run {ended.id} started {row.pipeline}. "
            f"There is nothing to undo. To pause {row.pipeline} again, run `headgate plan pause "
            f"{row.pipeline}`"
        ]
    return [f"{reason}: undo that run first" for reason in overtaken(store, row, but=but)]


def _ways_to_end(store: Store | SqliteReader, row: RunFacts) -> str:
    """Return how an active run ends: without a worker, waiting doesn't help."""
    if is_served(store.database, row):
        return f": wait until the run ends, or run `headgate cancel {row.id}`"
    return (
        f", but no worker executes the run. To continue the run, run `headgate resume {row.id}`; "
        f"to stop the run, run `headgate cancel --wait {row.id}`"
    )


def overtaken(store: Store | SqliteReader, row: RunFacts, *, but: str | None = None) -> list[str]:
    """Return a sentence for each later run on the same group or checkpoint whose changes remain.

    An undo counts only for another undo of the same run.
    """
    resources = changed(store.runs.resources(row.id))
    others = {r.id: r for name in resources for r in store.runs.touching(name)}
    later = [r for r in others.values() if r.created_at > row.created_at and r.id != but]
    return [
        f"run {r.id} later changed {shared_words(store, resources, r.id)}, and was not undone"
        for r in later
        if r.undo_of in (None, row.undo_of) and has_effect(store, r.id)
    ]


def started_undos(store: Store | SqliteReader, run: str) -> list[str]:
    """Return the undos of the run that have changed something, also those that failed."""
    return [r.id for r in store.runs.list(RunFilter(undo_of=run)) if has_effect(store, r.id)]


def has_effect(store: Store | SqliteReader, run: str) -> bool:
    """Return whether a run has changed something that wasn't undone."""
    records = step_records(store.journal.entries(run)).values()
    return any(r.begun and r.state.may_have_effect for r in records)


def unfinished_runs(store: Store | SqliteReader, resources: Iterable[str]) -> tuple[RunFacts, ...]:
    """Return the runs that stopped halfway on one of the resources, and weren't undone.

    Runs before the newest bounded run don't count, because it continued where they ended.
    """
    found: dict[str, RunFacts] = {}
    for name in changed(resources):
        for row in store.runs.touching(name):
            is_bounded, ended_early = row.scenario == BOUNDED, row.state in _ENDED_EARLY
            if row.undo_of is not None or not (is_bounded or ended_early):
                continue
            if row.state.is_active or not has_effect(store, row.id):
                continue
            if ended_early:
                found[row.id] = row
            if is_bounded:
                break
    return tuple(found.values())


def _unfinished_runs(store: Store | SqliteReader, plan: Plan, row: RunFacts) -> str:
    shared = shared_words(store, changed(plan.resources), row.id)
    return (
        f"run {row.id}{_of_other(row, plan)} on {shared} stopped part-way and was not undone. To "
        f"undo run {row.id}, run `headgate undo {row.id}` before you apply this plan. Later, you "
        "would first have to undo the run of this plan"
    )


def _of_other(row: RunFacts, plan: Plan) -> str:
    """Return whose run it is, if another pipeline shares what this plan changes."""
    is_other = row.pipeline is not None and row.pipeline != plan.pipeline
    return f" of {row.pipeline}" if is_other else ""


def shared_words(store: Store | SqliteReader, resources: Iterable[str], run: str) -> str:
    """Return the resources that a run also uses, as text: `checkpoint /data/c, topic orders`."""
    touched = store.runs.resources(run)
    return name_list(name.replace(":", " ", 1) for name in {*resources} if name in touched)
