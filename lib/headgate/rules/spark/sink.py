"""Rules about the sink: what downstream consumers find after the switch."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.sinks import may_be_same_output, normal_path
from headgate.model.version import Sink
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.spark.facts.event_time import output_mode

_USE_A_NEW_CHECKPOINT = "Use a new checkpoint with the new directory."
_USE_A_NEW = (
    "Use a new checkpoint with the new directory, or copy the old `_spark_metadata` into the new "
    "directory."
)


@rule("SNK001", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_USE_A_NEW_CHECKPOINT, _USE_A_NEW))
def file_sink_log(c: Comparison) -> Iterator[RuleResult]:
    """A file sink logs its batches in `_spark_metadata`, and Spark reads that log from batch 0.

    In a new directory, the log starts with the number of the next batch. Consumers of the directory
    fail with `_spark_metadata/0 doesn't exist`.
    """
    both = _both(c)
    if both is None or not _is_file(both[1]):
        return
    old, new = both
    if _is_file(old) and _may_be_one(old, new):
        return
    if not _is_file(old) or _path(old) != _path(new):
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.NONE,
            location=c.sink_location,
            before=_describe(old),
            after=_describe(new),
            because="The query has never written to the new directory with this checkpoint.",
            remedy=_USE_A_NEW if _is_file(old) else _USE_A_NEW_CHECKPOINT,
            scenario="from-point",
        )


_REWRITE_THE_OLD = (
    "Rewrite the old files with the new partition columns, or write to a new directory with a new "
    "checkpoint."
)


@rule("SNK002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_REWRITE_THE_OLD,))
def file_sink_partitions(c: Comparison) -> Iterator[RuleResult]:
    """Spark infers partition columns from the paths of the files.

    If old and new files are at different directory depths, consumers don't see the old files.
    """
    both = _both(c)
    if both is None or not (_is_file(both[0]) and _is_file(both[1])):
        return
    old, new = (s.partition_by for s in both)
    # A plan does not show them: what neither the session nor the sink's log told is not judged.
    if old is None or new is None:
        return
    if old != new and _path(both[0]) == _path(both[1]):
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.NONE,
            location=c.sink_location,
            before=list(old),
            after=list(new),
            because="The partition columns of the sink changed.",
            remedy=_REWRITE_THE_OLD,
        )


_USE_COMPLETE_MODE = "Use complete mode or another sink, or start the query without a checkpoint."


@rule("SNK003", outcomes=(Outcome.REFUSES,), remedies=(_USE_COMPLETE_MODE,))
def memory_sink(c: Comparison) -> Iterator[RuleResult]:
    """A memory sink loses its rows at a restart, so only complete mode can recover from a
    checkpoint.

    The rows of the sink are only in the driver's memory. In complete mode, the next batch writes
    the whole result again. In other modes, the rows from before the restart would be missing, so
    Spark fails to start the query.
    """
    sink, mode = c.after.sink, output_mode(c.after)
    if sink is None or sink.format != "memory" or mode in (None, "complete"):
        return
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=c.sink_location,
        before=_describe(c.before.sink) if c.before.sink else None,
        after=_describe(sink),
        because=f"The sink is memory, and the output mode is {mode}.",
        error_class="_LEGACY_ERROR_TEMP_1299",
        remedy=_USE_COMPLETE_MODE,
        scenario="offline-upgrade",
    )


_IF_THE_NEW = "If the new sink needs earlier results, reprocess the input."


@rule("SNK004", outcomes=(Outcome.RESUMES,), remedies=(_IF_THE_NEW,))
def sink_changed(c: Comparison) -> Iterator[RuleResult]:
    """The checkpoint doesn't record the sink, so Spark writes only new rows to the new sink.

    Keys without new rows never reach the new sink.
    """
    both = _both(c)
    if both is None or _is_file(both[1]) or both[1].format == "memory":
        return
    old, new = both
    if _differ(old, new):
        yield RuleResult(
            outcome=Outcome.RESUMES,
            state_effect=StateEffect.EXACT if c.is_stateful else StateEffect.NONE,
            location=c.sink_location,
            before=_describe(old),
            after=_describe(new),
            remedy=_IF_THE_NEW,
        )


_ADD_A_PLAN = "Add a query plan or a progress report of the old version to the evidence."
_CHECK_THE_DIRECTORY = (
    "Check whether both versions write to the same directory. If not, use a new checkpoint with "
    "the new directory."
)
_DID_THE_OLD = "Did the old version write to the same directory?"


@rule(
    "SNK006",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_ADD_A_PLAN, _CHECK_THE_DIRECTORY),
    questions=(_DID_THE_OLD,),
)
def file_sink_not_known(c: Comparison) -> Iterator[RuleResult]:
    """A file sink must continue in the directory with the `_spark_metadata` of this checkpoint.

    In a new directory, `_spark_metadata` starts with a later batch, and Spark can't read the
    directory. In the directory of another checkpoint, Spark drops the results of all batch numbers
    that its `_spark_metadata` already has.
    """
    old, new = c.before.sink, c.after.sink
    if new is None or not _is_file(new):
        return
    if old is not None and old.format and not (_is_file(old) and _may_be_one(old, new)):
        return
    is_shown = old is not None and bool(old.format)
    yield RuleResult(
        outcome=Outcome.UNKNOWN,
        location=c.sink_location,
        before=_describe(old) if old and is_shown else None,
        after=_describe(new),
        because="The evidence of the old version doesn't show its sink."
        if not is_shown
        else (
            "For one version, the evidence shows the sink as a table or relative path. For the "
            "other version, it shows a directory."
        ),
        question=_DID_THE_OLD,
        remedy=_CHECK_THE_DIRECTORY if is_shown else _ADD_A_PLAN,
    )


_WRITE_TO_A_NEW = "Write to a new directory with a new checkpoint."
_WHICH_FORMAT = "Which file format does the {side} version write to this directory?"


@rule(
    "SNK005",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN),
    remedies=(_WRITE_TO_A_NEW,),
    questions=(_WHICH_FORMAT,),
)
def file_format(c: Comparison) -> Iterator[RuleResult]:
    """If a directory has files of two formats, consumers can't read it in either format.

    Spark adds the new files next to the old files and reports no error. Code that reads one format
    fails on files of the other format, or gets rows of null.
    """
    both = _both(c)
    if both is None or not (_is_file(both[0]) and _is_file(both[1])):
        return
    old, new = both
    formats = {old.format, new.format}
    if len(formats) > 1 and _path(old) == _path(new):
        # A plan says `file` of every format.
        known, side = "file" not in formats, "old" if old.format == "file" else "new"
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG if known else Outcome.UNKNOWN,
            state_effect=StateEffect.NONE if known else None,
            location=c.sink_location,
            before=_describe(old),
            after=_describe(new),
            because="The file format in the same directory changed."
            if known
            else f"The evidence of the {side} version doesn't show the file format.",
            question=None if known else _WHICH_FORMAT.format(side=side),
            rollback=Rollback.SAFE,
            remedy=_WRITE_TO_A_NEW,
        )


_SET_BACK = (
    "Remove asyncProgressTrackingEnabled. The option works only for a stateless query with a Kafka "
    "sink and a processing-time trigger."
)
_ASYNC = "asyncprogresstrackingenabled"


@rule("SNK007", outcomes=(Outcome.REFUSES,), remedies=(_SET_BACK,))
def async_progress(c: Comparison) -> Iterator[RuleResult]:
    """With asynchronous progress tracking, Spark writes offsets and commits in the background.

    Spark starts such a query only if it is stateless, its sink is Kafka, and its trigger isn't
    `once` or `availableNow`.
    """
    sink = c.after.sink
    if sink is None or not _is_async(sink):
        return
    triggers = sorted((c.after.trigger or {}).keys() & {"once", "availableNow"})
    if c.after.stateful:
        because = "The query has state."
    elif sink.format and sink.format not in ("kafka", "noop"):
        because = f"The sink is {sink.format}, not Kafka."
    elif triggers:
        because = f"The trigger is {triggers[0]}."
    else:
        return
    yield RuleResult(
        outcome=Outcome.REFUSES,
        location=c.sink_location,
        before=c.before.sink.options.get(_ASYNC) if c.before.sink else None,
        after=sink.options[_ASYNC],
        because=because,
        error_class="IllegalArgumentException",
        remedy=_SET_BACK,
        scenario="offline-upgrade",
    )


def _is_async(sink: Sink) -> bool:
    return sink.options.get(_ASYNC, "").lower() == "true"


def _both(c: Comparison) -> tuple[Sink, Sink] | None:
    """Return both sinks where both formats are known."""
    old, new = c.before.sink, c.after.sink
    if old is None or new is None or not old.format or not new.format:
        return None
    return old, new


def _is_file(sink: Sink) -> bool:
    return sink.is_files


def _path(sink: Sink) -> str | None:
    return normal_path(sink.place) if sink.place else None


def _may_be_one(old: Sink, new: Sink) -> bool:
    """Say whether one side has a table's name, or a relative path, and the other its directory."""
    return bool(old.place and new.place and may_be_same_output(old.place, new.place))


def _differ(old: Sink, new: Sink) -> bool:
    if old.format != new.format:
        return True
    if not (old.target and new.target) or old.target == new.target:
        return False
    return old.format == "kafka" or not (_may_be_one(old, new) or _table(old) == _table(new))


def _table(sink: Sink) -> str:
    """Return a table's own name, whose catalog may be untold; a path stays whole."""
    target = sink.target or ""
    return target if "/" in target else target.replace("`", "").rpartition(".")[2].lower()


def _describe(sink: Sink) -> str:
    return " ".join(str(p) for p in (sink.format, sink.target) if p)
