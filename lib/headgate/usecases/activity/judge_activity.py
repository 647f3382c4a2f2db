"""Decide whether a pipeline runs, and describe the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from headgate.model.activity import Activity, ActivityState
from headgate.model.cluster import Cluster, Group
from headgate.parse.spark.watch.read import Life
from headgate.reprocess.ports.processes import Status
from headgate.text.times import iso

SILENT = timedelta(seconds=100)
"""After this time without a report, a watch counts as silent: it reports at least every 30 s."""
RECENT = timedelta(seconds=120)
"""A batch that began within this time is a sign of a running query."""
_SAYS = "the status command reports: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What was checked. `gone`: the driver's process has ended; None if unknown.

    `begun` is (number, ISO 8601 time) of the newest batch in the checkpoint's offset log.
    `advanced`: this batch is newer than the batch of the last check. `problems` are sentences about
    what couldn't be checked.
    """

    life: Life | None = None
    gone: bool | None = None
    status: Status | None = None
    begun: tuple[int, str] | None = None
    advanced: bool = False
    problems: tuple[str, ...] = field(default=())


def judge(signs: Signs, now: datetime) -> Activity:
    """Return the activity of a Spark query from the first sign that isn't outdated.

    The watch is first, because the query itself reports it. Then come the status command, and a
    batch that was planned recently. A query without new data starts no batch, so an old batch isn't
    evidence.
    """
    found = _by_watch(signs, now) or _by_status(signs) or _by_checkpoint(signs, now)
    if found is None:
        found = Activity(reason=_nothing(signs), seen_at=_seen(signs))
    batch = found.batch if found.batch is not None else _batch(signs)
    return replace(
        found,
        batch=batch,
        proof=tuple(_checks(signs)),
        commanded=signs.status.value if signs.status else None,
        looked_at=iso(now),
    )


def judge_group(
    group: Group | None, cluster: Cluster | None, problem: str, now: datetime
) -> Activity:
    """Return the activity of a consumer group or a Kafka Streams application."""
    looked = iso(now)
    if cluster is None or group is None:
        return Activity(reason=problem, proof=(problem,), looked_at=looked)
    state, reason = _of_group(group)
    return Activity(
        state=state,
        reason=reason,
        # Of a group without members, Kafka says nothing of when it was active.
        seen_at=cluster.at if state is ActivityState.RUNNING else None,
        proof=(f"Kafka reported at {_clock(cluster.at)}: {reason}",),
        feed="group" if state is not ActivityState.UNKNOWN else None,
        looked_at=looked,
    )


def continued(found: Activity, before: Activity | None) -> Activity:
    """Return the activity with `since`, the time when its state began.

    If the last check found the same run in the same state, `since` stays the same. If no evidence
    has the time, the state began with the check that first found it.
    """
    is_same = before is not None and before.state is found.state and before.run_id == found.run_id
    if found.since is not None:
        return found
    if is_same and before is not None and before.since:
        return replace(found, since=before.since)
    return replace(found, since=found.looked_at)


def _by_watch(signs: Signs, now: datetime) -> Activity | None:
    life = signs.life
    if life is None or life.told_at is None:
        return None
    known = Activity(
        since=life.told_at, seen_at=life.told_at, batch=life.batch, run_id=life.run_id, feed="watch"
    )
    if life.ended and (life.exception or life.error_class):
        reason = ": ".join(filter(None, (life.error_class, _line(life.exception))))
        return replace(
            known, state=ActivityState.FAILED, reason=reason, error_class=life.error_class
        )
    if life.ended:
        return replace(
            known,
            state=ActivityState.STOPPED,
            reason="headgate.watch reported the query's end, without an error",
        )
    if _started_after(signs, life.told_at):
        return None
    if life.closed and life.over:
        return replace(known, state=ActivityState.STOPPED, reason=life.closed)
    if life.closed:
        return None
    if signs.gone:
        return replace(
            known,
            state=ActivityState.FAILED,
            reason=(
                "the driver process was killed or crashed: the driver didn't report the query's end"
            ),
        )
    if now - _time(life.told_at) <= SILENT:
        since = life.started_at or life.told_at
        batch = f"batch {life.batch}" if life.batch is not None else "no batch yet"
        return replace(
            known,
            state=ActivityState.RUNNING,
            since=since,
            reason=f"headgate.watch reports {batch}",
        )
    if signs.status is Status.STOPPED:
        return replace(
            known,
            state=ActivityState.FAILED,
            reason=(
                "the status command reports a stop, but the driver didn't report the query's end: "
                "the driver was killed or crashed"
            ),
        )
    return None


def _by_status(signs: Signs) -> Activity | None:
    match signs.status:
        case Status.RUNS:
            return Activity(
                state=ActivityState.RUNNING, reason="reported by the status command", feed="status"
            )
        case Status.STOPPED:
            return Activity(
                state=ActivityState.STOPPED, reason="reported by the status command", feed="status"
            )
    return None


def _by_checkpoint(signs: Signs, now: datetime) -> Activity | None:
    if signs.begun is None:
        return None
    batch, at = signs.begun
    if not signs.advanced and now - _time(at) > RECENT:
        return None
    reason = f"{'new ' if signs.advanced else ''}batch {batch} started at {_clock(at)}"
    return Activity(
        state=ActivityState.RUNNING, seen_at=at, batch=batch, reason=reason, feed="checkpoint"
    )


def _started_after(signs: Signs, told_at: str) -> bool:
    """Whether a batch began well after the last word of the watch: in another run."""
    if signs.begun is None:
        return False
    return _time(signs.begun[1]) - _time(told_at) > SILENT


def _nothing(signs: Signs) -> str:
    life = signs.life
    if signs.status is Status.PAUSED:
        return f"{_SAYS}{signs.status.word}"
    if life is not None and life.closed:
        return f"{life.closed}, and headgate.watch reported nothing after that"
    if life is not None and life.told_at:
        return (
            f"headgate.watch has reported nothing since {_clock(life.told_at)}, and never reported "
            "the query's end"
        )
    if signs.begun is not None:
        batch, at = signs.begun
        return (
            f"batch {batch} is the newest, and started at {_clock(at)}: the query may be stopped, "
            "or has no new data"
        )
    if signs.problems:
        return "; ".join(signs.problems)
    if signs.status is not None:
        return f"{_SAYS}{signs.status.word}"
    return "headgate.toml has neither `watch` nor a status command"


def _checks(signs: Signs) -> list[str]:
    out = []
    if signs.life is not None and signs.life.told_at:
        out.append(_told(signs.life))
    if signs.gone is not None and signs.life is not None:
        pid = signs.life.driver.get("pid")
        out.append(f"driver process {pid} {'has ended' if signs.gone else 'is running'}")
    if signs.status is not None:
        out.append(f"{_SAYS}{signs.status.word}")
    if signs.begun is not None:
        out.append(f"batch {signs.begun[0]} started at {_clock(signs.begun[1])}")
    return [*out, *signs.problems]


def _told(life: Life) -> str:
    at = _clock(life.told_at or "")
    if life.ended:
        return f"headgate.watch reported the query's end at {at}"
    if life.closed:
        return f"{life.closed} at {at}"
    batch = f"; the newest batch is {life.batch}" if life.batch is not None else ""
    return f"headgate.watch last reported at {at}{batch}"


def _of_group(group: Group) -> tuple[ActivityState, str]:
    members = group.members
    if members:
        count = f"{len(members)} member{'s' if len(members) > 1 else ''}"
        return ActivityState.RUNNING, f"group {group.id} is {group.state}, {count}"
    if group.is_inactive:
        return ActivityState.STOPPED, f"group {group.id} is empty"
    return (
        ActivityState.UNKNOWN,
        f"group {group.id} is {group.state}, and the group's members are unknown",
    )


def _seen(signs: Signs) -> str | None:
    told = signs.life.told_at if signs.life else None
    return max(filter(None, (told, signs.begun[1] if signs.begun else None)), default=None)


def _batch(signs: Signs) -> int | None:
    known = [signs.life.batch if signs.life else None, (signs.begun or (None,))[0]]
    return max((b for b in known if b is not None), default=None)


def _line(text: str | None) -> str | None:
    return text.split("\n", 1)[0][:300] if text else None


def _time(at: str) -> datetime:
    found = datetime.fromisoformat(at)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _clock(at: str) -> str:
    """Return a time for people, to the second."""
    try:
        return _time(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return at
