"""What a start that Spark refuses leaves in the checkpoint, and how to repair it before a rollback.

A start that fails in the first batch has written `offsets/N`, but not `commits/N`. The old version
takes that entry for its own next batch. This harms nothing if both versions read the same. If the
entry has other topics, paths or sources, the old version can't start either. Deleting the entry
repaired it wherever that was tried (4.2.0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headgate.model.version import Progress, Source
from headgate.rules.core.report import Finding, Outcome, Rollback
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import location

# Refusals of the first batch; all others come before anything is written.
_LATE = (
    "STATE_STORE_",
    "STREAMING_STATEFUL_OPERATOR_",
    "CANNOT_LOAD_STATE_STORE",
    "CANNOT_WRITE_STATE_STORE",
    "KAFKA_DATA_LOSS",
    "StateSchemaNotCompatible",
    "InvalidUnsafeRowException",
)
_OF_CHECKPOINTS = "CKP"
FROM_SCRATCH = "from-scratch"


REPAIR = (
    "If you started the new version, check {what}. If commits/{batch} is missing, delete "
    "offsets/{batch} and offsets/.{batch}.crc before you start the old version."
)
"""Added to the remedy if the failed start also blocks the old version."""


def with_aftermath(found: Sequence[Finding], c: Comparison) -> list[Finding]:
    """Return the findings with the rollback and the scenario that fit this checkpoint.

    A new checkpoint avoids whatever is wrong with an old one, so it is the scenario if a rule names
    no nearer one.
    """
    # Where something refuses before the first batch, nothing is written.
    is_written = not any(f.outcome is Outcome.REFUSES and not _is_late(f) for f in found)
    is_harmful = is_written and _reads_otherwise(c)
    return [_with_rollback(f, c, is_harmful) for f in found]


def _with_rollback(finding: Finding, c: Comparison, is_harmful: bool) -> Finding:
    """`is_harmful` says that the old version could not read what the attempt wrote."""
    if finding.outcome not in (Outcome.REFUSES, Outcome.SILENTLY_WRONG):
        return finding
    found = replace(finding, scenario=finding.scenario or FROM_SCRATCH)
    if found.outcome is not Outcome.REFUSES:
        return found
    if found.rollback is Rollback.SAFE and _is_late(found) and is_harmful:
        found = replace(found, rollback=Rollback.REPAIRABLE)
    if found.rollback is Rollback.REPAIRABLE and _leaves_an_entry(found):
        found = replace(found, remedy=f"{found.remedy} {repair(c.before.progress)}".strip())
    return found


def repair(progress: Progress | None) -> str:
    """Return how the trace of a refused attempt is taken out of the checkpoint."""
    # An attempt begins the batch after the last committed one.
    if progress is None or progress.last_commit_batch is None:
        return REPAIR.format(what="the newest batch N in `offsets`", batch="N")
    return REPAIR.format(what="the checkpoint", batch=progress.last_commit_batch + 1)


def _leaves_an_entry(finding: Finding) -> bool:
    """Say whether the remedy must say how the failed start's entry is removed.

    A damaged checkpoint has a remedy of its own, which makes it whole for both versions.
    """
    return not finding.rule.startswith(_OF_CHECKPOINTS) and "offsets/" not in finding.remedy


def _is_late(finding: Finding) -> bool:
    return (finding.error_class or "").startswith(_LATE)


def _reads_otherwise(c: Comparison) -> bool:
    """Say whether a source reads other topics or paths than the old one at its position."""
    locations = [(_location(p.before), _location(p.after)) for p in c.sources]
    return any(None not in pair and pair[0] != pair[1] for pair in locations)


def _location(source: Source | None) -> tuple[str, ...] | str | None:
    """Return what a source reads, None where that is not known."""
    if source is None:
        return None
    return source.topics or source.pattern or location(source)
