"""Where a watched driver finds requests: in its watch's folder, or in its watch's topic."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from headgate.parse.spark.watch.driver_messages import FOLDER, LARGEST, ControlRequest, read_request

_MOST = 200
_SECONDS = 5.0


class Inbox(Protocol):
    """Calls come from one thread and may raise whatever the folder or topic raises."""

    def requests(self) -> Iterator[ControlRequest]:
        """Yield what came since the last call; some may be duplicates."""

    def close(self) -> None:
        """Close what the inbox has open."""


class FolderInbox:
    """Files below `.control` of the watch's folder; who wrote one takes it away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._read: set[str] = set()

    def requests(self) -> Iterator[ControlRequest]:
        """Yield the requests that are there."""
        if not self._folder.is_dir():
            return
        there = {path.name for path in self._folder.glob("*.json")}
        new = sorted(there - self._read)[:_MOST]
        self._read &= there
        for name in new:
            self._read.add(name)
            with suppress(FileNotFoundError), (self._folder / name).open("rb") as stream:
                if found := read_request(stream.read(LARGEST + 1)):
                    yield found

    def close(self) -> None:
        """Nothing is held."""


class TopicInbox:
    """The watch's own topic, from its end on; no group is joined and nothing is committed."""

    def __init__(self, topic: str, bootstrap: str, config: Mapping[str, str]) -> None:
        from confluent_kafka import Consumer

        self._topic = topic
        self._assigned: set[int] = set()
        self._first = True
        self._consumer: Any = Consumer(
            {
                **config,
                "bootstrap.servers": bootstrap,
                "group.id": f"headgate-control-{uuid.uuid4().hex}",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # Its own records come by, too, plans among them.
                "queued.max.messages.kbytes": 8 << 10,
                "log_level": 0,
            }
        )

    def requests(self) -> Iterator[ControlRequest]:
        """Yield the requests among what came."""
        self._assign()
        for message in self._consumer.consume(_MOST, timeout=0.1) if self._assigned else ():
            if message.error() is None and (found := read_request(message.value() or b"")):
                yield found

    def close(self) -> None:
        """Close the connections."""
        self._consumer.close()

    def _assign(self) -> None:
        """Take the partitions that are new; the first ones at their end, later ones whole."""
        if self._assigned:
            return
        from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, TopicPartition

        metadata = self._consumer.list_topics(self._topic, timeout=_SECONDS).topics[self._topic]
        at = OFFSET_END if self._first else OFFSET_BEGINNING
        self._first = False
        if metadata.error is not None or not metadata.partitions:
            return
        self._assigned = set(metadata.partitions)
        self._consumer.assign([TopicPartition(self._topic, n, at) for n in self._assigned])
