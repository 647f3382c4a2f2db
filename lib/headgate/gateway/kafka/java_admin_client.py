"""Kafka's own Java admin client, for what librdkafka can't do: share and streams groups, deleting
single offsets, sizes of log directories.

A JVM of its own is started at the first use and kept. It listens on loopback only and requires a
token. It ends when its standard input closes, that is with this process however that ends; a
signal for the parent's death would come too early here, because Linux sends it when the *thread*
that started the child ends, and a page's thread does after each draw.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from headgate.errors import HeadgateError, RefusedError, StepError, UnreachableError
from headgate.gateway.kafka.java_client_config import java_config
from headgate.gateway.kafka.java_streams_groups import each, streams_group, word
from headgate.gateway.kafka.topics import TopicPart
from headgate.model.cluster import Group, GroupOffset, GroupType, Member

JVM = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
MISSING = ("GroupIdNotFoundException",)
FORBIDDEN = ("AuthorizationException",)
SILENT = ("TimeoutException", "DisconnectException", "Failed to find brokers")
TIMEOUT = 8.0
_READ = "consumer_byte_rate"


class JavaAdmin:
    """Kafka's Java client for one cluster; `class_path` holds the broker's jars.

    `timeout` limits one request, in seconds. Methods are safe to call from several threads.
    Errors are ours: UnreachableError, RefusedError (a missing right), SetupError (no Java), and
    StepError where Kafka rejected a change.
    """

    def __init__(
        self,
        bootstrap: str,
        config: Mapping[str, str] | None = None,
        *,
        class_path: str,
        timeout: float = TIMEOUT,
    ) -> None:
        self.bootstrap = bootstrap
        self._config = java_config(bootstrap, config or {}, timeout_ms=int(timeout * 1000))
        self._class_path = class_path
        self._lock = threading.RLock()
        self._gateway: Any = None
        self._process: Any = None
        self._admin: Any = None

    def close(self) -> None:
        """End the JVM; the next call starts another one."""
        with self._lock:
            gateway, process = self._gateway, self._process
            self._gateway = self._process = self._admin = None
        with suppress(Py4JError, OSError):
            if gateway is not None:
                gateway.shutdown()
        if process is not None:
            with suppress(OSError):
                process.stdin.close()
            process.wait(timeout=10)

    def group_types(self) -> dict[str, GroupType]:
        """Return the type of every group of every type."""
        with self.call() as admin:
            return {
                g.groupId(): _type(g.type().get()) if g.type().isPresent() else GroupType.UNKNOWN
                for g in each(admin.listGroups().all().get())
            }

    def describe(self, ids: Iterable[str]) -> dict[str, Group]:
        """Return the share and streams groups among `ids`, with state, members and offsets.

        A share group's offset is the start offset of its share partition. Groups of other types
        and groups that are gone are left out.
        """
        wanted, types = set(ids), self.group_types()
        share = [i for i in sorted(wanted) if types.get(i) is GroupType.SHARE]
        streams = [i for i in sorted(wanted) if types.get(i) is GroupType.STREAMS]
        with self.call() as admin:
            return {**self._share_groups(admin, share), **self._streams_groups(admin, streams)}

    def delete_offsets(self, group: str, parts: Iterable[TopicPart]) -> dict[TopicPart, str]:
        """Delete committed offsets; return why by partition for those that Kafka refused.

        A group that does not exist has none to delete: fine.
        """
        wanted, refused = list(parts), {}
        with self.call() as admin:
            keys = {part: self.partition(part) for part in wanted}
            result = admin.deleteConsumerGroupOffsets(group, set(keys.values()))
            for part, key in keys.items():
                try:
                    result.partitionResult(key).get()
                except Py4JJavaError as error:
                    if not is_missing(cause_of(error)):
                        refused[part] = cause_of(error)
        return refused

    def log_sizes(self) -> dict[TopicPart, int]:
        """Return bytes on disk by partition: the largest replica's, without ones on the move."""
        sizes: dict[TopicPart, int] = {}
        with self.call() as admin:
            nodes = [node.id() for node in each(admin.describeCluster().nodes().get())]
            for folders in admin.describeLogDirs(nodes).allDescriptions().get().values():
                for folder in folders.values():
                    for tp, replica in folder.replicaInfos().items():
                        if not replica.isFuture():
                            part = (tp.topic(), tp.partition())
                            sizes[part] = max(sizes.get(part, 0), replica.size())
        return sizes

    def read_quota(self, user: str) -> float | None:
        """Return how many bytes/s a user may read from all brokers; None if its quota has no sum.

        A quota is of each broker. One by client id limits each client for itself.
        """
        with self.call() as admin:
            every = self.jvm.org.apache.kafka.common.quota.ClientQuotaFilter.all()
            brokers = len(each(admin.describeCluster().nodes().get()))
            found = {
                (entries.get("user"), entries.containsKey("client-id")): quotas[_READ]
                for entity, quotas in admin.describeClientQuotas(every).entities().get().items()
                for entries in [entity.entries()]
                if entries.containsKey("user") and not entries.get("client-id") and _READ in quotas
            }
        # Kafka's order: a user's own quotas before those of all users, by client id first.
        for name in (user, None):
            if (name, True) in found:
                return None
            if (name, False) in found:
                return float(found[name, False]) * brokers
        return None

    @contextmanager
    def call(self, *, changes: bool = False) -> Iterator[Any]:
        """Give the client to one call, and turn what Java throws into ours.

        `changes` says that the call changes something. Plans make the other calls.
        """
        try:
            yield self._connected()
        except Py4JJavaError as error:
            raise self._translate(cause_of(error), changes=changes) from None
        except (Py4JNetworkError, Py4JError, ConnectionError) as error:
            self.close()
            raise UnreachableError(
                f"the local Java process of Kafka's client ended: {error}. Try again. If "
                "the process ends again, check this machine's memory"
            ) from None

    def _connected(self) -> Any:
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._gateway = self._process = self._admin = None
            if self._admin is None:
                if self._gateway is None:
                    self._launch()
                self._admin = self.jvm.org.apache.kafka.clients.admin.Admin.create(self._config)
            return self._admin

    def _launch(self) -> None:
        # Imported here: most commands ask Kafka, and few of them need Java.
        from headgate.gateway.process.py4j import launch

        self._gateway, self._process = launch(self._class_path, JVM, auto_convert=True)

    @property
    def jvm(self) -> Any:
        """The view on the JVM's classes, within a `call`."""
        return self._gateway.jvm

    def partition(self, part: TopicPart) -> Any:
        """Return Java's TopicPartition, within a `call`."""
        return self.jvm.org.apache.kafka.common.TopicPartition(*part)

    def _translate(self, why: str, *, changes: bool) -> HeadgateError:
        if any(w in why for w in FORBIDDEN):
            return RefusedError(f"Kafka at {self.bootstrap} denied access: {why}. Check the ACLs")
        if any(w in why for w in SILENT):
            return UnreachableError(
                f"Kafka at {self.bootstrap} does not respond: {why.rstrip('.')}. Check "
                "bootstrap_servers and security.protocol in headgate.toml"
            )
        kind = StepError if changes else UnreachableError
        return kind(
            f"Kafka at {self.bootstrap} rejected the request: {why.rstrip('.')}. Check the "
            "broker's version and log, then try again"
        )

    def _share_groups(self, admin: Any, ids: list[str]) -> dict[str, Group]:
        if not ids:
            return {}
        futures = admin.describeShareGroups(ids).describedGroups()
        spec = self._gateway.jvm.org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec()
        offsets = admin.listShareGroupOffsets(dict.fromkeys(ids, spec))
        described = {i: _unless_missing(futures[i]) for i in ids}
        return {
            i: _share_group(i, d, _unless_missing(offsets.partitionsToOffsetInfo(i)))
            for i, d in described.items()
            if d is not None
        }

    def _streams_groups(self, admin: Any, ids: list[str]) -> dict[str, Group]:
        if not ids:
            return {}
        futures = admin.describeStreamsGroups(ids).describedGroups()
        spec = self._gateway.jvm.org.apache.kafka.clients.admin.ListStreamsGroupOffsetsSpec()
        offsets = admin.listStreamsGroupOffsets(dict.fromkeys(ids, spec))
        described = {i: _unless_missing(futures[i]) for i in ids}
        return {
            i: streams_group(i, d, _unless_missing(offsets.partitionsToOffsetAndMetadata(i)))
            for i, d in described.items()
            if d is not None
        }


def _share_group(group_id: str, described: Any, offsets: Any) -> Group:
    return Group(
        id=group_id,
        type=GroupType.SHARE,
        state=word(described.groupState()),
        members=tuple(
            Member(
                id=m.consumerId(),
                client_id=m.clientId(),
                host=m.host(),
                assignment=tuple(
                    sorted((tp.topic(), tp.partition()) for tp in m.assignment().topicPartitions())
                ),
            )
            for m in each(described.members())
        ),
        offsets=tuple(sorted(_share_offsets(offsets or {}), key=lambda o: (o.topic, o.partition))),
    )


def _share_offsets(offsets: Any) -> Iterator[GroupOffset]:
    for tp, info in offsets.items():
        if info is not None:
            yield GroupOffset(topic=tp.topic(), partition=tp.partition(), offset=info.startOffset())


def _unless_missing(future: Any) -> Any:
    """Return the future's value, None where the group went away in between."""
    try:
        return future.get()
    except Py4JJavaError as error:
        if is_missing(cause_of(error)):
            return None
        raise


def is_missing(cause: str) -> bool:
    """Whether the cause says that there is no such group."""
    return any(w in cause for w in MISSING)


def cause_of(error: Py4JJavaError) -> str:
    """Return class and message of what a future's ExecutionException wraps."""
    thrown = error.java_exception
    inner = thrown.getCause() or thrown
    return f"{inner.getClass().getSimpleName()}: {inner.getMessage()}".rstrip(".")


def _type(kind: Any) -> GroupType:
    try:
        return GroupType(str(kind.toString()).lower())
    except ValueError:
        return GroupType.UNKNOWN
