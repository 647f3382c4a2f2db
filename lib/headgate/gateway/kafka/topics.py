"""Topics with offsets and settings, each kind of look-up sent once for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    KafkaError,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource

from headgate.gateway.kafka.errors import LEADERLESS, SILENT, Deadline, gather
from headgate.model.cluster import Partition, Topic
from headgate.model.kafka_streams import looks_internal

TopicPart = tuple[str, int]
Offsets = dict[TopicPart, int | None]
# What stands for the two ends of a log where a time is asked for.
BEGIN, END = OFFSET_BEGINNING, OFFSET_END
# Of partitions in a request: librdkafka 2.16 looks for each one's answer in the list of all. With
# 1,000 in a request it takes half as long again as with 250, with 5,000 four times as long.
AT_ONCE = 250
NAMES = 5
TRIES = 3
PAUSE = 0.2
# `ConfigSource.DYNAMIC_TOPIC_CONFIG`: an entry holds the number.
OF_THE_TOPIC = 1
# What decides how long a changelog or repartition topic keeps what.
KEPT = (
    "cleanup.policy",
    "delete.retention.ms",
    "message.timestamp.type",
    "min.compaction.lag.ms",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.ms",
)
# What decides for how long a group's offsets are kept.
OF_BROKERS = ("offsets.retention.minutes",)
INTERNAL = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


class Warnings:
    """What could not be read, one sentence per kind and reason."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self.errors: list[Any] = []

    @property
    def silent(self) -> bool:
        """Whether something was not answered at all."""
        return any(error.code() in SILENT for error in self.errors)

    def add(self, sentence: str) -> None:
        """Keep a sentence once."""
        self._seen.setdefault(sentence)

    def failed(self, what: str, errors: Mapping[str, Any]) -> None:
        """Say that `what` of these names could not be read, and why."""
        by_reason: dict[str, list[str]] = {}
        for name, error in errors.items():
            self.errors.append(error)
            by_reason.setdefault(error.str(), []).append(name)
        for reason, names in by_reason.items():
            self.add(f"{what} of {some(names)} could not be read: {reason}.")

    def sentences(self) -> tuple[str, ...]:
        """Return the sentences in the order in which they came up."""
        return tuple(self._seen)


def some(names: Iterable[str]) -> str:
    """Return the first names, sorted, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - NAMES
    return ", ".join(ordered[:NAMES]) + (f" and {more} more" if more > 0 else "")


def list_offsets(
    admin: AdminClient, times: Mapping[TopicPart, int], deadline: Deadline
) -> tuple[Offsets, dict[TopicPart, Any]]:
    """Return offsets and errors by partition; -1 (no such record) is None.

    A time is BEGIN, END, or Unix milliseconds. Partitions whose leader is just being found are
    requested once more.
    """
    found, failed = _ask(admin, times, deadline)
    for _ in range(TRIES - 1):
        left = {p: times[p] for p, error in failed.items() if error.code() in LEADERLESS}
        if not left:
            break
        # New topics, an election under way, or no topic of that name: the first two pass.
        time.sleep(PAUSE)
        again, errors = _ask(admin, left, deadline)
        found |= again
        failed = {p: e for p, e in (failed | errors).items() if p not in found}
    return found, failed


def _ask(
    admin: AdminClient, times: Mapping[TopicPart, int], deadline: Deadline
) -> tuple[Offsets, dict[TopicPart, Any]]:
    """Send one request after the other.

    Where a partition's leader is not ready, two that are under way at once corrupt librdkafka's
    memory, and the process dies [run: 2.16.1, 100 new topics on a busy broker].
    """
    wanted = [TopicPartition(topic, number, at) for (topic, number), at in times.items()]
    found: Offsets = {}
    errors: dict[TopicPart, Any] = {}
    for first in range(0, len(wanted), AT_ONCE):
        done, failed = gather(
            {0: _send(admin, wanted[first : first + AT_ONCE], deadline)}, deadline
        )
        if failed:
            errors |= {(tp.topic, tp.partition): failed[0] for tp in wanted[first:]}
            break
        for tp, told in done[0].items():
            if isinstance(told, KafkaError):
                errors[tp.topic, tp.partition] = told
            else:
                found[tp.topic, tp.partition] = told.offset if told.offset >= 0 else None
    return found, errors


def _send(admin: AdminClient, some: list[TopicPartition], deadline: Deadline) -> Future[Any]:
    """Send a request, and return what all of its answer will be in.

    `AdminClient.list_offsets` itself makes a future for each partition, which takes three times as
    long as all the rest.
    """
    answer: Future[Any] = Future()
    answer.set_running_or_notify_cancel()
    request: Any = super(AdminClient, admin)
    request.list_offsets(some, answer, request_timeout=deadline.left)
    return answer


def begin_end(
    admin: AdminClient, parts: Iterable[TopicPart], deadline: Deadline
) -> tuple[dict[TopicPart, tuple[int | None, int | None]], dict[str, Any]]:
    """Return (begin, end) of each partition, None where unknown, and one error per topic."""
    wanted = tuple(parts)
    begin, no_begin = list_offsets(admin, dict.fromkeys(wanted, BEGIN), deadline)
    end, no_end = list_offsets(admin, dict.fromkeys(wanted, END), deadline)
    errors = {topic: error for (topic, _), error in {**no_begin, **no_end}.items()}
    return {p: (begin.get(p), end.get(p)) for p in wanted}, errors


def read_topics(
    admin: AdminClient, metadata: Mapping[str, Any], deadline: Deadline, warnings: Warnings
) -> dict[str, Topic]:
    """Return the topics of `metadata` (librdkafka's, by name); what vanished since is left out."""
    alive = {name: topic for name, topic in metadata.items() if topic.error is None}
    warnings.failed("Metadata", {n: t.error for n, t in metadata.items() if t.error is not None})
    numbers = {name: sorted(topic.partitions) for name, topic in alive.items()}
    # On its way before the first answer is waited for, as is all below.
    descriptions = describe(admin, alive, deadline)
    return _read(admin, numbers, lambda: gather(descriptions, deadline)[0], deadline, warnings)


def read_described(
    admin: AdminClient, described: Mapping[str, Any], deadline: Deadline, warnings: Warnings
) -> dict[str, Topic]:
    """Return the topics that were described (librdkafka's descriptions, by name)."""
    numbers = {name: sorted(p.id for p in d.partitions) for name, d in described.items()}
    return _read(admin, numbers, lambda: described, deadline, warnings)


def _read(
    admin: AdminClient,
    numbers: Mapping[str, list[int]],
    described: Callable[[], Mapping[str, Any]],
    deadline: Deadline,
    warnings: Warnings,
) -> dict[str, Topic]:
    parts = [(name, number) for name, known in numbers.items() for number in known]
    settings = _ask_configs(admin, numbers, deadline)
    offsets, no_offsets = begin_end(admin, parts, deadline)
    configs, no_configs = gather(settings, deadline)
    details = described()
    warnings.failed("Offsets", no_offsets)
    warnings.failed("Settings", no_configs)
    return {
        name: _topic(name, numbers[name], offsets, configs.get(name, {}), details.get(name))
        for name in sorted(numbers)
    }


def _ask_configs(admin: AdminClient, names: Iterable[str], deadline: Deadline) -> dict[str, Any]:
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
    if not resources:
        return {}
    futures = admin.describe_configs(resources, request_timeout=deadline.left)
    return {resource.name: f for resource, f in futures.items()}


def ask_broker_settings(
    admin: AdminClient, brokers: Iterable[int], deadline: Deadline
) -> dict[str, Future[Any]]:
    """Ask one of the brokers for its settings.

    Brokers of one cluster agree on `OF_BROKERS`, as far as anybody keeps them in order.
    """
    first = [ConfigResource(ConfigResource.Type.BROKER, str(n)) for n in sorted(brokers)[:1]]
    if not first:
        return {}
    futures = admin.describe_configs(first, request_timeout=deadline.left)
    return {f"broker {r.name}": f for r, f in futures.items()}


def broker_settings(
    asked: Mapping[str, Future[Any]], deadline: Deadline, warnings: Warnings
) -> dict[str, str]:
    """Return what the broker says of `OF_BROKERS`; empty if this login may not read it.

    A broker that did not answer in time is a warning: asked later, it may answer.
    """
    found, failed = gather(asked, deadline)
    warnings.failed("Settings", {k: e for k, e in failed.items() if e.code() in SILENT})
    said = {k: _word(c, k) for c in found.values() for k in OF_BROKERS}
    return {k: v for k, v in said.items() if v is not None}


def describe(
    admin: AdminClient, names: Iterable[str], deadline: Deadline
) -> dict[str, Future[Any]]:
    """Request id and partitions of topics by name; a request for all returns thousands."""
    # librdkafka takes no empty name; no topic has one.
    wanted = [name for name in names if name]
    if not wanted:
        return {}
    futures: dict[str, Future[Any]] = admin.describe_topics(
        TopicCollection(wanted), request_timeout=deadline.left
    )
    return futures


def _topic(
    name: str,
    numbers: Iterable[int],
    offsets: Mapping[TopicPart, tuple[int | None, int | None]],
    config: Mapping[str, Any],
    description: Any,
) -> Topic:
    said = _settings(name, config)
    return Topic(
        name=name,
        id=str(description.topic_id) if description else None,
        partitions=tuple(
            Partition(number=n, begin=offsets[name, n][0], end=offsets[name, n][1]) for n in numbers
        ),
        internal=description.is_internal if description else name in INTERNAL,
        retention_ms=_whole(config, "retention.ms"),
        retention_bytes=_whole(config, "retention.bytes"),
        cleanup_policy=_word(config, "cleanup.policy"),
        timestamp_type=_word(config, "message.timestamp.type"),
        settings={k: said[k] for k in KEPT if k in said},
        own_settings={k: v for k, v in said.items() if config[k].source == OF_THE_TOPIC},
    )


def _settings(name: str, config: Mapping[str, Any]) -> dict[str, str]:
    """Keep the settings of topics that Kafka Streams made: a restart never changes them."""
    if not looks_internal(name):
        return {}
    return {k: str(e.value) for k, e in sorted(config.items()) if e.value is not None}


def _word(config: Mapping[str, Any], key: str) -> str | None:
    entry = config.get(key)
    return None if entry is None or entry.value is None else str(entry.value)


def _whole(config: Mapping[str, Any], key: str) -> int | None:
    word = _word(config, key)
    return None if word is None else int(word)
