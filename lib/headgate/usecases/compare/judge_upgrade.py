"""Compare a new version of a registered pipeline with the running version and its current state."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from headgate.errors import EvidenceError, RefusedError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.kafka_streams.from_cluster import with_application_id
from headgate.reprocess.ports.evidence import Judged, UpgradeVerdict
from headgate.rules.compare.rollback import expected_rollback
from headgate.rules.core.report import Finding, Outcome, Report
from headgate.store import open_store
from headgate.store.rows import Origin
from headgate.text.numbers import plural
from headgate.usecases.compare.compare_versions import read_side, report_on
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_cluster_for_version import with_progress_of


def judge_upgrade(
    context: Context, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
) -> UpgradeVerdict:
    """Compare the running version with `after`, as `headgate diff` does.

    The running version is `before`, else the version that was observed last, always together with
    the current checkpoint. A configured Kafka cluster is checked, too. Raises the errors of
    `compare_versions`.
    """
    registered = context.registered(pipeline)
    evidence = _lasting(context, after)
    new = _identified(read_side((evidence,), context), registered)
    now = _checkpoint_now(context, registered)
    known, named = _known(context, registered, before, now)
    known = known and _identified(known, registered)
    old = now if known is None else known if now is None else _with_offsets(known, now, named[0])
    assert old is not None
    report = _report(context, old, new, (*named, evidence), pipeline)
    if now is not None and old is not now:
        # Whatever is said to have run: the state that it left is what the new version meets.
        report = _with_what_state_says(report, _report(context, now, new, (*named,), pipeline))
    return UpgradeVerdict(
        outcome=report.outcome.word,
        # What the checkpoint tells of itself moves with each batch; its query's id is its identity.
        before=fingerprint(known) if known is not None else "",
        after=fingerprint(new),
        evidence=evidence,
        compared=named[0] if known and len(named) == 1 else registered.checkpoint or "",
        findings=tuple(_judged(f, fail_on) for f in report.findings),
        rollback=expected_rollback(report).value,
        warnings=report.warnings,
        sink=new.sink,
    )


def _identified(version: Version, pipeline: Pipeline) -> Version:
    """Fill in the application id that the registry knows, and a plain description does not."""
    if pipeline.engine is not Engine.KAFKA_STREAMS or pipeline.group is None:
        return version
    return with_application_id(version, pipeline.group)


def _lasting(context: Context, after: str) -> str:
    """Return the evidence so that it means the same from another folder, and tomorrow."""
    if os.path.exists(after):  # noqa: PTH110
        return str(Path(after).absolute())
    if context.registry.pipeline(after) is None:
        return after
    with closing(open_store(context.store_url)) as store:
        rows = store.versions.list(after)
    if not rows:
        raise EvidenceError(
            f"no version of {after} is stored yet. Store a version with `headgate capture EVIDENCE "
            f"--pipeline {after}`"
        )
    return f"{after}@{rows[-1].number}"


def _checkpoint_now(context: Context, pipeline: Pipeline) -> Version | None:
    if pipeline.engine is not Engine.SPARK or not pipeline.checkpoint:
        return None
    return read_side((pipeline.checkpoint, *pipeline.evidence), context)


def _known(
    context: Context, pipeline: Pipeline, before: str | None, now: Version | None
) -> tuple[Version | None, tuple[str, ...]]:
    """Return the version that ran last as it is named or stored, and its evidence.

    None where its checkpoint, read `now`, is all that is known of it.
    """
    if before is not None and before == pipeline.checkpoint:
        return None, (pipeline.name,)
    named = _lasting(context, before) if before is not None else _running(context, pipeline.name)
    if named is not None:
        _check_still_runs(context, pipeline.name, named)
        return read_side((named,), context), (named,)
    if now is not None:
        return None, (pipeline.name,)
    if not pipeline.evidence:
        raise EvidenceError(
            f"the running version of {pipeline.name} is unknown: pass the evidence of that "
            "version with --before"
        )
    return read_side(pipeline.evidence, context), pipeline.evidence


def _check_still_runs(context: Context, name: str, evidence: str) -> None:
    """Refuse where a version that was observed is not the one that was observed last."""
    if not evidence.startswith(f"{name}@"):
        return
    with closing(open_store(context.store_url)) as store:
        rows = [r for r in store.versions.list(name) if r.origin is Origin.OBSERVED]
    mine = next((r for r in rows if evidence == f"{name}@{r.number}"), None)
    if mine is not None and rows[-1].fingerprint != mine.fingerprint:
        raise RefusedError(
            f"{evidence} isn't the running version: {name}@{rows[-1].number} was observed later. "
            f"Pass {name}@{rows[-1].number} with --before"
        )


def _with_offsets(known: Version, now: Version, named: str) -> Version:
    if len(known.sources or ()) != len(now.sources or ()):
        raise EvidenceError(
            f"{named} has {plural(len(known.sources or ()), 'source')}, but the checkpoint has "
            f"{len(now.sources or ())}: {named} isn't the version that ran last. Pass the version "
            "that ran last with --before"
        )
    there = with_progress_of(known, now)
    return there if there.pinned else replace(there, pinned=now.pinned)


def _with_what_state_says(report: Report, other: Report) -> Report:
    """Add what only the state says against the new version, if nothing said so yet."""
    known = {f.rule for f in report.findings}
    bad = (Outcome.REFUSES, Outcome.SILENTLY_WRONG)
    more = [f for f in other.findings if f.outcome in bad and f.rule not in known]
    found = sorted((*report.findings, *more), key=lambda f: -f.outcome)
    return replace(report, findings=tuple(found))


def _report(
    context: Context, old: Version, new: Version, evidence: tuple[str, ...], pipeline: str
) -> Report:
    ask_kafka = bool(context.registry.bootstrap_servers)
    return report_on(
        old, new, context=context, evidence=evidence, pipeline=pipeline, ask_kafka=ask_kafka
    )


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
