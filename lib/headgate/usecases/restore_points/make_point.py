"""Make a restore point of a pipeline while it runs."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from headgate.errors import HeadgateError, RefusedError, ScenarioError, StepError
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.checkpoint import points as stored
from headgate.gateway.checkpoint.point_copy import FilesGoneError
from headgate.gateway.files.addresses import is_remote
from headgate.model.cluster import Group, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import RestorePoint
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenarios.shared.pipeline_links import is_internal
from headgate.store import Store, open_store
from headgate.store.clock import now
from headgate.store.queueing import new_id
from headgate.text.numbers import name_list, size
from headgate.usecases.context import Context, needs_file
from headgate.usecases.restore_points.lock import locked
from headgate.usecases.restore_points.remove_points import (
    expired,
    remove_all,
    remove_expired,
    user,
)

_TRIES = 3


def make_point(context: Context, pipeline: str) -> RestorePoint:
    """Make a restore point of the newest committed batch or the group's offsets, and return it.

    If the newest restore point already has this batch, it is returned. Restore points beyond the
    limits of `[restore_points]` are removed. The attempt is recorded. Raises NotFoundError,
    ScenarioError if there is nothing to copy, RefusedError if the checkpoint is damaged, StepError
    if Spark deletes files too fast, or the copy doesn't fit.
    """
    needs_file(context)
    found = context.registered(pipeline)
    with closing(open_store(context.store_url)) as store:
        try:
            with locked(context, pipeline):
                point = _made(context, store, found)
        except HeadgateError as error:
            store.restore_points.tried(pipeline, str(error))
            raise
        store.restore_points.tried(pipeline, None)
        return point


def create_point(context: Context, pipeline: str, *, by: str) -> tuple[RestorePoint, bool]:
    """Make a restore point on request; also return whether it is new."""
    context.registered(pipeline)
    with closing(open_store(context.store_url)) as store:
        before = {p.id for p in store.restore_points.of(pipeline)}
        point = make_point(context, pipeline)
        if is_new := point.id not in before:
            store.audit.add(by=by, action="create restore point", pipeline=pipeline, point=point.id)
    return point, is_new


def _made(context: Context, store: Store, pipeline: Pipeline) -> RestorePoint:
    newest = (store.restore_points.of(pipeline.name) or (None,))[-1]
    if pipeline.engine is not Engine.SPARK:
        return _of_group(context, store, pipeline, newest)
    if pipeline.checkpoint is None:
        raise ScenarioError(
            f"{pipeline.name} has no `checkpoint` in headgate.toml, so Headgate can't "
            "create a restore point. Set `checkpoint`"
        )
    adopt(context, store, pipeline)
    return _of_checkpoint(context, store, pipeline, newest)


def adopt(context: Context, store: Store, pipeline: Pipeline) -> None:
    """Add complete restore points that the store doesn't have, and remove incomplete ones."""
    assert pipeline.checkpoint is not None
    settings = context.registry.file_systems
    known = {p.id for p in store.restore_points.of(pipeline.name)}
    found = stored.recorded(pipeline.checkpoint, settings, known=known)
    for point in found.points.values():
        if point.pipeline == pipeline.name:
            store.restore_points.add(point)
    stored.remove_leftovers(pipeline.checkpoint, settings)


def _of_checkpoint(
    context: Context, store: Store, pipeline: Pipeline, newest: RestorePoint | None
) -> RestorePoint:
    assert pipeline.checkpoint is not None
    begun = time.monotonic()
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        checkpoint = inspector.checkpoints.read(pipeline.checkpoint)
        if checkpoint is None:
            raise ScenarioError(
                f"no checkpoint found at {pipeline.checkpoint}. Start the pipeline once, or "
                "correct `checkpoint` in headgate.toml"
            )
        if newest is not None and _is_of(newest, checkpoint, inspector):
            return newest
        id, sizes = _kept(context, pipeline)
        location = stored.point_location(pipeline.checkpoint, id)
        batch = inspector.checkpoints.batches(location)[-1]
        made = inspector.checkpoints.read(location)
        ids = _topic_ids(inspector, batch.offsets)
    version = store.versions.running(pipeline.name)
    point = RestorePoint(
        id=id,
        pipeline=pipeline.name,
        made_at=now(),
        source=checkpoint.location,
        location=location,
        query_id=made.query_id if made else None,
        history=made.history if made else (),
        batch=batch.number,
        planned_ms=batch.planned_ms,
        committed_ms=batch.committed_ms,
        watermark_ms=batch.watermark_ms,
        offsets=batch.offsets,
        other_sources=batch.other_sources,
        topic_ids=ids,
        files=len(sizes),
        bytes=sum(sizes.values()),
        fingerprint=fingerprint(version) if version else None,
    )
    point = _with_sink(pipeline.checkpoint, point, version)
    point = replace(point, seconds=round(time.monotonic() - begun, 3))
    try:
        too_many = _too_many(context, store, pipeline, point)
    except StepError:
        stored.remove(point, context.registry.file_systems)
        raise
    stored.record(point, sizes, context.registry.file_systems)
    store.restore_points.add(point)
    # Only now: a kill before leaves more points than fit, never fewer.
    remove_all(context, store, too_many)
    return point


def _topic_ids(inspector: LiveInspector, topics: Iterable[str]) -> dict[str, str]:
    """Return the current ids of topics; empty if Kafka doesn't respond: a point needs no id."""
    if not topics or not inspector.kafka.has_cluster():
        return {}
    try:
        return {name: id for name, (id, _) in inspector.kafka.identities(topics).items()}
    except HeadgateError:
        return {}


def _is_of(point: RestorePoint, checkpoint: Checkpoint, inspector: LiveInspector) -> bool:
    """Whether a point is of the newest committed batch: a rewind uses batch numbers again."""
    if (point.query_id, point.batch) != (checkpoint.query_id, checkpoint.last_commit_batch):
        return False
    batches = inspector.checkpoints.batches(checkpoint.location)
    return bool(batches) and point.is_of(batches[-1])


def _kept(context: Context, pipeline: Pipeline) -> tuple[str, dict[str, int]]:
    """Keep the newest batch under a new id; a copy that lost a race with the query is retried.

    Spark removes no file that its newest batch needs. So if no try found a later batch, the file
    was missing before.
    """
    assert pipeline.checkpoint is not None
    batches = set()
    for left in reversed(range(_TRIES)):
        id = new_id()
        try:
            return id, stored.keep(pipeline.checkpoint, id, context.registry.file_systems).sizes
        except FilesGoneError as error:
            stored.remove_leftovers(pipeline.checkpoint, context.registry.file_systems)
            batches.add(error.batch)
            if not left and len(batches) == 1:
                raise RefusedError(
                    f"checkpoint {pipeline.checkpoint} is damaged: its newest batch {error.batch} "
                    f"can't be copied ({error.why}). For the repair, run `headgate plan repair "
                    f"{shlex.quote(pipeline.name)}`"
                ) from error
            if not left:
                raise
    raise AssertionError


def _with_sink(checkpoint: str, point: RestorePoint, version: Version | None) -> RestorePoint:
    """Keep the log of a local file sink too: Spark compacts it, and then it can't be cut."""
    sink = version.sink if version else None
    if sink is None or not sink.traits.is_files or not sink.place or is_remote(sink.place):
        return point
    try:
        assert point.batch is not None
        kept = stored.keep_sink_log(checkpoint, point.id, sink.place, point.batch)
    except (FilesGoneError, RefusedError):
        # The rewind then says whether the live log can still be cut.
        return point
    return replace(point, sink=sink.place, sink_log=kept) if kept else point


def _too_many(
    context: Context, store: Store, pipeline: Pipeline, point: RestorePoint
) -> tuple[RestorePoint, ...]:
    """Return the older points that a new one replaces; StepError where it does not fit."""
    most = context.registry.point_schedule(pipeline).max_bytes
    limit = f"`max_size` under [restore_points] is {size(most)}"
    if stored.distinct_bytes([point]) > most:
        raise StepError(
            f"a restore point of {pipeline.name} needs {size(point.bytes)}, but {limit}. Raise "
            "`max_size`"
        )
    gone = expired(context, store, pipeline, extra=point)
    rest = [p for p in store.restore_points.of(pipeline.name) if p not in gone]
    if stored.distinct_bytes([*rest, point]) > most:
        runs = sorted({run for p in rest if (run := user(store, p))})
        waited = f"run{'s' if len(runs) > 1 else ''} {name_list(runs)}" if runs else "these runs"
        raise StepError(
            f"a new restore point of {pipeline.name} doesn't fit: active runs use older "
            f"restore points, and {limit}. Wait for the end of {waited}, or raise `max_size`"
        )
    return gone


def group_offsets(
    pipeline: Pipeline, group: Group, topics: Mapping[str, Topic]
) -> dict[str, dict[int, int]]:
    """Return the group's committed offsets, and the positions in partitions without records.

    A group commits no offset in a partition of which it has never read a record. If the partition
    has none, the group starts with the next one, whatever its `auto.offset.reset` is.
    """
    found = {
        (topic.name, part.number): part.end
        for topic in topics.values()
        if not is_internal(topic.name, pipeline)
        for part in topic.partitions
        if part.end is not None and part.begin == part.end
    }
    found |= {(o.topic, o.partition): o.offset for o in group.offsets if o.offset is not None}
    offsets: dict[str, dict[int, int]] = {}
    for (topic, number), offset in sorted(found.items()):
        offsets.setdefault(topic, {})[number] = offset
    return offsets


def _of_group(
    context: Context, store: Store, pipeline: Pipeline, newest: RestorePoint | None
) -> RestorePoint:
    assert pipeline.group is not None
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        group = inspector.kafka.group(pipeline.group)
        known = {one.topic for one in group.offsets if one.offset is not None}
        if not known:
            raise ScenarioError(
                f"group {pipeline.group} has no committed offsets for a restore point. Start "
                f"{pipeline.name} once"
            )
        topics = inspector.kafka.topics(known | set(pipeline.topics))
    offsets = group_offsets(pipeline, group, topics)
    if newest is not None and newest.offsets == offsets:
        return newest
    version = store.versions.running(pipeline.name)
    point = RestorePoint(
        id=new_id(),
        pipeline=pipeline.name,
        made_at=now(),
        source=pipeline.group,
        offsets=offsets,
        topic_ids={name: t.id for name, t in topics.items() if t.id and name in offsets},
        fingerprint=fingerprint(version) if version else None,
    )
    store.restore_points.add(point)
    remove_expired(context, store, pipeline)
    return point
