"""A range as a stream, one into a topic that has results, and one with records that fail."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from confluent_kafka import Producer

from scenes.records import Seen, make_topic
from scenes.spark.historical_range import WINDOW, HistoricalRangeSpark, HistoricalRangeTopic
from support import dead_letter_topics

_EARLIER = b'{"begin":"2020-01-01T00:00:00Z","city":"earlier","n":1}'


class HistoricalRangeStream(HistoricalRangeSpark):
    """Twenty minutes as a stream, whose watermark waits for all that comes late."""

    name = "historical-range-stream"
    function = "patient"

    def prepare(self) -> None:
        """Choose windows that are closed already, however late their records come."""
        self.until -= 2 * WINDOW
        self.since = self.until - 2 * WINDOW
        super().prepare()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same as a stream."""
        return (*super().arguments, "--as=stream")


class HistoricalRangeAppend(HistoricalRangeTopic):
    """The same half hour, behind what the topic has; that is never undone."""

    name = "historical-range-append"
    no_rollback = "can't be undone"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same into a topic that exists."""
        return (*super().arguments, "--append")

    def prepare(self) -> None:
        """Make the topic, with a record in it."""
        super().prepare()
        make_topic(self.bootstrap, self._results, 2)
        producer = Producer({"bootstrap.servers": self.bootstrap})
        producer.produce(self._results, _EARLIER, partition=0)
        assert producer.flush(30) == 0

    def written(self) -> list[bytes]:
        """Return what is behind the record that the topic had; aborted records don't count."""
        found = [m.value() for m in dead_letter_topics.read(self.bootstrap, self._results)]
        assert found.count(_EARLIER) == 1, "the earlier record is not there once"
        return [value for value in found if value != _EARLIER]

    def check_undone(self) -> None:
        """The topic has what it had."""
        self.check_neighbour()
        assert self.written() == [], "results were appended"


class HistoricalRangeFailing(HistoricalRangeSpark):
    """The same half hour, with records at which the function fails."""

    name = "historical-range-failing"
    function = "checked"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._letters = self.unique("letters")

    @property
    def arguments(self) -> tuple[str, ...]:
        """The same with a dead letter topic."""
        return (*super().arguments, f"--failing-to={self._letters}")

    def prepare(self) -> None:
        """Create the dead letter topic."""
        super().prepare()
        make_topic(self.bootstrap, self._letters, 1, **{"retention.ms": "-1"})

    def is_processed(self, record: Seen) -> bool:
        """Whether the function doesn't fail at it."""
        number = json.loads(record.value or b"{}")["id"]
        return not (isinstance(number, int) and number % 5 == 3)

    def check_end(self) -> None:
        """The others are counted, and each failing record is a dead letter once."""
        super().check_end()
        failing = [r for r in self.records() if not self.is_processed(r)]
        assert failing
        letters = dead_letter_topics.read(self.bootstrap, self._letters)
        found = Counter((m.timestamp()[1], m.value()) for m in letters)
        assert found == Counter((r.timestamp, r.value) for r in failing)
