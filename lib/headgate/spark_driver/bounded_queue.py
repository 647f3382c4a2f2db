"""A queue that never blocks who puts in: it drops its oldest and counts what it dropped."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable

from headgate.spark_driver.records import Record


class Bounded:
    """At most `most` records; `drops` counts by run what was dropped since it was last asked."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._records: deque[Record] = deque()
        self._changed = threading.Condition()
        self._drops: Counter[str] = Counter()
        self._woken = False

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Record) -> None:
        """Add at the end; if the queue is full, the oldest is dropped."""
        with self._changed:
            self._records.append(record)
            self._bound()
            self._changed.notify()

    def return_to_queue(self, records: Iterable[Record]) -> None:
        """Add at the front what was taken and could not be sent."""
        with self._changed:
            self._records.extendleft(reversed(list(records)))
            self._bound()

    def take(self, seconds: float) -> list[Record]:
        """Return everything that is there, waiting at most `seconds` for something."""
        with self._changed:
            if not self._records and not self._woken:
                self._changed.wait(seconds)
            self._woken = False
            taken = list(self._records)
            self._records.clear()
            return taken

    def wake(self) -> None:
        """End a wait at once."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def drops(self, run: str) -> int:
        """Return how many records of a run were dropped, and reset the count."""
        with self._changed:
            return self._drops.pop(run, 0)

    def dropped(self, run: str, count: int) -> None:
        """Count records that were lost elsewhere."""
        with self._changed:
            self._drops[run] += count

    def _bound(self) -> None:
        while len(self._records) > self._most:
            self._drops[self._records.popleft().run] += 1
