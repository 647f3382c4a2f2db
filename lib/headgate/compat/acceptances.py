"""Mark the findings that somebody accepted; what no longer holds, or names nothing, is said."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from headgate.compat.report import Acceptance, Finding, Report
from headgate.model.registry import Accept
from headgate.model.topology import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What acceptances are held against.

    `pipelines` are the names that the compared pipeline goes by, empty where nothing says it;
    `nodes` those of both versions by id; `rules` every code that there is; `file` is how a message
    calls headgate.toml.
    """

    today: date
    pipelines: Collection[str]
    nodes: Mapping[str, Node]
    rules: Collection[str]
    file: str = "headgate.toml"


def accept_findings(report: Report, accepts: Sequence[Accept], ground: Ground) -> Report:
    """Return the report with its accepted findings marked.

    They stay listed and count in the outcome, and they don't close the gate. One that has ended,
    one for a pipeline that the evidence does not name, and an unknown code become warnings.
    """
    if not accepts:
        return report
    findings = tuple(_marked(f, accepts, ground) for f in report.findings)
    said = dict.fromkeys(_warnings(report, accepts, ground))
    return replace(report, findings=findings, warnings=(*report.warnings, *said))


def _marked(finding: Finding, accepts: Sequence[Accept], ground: Ground) -> Finding:
    """Mark a finding by the acceptance that lasts longest of those that hold."""
    holding = [
        a
        for a in accepts
        if _is_of(finding, a, ground) and _is_here(a, ground) and a.until >= ground.today
    ]
    if not holding:
        return finding
    longest = max(holding, key=lambda a: a.until)
    return replace(finding, accepted=Acceptance(longest.reason, longest.until.isoformat()))


def _is_of(finding: Finding, accept: Accept, ground: Ground) -> bool:
    if finding.rule != accept.rule:
        return False
    if accept.where is None:
        return True
    ids = [i for i in (finding.where.before, finding.where.after) if i is not None]
    nodes = [ground.nodes[i] for i in ids if i in ground.nodes]
    return accept.where in ids or any(accept.where in (n.label, n.operator) for n in nodes)


def _is_here(accept: Accept, ground: Ground) -> bool:
    return accept.pipeline is None or accept.pipeline in ground.pipelines


def _warnings(report: Report, accepts: Sequence[Accept], ground: Ground) -> Iterator[str]:
    for accept in accepts:
        place = f"{ground.file}:{accept.line}: the acceptance of {accept.rule}"
        if accept.rule not in ground.rules:
            yield f"{place} names no rule that there is; docs/rules lists all codes."
        elif not any(_is_of(f, accept, ground) for f in report.findings):
            continue
        elif accept.pipeline is not None and not ground.pipelines:
            yield (
                f"{place} is for pipeline {accept.pipeline}, and nothing says which pipeline "
                "this is; --pipeline does."
            )
        elif _is_here(accept, ground) and accept.until < ground.today:
            yield f"{place} ended on {accept.until.isoformat()}; it accepts nothing any more."
