"""How far a consumer group or a Kafka Streams application has read, waited for by offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headgate.errors import RefusedError
from headgate.model.kafka_streams import InternalKind, internal_kind, looks_internal
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.steps.base.group_liveness import ASSIGNED_SECONDS, unassigned
from headgate.reprocess.steps.base.step import known_log
from headgate.reprocess.steps.base.wait import Wait
from headgate.reprocess.steps.offsets.partition_offsets import committed
from headgate.text.numbers import name_list

Part = tuple[str, int]
# How long a version may take to read what is there when the wait begins.
READ_SECONDS = 600.0
# For how long a status of `stopped` means that a version has ended.
_STOPPED_SECONDS = 5.0
_POLL = 0.5
# How long commits must stand still before records are looked for between commit and end.
STILL_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Version:
    """A version at work: its pipeline and its group.

    `drains` says that it is a Kafka Streams application, whose repartition topics are read too.
    """

    pipeline: str
    group: str
    drains: bool = False


def latest(inspector: Inspector, topics: Iterable[str]) -> dict[Part, int]:
    """Return where each partition ends now."""
    found = inspector.kafka.topics(topics)
    return {(n, p.number): known_log(n, p)[1] for n, t in found.items() for p in t.partitions}


def positions(inspector: Inspector, group: str, topics: Iterable[str]) -> dict[Part, int]:
    """Return the committed offsets of a group on these topics."""
    wanted = set(topics)
    found = committed(inspector, group)
    return {part: c.offset for part, c in found.items() if part[0] in wanted}


def wait_until_read(applier: Applier, version: Version, ends: Mapping[Part, int]) -> None:
    """Return once the version has processed all records before these offsets.

    An application that passes records on through repartition topics has then processed those,
    too. RefusedError if it ends, or if that takes too long.
    """
    _wait(applier, version, ends)
    if not version.drains:
        return
    # Once for each topic: what one of them holds may go to the next.
    for _ in owned(applier, version.group):
        _wait(applier, version, latest(applier, owned(applier, version.group)))


def owned(inspector: Inspector, application: str) -> list[str]:
    """Return the topics through which an application passes records on to itself.

    Those of a new application hold records before anything is committed for them.
    """
    return [
        name
        for name in internal_topics(inspector, application)
        if internal_kind(name) is not InternalKind.CHANGELOG
    ]


def in_flight(inspector: Inspector, application: str) -> int:
    """Return how many offsets of its repartition topics an application has not processed."""
    topics = inspector.kafka.topics(owned(inspector, application))
    at = _committed(inspector, application)
    logs = [(n, p.number, *known_log(n, p)) for n, t in topics.items() for p in t.partitions]
    return sum(max(end - max(at.get((n, p), begin), begin), 0) for n, p, begin, end in logs)


def internal_topics(inspector: Inspector, application: str) -> list[str]:
    """Return the internal topics by the application's id, without those of a longer id."""
    longer = {g for g in inspector.kafka.groups() if g.startswith(f"{application}-")}
    longer |= {
        p.group
        for p in inspector.processes.pipelines()
        if p.group and p.group.startswith(f"{application}-")
    }
    return sorted(
        name
        for name in inspector.kafka.topic_names()
        if name.startswith(f"{application}-")
        and looks_internal(name)
        and not any(name.startswith(f"{other}-") for other in longer)
    )


def _wait(applier: Applier, version: Version, ends: Mapping[Part, int]) -> None:
    wait, still, before = Wait(applier=applier, poll=_POLL), 0.0, None
    idle_seconds = 0.0
    while left := _late(at := _committed(applier, version.group), ends):
        still = still + _POLL if at == before else 0.0
        before = at
        if still >= STILL_SECONDS:
            still = 0.0
            left = unread(applier, version.group, ends)
        if not left:
            return
        wait.saw(has_ended=applier.processes.status(version.pipeline) is Status.STOPPED)
        if wait.ended >= _STOPPED_SECONDS:
            raise RefusedError(
                f"{version.pipeline} ended before it had processed all records that the run waits "
                f"for. See the log of {version.pipeline} for the cause, then run `headgate plan` "
                "again"
            )
        idle = unassigned(applier.kafka.group(version.group), left)
        idle_seconds = idle_seconds + _POLL if idle else 0.0
        if idle_seconds >= ASSIGNED_SECONDS:
            names = name_list(f"{t}[{p}]" for t, p in idle)
            raise RefusedError(
                f"no member of group {version.group} reads {names}. Both versions must read the "
                "same topics. Correct the version, or set `topics` in headgate.toml to the topics "
                "that both read, then run `headgate plan` again"
            )
        if wait.seconds >= READ_SECONDS:
            names = name_list(f"{t}[{p}]" for t, p in left)
            raise RefusedError(
                f"{version.pipeline} has not caught up on {names} after {READ_SECONDS:.0f} s. Give "
                f"{version.pipeline} more resources, then run `headgate plan` again"
            )
        wait.pause()


def _committed(inspector: Inspector, group: str) -> dict[Part, int]:
    return {part: c.offset for part, c in committed(inspector, group).items()}


def _late(at: Mapping[Part, int], ends: Mapping[Part, int]) -> list[Part]:
    return sorted(part for part, end in ends.items() if at.get(part, 0) < end)


def unread(applier: Applier, group: str, ends: Mapping[Part, int]) -> list[Part]:
    """Return the partitions that hold records between a group's offset and the wanted one.

    Markers of transactions are offsets without a record: no commit need come to them.
    """
    at = _committed(applier, group)
    late = {part: (at.get(part, 0), ends[part]) for part in _late(at, ends)}
    if not late:
        return []
    begins = {
        (n, p.number): known_log(n, p)[0]
        for n, t in applier.kafka.topics({topic for topic, _ in late}).items()
        for p in t.partitions
    }
    ranges = {
        part: (max(begin, begins.get(part, 0)), end)
        for part, (begin, end) in late.items()
        if max(begin, begins.get(part, 0)) < end
    }
    first = applier.kafka.first_records(ranges) if ranges else {}
    return sorted(first)
