"""What a Spark query reads, and how: what it skips, how much at once, what a replay would find."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.version import Engine, Source
from headgate.rules.core.source_names import family, is_file, loses_data_silently, option
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
from headgate.rules.readiness.facts.subject import Subject

_KAFKA = "Spark documentation: Structured Streaming and Kafka integration guide"
_FILES = "Spark documentation: Structured Streaming programming guide, Input Sources"
_LIMITS = {
    "kafka": ("maxOffsetsPerTrigger",),
    "file": ("maxFilesPerTrigger", "maxBytesPerTrigger"),
}


_REMOVE_THE_OPTION = (
    "Remove failOnDataLoss=false. The checkpoint doesn't record the option, so the default "
    "(true) applies from the next start. To accept a known loss, set the option to false for only "
    "one start."
)


@rule(
    "RDY020",
    f"{_KAFKA}; measured on Spark 4.2.0",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_REMOVE_THE_OPTION,),
)
def data_loss_ignored(s: Subject) -> Iterator[Problem]:
    """With failOnDataLoss=false, Spark doesn't fail if Kafka deleted unread records, a topic was
    recreated or a partition is missing.

    Spark silently skips the missing records, and nobody notices the loss. Spark doesn't read the
    first records of a recreated topic at all.
    """
    for source in s.sources:
        if source.format == "kafka" and loses_data_silently(source):
            yield Problem(
                severity=Severity.HIGH,
                location=source.node,
                what=f"{_reads(source)} is read with failOnDataLoss=false.",
                remedy=_REMOVE_THE_OPTION,
                keeps_state=True,
            )


_SET_STARTINGOFFSETS_EARLIEST = (
    "Set startingOffsets=earliest, or specific offsets or a timestamp. The option has no effect "
    "while the checkpoint exists, so you can set it now."
)


@rule(
    "RDY021",
    _KAFKA,
    Engine.SPARK,
    severities=(Severity.MEDIUM,),
    remedies=(_SET_STARTINGOFFSETS_EARLIEST,),
)
def starts_at_latest_offset(s: Subject) -> Iterator[Problem]:
    """Without startingOffsets, or with startingOffsets=latest, a query with a new checkpoint starts
    at the latest offsets.

    If the checkpoint is lost or replaced, the query silently skips all records between its old
    offsets and the latest ones.
    """
    for source in s.sources:
        if source.format == "kafka" and source.options and _starts_at_latest(source):
            yield Problem(
                severity=Severity.MEDIUM,
                location=source.node,
                what=f"{_reads(source)} starts at the latest offsets if the checkpoint is new.",
                remedy=_SET_STARTINGOFFSETS_EARLIEST,
                keeps_state=True,
            )


def _starts_at_latest(source: Source) -> bool:
    dated = ("startingTimestamp", "startingOffsetsByTimestamp")
    if any(option(source, key) for key in dated):
        return False
    return (option(source, "startingOffsets") or "latest").lower() == "latest"


_SET_TO_SEVERAL = (
    "Set {limits} to several times the size of a normal batch. You can change rate limits at "
    "any restart."
)


@rule(
    "RDY022",
    f"{_KAFKA}; {_FILES}",
    Engine.SPARK,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_SET_TO_SEVERAL,),
)
def no_rate_limit(s: Subject) -> Iterator[Problem]:
    """The source has no limit per batch. After a stop, a reset or a replay, the first batch
    processes all waiting records at once.

    This batch needs memory for all records. If the batch fails, Spark repeats the whole batch.
    """
    for source in s.sources:
        limits = _LIMITS.get(family(source) or "")
        if limits and source.options and not any(option(source, name) for name in limits):
            yield Problem(
                severity=Severity.MEDIUM if s.stateful else Severity.LOW,
                location=source.node,
                what=f"{_reads(source)} is read without a limit per batch.",
                remedy=_SET_TO_SEVERAL.format(limits=limits[0]),
                keeps_state=True,
            )


_IF_ACCESS_RIGHTS = (
    "Remove kafka.group.id. If ACLs require known group names, set groupIdPrefix: Spark then "
    "creates a group for each query. The query's offsets are in the checkpoint and don't change."
)


@rule("RDY023", _KAFKA, Engine.SPARK, severities=(Severity.MEDIUM,), remedies=(_IF_ACCESS_RIGHTS,))
def fixed_group_id(s: Subject) -> Iterator[Problem]:
    """All of a query's consumers join the group of kafka.group.id.

    If another query, an old version that still runs, or a rehearsal uses the same group, Kafka
    splits the partitions between them. Each query then reads only some of the partitions.
    """
    for source in s.sources:
        group = option(source, "kafka.group.id")
        if group:
            yield Problem(
                severity=Severity.MEDIUM,
                location=source.node,
                what=f"{_reads(source)} is read with the fixed group id {group}.",
                remedy=_IF_ACCESS_RIGHTS,
                keeps_state=True,
            )


_SET_CLEANSOURCE_ARCHIVE = (
    "Set cleanSource=archive with a sourceArchiveDir, so that a replay can read the archived files."
)
_LET_A_REPLAY = (
    "When you reprocess the input, also read the files in sourceArchiveDir. Keep archived files "
    "for as long as you may need to reprocess them."
)


@rule(
    "RDY024",
    _FILES,
    Engine.SPARK,
    severities=(Severity.HIGH, Severity.LOW),
    remedies=(_SET_CLEANSOURCE_ARCHIVE, _LET_A_REPLAY),
)
def input_files_removed(s: Subject) -> Iterator[Problem]:
    """The query deletes or archives its input files once they are processed.

    A replay doesn't find these files at the source, so a replay can't rebuild state and output.
    """
    for source in s.sources:
        clean = (option(source, "cleanSource") or "off").lower()
        if is_file(source) and clean in ("delete", "archive"):
            moved = f" ({option(source, 'sourceArchiveDir')})" if clean == "archive" else ""
            yield Problem(
                severity=Severity.HIGH if clean == "delete" else Severity.LOW,
                location=source.node,
                what=f"{_reads(source)} is read with cleanSource={clean}{moved}.",
                remedy=_SET_CLEANSOURCE_ARCHIVE if clean == "delete" else (_LET_A_REPLAY),
                keeps_state=True,
            )


_READ_WITH_MODE = (
    "Set the source options mode=PERMISSIVE and columnNameOfCorruptRecord. Write the rows with a "
    "value in that column to a separate location. This change affects the existing state only if a "
    "stateful operator uses the new column."
)


@rule(
    "RDY025",
    "Spark documentation: Spark SQL, JSON and CSV data source options",
    Engine.SPARK,
    severities=(Severity.HIGH,),
    remedies=(_READ_WITH_MODE,),
)
def malformed_rows_dropped(s: Subject) -> Iterator[Problem]:
    """Spark drops rows that it can't parse, without a count, a log line or a copy.

    If a producer changes its format, Spark may drop every row.
    """
    for source in s.sources:
        if is_file(source) and (option(source, "mode") or "").upper() == "DROPMALFORMED":
            yield Problem(
                severity=Severity.HIGH,
                location=source.node,
                what=f"{_reads(source)} is parsed with mode=DROPMALFORMED.",
                remedy=_READ_WITH_MODE,
                keeps_state=True,
            )


def _reads(source: Source) -> str:
    what = ", ".join(source.topics) or source.pattern or source.path or source.name or ""
    return f"The {source.format} source {what}".strip()
