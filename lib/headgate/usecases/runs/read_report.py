"""Make the report of a run from the data in the store."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.reprocess.run_report import (
    RunReport,
    StepReport,
    counts_of,
    notes_of,
    times_of,
)
from headgate.store.rows import StepDocument
from headgate.text.numbers import moment
from headgate.usecases.context import Context
from headgate.usecases.runs.read_run import RunDetail, StepView, read_run
from headgate.views.words.estimate import truth


def read_report(context: Context, run: str) -> RunReport:
    """Return the report of a run, also of an active one; NotFoundError if there is no such run."""
    return report_of(read_run(context, run))


def report_of(detail: RunDetail) -> RunReport:
    """Return the report of a run that was already read."""
    row = detail.row
    begun, ended = moment(row.started_at), moment(row.ended_at)
    documents: dict[int, dict[str, list[StepDocument]]] = {}
    for one in detail.documents:
        documents.setdefault(one.position, {}).setdefault(one.name, []).append(one)
    return RunReport(
        run=row.id,
        scenario=row.scenario,
        resumes=bool(row.resumes),
        pipeline=row.pipeline,
        state=row.state.value,
        requested_by=row.created_by,
        requested_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        seconds=(ended - begun).total_seconds() if begun and ended else None,
        attempts=row.attempt,
        steps=tuple(
            _step(number, view, documents.get(number - 1, {}))
            for number, view in enumerate(detail.steps, start=1)
        ),
        error=row.error,
        estimate=truth(row, detail.plan.impact, detail.counts, detail.documents),
    )


def _step(number: int, view: StepView, found: Mapping[str, list[StepDocument]]) -> StepReport:
    """Return what the newest attempt of a step reported: it includes what was done before it."""
    jobs, comparisons = found.get("job", []), found.get("comparison", [])
    job = jobs[-1].document if jobs else {}
    facts = job.get("facts", {})
    newest = [documents[-1].attempt for documents in (jobs, comparisons) if documents]
    return StepReport(
        number=number,
        action=view.action,
        describe=view.describe,
        state=view.state,
        attempt=max(newest, default=1),
        counts=counts_of(facts),
        compared=comparisons[-1].document if comparisons else {},
        **times_of(facts),
        error=view.error,
        notes=tuple(notes_of(facts, job.get("outcome", "done"), [one.attempt for one in jobs])),
    )
