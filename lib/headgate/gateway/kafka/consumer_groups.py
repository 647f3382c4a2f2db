"""Groups of every type with members and committed offsets, as far as librdkafka reports them.

librdkafka 2.16 knows the types classic and consumer. A share group, a streams group and a group
that does not exist are all described as classic, dead and without members, and
`list_consumer_groups` leaves share and streams groups out; only the deprecated `list_groups`
names them. A group that is named there and not by the other therefore has an unknown type here:
its members are None, never empty. Kafka's Java client reports them (`kafka_java`).
"""

from __future__ import annotations

import time
import warnings as python_warnings
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from headgate.gateway.kafka.errors import COORDINATOR_TIME, TRANSIENT, Deadline, gather, kafka_error
from headgate.gateway.kafka.topics import Warnings
from headgate.model.cluster import Group, GroupOffset, GroupType, Member

PAUSE = 0.2


@dataclass(frozen=True)
class Listing:
    """What the two listings say: every group's name, and what either of them knows of it."""

    named: dict[str, Any]
    typed: dict[str, Any]

    @property
    def ids(self) -> list[str]:
        """Every group that exists and may be seen, sorted."""
        return sorted({*self.named, *self.typed})

    def type_of(self, group: str) -> GroupType:
        """Return what the listing says; brokers before 3.7 list no type."""
        listed = self.typed.get(group)
        return GroupType.UNKNOWN if listed is None else _type(listed.type)


def list_all(admin: AdminClient, deadline: Deadline, warnings: Warnings) -> Listing:
    """Return every group that either listing names.

    A broker that was just started still loads its groups: it is asked again while there is time.
    """
    asked = _ask_typed(admin, deadline)
    named = {g.id: g for g in _list_groups(admin, deadline)}
    typed, errors = _reported_types(asked, deadline)
    while any(map(is_passing, errors)) and deadline.left > PAUSE:
        time.sleep(PAUSE)
        typed, errors = _reported_types(_ask_typed(admin, deadline), deadline)
    for error in errors:
        warnings.failed("The group list", {"the cluster": error})
    return Listing(named, {g.group_id: g for g in typed})


def _list_groups(admin: AdminClient, deadline: Deadline) -> list[Any]:
    while True:
        try:
            with python_warnings.catch_warnings():
                # Deprecated, and the only call of librdkafka that names share and streams groups.
                python_warnings.simplefilter("ignore", DeprecationWarning)
                return list(admin.list_groups(timeout=deadline.left))
        except KafkaException as error:
            if not is_passing(kafka_error(error)) or deadline.left <= PAUSE:
                raise
        time.sleep(PAUSE)


def _ask_typed(admin: AdminClient, deadline: Deadline) -> Any:
    return admin.list_consumer_groups(request_timeout=deadline.left)


def _reported_types(asked: Any, deadline: Deadline) -> tuple[list[Any], list[Any]]:
    """Return the groups whose type is known, and what the brokers answered instead."""
    done, failed = gather({"groups": asked}, deadline)
    if failed:
        return [], list(failed.values())
    return list(done["groups"].valid), [kafka_error(error) for error in done["groups"].errors]


def read_groups(
    admin: AdminClient,
    ids: Iterable[str],
    listing: Listing,
    deadline: Deadline,
    warnings: Warnings,
) -> dict[str, Group]:
    """Return the groups named `ids`, sorted: one describe call, offsets of all at once."""
    wanted = sorted(ids)
    described, undescribed = _describe(admin, wanted, deadline)
    ready = [i for i in wanted if i not in undescribed or not is_passing(undescribed[i])]
    offsets, no_offsets = committed(admin, ready, deadline)
    no_offsets |= {i: undescribed[i] for i in wanted if i not in ready}
    warnings.failed("Members", undescribed)
    warnings.failed("Committed offsets", no_offsets)
    return {i: group_from(i, listing, described.get(i), offsets.get(i, ())) for i in wanted}


def read_group(
    admin: AdminClient, group: str, listing: Listing, deadline: Deadline
) -> tuple[dict[str, Group], Warnings]:
    """Return one group as `read_groups` does; its coordinator is waited for."""
    while True:
        warnings = Warnings()
        found = read_groups(admin, [group], listing, deadline, warnings)
        if not any(map(is_passing, warnings.errors)) or deadline.left <= PAUSE:
            return found, warnings
        time.sleep(PAUSE)


def _describe(
    admin: AdminClient, ids: list[str], deadline: Deadline
) -> tuple[dict[str, Any], dict[str, Any]]:
    if not ids:
        return {}, {}
    return gather(admin.describe_consumer_groups(ids, request_timeout=COORDINATOR_TIME), deadline)


def is_passing(error: Any) -> bool:
    """Whether a coordinator is just being found or loads its groups.

    A request for offsets at that time crashes librdkafka 2.16, and this process with it
    (`rd_kafka_handle_OffsetFetch` notifies a consumer group that an admin client has not).
    """
    return error.code() in TRANSIENT


def wait_for_coordinator(admin: AdminClient, group: str, deadline: Deadline) -> Any:
    """Return None once the group's coordinator answers, its error where it does not by then."""
    while True:
        _, failed = _describe(admin, [group], deadline)
        if group not in failed or not is_passing(failed[group]):
            return None
        if deadline.left <= PAUSE:
            return failed[group]
        time.sleep(PAUSE)


def committed(
    admin: AdminClient, ids: Iterable[str], deadline: Deadline
) -> tuple[dict[str, tuple[GroupOffset, ...]], dict[str, Any]]:
    """Return every committed offset by group, and errors by group; the calls run side by side.

    A group with an error has either no offsets here, or not those of the partitions in error.
    Asked is for stable offsets: only of groups with others, which a transaction is at, twice.
    """
    done, failed = _list_offsets(admin, ids, deadline, stable=True)
    pending = {g: parts for g, result in done.items() if (parts := _unstable(result))}
    if pending:
        again, failed_again = _list_offsets(admin, pending, deadline, stable=False)
        done, failed = {**done, **again}, {**failed, **failed_again}
    for group, result in done.items():
        # Left out in silence, a partition would look as if nothing was ever committed for it.
        if errors := [tp.error for tp in result.topic_partitions if tp.error is not None]:
            failed[group] = errors[0]
    return {g: _offsets(result, pending.get(g, frozenset())) for g, result in done.items()}, failed


def _list_offsets(
    admin: AdminClient, ids: Iterable[str], deadline: Deadline, *, stable: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    futures: dict[str, Any] = {}
    for group in ids:
        request = [ConsumerGroupTopicPartitions(group)]
        futures |= admin.list_consumer_group_offsets(
            request, require_stable=stable, request_timeout=COORDINATOR_TIME
        )
    return gather(futures, deadline)


def _unstable(result: Any) -> frozenset[tuple[str, int]]:
    """Return the partitions whose offset waits for a transaction's end."""
    return frozenset(
        (tp.topic, tp.partition)
        for tp in result.topic_partitions
        if tp.error is not None and tp.error.code() == KafkaError.UNSTABLE_OFFSET_COMMIT
    )


def _offsets(result: Any, pending: Set[tuple[str, int]]) -> tuple[GroupOffset, ...]:
    found = (
        GroupOffset(
            topic=tp.topic,
            partition=tp.partition,
            offset=tp.offset if tp.offset >= 0 else None,
            leader_epoch=tp.leader_epoch,
            metadata=_metadata(tp),
            pending=(tp.topic, tp.partition) in pending,
        )
        for tp in result.topic_partitions
        if tp.error is None
    )
    return tuple(sorted(found, key=lambda o: (o.topic, o.partition)))


def _metadata(committed: Any) -> str | None:
    """Return what was committed with the offset; Kafka Streams commits twelve characters and more.

    librdkafka 2.16 passes them without their length (its issue 4649), so the text may run into the
    memory after it. If that memory isn't text, only what comes before it counts.
    """
    try:
        return committed.metadata or None
    except UnicodeDecodeError as error:
        whole = error.object[: error.start].decode()
        return "".join(takewhile(str.isprintable, whole)) or None


def group_from(
    group_id: str, listing: Listing, description: Any, offsets: tuple[GroupOffset, ...]
) -> Group:
    """Return one group out of listings and description; a hidden or missing one is `dead`."""
    named, typed = listing.named.get(group_id), listing.typed.get(group_id)
    if typed is not None:
        return _of_consumers(group_id, typed, description, offsets)
    if named is not None and named.protocol_type:
        return _of_another_protocol(group_id, named, offsets)
    if named is not None:
        return Group(id=group_id, offsets=offsets)
    return Group(id=group_id, state="dead", members=(), offsets=offsets)


def _of_consumers(
    group_id: str, listed: Any, description: Any, offsets: tuple[GroupOffset, ...]
) -> Group:
    if description is None:
        return Group(id=group_id, type=_type(listed.type), state=_state(listed), offsets=offsets)
    # Brokers before 3.7 list no type; there a described group is a classic one.
    word = _type(listed.type)
    return Group(
        id=group_id,
        type=_type(description.type) if word is GroupType.UNKNOWN else word,
        state=_state(description),
        members=tuple(_member(m) for m in description.members),
        offsets=offsets,
    )


def _of_another_protocol(group_id: str, listed: Any, offsets: tuple[GroupOffset, ...]) -> Group:
    """A classic group of Kafka Connect, a schema registry and the like."""
    return Group(
        id=group_id,
        type=GroupType.CLASSIC,
        state=_hyphened(listed.state),
        members=tuple(
            Member(id=m.id, client_id=m.client_id, host=m.client_host) for m in listed.members
        ),
        offsets=offsets,
    )


def _member(member: Any) -> Member:
    parts = member.assignment.topic_partitions if member.assignment else ()
    return Member(
        id=member.member_id,
        client_id=member.client_id,
        host=member.host,
        instance_id=member.group_instance_id,
        assignment=tuple(sorted((tp.topic, tp.partition) for tp in parts)),
    )


def _type(kind: Any) -> GroupType:
    return GroupType(kind.name.lower())


def _state(thing: Any) -> str:
    return str(thing.state.name).lower()


def _hyphened(word: str) -> str:
    """Write `PreparingRebalance` as `preparing_rebalance`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in word).lstrip("_") or "unknown"


def unknown_types(groups: Mapping[str, Group]) -> list[str]:
    """Return the groups whose type librdkafka does not know."""
    return [g.id for g in groups.values() if g.type is GroupType.UNKNOWN and g.members is None]
