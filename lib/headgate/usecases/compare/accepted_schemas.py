"""Hold what rules about schemas found against the acceptances of `headgate.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePath

from headgate.model.registered_pipelines import Accept
from headgate.model.topic_schema import Accepted, SchemaFinding, SchemaReport
from headgate.rules.core.acceptances import Ground, Noticed, acceptance_of, unmet
from headgate.usecases.compare.apply_acceptances import known_codes
from headgate.usecases.context import Context


def with_accepted(
    report: SchemaReport, names: Sequence[str], context: Context, today: date | None = None
) -> SchemaReport:
    """Return the report with its accepted findings marked; they don't close the gate.

    `where` of an acceptance is a field's path, or one of `names`: the topic and its subject;
    `pipeline` the one that reads the field. One that has ended becomes a warning.
    """
    accepts = context.registry.accepts
    if not accepts:
        return report
    now = today or date.today()
    findings = tuple(_marked(f, names, accepts, _ground(f, context, now)) for f in report.findings)
    said = [
        w
        for f in report.findings
        for w in unmet([_noticed(f, names)], _of(f, accepts), _ground(f, context, now))
    ]
    warnings = (*report.warnings, *dict.fromkeys(said))
    return replace(report, findings=findings, warnings=warnings)


def _marked(
    finding: SchemaFinding, names: Sequence[str], accepts: Sequence[Accept], ground: Ground
) -> SchemaFinding:
    found = acceptance_of(_noticed(finding, names), accepts, ground)
    return replace(finding, accepted=Accepted(found.reason, found.until)) if found else finding


def _noticed(finding: SchemaFinding, names: Sequence[str]) -> Noticed:
    return Noticed(finding.rule, (finding.path, *names))


def _of(finding: SchemaFinding, accepts: Sequence[Accept]) -> list[Accept]:
    """Return the acceptances of a finding's rule: others say nothing of it."""
    return [a for a in accepts if a.rule == finding.rule]


def _ground(finding: SchemaFinding, context: Context, today: date) -> Ground:
    return Ground(
        today=today,
        pipelines={finding.pipeline} if finding.pipeline else set(),
        nodes={},
        rules=known_codes(),
        file=PurePath(context.registry.path or "headgate.toml").name,
    )
