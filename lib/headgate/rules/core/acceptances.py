"""Mark the findings that somebody accepted; what no longer holds, or names nothing, is said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

from headgate.model.registered_pipelines import Accept, Acceptance
from headgate.model.topology import Node
from headgate.rules.core.report import Finding
from headgate.text.near_names import near_names

AnyReport = TypeVar("AnyReport")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What acceptances are held against.

    `pipelines` are the names that the compared pipeline goes by, empty where nothing says it;
    `nodes` those of both versions by id; `rules` every code that there is; `file` is how a message
    calls headgate.toml. `unnamed` says what to do if an acceptance has a pipeline, and nothing
    names the one of the finding.
    """

    today: date
    pipelines: Collection[str]
    nodes: Mapping[str, Node]
    rules: Collection[str]
    file: str = "headgate.toml"
    unnamed: str = "With `headgate diff`, name the pipeline with --pipeline."


def _nodes(finding: Finding) -> tuple[str | None, ...]:
    return finding.location.before, finding.location.after


def accept_findings(
    report: AnyReport,
    accepts: Sequence[Accept],
    ground: Ground,
    ids_of: Callable[[Any], tuple[str | None, ...]] = _nodes,
) -> AnyReport:
    """Return a report of any kind with its accepted findings marked.

    They stay listed and count in the outcome, and they don't fail the check. One that has ended,
    one for a pipeline that the evidence does not name, and an unknown code become warnings.
    `ids_of` returns what the location of an acceptance may name, None if there is nothing.
    """
    if not accepts:
        return report
    found: Any = report
    noticed = [
        Noticed(f.rule, tuple(i for i in ids_of(f) if i is not None)) for f in found.findings
    ]
    findings = tuple(
        replace(f, accepted=_acceptance(n, accepts, ground))
        for f, n in zip(found.findings, noticed, strict=True)
    )
    said = dict.fromkeys(_warnings(noticed, accepts, ground))
    return replace(found, findings=findings, warnings=(*found.warnings, *said))  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Noticed:
    """What of a finding an acceptance is held against: its rule, and the ids of its nodes."""

    rule: str
    ids: tuple[str, ...] = ()


def _acceptance(noticed: Noticed, accepts: Sequence[Accept], ground: Ground) -> Acceptance | None:
    """Return the acceptance that lasts longest of those that hold for a finding, or None."""
    holding = [
        a
        for a in accepts
        if _is_of(noticed, a, ground) and _is_here(a, ground) and a.until >= ground.today
    ]
    if not holding:
        return None
    longest = max(holding, key=lambda a: a.until)
    return Acceptance(longest.reason, longest.until.isoformat())


def _is_of(noticed: Noticed, accept: Accept, ground: Ground) -> bool:
    if noticed.rule != accept.rule:
        return False
    if accept.location is None:
        return True
    nodes = [ground.nodes[i] for i in noticed.ids if i in ground.nodes]
    return accept.location in noticed.ids or any(
        accept.location in (n.label, n.operator) for n in nodes
    )


def _is_here(accept: Accept, ground: Ground) -> bool:
    return accept.pipeline is None or accept.pipeline in ground.pipelines


def _warnings(
    noticed: Sequence[Noticed], accepts: Sequence[Accept], ground: Ground
) -> Iterator[str]:
    """Yield a sentence for each acceptance that has ended, or of which it is open if it holds."""
    for accept in accepts:
        label = f"{ground.file}:{accept.line}: the acceptance of {accept.rule}"
        if accept.rule not in ground.rules:
            similar = ", ".join(near_names(accept.rule, ground.rules))
            yield (
                f"{label} names an unknown rule."
                + (f" Similar codes: {similar}." if similar else "")
                + " Use the code of the finding."
            )
        elif not any(_is_of(f, accept, ground) for f in noticed):
            continue
        elif accept.pipeline is not None and not ground.pipelines:
            yield (
                f"{label} is for pipeline {accept.pipeline}, but nothing names the pipeline of the "
                f"finding, so the acceptance doesn't apply. {ground.unnamed}"
            )
        elif _is_here(accept, ground) and accept.until < ground.today:
            yield (
                f"{label} expired on {accept.until.isoformat()}. Set a later `until`, or remove "
                "the acceptance."
            )
