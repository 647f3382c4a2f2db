"""Rules about settings that decide what a source's bytes become, or who reads them."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, Verdict, rule
from headgate.rules.spark.facts.pinned_settings import differing

_S = "spark.sql."
# What each asks, where its value changes.
_QUESTIONS = {
    _S + "files.ignoreCorruptFiles": "Are there files that can't be read? With the setting on they "
    "are taken as done, without their rows and without a word.",
    _S + "files.ignoreMissingFiles": "Are files gone that the source has listed? With the setting "
    "on they are taken as done, without a word.",
    _S + "streaming.disabledV2MicroBatchReaders": "Can the other reader of this source go on from "
    "the offsets that the old one has logged?",
    _S + "streaming.disabledV2Writers": "Does the other writer of this sink go on where the old "
    "one ended?",
    _S + "streaming.internal.stateStore.partitions": "Why is it set? Spark sets it itself, from "
    "the offset log.",
}
_REBASE = "Are there dates before 1582 or timestamps before 1900 in the input? They become others."
_ONLY_ON = frozenset({_S + "files.ignoreCorruptFiles", _S + "files.ignoreMissingFiles"})
_REBASED = tuple(
    f"{_S}{k}ModeInRead"
    for k in ("parquet.datetimeRebase", "parquet.int96Rebase", "avro.datetimeRebase")
)


def decides_what_is_read(key: str) -> bool:
    """Say whether a setting decides what comes from a source, or which class reads it."""
    return key in _QUESTIONS or key in _REBASED


@rule("CFG012", "documentation of the settings; not measured")
def what_is_read(c: Comparison) -> Iterator[Verdict]:
    """The setting is not recorded, and no plan shows what it makes of the input.

    What the state holds was read the old way.
    """
    for key, (old, new) in differing(c).items():
        if not decides_what_is_read(key) or (key in _ONLY_ON and (new or "").lower() != "true"):
            continue
        yield Verdict(
            outcome=Outcome.UNKNOWN,
            before=old,
            after=new,
            because=f"{key} changed.",
            question=_QUESTIONS.get(key, _REBASE),
            rollback=Rollback.SAFE,
            remedy="Leave the setting as it was, or rehearse the new version.",
        )
