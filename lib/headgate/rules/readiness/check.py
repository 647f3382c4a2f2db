"""Look at one version: what will make its next upgrade, reset or fail-over hurt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from headgate.model.activity import Activity
from headgate.model.cluster import Cluster
from headgate.model.progress import BatchProgress
from headgate.model.version import Version
from headgate.rules.readiness.codes import RULES
from headgate.rules.readiness.facts.report import ReadinessFinding, ReadinessReport
from headgate.rules.readiness.facts.rule import ReadinessRule
from headgate.rules.readiness.facts.subject import Subject
from headgate.rules.readiness.not_seen import not_seen


def check(
    version: Version,
    *,
    cluster: Cluster | None = None,
    activity: Activity | None = None,
    checkpoint: str | None = None,
    group: str | None = None,
    newest: BatchProgress | None = None,
    now: datetime | None = None,
    rules: Sequence[ReadinessRule] = RULES,
) -> ReadinessReport:
    """Return the findings, worst first; pure, so a page may call it any time.

    `checkpoint` and `group` are the registry's, `newest` the newest batch that was reported.
    What is None was not looked at: then the rules that need it stay silent, and a warning says so.
    """
    subject = Subject(
        version=version,
        cluster=cluster,
        activity=activity,
        checkpoint=checkpoint,
        group_id=group,
        newest=newest,
        now=now or datetime.now(UTC),
    )
    found = [f for rule in rules for f in rule.run(subject)]
    return ReadinessReport(
        name=version.name or group or subject.app.application_id,
        engine=version.engine.value,
        findings=_worst_first(found),
        warnings=not_seen(subject),
    )


def _worst_first(found: Sequence[ReadinessFinding]) -> tuple[ReadinessFinding, ...]:
    """Sort by severity; findings of one severity keep the rules' order."""
    return tuple(sorted(found, key=lambda f: -f.severity))
