"""Kafka read through librdkafka's admin client, every look-up batched.

All reading of one call shares one time limit, so that a broker that does not answer, or one
whose advertised address is wrong, becomes one sentence within ten seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headgate.errors import ConfigError, HeadgateError
from headgate.gateway.kafka import consumer_groups
from headgate.gateway.kafka import topics as kafka_topics
from headgate.gateway.kafka.errors import (
    MISSING,
    SILENT,
    Deadline,
    advertised,
    gather,
    is_final,
    kafka_error,
    translate,
    unreachable,
)
from headgate.gateway.kafka.java_admin_client import JavaAdmin
from headgate.gateway.kafka.topics import Offsets, TopicPart, Warnings
from headgate.gateway.process.jars import install_step
from headgate.model.cluster import Cluster, Group, GroupType, Topic
from headgate.model.kafka_streams import looks_internal

TIMEOUT = 9.0
# A refused connection is told after the first of these, a silent one after the second.
FIRST_ANSWERS = (2.0, 4.0)


class Kafka:
    """One cluster at `bootstrap`; `config` are librdkafka's settings.

    `java` completes groups whose type librdkafka doesn't know, and is not closed with this object.
    `timeout` limits one call, in seconds. Raises UnreachableError if nothing answers,
    ConfigError for settings that the client does not take.
    """

    def __init__(
        self,
        bootstrap: str,
        config: Mapping[str, str] | None = None,
        *,
        java: JavaAdmin | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self.bootstrap = bootstrap
        self.config = dict(config or {})
        self.timeout = timeout
        self.java = java
        self._hint: Any = None
        self.admin = self._client()

    def __enter__(self) -> Kafka:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections; the object is of no use afterwards."""
        self.__dict__.pop("admin", None)

    def deadline(self) -> Deadline:
        """Begin the time limit of one call."""
        self.admin.poll(0)
        self._hint = None
        return Deadline(self.timeout)

    def cluster_id(self) -> str:
        """Return the cluster's id, the same for all its life."""
        deadline = self.deadline()
        asked = self.admin.describe_cluster(request_timeout=deadline.left)
        done, failed = self._heard({"cluster": asked}, deadline)
        for failure in failed.values():
            raise translate(failure, self.bootstrap, self._hint)
        return str(done["cluster"].cluster_id)

    def snapshot(self) -> Cluster:
        """Read topics, groups and offsets; what could not be read is in `warnings`.

        A group's offsets are read after the topics' earliest and latest ones, so that a purge that
        follows a commit never looks like lost records.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        deadline, warnings = self.deadline(), Warnings()
        metadata = self._metadata(deadline)
        # Asked first: the topics of a large cluster may leave no time.
        asked = kafka_topics.ask_broker_settings(self.admin, metadata.brokers, deadline)
        topics = kafka_topics.read_topics(self.admin, metadata.topics, deadline, warnings)
        groups = self._groups(deadline, warnings)
        settings = kafka_topics.broker_settings(asked, deadline, warnings)
        if warnings.silent and not _any_offset(topics):
            self.admin.poll(0)
            raise unreachable(self.bootstrap, self._hint)
        return Cluster(
            id=str(metadata.cluster_id),
            at=at,
            bootstrap=self.bootstrap,
            topics=self._sized(topics, warnings),
            groups=groups,
            warnings=warnings.sentences(),
            broker_settings=settings,
        )

    def partitions(self) -> dict[str, frozenset[int]]:
        """Return the partitions' numbers of every topic, only from the metadata."""
        topics = self._metadata(self.deadline()).topics
        return {name: frozenset(t.partitions) for name, t in topics.items() if t.error is None}

    def topics(self, names: Iterable[str]) -> dict[str, Topic]:
        """Return those of the topics that exist, by name, with offsets and settings."""
        deadline, warnings = self.deadline(), Warnings()
        found = self._described(names, deadline)
        topics = kafka_topics.read_described(self.admin, found, deadline, warnings)
        if warnings.silent:
            raise unreachable(self.bootstrap, self._hint)
        return topics

    def identities(self, names: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Return id and number of partitions of those of the topics that exist."""
        found = self._described(names, self.deadline())
        return {n: (str(d.topic_id), len(d.partitions)) for n, d in found.items()}

    def begin_end(
        self, parts: Iterable[TopicPart]
    ) -> dict[TopicPart, tuple[int | None, int | None]]:
        """Return (begin, end) of each (topic, partition); None where it does not exist."""
        found, errors = kafka_topics.begin_end(self.admin, parts, self.deadline())
        self._raise_unless_missing(errors)
        return found

    def offsets_for_times(self, times: Mapping[TopicPart, int]) -> Offsets:
        """Return the first offset at or after each time (ms since 1970, UTC).

        None where there is no such record, or no such partition.
        """
        found, errors = kafka_topics.list_offsets(self.admin, times, self.deadline())
        self._raise_unless_missing(errors)
        return {part: found.get(part) for part in times}

    def describe_group(self, group_id: str) -> Group:
        """Return one group with its offsets; one that Kafka does not list is `dead`, no members.

        Raises RefusedError where the group may not be seen.
        """
        deadline = self.deadline()
        listing = self._listing(deadline)
        groups, warnings = consumer_groups.read_group(self.admin, group_id, listing, deadline)
        for failure in warnings.errors:
            raise translate(failure, self.bootstrap, self._hint)
        return self._completed(groups, Warnings())[group_id]

    def group_type(self, group_id: str) -> GroupType:
        """Return the group's type; classic and consumer groups need no further request."""
        listed = self._listing(self.deadline()).type_of(group_id)
        return self.describe_group(group_id).type if listed is GroupType.UNKNOWN else listed

    def groups(self) -> tuple[Group, ...]:
        """Return every group with members and offsets; UnreachableError if one is unknown."""
        deadline, warnings = self.deadline(), Warnings()
        groups = self._groups(deadline, warnings)
        for failure in warnings.errors:
            raise translate(failure, self.bootstrap, self._hint)
        return tuple(groups.values())

    def _client(self) -> AdminClient:
        settings = {
            **self.config,
            "bootstrap.servers": self.bootstrap,
            "error_cb": self._remember,
            "log_level": 0,
        }
        try:
            return AdminClient(settings)
        except KafkaException as error:
            raise ConfigError(
                f"Kafka's client rejects a setting in [kafka.config]: {kafka_error(error).str()}"
            ) from None

    def _remember(self, error: Any) -> None:
        """Keep what a connection says of its failure: the call itself only says `timed out`."""
        if error.code() != error._ALL_BROKERS_DOWN and not advertised(self._hint):
            self._hint = error

    def _metadata(self, deadline: Deadline) -> Any:
        for seconds in FIRST_ANSWERS:
            try:
                return self.admin.list_topics(timeout=min(deadline.left, seconds))
            except KafkaException as error:
                self.admin.poll(0)
                failure = kafka_error(error)
            if failure.code() not in SILENT or is_final(self._hint):
                break
        raise translate(failure, self.bootstrap, self._hint)

    def _described(self, names: Iterable[str], deadline: Deadline) -> dict[str, Any]:
        """Return the descriptions of those of the topics that exist."""
        asked = kafka_topics.describe(self.admin, names, deadline)
        found, errors = self._heard(asked, deadline)
        self._raise_unless_missing(errors)
        return found

    def _heard(
        self, asked: Mapping[str, Future[Any]], deadline: Deadline
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return results and errors; a refused connection is reported early."""
        _, silent = wait(asked.values(), timeout=min(deadline.left, FIRST_ANSWERS[0]))
        self.admin.poll(0)
        if silent and is_final(self._hint):
            raise unreachable(self.bootstrap, self._hint)
        return gather(asked, deadline)

    def _listing(self, deadline: Deadline) -> consumer_groups.Listing:
        try:
            return consumer_groups.list_all(self.admin, deadline, Warnings())
        except KafkaException as error:
            raise translate(kafka_error(error), self.bootstrap, self._hint) from None

    def _groups(self, deadline: Deadline, warnings: Warnings) -> dict[str, Group]:
        try:
            listing = consumer_groups.list_all(self.admin, deadline, warnings)
        except KafkaException as error:
            warnings.failed("The group list", {"the cluster": kafka_error(error)})
            return {}
        groups = consumer_groups.read_groups(self.admin, listing.ids, listing, deadline, warnings)
        return self._completed(groups, warnings)

    def _completed(self, groups: dict[str, Group], warnings: Warnings) -> dict[str, Group]:
        """Fill in the groups whose type librdkafka doesn't know, if the Java client is there."""
        unknown = consumer_groups.unknown_types(groups)
        if not unknown:
            return groups
        told = self._from_java(unknown, warnings)
        return {i: _with_pending(g, told[i]) if i in told else g for i, g in groups.items()}

    def _sized(self, topics: dict[str, Topic], warnings: Warnings) -> dict[str, Topic]:
        """Add the sizes on disk of topics that look like internal ones of Kafka Streams."""
        wanted = [name for name in topics if looks_internal(name)]
        if self.java is None or not wanted:
            return topics
        try:
            sizes = self.java.log_sizes()
        except HeadgateError as error:
            warnings.add(f"Sizes of topics {kafka_topics.some(wanted)} could not be read: {error}.")
            return topics
        parts = {
            name: [sizes.get((name, p.number)) for p in topics[name].partitions] for name in wanted
        }
        known = {
            n: sum(s for s in found if s is not None)
            for n, found in parts.items()
            if None not in found
        }
        return {n: replace(t, bytes=known.get(n)) if n in known else t for n, t in topics.items()}

    def _from_java(self, unknown: list[str], warnings: Warnings) -> dict[str, Group]:
        names = kafka_topics.some(unknown)
        if self.java is None:
            warnings.add(
                f"Type and members of groups {names} are unknown. To read share and "
                "streams groups, Headgate needs the jars of Kafka's Java client: "
                f"{install_step()}."
            )
            return {}
        try:
            return self.java.describe(unknown)
        except HeadgateError as error:
            warnings.add(f"Type and members of groups {names} could not be read: {error}.")
            return {}

    def _raise_unless_missing(self, errors: Mapping[Any, Any]) -> None:
        for error in errors.values():
            if error.code() not in MISSING:
                raise translate(error, self.bootstrap, self._hint)


def _with_pending(group: Group, told: Group) -> Group:
    """Return the Java client's group, with the transactions that only librdkafka reports."""
    waiting = {(o.topic, o.partition): o for o in group.offsets if o.pending}
    known = {(o.topic, o.partition): o for o in told.offsets}
    pending = {part: replace(known.get(part, o), pending=True) for part, o in waiting.items()}
    offsets = sorted({**known, **pending}.items())
    return replace(told, offsets=tuple(offset for _, offset in offsets))


def _any_offset(topics: Mapping[str, Topic]) -> bool:
    return any(p.end is not None for t in topics.values() for p in t.partitions)
