"""The report of a run as JSON, as lines of text and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headgate.reprocess.run_report import NUMBERS, RunReport, StepReport
from headgate.text.numbers import duration, exact, short_time
from headgate.text.tables import terminal_safe_json
from headgate.views.words.estimate import truth_words
from headgate.views.words.run_columns import scenario_words

FORMS = {"json": "application/json", "markdown": "text/markdown"}
"""Formats that a page can download, with their media types."""
ENDINGS = {"json": "json", "markdown": "md"}
_COMPARED = {
    "rows_a": "rows in A",
    "rows_b": "rows in B",
    "missing": "missing in B",
    "extra": "extra in B",
    "different": "different",
}


def report_json(report: RunReport) -> dict[str, Any]:
    """Return the fields of `headgate report --format json`; unknown ones are left out."""
    about = {
        "run": report.run,
        "scenario": report.scenario,
        "pipeline": report.pipeline,
        "state": report.state,
        "requested_by": report.requested_by,
        "requested_at": report.requested_at,
        "started_at": report.started_at,
        "ended_at": report.ended_at,
        "attempts": report.attempts,
        "seconds": report.seconds,
        "rate": _rounded(report.rate),
        "error": report.error,
    }
    totals = {**report.totals, "compared": dict(report.compared)}
    return {
        **_known(about),
        "totals": _known(totals),
        "steps": [_step_json(step) for step in report.steps],
        **report.estimate,
    }


def _step_json(step: StepReport) -> dict[str, Any]:
    return _known(
        {
            "step": step.number,
            "action": step.action,
            "describe": step.describe,
            "state": step.state,
            **step.counts,
            "compared": dict(step.compared),
            "seconds": step.seconds,
            "startup_seconds": step.startup_seconds,
            "processing_seconds": step.processing_seconds,
            "rate": _rounded(step.rate),
            "error": step.error,
            "notes": list(step.notes),
        }
    )


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, {}, [])}


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 1)


def headline(report: RunReport) -> str:
    """Return how the run ended, in one sentence."""
    of = f" of {report.pipeline}" if report.pipeline else ""
    return f"Run {report.run} ({scenario_words(report)}{of}): {report.state}."


def facts(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield name and value of what is known of the whole run, its numbers first."""
    yield from _numbers(report.totals)
    if report.compared:
        yield "Compared", compared_words(report.compared)
    yield from _times(report)


def _times(report: RunReport) -> Iterator[tuple[str, str]]:
    if report.seconds is not None:
        yield "Duration", _time(report.seconds)
    if report.rate is not None:
        yield "Rate", rate_words(report.rate)
    if expected := truth_words(dict(report.estimate)):
        yield "Estimate", expected
    if report.started_at:
        yield "Started", f"{short_time(report.started_at)} UTC"
    if report.ended_at:
        yield "Ended", f"{short_time(report.ended_at)} UTC"
    yield "Requester", report.requested_by
    if report.attempts > 1:
        yield "Attempts", str(report.attempts)
    if report.error:
        yield "Error", report.error


def step_facts(step: StepReport) -> Iterator[tuple[str, str]]:
    """Yield name and value of what is known of a step."""
    yield from _numbers(step.counts)
    if step.compared:
        yield "Compared", compared_words(step.compared)
    if step.seconds is not None:
        startup = step.startup_seconds
        of = f", including {_time(startup)} to start Spark" if startup is not None else ""
        yield "Duration", f"{_time(step.seconds)}{of}"
    if step.rate is not None:
        yield "Rate", rate_words(step.rate)
    if step.error:
        yield "Error", step.error
    for note in step.notes:
        yield "Note", note


def _numbers(counts: Any) -> Iterator[tuple[str, str]]:
    yield from ((NUMBERS[name], exact(counts[name])) for name in NUMBERS if name in counts)


def compared_words(compared: Any) -> str:
    """Return the counts of a comparison in one line."""
    said = ", ".join(f"{exact(compared[name])} {word}" for name, word in _COMPARED.items())
    return f"{'equal' if compared['equal'] else 'different'}: {said}"


WITHOUT_STARTUP = ", excluding start-up time"


def rate_words(rate: float) -> str:
    """Return a rate; start-up doesn't count."""
    return f"{exact(round(rate)) if rate >= 1 else f'{rate:.2g}'} records/s{WITHOUT_STARTUP}"


def report_lines(report: RunReport) -> Iterator[str]:
    """Yield what `headgate report` prints."""
    yield headline(report)
    yield from (f"  {name}: {value}" for name, value in facts(report))
    for step in report.steps:
        yield f"\nStep {step.number} ({step.state.replace('_', ' ')}): {step.describe}"
        yield from (f"  {name}: {value}" for name, value in step_facts(step))


def report_markdown(report: RunReport) -> str:
    """Return the report as Markdown, for a ticket or a change record."""
    of = f" of {_plain(report.pipeline)}" if report.pipeline else ""
    lines = [f"## Run {report.run}: {scenario_words(report)}{of}, {report.state}", ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {_plain(value)} |" for name, value in facts(report)]
    for step in report.steps:
        lines += ["", f"**Step {step.number}, {step.state.replace('_', ' ')}**: "
                  f"{_plain(step.describe)}"]  # fmt: skip
        told = [f"- {name}: {_plain(value)}" for name, value in step_facts(step)]
        lines += ["", *told] if told else []
    return "\n".join(lines) + "\n"


def written_report(report: RunReport, form: str) -> str:
    """Return the report as `json`, `markdown` or `text`."""
    if form == "json":
        text = json.dumps({"schema": 1, **report_json(report)}, indent=2, ensure_ascii=False)
        return terminal_safe_json(text) + "\n"
    if form == "markdown":
        return report_markdown(report)
    return "\n".join(report_lines(report)) + "\n"


def _plain(text: str | None) -> str:
    """Keep names from being read as markup: a line stays a line."""
    found = " ".join((text or "").splitlines()).replace("<", "&lt;").replace("|", "\\|")
    return found.replace("*", "\\*").replace("_", "\\_")


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else duration(round(seconds) * 1000)
