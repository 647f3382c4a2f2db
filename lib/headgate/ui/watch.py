"""Kafka as seen a moment ago, read beside the pages so that none of them waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from threading import Lock

from headgate.errors import HeadgateError
from headgate.model.cluster import Cluster

FRESH = 4.0
"""Seconds for which a snapshot is new enough."""
PATIENCE = 2.5
"""Seconds that the very first page waits; after that the last snapshot is shown."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest snapshot, or one sentence why there is none; both None while it is read."""

    cluster: Cluster | None = None
    problem: str | None = None


class ClusterWatch:
    """Reads the cluster in a thread of its own whenever somebody looks and it is not fresh.

    Safe to share between sessions. An unreachable cluster answers after its time-out, which
    no page waits for.
    """

    def __init__(self, read: Callable[[], Cluster]) -> None:
        self._read = read
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="cluster")
        self._lock = Lock()
        self._reading: Future[Cluster] | None = None
        self._seen = Seen()
        self._at = float("-inf")

    def latest(self) -> Seen:
        """Return what was seen last; wait only where nothing was seen yet."""
        reading = self._begin()
        if reading is not None and self._at == float("-inf"):
            try:
                reading.exception(PATIENCE)
            except NotYet:
                return self._seen
        self._take()
        return self._seen

    def _begin(self) -> Future[Cluster] | None:
        with self._lock:
            stale = time.monotonic() - self._at > FRESH
            if self._reading is None and stale:
                self._reading = self._threads.submit(self._read)
            return self._reading

    def _take(self) -> None:
        with self._lock:
            if self._reading is None or not self._reading.done():
                return
            reading, self._reading = self._reading, None
            self._at = time.monotonic()
            try:
                self._seen = Seen(reading.result())
            except HeadgateError as error:
                self._seen = Seen(None, str(error))
