"""Find what somebody must have edited in a checkpoint, because Spark never writes it so.

The rules say what Spark does with each of them. Only files that are there are checked: a copy
without state data or without a log gives no finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headgate.model.progress import NewestProgress
from headgate.model.version import CheckpointDamage, CheckpointDamageKind
from headgate.parse.spark.checkpoint.offset_log import OffsetLog, read_offsets
from headgate.parse.spark.checkpoint.reader import Reader
from headgate.parse.spark.checkpoint.state_files import LoggedOperator
from headgate.text.numbers import plural

if TYPE_CHECKING:
    from headgate.parse.spark.checkpoint.checkpoint import LoggedSource

_SHUFFLE = "spark.sql.shuffle.partitions"
_DATA = re.compile(
    r"state/(?P<operator>[0-9]{1,9})/(?P<store>[0-9]+/(?:[^/]+/)?)"
    r"(?P<version>[0-9]{1,18})(?:_[0-9a-f-]+)?\.(?P<kind>delta|snapshot|zip|changelog)"
)


def log_faults(
    reader: Reader, logged: Sequence[int], committed: Sequence[int]
) -> Iterator[CheckpointDamage]:
    """Yield what is wrong with the two logs of batches, and with `metadata`."""
    if "metadata" not in reader.listing and logged and committed:
        yield CheckpointDamage(
            kind=CheckpointDamageKind.NO_METADATA, what="The file `metadata` is missing."
        )
    if not logged:
        if committed or _has_state(reader):
            yield CheckpointDamage(
                kind=CheckpointDamageKind.NO_OFFSETS, what=_without_offsets(reader, committed)
            )
        return
    if _lacks_predecessor(logged, committed):
        yield CheckpointDamage(
            kind=CheckpointDamageKind.NO_PREDECESSOR,
            what=(
                f"`offsets/{logged[-1]}` is the newest file, but `offsets/{logged[-1] - 1}` is "
                "missing."
            ),
        )
    if committed and committed[-1] > logged[-1]:
        yield CheckpointDamage(
            kind=CheckpointDamageKind.COMMIT_WITHOUT_OFFSETS,
            what=f"`commits` ends at batch {committed[-1]}, but `offsets` at batch {logged[-1]}.",
        )
    read = (*(f"offsets/{b}" for b in logged[-2:]), *(f"commits/{b}" for b in committed[-1:]))
    for path in read:
        if path in reader.files and any(f"/{path} can't be read" in w for w in reader.warnings):
            yield CheckpointDamage(
                kind=CheckpointDamageKind.UNREADABLE, what=f"`{path}` can't be read."
            )


def _has_state(reader: Reader) -> bool:
    return any(_DATA.fullmatch(p) for p in reader.listing if p.startswith("state/"))


def _without_offsets(reader: Reader, committed: Sequence[int]) -> str:
    left = " and ".join(
        word for word, there in (("commits", committed), ("state", _has_state(reader))) if there
    )
    return f"`offsets` has no batches, but the checkpoint has {left} of earlier batches."


def _lacks_predecessor(logged: Sequence[int], committed: Sequence[int]) -> bool:
    """Say whether the batch before the newest is gone, and was not merely never logged.

    A query that tracks its progress asynchronously leaves out the same batches in both logs.
    """
    before = logged[-1] - 1
    if before < 0 or before in logged or not committed:
        return False
    return len(logged) == 1 or before in committed


def progress_faults(
    sources: Sequence[LoggedSource] | None, batch: int | None, report: NewestProgress | None
) -> Iterator[CheckpointDamage]:
    """Yield Kafka offsets that are others than the query itself reported of the same batch."""
    if sources is None or report is None or report.batch is None or report.batch != batch:
        return
    if len(sources) != len(report.sources):
        return
    for logged, said in zip(sources, report.sources, strict=True):
        old, new = said.offsets, logged.offsets
        for part, was, now in _differing(old, new):
            yield CheckpointDamage(
                kind=CheckpointDamageKind.UNLIKE_PROGRESS,
                what=(
                    f"Partition {part}: the query reported offset {was} after batch {batch}, but "
                    f"`offsets/{batch}` has {now}."
                ),
            )


def offset_faults(
    reader: Reader, logged: Sequence[int], log: OffsetLog
) -> Iterator[CheckpointDamage]:
    """Yield Kafka partitions whose newest offset is smaller than the one of the batch before."""
    if len(logged) < 2 or logged[-2] != logged[-1] - 1:
        return
    before = reader.read(f"offsets/{logged[-2]}", read_offsets)
    if before is None or len(before.offsets) != len(log.offsets):
        return
    for (_, old), (_, new) in zip(before.offsets, log.offsets, strict=True):
        for part, was, now in _differing(old, new):
            if now >= was:
                continue
            yield CheckpointDamage(
                kind=CheckpointDamageKind.OFFSETS_WENT_BACK,
                what=(
                    f"Partition {part}: `offsets/{logged[-2]}` has offset {was}, but the newer "
                    f"`offsets/{logged[-1]}` has {now}."
                ),
            )


def _differing(old: Any, new: Any) -> Iterator[tuple[str, int, int]]:
    """Yield the Kafka partitions whose offsets differ, with both."""
    for topic, parts in old.items() if isinstance(old, dict) and isinstance(new, dict) else ():
        now = new.get(topic)
        if not isinstance(parts, dict) or not isinstance(now, dict):
            continue
        for number, was in parts.items():
            is_known = isinstance(was, int) and isinstance(now.get(number), int)
            if is_known and now[number] != was:
                yield f"{topic}[{number}]", was, now[number]


def source_faults(reader: Reader, log: OffsetLog) -> Iterator[CheckpointDamage]:
    """Yield file sources whose own log does not hold the batch that the offsets speak of."""
    for position, (name, offsets) in enumerate(log.offsets):
        if not (isinstance(offsets, dict) and offsets.keys() == {"logOffset"}):
            continue
        wanted, folder = offsets["logOffset"], name or str(position)
        found = [n.removesuffix(".compact") for n in reader.below(f"sources/{folder}")]
        newest = max((int(n) for n in found if n.isdecimal()), default=-1)
        seen = bool(found) or "sources/" not in reader.listing
        if isinstance(wanted, int) and newest < wanted and seen and _is_whole(reader):
            yield CheckpointDamage(
                kind=CheckpointDamageKind.NO_SOURCE_LOG,
                what=(
                    f"`sources/{folder}` lacks entry {wanted}, but `offsets` refers to this entry."
                ),
            )


def _is_whole(reader: Reader) -> bool:
    """Say whether the copy has more than its logs: one without `sources` may be a short one."""
    return "metadata" in reader.listing and {"offsets/", "commits/"} <= reader.listing


def state_faults(
    reader: Reader,
    operators: Sequence[LoggedOperator],
    pinned: Mapping[str, str],
    committed: Sequence[int],
) -> Iterator[CheckpointDamage]:
    """Yield state that can't be loaded, by the names of one partition's files."""
    shuffle = pinned.get(_SHUFFLE, "")
    for operator in operators:
        stored = max((s.partitions or 0 for s in operator.stores), default=0)
        if operator.name and shuffle.isdecimal() and stored and int(shuffle) != stored:
            yield CheckpointDamage(
                kind=CheckpointDamageKind.STATE_PARTITIONS,
                what=(
                    f"`offsets` has {plural(int(shuffle), 'shuffle partition')}, but the state of "
                    f"operator {operator.operator_id} has {plural(stored, 'partition')}."
                ),
            )
    if committed:
        yield from _version_faults(reader, committed[-1] + 1)


def _version_faults(reader: Reader, wanted: int) -> Iterator[CheckpointDamage]:
    """Yield the stores in which the version after the last committed batch can't be put together.

    Batch N loads version N, which batch N - 1 wrote: a snapshot, and every delta since.
    """
    stores: dict[tuple[str, str], tuple[set[int], set[int]]] = {}
    for path in reader.listing:
        if match := _DATA.fullmatch(path):
            whole, parts = stores.setdefault((match["operator"], match["store"]), (set(), set()))
            kept = whole if match["kind"] in ("snapshot", "zip") else parts
            kept.add(int(match["version"]))
    for (operator, store), (whole, parts) in sorted(stores.items()):
        base = max((v for v in whole if v <= wanted), default=0)
        gone = [v for v in range(base + 1, wanted + 1) if v not in parts]
        if gone:
            yield CheckpointDamage(
                kind=CheckpointDamageKind.STATE_VERSION_GONE,
                what=(
                    f"`state/{operator}/{store}` lacks the file of version {gone[0]}. "
                    f"Spark needs this file to load version {wanted} for the next batch."
                ),
            )


def missing_state(
    batch: int | None, *, is_planned: bool, has_none: bool
) -> Iterator[CheckpointDamage]:
    """Yield that a query with stateful operators has done batches and left no state."""
    if is_planned and has_none and batch is not None:
        yield CheckpointDamage(
            kind=CheckpointDamageKind.NO_STATE,
            what="The query plan has stateful operators, but the checkpoint has no `state`.",
        )


def sink_fault(sentence: str) -> CheckpointDamage:
    """Return the fault of a file sink's log that is ahead of the checkpoint."""
    return CheckpointDamage(
        kind=CheckpointDamageKind.SINK_AHEAD, what=f"{sentence[:1].upper()}{sentence[1:]}."
    )
