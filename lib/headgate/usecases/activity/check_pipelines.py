"""Check whether the registered pipelines are running, and store the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import TypeVar

from headgate.errors import HeadgateError
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.process.driver_alive import is_gone
from headgate.model.activity import Activity
from headgate.model.cluster import Cluster
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.parse.spark.watch.read import Watched
from headgate.reprocess.ports.processes import Status
from headgate.store import open_store
from headgate.usecases.activity.group_rate import with_pace
from headgate.usecases.activity.judge_activity import Signs, continued, judge, judge_group
from headgate.usecases.activity.last_positions import with_positions
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_batches import read_batches
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.read_watch import read_newest
from headgate.usecases.evidence.watched_query import life_of

_AT_ONCE = 4
T = TypeVar("T")


def check_pipelines(context: Context, *, ask_commands: bool = True) -> dict[str, Activity]:
    """Check and return the activity of each registered pipeline, and write it to the store.

    `ask_commands` also runs the registered status commands, which may take longer than reading
    files. If something can't be checked, the activity's proof has a sentence about it. Pipelines
    and their evidence aren't changed.
    """
    with closing(open_store(context.store_url)) as store:
        before = store.activity.all()
        look = _Check(context, before, ask_commands)
        pipelines = context.registry.pipelines
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = dict(
                zip((p.name for p in pipelines), pool.map(look.at, pipelines), strict=True)
            )
        for name, activity in found.items():
            store.activity.put(name, activity)
    return found


@dataclass(slots=True)
class _Check:
    """One check of all pipelines; what several share is read once."""

    context: Context
    before: Mapping[str, Activity]
    ask_commands: bool
    _lock: Lock = field(default_factory=Lock)
    _watched: dict[str, Watched | str] = field(default_factory=dict)
    _cluster: Cluster | str | None = None

    def at(self, pipeline: Pipeline) -> Activity:
        """Return the activity of one pipeline; never raises an error of Headgate."""
        now, before = datetime.now(UTC), self.before.get(pipeline.name)
        if pipeline.engine is Engine.SPARK:
            found = judge(self._signs(pipeline, before), now)
        else:
            cluster = self._kafka()
            group = (
                cluster.groups.get(pipeline.group or "") if isinstance(cluster, Cluster) else None
            )
            problem = (
                cluster if isinstance(cluster, str) else f"Kafka has no group {pipeline.group}"
            )
            known = cluster if isinstance(cluster, Cluster) else None
            found = judge_group(group, known, problem, now)
            if group is not None and known is not None:
                found = with_pace(found, before, group, known)
                found = with_positions(found, before, group, known)
            elif before is not None:
                found = replace(found, windows=before.windows, positions=before.positions)
        return continued(found, before)

    def _signs(self, pipeline: Pipeline, before: Activity | None) -> Signs:
        problems: list[str] = []
        begun = _tried(lambda: self._newest_batch(pipeline), problems)
        watched, life = None, None
        if pipeline.watch:
            watched = self._watch(pipeline.watch, problems)
        if watched is not None:
            life = _tried(lambda: life_of(pipeline, watched, self.context), problems)
            if not watched.lives:
                problems.append(f"headgate.watch has reported no query in {pipeline.watch} yet")
        advanced = bool(begun and before and before.batch is not None and begun[0] > before.batch)
        return Signs(
            life=life,
            gone=is_gone(life.driver) if life and not life.ended and life.driver else None,
            status=_tried(lambda: self._status(pipeline, before), problems),
            begun=begun,
            advanced=advanced,
            problems=tuple(problems),
        )

    def _newest_batch(self, pipeline: Pipeline) -> tuple[int, str] | None:
        """Return number and time of the newest batch, None where there is none yet."""
        if not pipeline.checkpoint:
            return None
        found = read_batches(pipeline.checkpoint, context=self.context, newest=1).batches
        newest = found[-1] if found else None
        return (newest.number, newest.at) if newest and newest.at else None

    def _status(self, pipeline: Pipeline, before: Activity | None) -> Status | None:
        """Return what the status command says, or said last where it is not asked this time."""
        if pipeline.commands.status is None:
            return None
        if not self.ask_commands:
            return Status(before.commanded) if before and before.commanded else None
        with closing(LiveInspector(self.context.registry, self.context.home)) as inspector:
            return inspector.processes.status(pipeline.name)

    def _watch(self, location: str, problems: list[str]) -> Watched | None:
        with self._lock:
            if location not in self._watched:
                try:
                    self._watched[location] = read_newest(location, self.context)
                except HeadgateError as error:
                    self._watched[location] = str(error)
            found = self._watched[location]
        if isinstance(found, str):
            problems.append(found)
            return None
        return found

    def _kafka(self) -> Cluster | str:
        with self._lock:
            if self._cluster is None:
                try:
                    self._cluster = read_cluster(self.context)
                except HeadgateError as error:
                    self._cluster = str(error)
            return self._cluster


def _tried(call: Callable[[], T], problems: list[str]) -> T | None:
    try:
        return call()
    except HeadgateError as error:
        problems.append(str(error))
        return None
