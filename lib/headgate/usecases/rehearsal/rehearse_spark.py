"""Rehearse a restart: start the new version on a copy of the checkpoint, and report the outcome."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from headgate.errors import CaptureError, EvidenceError, RunCancelledError
from headgate.gateway.checkpoint.copy import (
    check_disk_space,
    compare_with_prints,
    copy_checkpoint,
    size_of,
)
from headgate.gateway.files.evidence_files import FileLocation, find
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.spark.capture import is_entry_point
from headgate.gateway.spark.rehearsal import (
    Given,
    RehearsalRequest,
    Rehearsed,
    evidence,
    rehearse_query,
)
from headgate.model.rehearsal import (
    BatchKind,
    EngineOutcome,
    EngineVerdict,
    OutputDifference,
    RollbackTrial,
)
from headgate.rules.compare.engine_agreement import Judged, compare_rows, judge
from headgate.rules.core.report import Report
from headgate.text import numbers as words
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.context import Context, importable_from
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.rehearsal.outcome import NOT_COMPARED

PREFIX = "headgate-rehearsal-"
Say = Callable[[str], None]
Cancelled = Callable[[], bool]
# How many files are copied before the number is told again.
_FILES = 200


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The outcome by the rules, what Spark did, and whether both agree."""

    report: Report
    engine: EngineVerdict
    judged: Judged


@dataclass(frozen=True, slots=True)
class Touched:
    """A copy that the new version has changed, and the last committed batch before that."""

    copy: Path
    last_commit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a rehearsal: see `docs/rehearsal.md`. `seconds` limits each version."""

    batch: str = "real"
    batches: int = 1
    max_records: int = 1000
    seconds: float = 300.0
    query: str | None = None
    conf: Mapping[str, str] | None = None
    allow_sources: Sequence[str] = ()
    with_credentials: bool = False
    scratch: Path | None = None

    def wish(self, given: Given | None = None, touched: Touched | None = None) -> RehearsalRequest:
        """Return the request for one start, and for a later start on the `touched` copy."""
        return RehearsalRequest(
            batch="given" if given else self.batch,
            given=given,
            touched=str(touched.copy) if touched else None,
            last_commit=touched.last_commit if touched else None,
            batches=self.batches,
            max_records=self.max_records,
            seconds=self.seconds,
            query=self.query,
            conf=dict(self.conf or {}),
            allow_sources=tuple(self.allow_sources),
            with_credentials=self.with_credentials,
        )


def rehearse(
    checkpoint: str,
    after: str,
    *,
    before: str | None = None,
    context: Context | None = None,
    options: Options | None = None,
    say: Say = lambda _: None,
    cancelled: Cancelled = lambda: False,
) -> Rehearsal:
    """Start `after` on a copy of the checkpoint, for one batch without writing to the real sink.

    `after` and `before` are `module:function`. With `before`, both versions run on the same input,
    and their outputs are compared. Then the old version also starts on the copy that the new
    version has changed, to test a rollback. The original is only read, and hashed before and after.
    Raises EvidenceError if there is no checkpoint, CaptureError if a function fails, RefusedError
    if there is not enough disk space, UnreachableError if Spark doesn't respond, RunCancelledError
    soon after `cancelled` returns True.
    """
    options = options or Options()
    for function in filter(None, (after, before)):
        _check(function)
    place = _checkpoint_folder(checkpoint, context)
    start = partial(
        rehearse_query,
        importable=importable_from(context),
        cancelled=cancelled,
        if_slow="or raise --timeout",
    )
    with scratch_folder(PREFIX, options.scratch) as folder:
        if (size := size_of(place)) is not None:
            check_disk_space(size * (3 if before else 1), folder)
        say(f"copying {checkpoint}")
        prints = copy_checkpoint(place, folder / "after", partial(_copied, say, cancelled))
        if before:
            shutil.copytree(folder / "after", folder / "before")
        say(f"starting {after} on the copy")
        new = start(after, folder / "after", folder / "new", options.wish())
        engine, pieces = new.engine, [checkpoint]
        if before:
            say(
                f"starting {before} on the same input, then on the copy that the new version "
                "changed"
            )
            old = _old(start, before, folder, new, options)
            engine = replace(engine, output=_compared(old, new, folder), rollback=_back(old, new))
            pieces += evidence(old.pieces) if isinstance(old, Rehearsed) else ()
        say("verifying that the original is unchanged")
        engine = replace(engine, checkpoint=compare_with_prints(place, prints))
        report = _report(pieces, new, context)
    return Rehearsal(report, engine, judge(report, engine))


def _copied(say: Say, cancelled: Cancelled, files: int, size: int) -> None:
    if cancelled():
        raise RunCancelledError(
            "the rehearsal was cancelled during the copy. Start the rehearsal again to get a result"
        )
    if files % _FILES == 0:
        say(f"copied {files:,} files, {words.size(size)}")


def _checkpoint_folder(checkpoint: str, context: Context | None) -> FileLocation:
    place = find(checkpoint, context.registry.file_systems if context else {})
    if place is None:
        raise EvidenceError(f"checkpoint {checkpoint} not found")
    if not place.is_folder:
        raise EvidenceError(f"{checkpoint} isn't a Spark checkpoint: it is a file, not a folder")
    if not _is_checkpoint(place):
        raise EvidenceError(
            f"{checkpoint} isn't a Spark checkpoint: the folder has no offset log and no commit log"
        )
    return place


def _check(function: str) -> None:
    if not is_entry_point(function, Path.cwd()):
        raise CaptureError(
            f"{function} isn't a module:function: pass the function that builds the query"
        )


def _is_checkpoint(place: FileLocation) -> bool:
    from headgate.gateway.files.evidence_files import entries

    names = {e.name for e in entries(place)}
    return bool(names & {"offsets", "commits"})


def _old(
    start: Callable[..., Rehearsed], before: str, folder: Path, new: Rehearsed, options: Options
) -> Rehearsed | str:
    """Run the old version on what the new one was given, then on the copy that it has touched.

    A sentence where there is no function of that name, or it did something wrong.
    """
    from headgate.spark_jobs.batch_log import batches

    given = None
    if options.batch != "none" and new.engine.stage is None and new.engine.batches:
        given = Given(str(folder / "after"), str(new.pieces))
    last = max(batches(folder / "before", "commits"), default=None)
    wish = options.wish(given, Touched(folder / "after", last))
    try:
        return start(before, folder / "before", folder / "old", wish)
    except CaptureError as error:
        return str(error)


def _back(old: Rehearsed | str, new: Rehearsed) -> RollbackTrial:
    """Return what the old version did on the touched copy, with what that does not verify."""
    if isinstance(old, str):
        return RollbackTrial(outcome=EngineOutcome.UNKNOWN, note=old)
    assert old.engine.rollback is not None
    if old.engine.outcome is EngineOutcome.REFUSES:
        note = "the old version also fails on an unchanged copy, so the new version isn't the cause"
        return RollbackTrial(outcome=EngineOutcome.UNKNOWN, note=note)
    kinds = {b.kind for b in new.engine.batches}
    is_own = new.engine.stage is None and kinds <= {BatchKind.EMPTY}
    return replace(old.engine.rollback, is_own_entry=is_own)


def _compared(old: Rehearsed | str, new: Rehearsed, folder: Path) -> OutputDifference:
    if isinstance(old, str):
        return OutputDifference(old=EngineOutcome.UNKNOWN, note=old)
    done = (EngineOutcome.RESUMES,) * 2
    told = OutputDifference(old=old.engine.outcome, old_error_class=old.engine.error_class)
    if (old.engine.outcome, new.engine.outcome) != done:
        return replace(told, note=NOT_COMPARED)
    if None in (old.engine.rows_out, new.engine.rows_out):
        note = "the outputs can't be compared: Headgate can't assign this sink's rows to batches"
        return replace(told, note=note)
    if not _same_input(folder, old, new):
        return replace(
            told, note="the outputs can't be compared: the versions read different input"
        )
    return compare_rows(old.rows, new.rows, (old.columns, new.columns), old=old.engine)


def _same_input(folder: Path, old: Rehearsed, new: Rehearsed) -> bool:
    """Whether both read the same sources, and their logs hold the same positions of each batch."""
    from headgate.spark_jobs.batch_log import positions, same_sources

    if not same_sources(old.pieces, new.pieces):
        return False
    numbers = {b.number for b in (*old.engine.batches, *new.engine.batches)}
    return all(positions(folder / "before", n) == positions(folder / "after", n) for n in numbers)


def _report(pieces: Sequence[str], new: Rehearsed, context: Context | None) -> Report:
    old = read_version(list(pieces), context=context)
    now = read_version(list(evidence(new.pieces)), context=context)
    return compare_read(old, now)
