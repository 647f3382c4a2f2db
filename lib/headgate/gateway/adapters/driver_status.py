"""What the drivers of Spark queries report about themselves: by `headgate.watch`, by Spark's UI."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from headgate.errors import EvidenceError, HeadgateError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.folders import read_checkpoint
from headgate.gateway.checkpoint.remote_view import logs_seen
from headgate.gateway.files.evidence_files import find
from headgate.gateway.process.driver_alive import is_gone
from headgate.gateway.spark.watch_folder import newest_watch_files
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.ports.processes import DriverStatus, ReportedRun, Status

if TYPE_CHECKING:
    from headgate.parse.spark.watch.read import Life, Watched

TOPIC = "kafka:"
# A watch tells at least each 30 s that a run lives: three of those missing are silence.
_SILENT = 100.0
# A run tells a topic anew each hour who it is.
_TAIL = 70 * 60.0
# Of an error's text, which may hold a whole plan.
_MOST_CHARACTERS = 200
_UNKNOWN = DriverStatus(Status.UNKNOWN)


class DriverStatusReader:
    """The watches and the addresses of UIs that the registry names."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def driver_status(self, pipeline: str) -> DriverStatus:
        """Return what the driver reports, the watch's word first; it never fails."""
        registered = self._context.registry.pipeline(pipeline)
        if registered is None:
            return _UNKNOWN
        try:
            life = self.life(registered)
        except HeadgateError as error:
            return DriverStatus(
                Status.UNKNOWN, f"headgate.watch records could not be read: {error}"
            )
        found = _UNKNOWN if life is None else judge_life(life, time.time())
        found = replace(found, run=life.run_id if life else None)
        return found if found.status is not Status.UNKNOWN else self._by_rest(registered) or found

    def reported_runs(self, pipeline: str) -> tuple[ReportedRun, ...]:
        """Return all runs that the pipeline's watch reports; none where it can't be read."""
        registered = self._context.registry.pipeline(pipeline)
        if registered is None or registered.watch is None:
            return ()
        try:
            lives = self.watched(registered.watch).lives.values()
        except HeadgateError:
            return ()
        return tuple(ReportedRun(x.query_id, x.name, x.told_at) for x in lives)

    def life(self, pipeline: Pipeline) -> Life | None:
        """Return the newest run that the watch reports, None if it reports none.

        The query is the one of the checkpoint, else the one that the registry names; a watch that
        reports only other queries says nothing of this one. Raises as reading evidence does.
        """
        if pipeline.watch is None:
            return None
        query_id = self._query_id(pipeline)
        names = {query_id} if query_id else {pipeline.query or pipeline.name}
        lives = self.watched(pipeline.watch).lives.values()
        mine = [x for x in lives if names & {x.query_id, x.name}]
        return max(mine, key=lambda x: x.started_at or "", default=None)

    def watched(self, location: str) -> Watched:
        """Return what a watch reports of its newest runs."""
        if not location.startswith(TOPIC):
            place = find(location, self._context.registry.file_systems)
            if place is None:
                raise EvidenceError(
                    f"watch location {location} not found: check `watch` in headgate.toml"
                )
            return newest_watch_files(place)
        # Kafka's client is not imported for a folder.
        from headgate.gateway.spark.watch_topic import WatchTopic

        topic, servers = (
            location.removeprefix(TOPIC),
            self._context.registry.bootstrap_servers or "",
        )
        since = int((time.time() - _TAIL) * 1000)
        return WatchTopic(topic, servers, self._context.registry.kafka, since_ms=since).read()

    def _by_rest(self, pipeline: Pipeline) -> DriverStatus | None:
        """Return RUNS if a UI shows a batch of it under way; nothing else there is evidence."""
        query_id = self._query_id(pipeline)
        if query_id is None:
            return None
        for address in pipeline.evidence:
            if not address.startswith(("http://", "https://")):
                continue
            from headgate.gateway.spark.rest_api import running_queries

            try:
                if query_id in running_queries(address):
                    return DriverStatus(
                        Status.RUNS, (f"the Spark UI at {address} shows a batch in progress")
                    )
            except HeadgateError:
                continue
        return None

    def _query_id(self, pipeline: Pipeline) -> str | None:
        if pipeline.checkpoint is None:
            return None
        try:
            with logs_seen(pipeline.checkpoint, self._context.registry.file_systems) as folder:
                found = read_checkpoint(str(folder))
        except HeadgateError:
            return None
        return found.query_id if found else None


def _error(life: Life) -> str:
    """Return the error's class and the first line of its text, as far as there is one."""
    first = next(iter((life.exception or "").strip().splitlines()), "")[:_MOST_CHARACTERS]
    return ": ".join(filter(None, (life.error_class, first)))


def judge_life(life: Life, now: float) -> DriverStatus:
    """Return what a run's last words and its process say; `now` in seconds since 1970."""
    if life.ended:
        return DriverStatus(Status.STOPPED, "headgate.watch reported the query's end", _error(life))
    if is_gone(life.driver):
        return DriverStatus(
            Status.STOPPED, f"the driver process {life.driver.get('pid')} has ended"
        )
    if life.closed and life.over:
        return DriverStatus(Status.STOPPED, f"headgate.watch reported: {life.closed}")
    if life.closed or life.told_at is None:
        return _UNKNOWN
    if now - datetime.fromisoformat(life.told_at).timestamp() > _SILENT:
        why = f"headgate.watch has reported nothing since {life.told_at}"
        return DriverStatus(Status.UNKNOWN, why)
    return DriverStatus(Status.RUNS, f"headgate.watch last reported at {life.told_at}")
