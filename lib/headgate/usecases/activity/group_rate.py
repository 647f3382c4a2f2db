"""The read rate of a group, measured from its committed offsets over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from statistics import median

from headgate.model.activity import Activity, ActivityState, Mark, Window
from headgate.model.cluster import Cluster, Group
from headgate.model.kafka_streams import internal_kind
from headgate.model.registered_pipelines import Pipeline
from headgate.reprocess.impact import Rates
from headgate.store import open_store
from headgate.store.rows import RunFacts
from headgate.text.numbers import short_time
from headgate.usecases.context import Context

WINDOW_SECONDS = 60.0
"""Kafka Streams commits every 30 s by default: a shorter window has no commit, or a burst."""
_GAP_SECONDS = 300.0
# An hour of windows, at a minute each.
_KEPT = 60
_ENOUGH = 3
"""Minimum number of windows for a rate."""


def with_pace(found: Activity, before: Activity | None, group: Group, cluster: Cluster) -> Activity:
    """Return the activity with the group's newest window, if its mark is old enough.

    Offset changes by a reset aren't reads. So a window never spans a time without members, a
    decrease of the committed offsets, or a change of the partitions.
    """
    windows = before.windows if before else ()
    mark = _mark(found, group, cluster)
    last = before.mark if before else None
    if mark is None or last is None:
        return replace(found, mark=mark, windows=windows)
    passed = _seconds(last.at, mark.at)
    is_same = last.partitions == mark.partitions and mark.done >= last.done
    if is_same and passed < WINDOW_SECONDS:
        return replace(found, mark=last, windows=windows)
    if is_same and passed <= _GAP_SECONDS:
        window = Window(
            begin=last.at,
            end=mark.at,
            read=mark.done - last.done,
            arrived=max(mark.ended - last.ended, 0),
            left=min(last.ended - last.done, mark.ended - mark.done),
        )
        windows = (*windows, window)[-_KEPT:]
    return replace(found, mark=mark, windows=windows)


def _mark(found: Activity, group: Group, cluster: Cluster) -> Mark | None:
    """Return where the group is; None where nobody is in it, or a position is not known."""
    if found.state is not ActivityState.RUNNING:
        return None
    ends = {(t.name, p.number): p.end for t in cluster.topics.values() for p in t.partitions}
    # What goes round within a Kafka Streams application is no input that waits.
    mine = [o for o in group.offsets if internal_kind(o.topic) is None]
    pairs = [(o.offset, ends.get((o.topic, o.partition))) for o in mine]
    known = [(at, end) for at, end in pairs if at is not None and end is not None]
    if not known or len(known) < len(pairs):
        return None
    return Mark(
        at=cluster.at,
        done=sum(at for at, _ in known),
        ended=sum(max(end, at) for at, end in known),
        partitions=tuple(sorted(f"{o.topic}:{o.partition}" for o in mine)),
    )


def group_rates(context: Context, pipeline: Pipeline) -> Rates | str:
    """Return the read rate of the pipeline's group, or a clause that says why it is unknown."""
    with closing(open_store(context.store_url)) as store:
        seen = store.activity.all().get(pipeline.name)
        runs = store.runs.touching(f"group:{pipeline.group}")
    if seen is None or not seen.windows:
        return (
            "the group's read rate isn't measured yet: a worker needs a few minutes to "
            "measure the rate (`headgate up` starts a worker)"
        )
    return rates_of(_undisturbed(seen.windows, runs)) or (
        "too few measurements: a worker measures each minute in which the group reads records and "
        f"no run is active, and needs {_ENOUGH} of them"
    )


def rates_of(windows: Sequence[Window]) -> Rates | None:
    """Return the rates of windows, None if there are too few.

    If a window begins and ends with at least as many unread records as it read, it shows how fast
    the group can read. Other windows only show how fast records arrive.
    """
    reading = [w for w in windows if w.read]
    if len(reading) < _ENOUGH:
        return None
    busy = [w for w in reading if w.left >= w.read]
    has_work = len(busy) >= _ENOUGH
    told = busy if has_work else reading
    when = " with a backlog" if has_work else f", fewer than {_ENOUGH} of them with a backlog"
    return Rates(
        reads=median(w.read / _seconds(w.begin, w.end) for w in told),
        arrives=median(w.arrived / _seconds(w.begin, w.end) for w in windows),
        how=(
            f"measured from committed offsets until {short_time(told[-1].end)} UTC, in "
            f"{len(told)} one-minute windows{when}"
        ),
        idle=not has_work,
    )


def _undisturbed(windows: Iterable[Window], runs: Sequence[RunFacts]) -> list[Window]:
    """Leave out the windows in which a run may have moved the group's offsets."""
    return [w for w in windows if not any(_overlaps(w, run) for run in runs)]


def _overlaps(window: Window, run: RunFacts) -> bool:
    if run.started_at is None:
        return False
    begun = datetime.fromisoformat(run.started_at) <= datetime.fromisoformat(window.end)
    ended = run.ended_at
    return begun and (
        ended is None or datetime.fromisoformat(ended) >= datetime.fromisoformat(window.begin)
    )


def _seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
