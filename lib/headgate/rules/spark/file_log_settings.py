"""Rules about the settings of the logs that file sources and file sinks keep."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.sinks import known_sink
from headgate.model.version import Version
from headgate.rules.core.report import Outcome, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import is_file
from headgate.rules.spark.facts.pinned_settings import (
    DEFAULTS,
    LOG_INTERVAL,
    SINK_LOG_INTERVAL,
    differing,
    effective,
)
from headgate.text.numbers import plural

_KEEP_THE_INTERVAL = (
    "Keep the old value of {key} until `sources` or `_spark_metadata` has a file that ends in "
    "`.compact`."
)
# What Spark says where a file of its log is no `.compact` yet.
_LOGS = {LOG_INTERVAL: "FileNotFoundException", SINK_LOG_INTERVAL: "BATCH_METADATA_NOT_FOUND"}


@rule(
    "CFG013",
    outcomes=(Outcome.REFUSES, Outcome.NO_EFFECT, Outcome.RESUMES),
    remedies=(_KEEP_THE_INTERVAL,),
)
def file_log_interval(c: Comparison) -> Iterator[RuleResult]:
    """File sources and file sinks keep a log of their files, with an entry for each batch.

    The setting decides after how many batches Spark writes all previous entries into a file that
    ends in `.compact`. Spark takes the interval of an existing log from these files. If there are
    none, Spark uses the new value. If the log already has that many entries, Spark expects a
    `.compact` file: a source fails on the restart, a sink at its next `.compact` file.
    """
    for key, error in _LOGS.items():
        old, new = (_interval(version, key) for version in (c.before, c.after))
        if key not in differing(c) or old is None or new is None:
            continue
        entries = list(_entries(c.before, key))
        failing = [n for n in entries if n is not None and new <= n < old]
        kept = bool(entries) and all(n is not None and n >= old for n in entries)
        outcome = Outcome.NO_EFFECT if kept else Outcome.RESUMES
        effect = StateEffect.EXACT if c.is_stateful else StateEffect.NONE
        yield RuleResult(
            outcome=Outcome.REFUSES if failing else outcome,
            state_effect=None if failing else effect,
            before=str(old),
            after=str(new),
            because=f"{key} changed."
            + (f" The log has entries for {plural(failing[0], 'batch')}." if failing else ""),
            error_class=error if failing else None,
            remedy=_KEEP_THE_INTERVAL.format(key=key) if failing else "",
        )


def _interval(version: Version, key: str) -> int | None:
    value = effective(version, key) or DEFAULTS[key]
    return int(value) if value.isascii() and value.isdecimal() and int(value) else None


def _entries(version: Version, key: str) -> Iterator[int | None]:
    """Yield how many entries each log has, by the newest committed offset or batch."""
    if key == SINK_LOG_INTERVAL:
        last = version.progress.last_commit_batch if version.progress else None
        known = known_sink(version.sink.format) if version.sink else None
        if known is not None and known.is_files:
            yield None if last is None else last + 1
        return
    for source in filter(is_file, version.sources or ()):
        newest = source.offsets.get("logOffset") if isinstance(source.offsets, dict) else None
        yield newest + 1 if isinstance(newest, int) else None
