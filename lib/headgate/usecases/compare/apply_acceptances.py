"""Hold a report against the acceptances of `headgate.toml`."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import PurePath

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
    """Return the report with what `[[accept]]` tables accept marked; others become warnings.

    Which pipeline it is say `pipeline`, else the versions' names and the evidence: a declared
    pipeline's name, entry point, checkpoint or files.
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
    """Return what the registry's acceptances are held against for these versions of a pipeline."""
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
    """Yield the names of versions, and of the registered pipelines that evidence is of."""
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
