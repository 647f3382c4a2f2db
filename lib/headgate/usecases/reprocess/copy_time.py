"""Estimate how long the copy of a remote checkpoint takes, from copies in earlier runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headgate.reprocess.plan import Plan, load_plan
from headgate.usecases.context import Context

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.rows import StepProgress

_COPY = "copy_remote_checkpoint"
_UNIT = "bytes"
_MOST = 5
# A copy of a few small files takes as long as the answers do: it tells nothing of a large one.
_ALIKE = 10
_UNTIL = "During the copy, the run shows rate and time left"


@dataclass(frozen=True, slots=True)
class _Copied:
    """One copy that was made: in which run, how many bytes in how many seconds."""

    run: str
    bytes: int
    seconds: float


def with_copy_time(context: Context, plan: Plan) -> Plan:
    """Return the plan with the duration of its copy, or why it is unknown.

    Plans without a copy are returned unchanged.
    """
    copies = [s.details() for s in plan.steps if s.action == _COPY]
    if not copies or not plan.can_apply or copies[0].get("bytes") is None:
        return plan
    # Imported here: hardly a plan copies a remote checkpoint.
    from headgate.store import open_store

    with closing(open_store(context.store_url)) as store:
        told = _time(int(copies[0]["bytes"]), _made(store, _file_system(copies[0]["place"])))
    return replace(plan, impact={**plan.impact, **told})


def _time(size: int, made: Iterable[_Copied]) -> dict[str, Any]:
    found = [m for m in made if m.bytes * _ALIKE >= size]
    if not found:
        why = f"unknown: no run has copied a similar size on this file system. {_UNTIL}"
        return {"copy_seconds": None, "copy_how": why}
    rate = sum(m.bytes for m in found) / sum(m.seconds for m in found)
    runs = ", ".join(m.run for m in found)
    how = f"earlier runs copied at {rate / 1e6:.3g} MB/s on this file system ({runs})"
    return {"copy_seconds": round(size / rate, 1), "copy_how": how}


def _made(store: Store, system: tuple[str, str]) -> Iterator[_Copied]:
    """Yield the newest whole copies on a file system, at most a few."""
    count = 0
    for run in store.progress.runs(_UNIT):
        steps = load_plan(store.runs.get(run).plan, source=f"run {run}").steps
        for told in store.progress.of(run):
            step = steps[told.position]
            if step.action != _COPY or told.unit != _UNIT or not _is_whole(told):
                continue
            if _file_system(step.details()["place"]) == system:
                yield _Copied(run, told.done - told.first_done, _seconds(told))
                count += 1
        if count >= _MOST:
            return


def _is_whole(told: StepProgress) -> bool:
    return told.total is not None and told.done >= told.total and bool(told.rate)


def _seconds(told: StepProgress) -> float:
    passed = datetime.fromisoformat(told.at) - datetime.fromisoformat(told.first_at)
    return passed.total_seconds()


def _file_system(place: str) -> tuple[str, str]:
    found = urlsplit(place)
    return found.scheme, found.netloc.rpartition("@")[2]
