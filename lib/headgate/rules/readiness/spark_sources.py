"""What a Spark query reads, and how: what it skips, how much at once, what a replay would find."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Engine, Source
from headgate.rules.core.source_names import family, is_file, loses_data_silently, option
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import Problem, rule
from headgate.rules.readiness.facts.subject import Subject

_KAFKA = "documentation: Structured Streaming and Kafka integration guide"
_FILES = "documentation: Spark Structured Streaming programming guide, Input Sources"
_LIMITS = {
    "kafka": ("maxOffsetsPerTrigger",),
    "file": ("maxFilesPerTrigger", "maxBytesPerTrigger"),
}


@rule("RDY020", f"{_KAFKA}; measured on Spark 4.2.0", Engine.SPARK)
def loses_data(s: Subject) -> Iterator[Problem]:
    """With failOnDataLoss=false, records that Kafka has deleted before they were read, a topic
    that was recreated and a partition that is gone are passed over in silence: what would have
    stopped the query is never noticed. A recreated topic's first records are not read at all.
    """
    for source in s.sources:
        if source.format == "kafka" and loses_data_silently(source):
            yield Problem(
                severity=Severity.HIGH,
                location=source.node,
                what=f"{_reads(source)} is read with failOnDataLoss=false.",
                remedy="Remove the option: it is no part of the checkpoint, the default (true) "
                "counts from the next start. Set it to false for one start alone, when the loss "
                "is known and wanted.",
                keeps_state=True,
            )


@rule("RDY021", _KAFKA, Engine.SPARK)
def begins_at_the_end(s: Subject) -> Iterator[Problem]:
    """Without starting offsets a new checkpoint begins at the end of its topics. When the
    checkpoint is lost, or has to be replaced, everything between the old position and that
    moment is skipped without a word.
    """
    for source in s.sources:
        if source.format == "kafka" and source.options and _starts_at_latest(source):
            yield Problem(
                severity=Severity.MEDIUM,
                location=source.node,
                what=f"{_reads(source)} starts at the latest offsets under a new checkpoint.",
                remedy="Set startingOffsets=earliest, or the offsets or the time to start at. It "
                "has no effect while the checkpoint is there, so it can be set now.",
                keeps_state=True,
            )


def _starts_at_latest(source: Source) -> bool:
    dated = ("startingTimestamp", "startingOffsetsByTimestamp")
    if any(option(source, key) for key in dated):
        return False
    return (option(source, "startingOffsets") or "latest").lower() == "latest"


@rule("RDY022", f"{_KAFKA}; {_FILES}", Engine.SPARK)
def no_limit_per_batch(s: Subject) -> Iterator[Problem]:
    """After a stop, a reset or a replay the first batch takes everything that waits, in one
    piece. It needs memory for all of it, fails as a whole, and begins anew.
    """
    for source in s.sources:
        limits = _LIMITS.get(family(source) or "")
        if limits and source.options and not any(option(source, name) for name in limits):
            yield Problem(
                severity=Severity.MEDIUM if s.stateful else Severity.LOW,
                location=source.node,
                what=f"{_reads(source)} is read without a limit for a batch.",
                remedy=f"Set {limits[0]} to what a batch does in normal times, several times over; "
                "rate limits can be changed at any restart.",
                keeps_state=True,
            )


@rule("RDY023", _KAFKA, Engine.SPARK)
def shared_group(s: Subject) -> Iterator[Problem]:
    """All of a query's consumers join the group that kafka.group.id names. A second query, an
    old version that still runs, or a rehearsal with the same group takes partitions away, and
    each reads only a part.
    """
    for source in s.sources:
        group = option(source, "kafka.group.id")
        if group:
            yield Problem(
                severity=Severity.MEDIUM,
                location=source.node,
                what=f"{_reads(source)} is read with the fixed group id {group}.",
                remedy="Use groupIdPrefix where access rights ask for known names: Spark then "
                "makes a group for each query. Offsets are in the checkpoint and are not touched.",
                keeps_state=True,
            )


@rule("RDY024", _FILES, Engine.SPARK)
def inputs_removed(s: Subject) -> Iterator[Problem]:
    """The query removes or moves its input once it has read it. A replay finds nothing: state
    and output can't be built again from this source.
    """
    for source in s.sources:
        clean = (option(source, "cleanSource") or "off").lower()
        if is_file(source) and clean in ("delete", "archive"):
            moved = f", to {option(source, 'sourceArchiveDir')}" if clean == "archive" else ""
            yield Problem(
                severity=Severity.HIGH if clean == "delete" else Severity.LOW,
                location=source.node,
                what=f"{_reads(source)} is read with cleanSource={clean}{moved}.",
                remedy="Set cleanSource=archive with a sourceArchiveDir, so that a replay can read "
                "from there."
                if clean == "delete"
                else "Let a replay read the archive, too, and "
                "keep the archive for as long as a replay may reach back.",
                keeps_state=True,
            )


@rule("RDY025", "documentation: Spark SQL, JSON and CSV data source options", Engine.SPARK)
def drops_malformed(s: Subject) -> Iterator[Problem]:
    """Rows that can't be parsed are dropped: no count, no log line, no copy. After an upgrade
    of a producer that may be every row.
    """
    for source in s.sources:
        if is_file(source) and (option(source, "mode") or "").upper() == "DROPMALFORMED":
            yield Problem(
                severity=Severity.HIGH,
                location=source.node,
                what=f"{_reads(source)} is parsed with mode=DROPMALFORMED.",
                remedy="Read with mode=PERMISSIVE and a columnNameOfCorruptRecord, and write the "
                "rows in which that column is set to a place of their own. The column is no part "
                "of the state unless an operator uses it.",
                keeps_state=True,
            )


def _reads(source: Source) -> str:
    what = ", ".join(source.topics) or source.pattern or source.path or source.name or "a source"
    return f"{source.format} {what}"
