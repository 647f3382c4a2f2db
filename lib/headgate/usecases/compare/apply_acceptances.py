"""Apply the acceptances of `headgate.toml` to a report."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePath

from headgate.model.topic_schema import SchemaFinding, SchemaReport
from headgate.model.version import Version
from headgate.rules.core.acceptances import Ground, accept_findings
from headgate.rules.core.report import Report
from headgate.usecases.context import Context


def with_acceptances(
    report: Report,
    before: Version,
    after: Version,
    *,
    context: Context | None,
    evidence: Sequence[str] = (),
    pipeline: str | None = None,
    today: date | None = None,
) -> Report:
    """Return the report with accepted findings marked.

    Warnings name acceptances that have expired, have an unknown rule, or are for a pipeline that
    the evidence doesn't name. `pipeline` names the pipeline. Without it, the names of the versions
    count, and the registered pipelines whose name, entry point, checkpoint or files are in
    `evidence`.
    """
    if context is None or not context.registry.accepts:
        return report
    ground = ground_of(context, (before, after), evidence, pipeline, today)
    return accept_findings(report, context.registry.accepts, ground)


def ground_of(
    context: Context,
    versions: Sequence[Version],
    evidence: Sequence[str] = (),
    pipeline: str | None = None,
    today: date | None = None,
) -> Ground:
    """Return what acceptances are compared with, for these versions of a pipeline."""
    names = {pipeline} if pipeline else set(pipelines_of(context, evidence, versions))
    return Ground(
        today=today or date.today(),
        pipelines=names,
        nodes={n.id: n for v in versions for n in v.topology.nodes},
        rules=known_codes(),
        file=PurePath(context.registry.path or "headgate.toml").name,
    )


def pipelines_of(
    context: Context, evidence: Sequence[str], versions: Sequence[Version] = ()
) -> Iterator[str]:
    """Yield the names of the versions, and of registered pipelines that the evidence is of."""
    yield from (v.name for v in versions if v.name)
    places = {_absolute(e) for e in evidence}
    for declared in context.registry.pipelines:
        own = {declared.name, declared.entry_point, *map(_absolute, declared.evidence)}
        if declared.checkpoint:
            own.add(_absolute(declared.checkpoint))
        if own & {*places, *evidence, *(e.rpartition("@")[0] for e in evidence)}:
            yield declared.name


def _absolute(place: str) -> str:
    # Unlike Path.resolve, this follows no link: a name is compared, not a file.
    return place if ":" in place else os.path.abspath(place)  # noqa: PTH100


def known_codes() -> frozenset[str]:
    """Return the codes of all rules that a finding can have."""
    # Rules of every kind are imported only where an acceptance is there to be checked.
    from headgate.rules.catalogue import all_rules

    return frozenset(r.code for r in all_rules())


_OF_A_SCHEMA = (
    "A finding about the schema itself has no pipeline. Replace `pipeline` of the acceptance with "
    "`where`, the field or the topic."
)


def with_accepted(
    report: SchemaReport, names: Sequence[str], context: Context, today: date | None = None
) -> SchemaReport:
    """Return the report with accepted findings marked; these don't fail the check.

    The `location` of an acceptance is a field's path, or one of `names`: the topic and its subject.
    Its `pipeline` is the pipeline that reads the field. An expired acceptance becomes a warning.
    """
    accepts = context.registry.accepts

    def marked(finding: SchemaFinding) -> SchemaReport:
        # Acceptances of other rules say nothing of it.
        own = [a for a in accepts if a.rule == finding.rule]
        ground = ground_of(context, (), pipeline=finding.pipeline, today=today)
        ground = replace(ground, unnamed=_OF_A_SCHEMA)
        alone = replace(report, findings=(finding,), warnings=())
        return accept_findings(alone, own, ground, lambda f: (f.path, *names))

    if not accepts:
        return report
    each = [marked(f) for f in report.findings]
    findings = tuple(f for one in each for f in one.findings)
    said = dict.fromkeys(w for one in each for w in one.warnings)
    return replace(report, findings=findings, warnings=(*report.warnings, *said))
