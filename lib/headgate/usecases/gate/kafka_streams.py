"""Compare the descriptions of an application that the repository has: no jar is started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headgate.errors import EvidenceError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.rules.core.report import Report
from headgate.usecases.compare.compare_versions import read_side, report_on
from headgate.usecases.context import Context
from headgate.usecases.gate.find_changes import Base, FoundChange
from headgate.usecases.gate.old_version import OldVersion


@dataclass(frozen=True, slots=True)
class Described:
    """The report on two descriptions, and the questions that they leave open."""

    report: Report
    open: tuple[str, ...]


def compare_descriptions(
    context: Context, base: Base, found: FoundChange, old: OldVersion, folder: Path
) -> Described:
    """Compare the registered evidence of both versions; `folder` has the base's files.

    EvidenceError says what is missing.
    """
    pipeline = found.pipeline
    paths = _paths(base, pipeline)
    if not paths:
        raise EvidenceError(_nothing(pipeline))
    after = read_side([str(base.repository.root / p) for p in paths], context)
    before = old.version
    if before is None:
        theirs = _paths(base, found.before or pipeline)
        missing = [p for p in theirs if not (folder / p).exists()]
        if missing or not theirs:
            raise EvidenceError(
                f"the base doesn't have {', '.join(missing) or 'a description'}: store the running "
                f"version as {pipeline.name}.headgate.json with `headgate capture`"
            )
        before = read_side([str(folder / p) for p in theirs], context)
    report = report_on(before, after, context=context, evidence=(), pipeline=pipeline.name)
    return Described(report, _open(base, found, paths))


def _paths(base: Base, pipeline: Pipeline) -> list[str]:
    return [p for e in pipeline.evidence if (p := base.path(e))]


def _nothing(pipeline: Pipeline) -> str:
    if pipeline.engine is Engine.SPARK:
        return "headgate.toml has no `entry_point`, so the new version can't be captured: set it"
    if pipeline.engine is Engine.CONSUMER_GROUP:
        return (
            "Headgate has no versions of consumer groups. Check that it can continue at its "
            "committed offsets"
        )
    return (
        "the repository has no description of the topology: write the output of "
        "Topology#describe() to a file, and name the file in `evidence`"
    )


def _open(base: Base, found: FoundChange, paths: list[str]) -> tuple[str, ...]:
    """Ask whether an unchanged description is of the changed application."""
    settings = {f"`{key}` in headgate.toml changed" for key in found.settings}
    code = [reason for reason in found.reasons if reason not in settings]
    if not code or any(base.differs(p) for p in paths):
        return ()
    return (
        f"The application changed ({code[0]}), but its description {', '.join(paths)} didn't. "
        "Is it still the output of Topology#describe()?",
    )
