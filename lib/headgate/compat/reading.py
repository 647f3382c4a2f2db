"""What the readers of the evidence warned of, and what that leaves of a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.compat.other_engines import half_read
from headgate.compat.report import Outcome, Report
from headgate.model.version import Version


def with_readers_warnings(report: Report, before: Version, after: Version) -> Report:
    """Return the report with the readers' warnings, and `unknown` where they leave nothing safe.

    What was read proves a refusal or a wrong result all the same; that nothing is wrong it proves
    only if everything was read.
    """
    said = tuple(dict.fromkeys((*report.warnings, *_said(before, after))))
    told = replace(report, warnings=said)
    if report.outcome > Outcome.NO_EFFECT:
        return told
    return replace(told, findings=(*half_read.run(before, after), *report.findings))


def _said(before: Version, after: Version) -> Iterator[str]:
    both = set(before.warnings) & set(after.warnings)
    for side, version in (("old", before), ("new", after)):
        for warning in version.warnings:
            yield warning if warning in both else f"The {side} version: {warning}"
