"""Read whether the pipelines run, according to the worker's last check."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headgate.model.activity import Activity, ActivityState
from headgate.store import open_store
from headgate.usecases.activity.list_paused import Paused, list_paused
from headgate.usecases.context import Context

STALE = timedelta(minutes=3)
"""A worker checks every ten seconds: an older check doesn't show the current state."""
_START = "(`headgate up` starts a worker)"


def read_activity(
    context: Context, pipeline: str | None = None, *, now: datetime | None = None
) -> dict[str, Activity]:
    """Return the activity of each registered pipeline, or only of `pipeline`.

    It is the result of the worker's last check. If this check is older than three minutes, the
    activity is unknown, and its reason has the last result and its time.
    """
    names = [p.name for p in context.registry.pipelines if pipeline in (None, p.name)]
    with closing(open_store(context.store_url)) as store:
        known = store.activity.all()
        paused = list_paused(store)
    at = now or datetime.now(UTC)
    return {name: _held(_fresh(known.get(name), at), paused.get(name)) for name in names}


def _held(found: Activity, paused: Paused | None) -> Activity:
    """Say that it is paused; a query that runs all the same was started by hand."""
    if paused is None:
        return found
    return replace(found, reason=f"{paused.words}; {found.reason}")


def _fresh(found: Activity | None, now: datetime) -> Activity:
    if found is None:
        return Activity(reason=f"no worker has checked the pipeline yet {_START}")
    looked = datetime.fromisoformat(found.looked_at) if found.looked_at else None
    if looked is not None and now - looked <= STALE:
        return found
    since = looked.strftime("since %Y-%m-%d %H:%M UTC") if looked else "recently"
    was = f"{found.state.value} ({found.reason})"
    return replace(
        found,
        state=ActivityState.UNKNOWN,
        reason=f"no worker has checked the pipeline {since} {_START}. The last check found: {was}",
    )
