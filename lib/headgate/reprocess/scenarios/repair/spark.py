"""Repair of a Spark query: a repaired copy replaces the broken checkpoint."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import asdict, replace

from headgate.errors import EvidenceError, HeadgateError, ScenarioError
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Version
from headgate.reprocess.checkpoint import log_issues
from headgate.reprocess.checkpoint.files import CheckpointFiles, Edit
from headgate.reprocess.checkpoint.find_issues import CheckpointCheck, check_checkpoint, known_of
from headgate.reprocess.checkpoint.issue import CheckpointIssue
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.checkpoint.repair import (
    RepairCopy,
    SwapRepairedCheckpoint,
    VerifyRepair,
)
from headgate.reprocess.steps.process.stop_start import start_or_ask
from headgate.text.risk import Risk

_REWIND, _SCRATCH = "rewind", "from-scratch"
# The kind of evidence that can't tell whether the folder `state` is lost or never was.
_CHECKPOINT = "checkpoint"
# How many batches are looked at for one that can be gone back to, the newest first.
_LOOKED = 10
_LOGS = ("offsets", "commits")
# Spark parses the id of a query with `UUID.fromString`.
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def build(request: PlanRequest) -> Plan:
    """Return the plan: repair a copy, rehearse on it, put it in place; or why there is none."""
    pipeline, inspector = request.pipeline, request.inspector
    _check_id(request.options.get("query-id"))
    if not pipeline.checkpoint:
        return request.block(common.no_checkpoint(pipeline))
    if inspector.processes.status(pipeline.name) is Status.RUNS:
        return request.block(
            f"{pipeline.name} runs, so Headgate can't distinguish its current batch from a "
            "broken batch. If the query fails repeatedly, stop it first"
        )
    found = inspector.checkpoints.files(pipeline.checkpoint, _sink(request.version))
    if found is None:
        return request.block(common.no_checkpoint(pipeline))
    looked = check_checkpoint(found, known_of(request.version, dict(request.options)))
    looked, unseen = _with_state(request, found, looked)
    if looked.left or not looked.edits:
        return request.block(*_reasons(request, found, looked))
    return Plan(
        scenario=request.scenario,
        pipeline=pipeline.name,
        steps=_steps(pipeline, inspector, found, looked),
        preconditions={
            "checkpoint": {"location": found.location, "logs": found.digest},
            "issues": [f"{issue.code}: {issue.what}" for issue in looked.issues],
            "commands": common.command_facts(pipeline),
        },
        impact={
            "records": {},
            "total": 0,
            "uncounted": _removed_batches(looked.edits),
            "issues": [issue.what for issue in looked.issues],
            "snapshot": asdict(inspector.checkpoints.snapshot_size(found.location)),
        },
        risks=(*_risks(pipeline, looked), *unseen),
        blockers=tuple(_blockers(pipeline, inspector, found)),
        resources=(f"checkpoint:{found.location}",),
    )


def _check_id(given: str | None) -> None:
    """Raise ScenarioError for an id that Spark can't read: a query doesn't start with it."""
    if given is not None and not _ID.fullmatch(given):
        raise ScenarioError(
            f"--query-id: expected a UUID, such as 0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10, found "
            f"{given!r}. Copy `id` from the query's progress or logs"
        )


def _steps(
    pipeline: Pipeline, inspector: Inspector, found: CheckpointFiles, looked: CheckpointCheck
) -> tuple[Step, ...]:
    watched = found.location if _readable(inspector, found.location) else None
    stop = common.stop_step(pipeline, checkpoint=watched)
    copy = RepairCopy(
        pipeline=pipeline.name,
        checkpoint=found.location,
        edits=looked.edits,
        logs=found.digest,
    )
    proof: tuple[Step, ...] = ()
    if pipeline.entry_point:
        entry = pipeline.entry_point
        proof = (
            VerifyRepair(pipeline=pipeline.name, checkpoint=found.location, entry_point=entry),
        )
    place = SwapRepairedCheckpoint(pipeline=pipeline.name, checkpoint=found.location)
    return (stop, copy, *proof, place, start_or_ask(stop))


def _removed_batches(edits: Iterable[Edit]) -> list[str]:
    """Return the batches that the repair removes from a log: the next ones read their input."""
    numbers = {
        int(number)
        for edit in edits
        for log, _, number in (edit.path.partition("/"),)
        if edit.text is None and log in _LOGS and number.isdecimal()
    }
    if not numbers:
        return []
    first, last = min(numbers), max(numbers)
    return [f"batch {first}" if first == last else f"batches {first} to {last}"]


def _readable(inspector: Inspector, location: str) -> Checkpoint | None:
    """Return the checkpoint; None without a `metadata`: then its logs can't be watched."""
    try:
        return inspector.checkpoints.read(location)
    except EvidenceError:
        return None


STATE_UNCHECKED = Risk("Headgate could not check whether all state files exist: {error}")


def _with_state(
    request: PlanRequest, found: CheckpointFiles, looked: CheckpointCheck
) -> tuple[CheckpointCheck, tuple[str, ...]]:
    """Add what the next start needs of every partition's state and is missing.

    The second are risks: what could not be checked isn't called sound.
    """
    last = looked.after.last_commit
    if last is None or looked.left:
        return looked, ()
    if not any(name.startswith("state/") for name in found.names):
        return _without_state(request, looked), ()
    try:
        missing = request.inspector.checkpoints.rewind(found.location, last).missing
    except EvidenceError as error:
        return looked, (STATE_UNCHECKED(error=error),)
    # What the logs lack is for the checkup to find, and to repair.
    lost = [
        CheckpointIssue(code="state", what=m, scenario=_REWIND)
        for m in missing
        if not m.startswith("offsets/")
    ]
    return replace(looked, left=tuple(lost), notes=() if lost else looked.notes), ()


def _without_state(request: PlanRequest, looked: CheckpointCheck) -> CheckpointCheck:
    """Check a checkpoint without `state`: broken, whole, or unknown without a source."""
    version = request.version
    if version is not None and version.stateful:
        count = len(version.stateful)
        what = (
            "folder `state` is missing, but the stored version has state (stateful operators: "
            f"{count})"
        )
        return replace(looked, left=(CheckpointIssue(code="state", what=what, scenario=_SCRATCH),))
    if version is not None and any(e.kind != _CHECKPOINT for e in version.evidence):
        return looked
    note = (
        "the checkpoint has no folder `state`, and no other evidence shows whether the query keeps "
        "state. If the query keeps state, all of its state is lost: rebuild it with from-scratch"
    )
    return replace(looked, notes=(*looked.notes, note))


def _reasons(request: PlanRequest, found: CheckpointFiles, looked: CheckpointCheck) -> list[str]:
    """Say what can't be repaired and what gets over it, or that nothing is broken."""
    if looked.is_sound:
        reason = f"nothing to repair: no fault found in the checkpoint of {request.pipeline.name}"
        return ["; ".join((reason, *looked.notes))]
    repairable = [
        f"Headgate can repair this fault once the other faults are fixed: {issue.what}"
        for issue in looked.issues
    ]
    return [*(_beyond(request, found, issue) for issue in looked.left), *repairable]


def _beyond(request: PlanRequest, found: CheckpointFiles, issue: CheckpointIssue) -> str:
    way = _way(request, found, issue)
    parts = [f"Headgate can't repair this fault: {issue.what.rstrip('.')}"]
    if issue.instead is not None:
        parts.append(issue.instead)
    if way is not None:
        use = "If the id is lost, use" if issue.instead is not None else "Use"
        parts.append(f"{use} `headgate plan {way}`")
    return ". ".join(parts)


def _way(request: PlanRequest, found: CheckpointFiles, issue: CheckpointIssue) -> str | None:
    """Return what gets over a flaw; a scenario that can't read what is left is none."""
    if issue.scenario is None:
        return None
    name = shlex.quote(request.pipeline.name)
    if issue.scenario == _REWIND:
        batch = _whole_batch(request.inspector, found)
        if batch is not None:
            return f"{_REWIND} {name} --batch {batch}"
    elif _has_steps(request, issue.scenario):
        return f"{issue.scenario} {name}"
    return f"{_SCRATCH} {name}" if _has_steps(request, _SCRATCH) else None


def _whole_batch(inspector: Inspector, found: CheckpointFiles) -> int | None:
    """Return the newest batch before the last one whose state is all there."""
    try:
        older = [
            b.number
            for b in inspector.checkpoints.batches(found.location)
            if b.number < found.logged[-1]
        ]
        for batch in reversed(older[-_LOOKED:]):
            if not inspector.checkpoints.rewind(found.location, batch).missing:
                return batch
    except EvidenceError:
        pass
    return None


def _has_steps(request: PlanRequest, scenario: str) -> bool:
    # Imported here: a plan is built by what imports this.
    from headgate.reprocess.scenarios.build import build_plan

    try:
        plan = build_plan(
            scenario, request.pipeline.name, request.inspector, version=request.version
        )
    except HeadgateError:
        return False
    return bool(plan.steps)


def _blockers(pipeline: Pipeline, inspector: Inspector, found: CheckpointFiles) -> list[str]:
    blockers = common.must_be_stopped(pipeline, inspector)
    readable = _readable(inspector, found.location)
    if readable is None and pipeline.commands.status is None:
        blockers.append(
            f"Headgate can't verify that {pipeline.name} is stopped: it has no status command, "
            "and its checkpoint has no `metadata`. Register a status command"
        )
    if readable is not None and readable.fixed:
        blockers.append(f"Headgate can't replace checkpoint {found.location}: {readable.fixed}")
    return blockers


NOT_STARTED_ON_COPY = Risk(
    "headgate.toml sets no `entry_point` for {pipeline}, so the run doesn't start the query "
    "on the repaired copy before the swap. To verify the copy first, add `entry_point`"
)
BROKEN_AFTER_UNDO = Risk("an undo restores the broken checkpoint: the query may fail again")


def _risks(pipeline: Pipeline, looked: CheckpointCheck) -> list[str]:
    risks = [issue.risk for issue in looked.issues if issue.risk]
    if not pipeline.entry_point:
        risks.append(NOT_STARTED_ON_COPY(pipeline=pipeline.name))
    risks.append(BROKEN_AFTER_UNDO())
    return risks


def _sink(version: Version | None) -> str | None:
    sink = version.sink if version else None
    return sink.target if sink is not None and sink.is_files else None


RISKS = (
    *log_issues.RISKS,
    STATE_UNCHECKED,
    NOT_STARTED_ON_COPY,
    BROKEN_AFTER_UNDO,
)
