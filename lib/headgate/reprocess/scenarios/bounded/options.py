"""Shared by all engines: the limits of a run, and the state of the pipeline after the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.shared.common import at_least, unread_parts
from headgate.reprocess.steps.base.step import Step
from headgate.reprocess.steps.process.stop_start import StopPipeline, start_or_ask
from headgate.text.numbers import as_records
from headgate.text.risk import Risk


def unread_records(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> dict[str, int]:
    """Return by topic how many offsets are after the positions, of those that Kafka still has."""
    found = dict.fromkeys(sorted(topics), 0)
    for (name, _), count in unread_parts(topics, positions).items():
        found[name] += count
    return found


def deleted_unread(
    topics: Mapping[str, Topic], positions: Mapping[tuple[str, int], int]
) -> Iterator[str]:
    """Name the topics of which Kafka has deleted unread records."""
    for name, topic in sorted(topics.items()):
        lost = sum(
            max((p.begin or 0) - positions.get((name, p.number), p.begin or 0), 0)
            for p in topic.partitions
        )
        if lost:
            yield f"Kafka has deleted {as_records(lost)} of {name} that weren't processed"


def start_after(request: PlanRequest, stop: StopPipeline) -> tuple[Step, ...]:
    """Return the step that starts the pipeline after the run, if `start-after` is set."""
    return (start_or_ask(stop),) if request.options.get("start-after") else ()


STARTS_AFTER = Risk(
    "after the run, {pipeline} starts again, and processes the records after the end offsets "
    "of the run"
)
STAYS_STOPPED = Risk("{pipeline} stays stopped after the run{suspended}", suspended="")


def end_risks(request: PlanRequest) -> list[str]:
    """Say whether the pipeline runs after the run."""
    pipeline = request.pipeline
    if request.options.get("start-after"):
        return [STARTS_AFTER(pipeline=pipeline.name)]
    return [STAYS_STOPPED(pipeline=pipeline.name, suspended=_suspended(pipeline))]


def _suspended(pipeline: Pipeline) -> str:
    if pipeline.commands.suspend is None:
        return ""
    return ", and its restarts stay suspended. An undo re-enables the restarts"


TIME_LIMIT = Risk(
    "after {limit} s, Headgate cancels the run, even if records are unread. `headgate resume "
    "RUN` continues to the same offsets",
    limit="N",
)


def time_risks(request: PlanRequest) -> list[str]:
    """Say what the time limit means."""
    limit = at_least(request.options, "time-limit", 1, None)
    if limit is None:
        return []
    return [TIME_LIMIT(limit=limit)]


RISKS = (
    STARTS_AFTER,
    STAYS_STOPPED,
    TIME_LIMIT,
)
