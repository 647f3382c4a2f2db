"""Functions with state: two versions of one, the new one with other state, and two with timers."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

OUT = "k string, n long"
# Due at once, so that a timer fires with the next batch; and those of some keys never.
SOON_MS, NEVER_MS = 1, 10**10


class Seen(StatefulProcessor):
    """Counts by key, and keeps what came in a list and in a map."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")
        self.names = handle.getListState("names", "name string")
        self.times = handle.getMapState("times", "name string", "times int")

    def handleInputRows(self, key, rows, timerValues):
        total = self.count.get()[0] if self.count.exists() else 0
        for row in rows:
            total += 1
            self.names.appendValue((row.value,))
            before = self.times.getValue((row.value,)) if self.times.exists() else None
            self.times.updateValue((row.value,), ((before[0] if before else 0) + 1,))
        self.count.update((total,))
        yield Row(k=key[0], n=total)

    def close(self):
        pass


class SeenOnce(StatefulProcessor):
    """One variable under another name: on the old checkpoint its state would be lost."""

    def init(self, handle):
        self.total = handle.getValueState("total", "n long, different int")

    def handleInitialState(self, key, initialState, timerValues):
        # A struct within a row comes as a dict.
        assert len(initialState["names"]) == initialState["count"]["n"]
        self.total.update((initialState["count"]["n"], len(initialState["times"])))

    def handleInputRows(self, key, rows, timerValues):
        total, different = self.total.get() if self.total.exists() else (0, 0)
        total += sum(1 for _ in rows)
        self.total.update((total, different))
        yield Row(k=key[0], n=total * 1000 + different)

    def close(self):
        pass


def wait_ms(key):
    """In how many milliseconds a key's timer is due."""
    return NEVER_MS if key.startswith("never") else SOON_MS


class Timed(StatefulProcessor):
    """Counts by key; the timer says minus the count."""

    def init(self, handle):
        self.handle = handle
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(self, key, rows, timerValues):
        total = (self.count.get()[0] if self.count.exists() else 0) + sum(1 for _ in rows)
        self.count.update((total,))
        self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + wait_ms(key[0]))
        yield Row(k=key[0], n=total)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(k=key[0], n=-self.count.get()[0])

    def close(self):
        pass


def timed_groups(key, frames, state):
    """The same by applyInPandasWithState, whose timeout takes the place of the timer."""
    total = state.get[0] if state.exists else 0
    if state.hasTimedOut:
        state.remove()
        total = -total
    else:
        total += sum(map(len, frames))
        state.update((total,))
        state.setTimeoutDuration(wait_ms(key[0]))
    yield pd.DataFrame({"k": [key[0]], "n": [total]})
