"""Rules about checkpoints that somebody changed: what Spark does where a file is missing."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.sinks import normal_path
from headgate.model.version import CheckpointDamage, CheckpointDamageKind, Sink
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import is_file, loses_data_silently
from headgate.rules.spark.facts.source_pairs import had_data

_EMPTY = (
    "Restore the offset log from a copy. If there is no copy, set startingOffsets=earliest for "
    "Kafka sources, and move `offsets`, `commits`, `state` and `sources` to a backup. Spark then "
    "reprocesses all input, and outputs may get duplicates."
)

_RESTORE = "Restore the checkpoint from a copy, or start with a new checkpoint."
_VERIFY_METADATA = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled"
_VERIFY_EMPTY = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart"
_MISSING = "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"


_REPAIR = "Or, if the pipeline is registered, run `headgate plan repair`."
_RESTORE_THE_OLD = (
    'Restore the file `metadata`: write {"id":"..."} with the query id from a progress report or '
    "log. If the pipeline is registered, `headgate plan repair --query-id ID` does this."
)


@rule("CKP001", outcomes=(Outcome.REFUSES, Outcome.RESUMES), remedies=(_RESTORE_THE_OLD,))
def metadata_missing(c: Comparison) -> Iterator[RuleResult]:
    """The file `metadata` in the checkpoint contains the query's id.

    If batches exist but this file is missing, Spark 4.2 fails to start. Older versions write a new
    file, and the query gets another id.
    """
    for fault in _of(c, CheckpointDamageKind.NO_METADATA):
        refused = c.spark.at_least(4, 2) and not _is_off(c, _VERIFY_METADATA)
        yield RuleResult(
            outcome=Outcome.REFUSES if refused else Outcome.RESUMES,
            state_effect=None if refused else StateEffect.EXACT,
            because=fault.what,
            error_class="STREAMING_CHECKPOINT_MISSING_METADATA_FILE" if refused else None,
            rollback=Rollback.REPAIRABLE if refused else Rollback.SAFE,
            remedy=_RESTORE_THE_OLD,
            scenario="repair" if refused else None,
        )


_RESTORE_THE_MISSING = (
    "Restore the missing file or the whole checkpoint from a copy, or start with a new checkpoint. "
    f"{_REPAIR}"
)


@rule("CKP002", outcomes=(Outcome.REFUSES,), remedies=(_RESTORE_THE_MISSING,))
def previous_offsets_missing(c: Comparison) -> Iterator[RuleResult]:
    """On a restart Spark reads the newest file in `offsets` and the previous file.

    If one of these files is missing, Spark fails. So you can't rewind to the oldest batch in
    `offsets`.
    """
    for fault in _of(c, CheckpointDamageKind.NO_PREDECESSOR):
        yield _refused(fault, "IllegalStateException", _RESTORE_THE_MISSING, "repair")


_RESTORE_THE_MISSING_OFFSETS = (
    "Restore the missing files in `offsets` from a copy. If there is no copy, stop the query. "
    "Then delete the files in `commits` for the newest batch in `offsets` and for all later "
    "batches. Spark reprocesses the newest batch in `offsets`. If the pipeline is registered, "
    "`headgate plan repair` does this."
)


@rule("CKP003", outcomes=(Outcome.REFUSES,), remedies=(_RESTORE_THE_MISSING_OFFSETS,))
def commit_without_offsets(c: Comparison) -> Iterator[RuleResult]:
    """`commits` has batches after the newest batch in `offsets`.

    Spark reprocesses the newest batch in `offsets` and finds its commit. Spark then assumes that a
    second query uses the checkpoint, and fails.
    """
    for fault in _of(c, CheckpointDamageKind.COMMIT_WITHOUT_OFFSETS):
        yield _refused(
            fault,
            "CONCURRENT_STREAM_LOG_UPDATE",
            _RESTORE_THE_MISSING_OFFSETS,
            "repair",
        )


@rule("CKP004", outcomes=(Outcome.REFUSES, Outcome.RESUMES), remedies=(_EMPTY,))
def offsets_missing(c: Comparison) -> Iterator[RuleResult]:
    """If `offsets` is empty, the query starts at batch 0 and conflicts with files of later batches.

    If `commits` has files, Spark fails with an AssertionError. If only state exists, Spark 4.1 and
    later fail. Earlier versions overwrite the state.
    """
    committed = c.before.progress is not None and c.before.progress.last_commit_batch is not None
    for fault in _of(c, CheckpointDamageKind.NO_OFFSETS):
        if committed:
            yield _refused(fault, "AssertionError", _EMPTY)
        elif c.before.stateful and c.spark.at_least(4, 1) and not _is_off(c, _VERIFY_EMPTY):
            yield _refused(fault, "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY", _EMPTY)
        else:
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.LOST,
                because=f"{fault.what} The query starts from batch 0"
                + (" with empty state." if c.before.stateful else "."),
            )


_DID_THE_LAST = (
    "Did the last batch read files from the source? If so, Spark fails. If not, Spark reprocesses "
    "the files that are still in the source's folder."
)
_ARE_FILES_THAT_WERE = (
    "Are files that were already processed still in the source's folder? If so, Spark "
    "reprocesses them."
)


@rule(
    "CKP005",
    outcomes=(Outcome.REFUSES, Outcome.UNKNOWN),
    remedies=(_RESTORE,),
    questions=(_ARE_FILES_THAT_WERE, _DID_THE_LAST),
)
def source_log_missing(c: Comparison) -> Iterator[RuleResult]:
    """On a restart Spark gets the files of a file source's last batch from the source's log.

    If that batch had files and the log is missing, Spark fails.
    """
    sources = [s for s in c.before.sources or () if is_file(s)]
    for fault in _of(c, CheckpointDamageKind.NO_SOURCE_LOG):
        had = [had_data(c.before, s) for s in sources]
        if any(had):
            yield _refused(fault, "IllegalStateException", _RESTORE)
        else:
            is_known = bool(had) and None not in had
            why = (
                "The last batch had no files, so a restart doesn't need the source's log."
                if is_known
                else "The evidence doesn't show whether the last batch had files."
            )
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                because=f"{fault.what} {why}",
                question=_ARE_FILES_THAT_WERE if is_known else _DID_THE_LAST,
                rollback=Rollback.UNKNOWN,
                remedy=_RESTORE,
            )


@rule("CKP006", outcomes=(Outcome.REFUSES,), remedies=(_RESTORE,))
def state_missing(c: Comparison) -> Iterator[RuleResult]:
    """A batch loads the state that the previous batch wrote.

    If files of that state are missing, the batch fails.
    """
    for fault in _of(c, CheckpointDamageKind.NO_STATE):
        if c.after.stateful:
            yield _refused(fault, c.spark.condition(_MISSING), _RESTORE)
    for fault in _of(c, CheckpointDamageKind.STATE_VERSION_GONE)[:1]:
        yield _refused(fault, c.spark.condition("CANNOT_LOAD_STATE_STORE"), _RESTORE)


_SET_IT_TO_AGAIN = (
    "Set spark.sql.shuffle.partitions to {stored} in the two newest files of `offsets`."
)


@rule("CKP007", outcomes=(Outcome.REFUSES, Outcome.SILENTLY_WRONG), remedies=(_SET_IT_TO_AGAIN,))
def partitions_edited(c: Comparison) -> Iterator[RuleResult]:
    """Spark takes the number of state partitions from the offset log.

    If that number is too high, Spark fails on the missing partitions. If that number is too low,
    Spark ignores the remaining partitions and loses their keys.
    """
    for fault in _of(c, CheckpointDamageKind.STATE_PARTITIONS)[:1]:
        pinned = int(c.before.pinned.get("spark.sql.shuffle.partitions", "0"))
        stored = max(s.partitions or 0 for o in c.before.stateful or () for s in o.stores)
        remedy = _SET_IT_TO_AGAIN.format(stored=stored)
        if pinned > stored:
            yield _refused(fault, c.spark.condition("CANNOT_LOAD_STATE_STORE"), remedy)
        else:
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                before=stored,
                after=pinned,
                because=fault.what,
                rollback=Rollback.LOST,
                remedy=remedy,
            )


_TO_REWIND_REWIND = (
    "Stop the query, and restore the edited file in `offsets` from a copy. If the edit was meant "
    "to rewind the query, delete all later batches from both `offsets` and `commits` instead: "
    "Spark then loads the matching state."
)
_RESTORE_THE_CHECKPOINT = "Restore the checkpoint from a copy."
_DID_SOMEBODY_SET = (
    "Did somebody lower an offset in the checkpoint, or was the topic recreated while "
    "failOnDataLoss was false?"
)


@rule(
    "CKP008",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_TO_REWIND_REWIND, _RESTORE_THE_CHECKPOINT),
    questions=(_DID_SOMEBODY_SET,),
)
def offsets_edited(c: Comparison) -> Iterator[RuleResult]:
    """Spark doesn't check the offsets in the checkpoint, and edited offsets don't change the state.

    If an offset was lowered, Spark counts records twice. If an offset was raised, Spark never reads
    the skipped records.
    """
    faults = [
        *_of(c, CheckpointDamageKind.UNLIKE_PROGRESS),
        *_of(c, CheckpointDamageKind.OFFSETS_WENT_BACK),
    ]
    if not faults:
        return
    lossy = any(loses_data_silently(s) for s in c.before.sources or ())
    if lossy and faults[0].kind is CheckpointDamageKind.OFFSETS_WENT_BACK:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            because=faults[0].what,
            question=_DID_SOMEBODY_SET,
            rollback=Rollback.UNKNOWN,
            remedy=_RESTORE_THE_CHECKPOINT,
        )
        return
    yield RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
        because=faults[0].what,
        remedy=_TO_REWIND_REWIND,
        scenario="rewind",
    )


_IF_THERE_IS_NO = (
    f"{_RESTORE} If there is no copy and no later batch has completed, move the unreadable "
    f"file to a backup. {_REPAIR}"
)


@rule("CKP009", outcomes=(Outcome.REFUSES,), remedies=(_IF_THERE_IS_NO,))
def log_unreadable(c: Comparison) -> Iterator[RuleResult]:
    """On a restart Spark reads the newest files in `offsets` and `commits`, and fails if one of
    these files isn't valid.

    If a file ends in the middle of its JSON, the error comes from the JSON parser.
    """
    for fault in _of(c, CheckpointDamageKind.UNREADABLE)[:1]:
        yield _refused(fault, "IllegalStateException", _IF_THERE_IS_NO, "repair")


_WRITE_TO_A_NEW = (
    "Write to a new directory with a new checkpoint. Or remove the repeated batches from "
    "`_spark_metadata` and delete their files."
)


@rule("CKP010", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_WRITE_TO_A_NEW,))
def file_sink_ahead_of_checkpoint(c: Comparison) -> Iterator[RuleResult]:
    """A file sink silently skips a batch if its `_spark_metadata` already has the batch's number.

    After a rewind, or with a new checkpoint and the old output directory, batch numbers repeat. The
    output of the repeated batches is lost.
    """
    for fault in _of(c, CheckpointDamageKind.SINK_AHEAD):
        if _same_directory(c.before.sink, c.after.sink):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                because=fault.what,
                remedy=_WRITE_TO_A_NEW,
            )


def _of(c: Comparison, kind: CheckpointDamageKind) -> list[CheckpointDamage]:
    return [f for f in c.before.faults if f.kind is kind]


def _is_off(c: Comparison, key: str) -> bool:
    return (c.after.settings.get(key) or "true").lower() == "false"


def _refused(
    fault: CheckpointDamage, error_class: str, remedy: str, scenario: str | None = None
) -> RuleResult:
    """A checkpoint that refuses the new version refuses the old one, too."""
    return RuleResult(
        outcome=Outcome.REFUSES,
        because=fault.what,
        error_class=error_class,
        rollback=Rollback.REPAIRABLE,
        remedy=remedy,
        scenario=scenario,
    )


def _same_directory(old: Sink | None, new: Sink | None) -> bool:
    """Say whether both write to one directory, as far as the evidence shows."""
    paths = [s.target or s.options.get("path") for s in (old, new) if s is not None]
    known = {normal_path(p) for p in paths if p}
    return len(known) == 1
