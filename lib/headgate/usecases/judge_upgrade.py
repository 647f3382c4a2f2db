"""Judge a new version of a registered pipeline on top of what the old one has left by now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from headgate.compat.report import Finding, Report
from headgate.compat.way_back import expected_rollback
from headgate.errors import EvidenceError, NotFoundError
from headgate.gateway.world_verdicts import VerdictWorld
from headgate.model.registry import Pipeline
from headgate.model.version import Engine
from headgate.parse.version_file import fingerprint
from headgate.plan.verdict import Judged, Verdict
from headgate.store import open_store
from headgate.store.versions import Origin
from headgate.usecases.compare_versions import read_side, report_on
from headgate.usecases.context import Context

AnyWorld = TypeVar("AnyWorld", bound=VerdictWorld)


def with_judge(world: AnyWorld, context: Context) -> AnyWorld:
    """Return the world, which can ask for verdicts from now on."""
    world.judge = partial(judge_upgrade, context)
    return world


def judge_upgrade(
    context: Context, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
) -> Verdict:
    """Compare the version that runs with `after`, as `headgate diff` does.

    What runs is `before`, else the version that was seen last, always together with the checkpoint
    as it is now. A configured Kafka is looked at, too. Raises what `compare_versions` raises.
    """
    registered = context.registry.pipeline(pipeline)
    if registered is None:
        raise NotFoundError(f"no pipeline {pipeline} is registered in headgate.toml")
    evidence = _settled(context, after)
    old_evidence = _old(context, registered, before)
    old, new = read_side(old_evidence, context), read_side((evidence,), context)
    report = report_on(
        old,
        new,
        context=context,
        evidence=(*old_evidence, evidence),
        pipeline=pipeline,
        ask_kafka=bool(context.registry.bootstrap_servers),
    )
    return Verdict(
        outcome=report.outcome.word,
        before=fingerprint(old),
        after=fingerprint(new),
        evidence=evidence,
        findings=tuple(_judged(f, fail_on) for f in report.findings),
        rollback=expected_rollback(report).value,
        warnings=report.warnings,
    )


def _settled(context: Context, after: str) -> str:
    """Return the evidence so that it means the same from another folder, and tomorrow."""
    if os.path.exists(after):  # noqa: PTH110
        return str(Path(after).absolute())
    if context.registry.pipeline(after) is None:
        return after
    with closing(open_store(context.store_url)) as store:
        rows = store.versions.list(after)
    if not rows:
        raise EvidenceError(f"no version of {after} is stored yet; `headgate capture` stores one")
    return f"{after}@{rows[-1].number}"


def _old(context: Context, pipeline: Pipeline, before: str | None) -> tuple[str, ...]:
    """Return the evidence of what runs: its checkpoint as it is now, and what else is known."""
    now: list[str] = []
    if pipeline.engine is Engine.SPARK and pipeline.checkpoint:
        now.append(pipeline.checkpoint)
    if before is not None:
        return (*now, _settled(context, before))
    if (seen := _running(context, pipeline.name)) is not None:
        return (*now, seen)
    evidence = (*now, *pipeline.evidence)
    if not evidence:
        raise EvidenceError(
            f"nothing is known of the version of {pipeline.name} that runs: name it with --before"
        )
    return evidence


def _running(context: Context, name: str) -> str | None:
    with closing(open_store(context.store_url)) as store:
        rows = store.versions.list(name)
    seen = [r for r in rows if r.origin is Origin.OBSERVED] or rows
    return f"{name}@{seen[-1].number}" if seen else None


def _judged(finding: Finding, fail_on: Sequence[str]) -> Judged:
    return Judged(
        rule=finding.rule,
        outcome=finding.outcome.word,
        why=finding.why,
        closes=Report(findings=(finding,)).closes(fail_on),
        rollback=finding.rollback.value,
        error_class=finding.error_class,
        question=finding.question,
        scenario=finding.scenario,
        accepted=finding.accepted.reason if finding.accepted else None,
    )
