"""Kafka as seen a moment ago, read beside the pages so that none of them waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from headgate.errors import HeadgateError
from headgate.model.cluster import Cluster

T = TypeVar("T")
FRESH = 4.0
"""Seconds for which a snapshot counts as new."""
PATIENCE = 2.5
"""Seconds that the first page waits; later pages show the last snapshot."""


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """The newest snapshot, or one sentence why there is none; both None while it is read."""

    cluster: Cluster | None = None
    problem: str | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether Kafka has not answered yet."""
        return self.cluster is None and self.problem is None


class Latest(Generic[T]):
    """Reads a value in a thread of its own whenever somebody looks and the last one is not fresh.

    Safe to share between browser sessions. Nobody waits longer than they have patience.
    """

    def __init__(self, read: Callable[[], T], name: str) -> None:
        self._read = read
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = Lock()
        self._reading: Future[T] | None = None
        self._answer: Future[T] | None = None
        self._at = float("-inf")

    def latest(self, patience: float, *, newer: bool = False) -> T | None:
        """Return what was read last; the first caller waits up to `patience` seconds for it.

        None if nothing was read yet. With `newer` what was read last is not fresh, and every
        caller waits. Raises the HeadgateError of the last reading.
        """
        reading = self._begin(newer)
        if reading is not None and (newer or self._answer is None):
            with suppress(NotYet):
                reading.exception(patience)
        self._take()
        return None if self._answer is None else self._answer.result()

    def _begin(self, newer: bool) -> Future[T] | None:
        with self._lock:
            stale = newer or time.monotonic() - self._at > FRESH
            if self._reading is None and stale:
                self._reading = self._threads.submit(self._read)
            return self._reading

    def _take(self) -> None:
        with self._lock:
            if self._reading is not None and self._reading.done():
                self._answer, self._reading = self._reading, None
                self._at = time.monotonic()


class ClusterWatch:
    """Kafka as it was read last; an unreachable cluster is a sentence, which no page waits for."""

    def __init__(self, read: Callable[[], Cluster]) -> None:
        self._latest = Latest(read, "cluster")

    def latest(self, patience: float = PATIENCE) -> ClusterSnapshot:
        """Return what was seen last; wait only if nothing was seen yet."""
        try:
            return ClusterSnapshot(self._latest.latest(patience))
        except HeadgateError as error:
            return ClusterSnapshot(None, str(error))
