"""List restore points: content, disk space, and whether Kafka still has the later records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headgate.errors import HeadgateError
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.checkpoint import points as stored
from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import RestorePoint
from headgate.store import open_store
from headgate.text.times import from_milliseconds, iso, milliseconds
from headgate.usecases.context import Context, needs_file


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRow:
    """One restore point as it is shown; times are ISO 8601 in UTC.

    `time` is when Spark planned the batch, or when the group's offsets were read. `in_kafka`: Kafka
    still has all records after the restore point, None if unknown; `kafka` is why not.
    """

    id: str
    time: str
    made_at: str
    batch: int | None
    query_id: str | None
    watermark: str | None
    location: str | None
    offsets: Mapping[str, Mapping[int, int]]
    files: int
    bytes: int
    seconds: float
    verified_at: str | None = None
    problem: str | None = None
    rows: int | None = None
    in_kafka: bool | None = None
    kafka: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointList:
    """The restore points of a pipeline, newest first, and their disk space.

    `held_bytes` is the disk space that is freed if all of them are removed now. `bytes` is their
    disk space after Spark has deleted the files that they share with the checkpoint; `max_bytes`
    limits it. `error` is why the last attempt to make a restore point failed. `unreadable` has, by
    id, why a restore point that isn't in the store can't be read; it is kept.
    """

    pipeline: str
    points: tuple[PointRow, ...]
    held_bytes: int
    bytes: int
    max_bytes: int
    every_seconds: float | None
    keep_seconds: float
    tried_at: str | None = None
    error: str | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the list as the command line prints it."""
        points = [
            {
                "id": p.id,
                "time": p.time,
                "made_at": p.made_at,
                "batch": p.batch,
                "query_id": p.query_id,
                "watermark": p.watermark,
                "location": p.location,
                "offsets": {t: {str(n): o for n, o in ps.items()} for t, ps in p.offsets.items()},
                "files": p.files,
                "bytes": p.bytes,
                "seconds": p.seconds,
                "verified_at": p.verified_at,
                "problem": p.problem,
                "rows": p.rows,
                "in_kafka": p.in_kafka,
                "kafka": p.kafka,
            }
            for p in self.points
        ]
        return {
            "pipeline": self.pipeline,
            "points": points,
            "held_bytes": self.held_bytes,
            "bytes": self.bytes,
            "max_bytes": self.max_bytes,
            "every_seconds": self.every_seconds,
            "keep_seconds": self.keep_seconds,
            "tried_at": self.tried_at,
            "error": self.error,
            "unreadable": dict(self.unreadable),
        }


def list_points(context: Context, pipeline: str) -> PointList:
    """Return the restore points of a pipeline; NotFoundError if it isn't registered."""
    needs_file(context)
    found = context.registered(pipeline)
    with closing(open_store(context.store_url)) as store:
        points = store.restore_points.of(pipeline)
        checks = store.restore_points.checks(pipeline)
        tried = store.restore_points.tries().get(pipeline)
    topics = _topics(context, points)
    rows = []
    for point in reversed(points):
        held, why = held_in_kafka(point, topics)
        check = checks.get(point.id)
        rows.append(
            PointRow(
                id=point.id,
                time=iso(time_of(point)),
                made_at=point.made_at,
                batch=point.batch,
                query_id=point.query_id,
                watermark=_iso(point.watermark_ms),
                location=point.location,
                offsets=point.offsets,
                files=point.files,
                bytes=point.bytes,
                seconds=point.seconds,
                verified_at=check.at if check else None,
                problem=check.problem if check else None,
                rows=check.rows if check else None,
                in_kafka=held,
                kafka=why,
            )
        )
    schedule = context.registry.point_schedule(found)
    return PointList(
        pipeline=pipeline,
        points=tuple(rows),
        held_bytes=stored.held_bytes(points),
        bytes=stored.distinct_bytes(points),
        max_bytes=schedule.max_bytes,
        every_seconds=schedule.every.total_seconds() if schedule.every else None,
        keep_seconds=schedule.keep.total_seconds(),
        tried_at=tried.at if tried else None,
        error=tried.error if tried else None,
        unreadable=_unreadable(context, found, {p.id for p in points}),
    )


def _unreadable(context: Context, pipeline: Pipeline, known: Set[str]) -> Mapping[str, str]:
    if pipeline.checkpoint is None:
        return {}
    try:
        settings = context.registry.file_systems
        return stored.recorded(pipeline.checkpoint, settings, known=known).unreadable
    except HeadgateError:
        # Nothing is known of the folder: what reads the checkpoint says why.
        return {}


def time_of(point: RestorePoint) -> datetime:
    """Return the time of a restore point in UTC, to the millisecond."""
    if point.planned_ms is not None:
        return from_milliseconds(point.planned_ms)
    made = datetime.fromisoformat(point.made_at).astimezone(UTC)
    return from_milliseconds(milliseconds(made))


def held_in_kafka(
    point: RestorePoint, topics: Mapping[str, Topic] | None
) -> tuple[bool | None, str | None]:
    """Return whether Kafka has all records after the restore point (None: unknown), and why not."""
    if topics is None or not point.offsets:
        return None, None
    for name, parts in sorted(point.offsets.items()):
        topic = topics.get(name)
        if topic is None:
            return False, f"topic {name} does not exist"
        known = {p.number: p for p in topic.partitions}
        for number, offset in sorted(parts.items()):
            part = known.get(number)
            if part is None or part.begin is None or part.end is None:
                return None, f"the offsets of {name}[{number}] are unknown"
            if offset < part.begin:
                return (
                    False,
                    f"Kafka has deleted the records of {name}[{number}] from offset {offset} to "
                    f"{part.begin - 1}",
                )
            if offset > part.end:
                return (
                    False,
                    f"the latest offset of {name}[{number}] is {part.end}, lower than {offset} at "
                    "this restore point. The topic was probably recreated or truncated",
                )
    return True, None


def _topics(context: Context, points: Iterable[RestorePoint]) -> Mapping[str, Topic] | None:
    names = {name for point in points for name in point.offsets}
    if not names:
        return {}
    try:
        with closing(LiveInspector(context.registry, context.home)) as inspector:
            return inspector.kafka.topics(names) if inspector.kafka.has_cluster() else None
    except HeadgateError:
        return None


def _iso(at: int | None) -> str | None:
    return iso(from_milliseconds(at)) if at else None
