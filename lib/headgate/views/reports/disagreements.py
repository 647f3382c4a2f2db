"""A file about rules and engine that disagree, to attach to a bug report."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from headgate.rules.compare.gated import GateReport
from headgate.text.secrets import mask_json
from headgate.views.reports.twin import twin_json


def disagreements_of(report: GateReport) -> dict[str, Any]:
    """Return what reproduces the twin runs of a check that contradict the rules, by pipeline."""
    found = {
        one.pipeline: disagreement_file(
            twin_json(one.report, one.twin, one.disagreements, one.versions, one.lowered),
            one.plans,
            one.hints,
        )
        for one in report.pipelines
        if one.disagreements and one.report and one.twin and one.versions
    }
    return {"schema": 1, "headgate": version("headgate"), "pipelines": found}


def disagreement_file(
    twin: Mapping[str, Any], plans: tuple[str, str], hints: Any
) -> dict[str, Any]:
    """Return what reproduces a twin run: plans, hints, seed, findings and both outcomes.

    `twin` is the object that a twin run prints. Rows and values are left out: they can come from a
    sample, and the seed generates the others again.
    """
    kept = ("outcome", "findings", "engine", "coverage", "equivalence", "disagreements", "lowered")
    found = {name: twin[name] for name in kept}
    found["findings"] = [
        {k: v for k, v in f.items() if k not in ("before", "after", "why") or not _has_values(f)}
        for f in twin["findings"]
    ]
    return {
        "schema": 1,
        "headgate": version("headgate"),
        **found,
        "hints": mask_json(dict(hints)),
        "plans": {"before": plans[0], "after": plans[1]},
    }


def _has_values(finding: Mapping[str, Any]) -> bool:
    """Whether a finding shows a row's values: only a twin run's own do."""
    return str(finding["rule"]).startswith("TWN")
