"""Send records to a Kafka topic, keyed by the query's id, without ever waiting for the broker."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headgate.spark_driver.destinations import WatchedRun

_ANEW = 3600.0
"""Interval in seconds of sending a run's first records again, because topics delete old records."""
# Bounds for memory and time; compression, as a plan is text of up to megabytes.
_SETTINGS: dict[str, Any] = {
    "client.id": "headgate-watch",
    "compression.type": "zstd",
    "linger.ms": 50,
    "message.max.bytes": 16 << 20,
    "message.timeout.ms": 60_000,
    "queue.buffering.max.messages": 5000,
    "queue.buffering.max.kbytes": 32 << 10,
    "log_level": 0,
}


class Topic:
    """Lines are messages. What the client gives up on is counted as lost.

    `trouble` hears of what connections say, from the client's own thread.
    """

    def __init__(
        self,
        topic: str,
        bootstrap: str,
        config: Mapping[str, str],
        trouble: Callable[[str, Exception], None],
    ) -> None:
        from confluent_kafka import Producer

        self._topic = topic
        self._lost: Counter[str] = Counter()
        self._sent: dict[str, float] = {}
        hear = {
            "error_cb": lambda e: trouble(
                f"Kafka at {bootstrap} reported an error", OSError(e.str())
            )
        }
        self._producer: Any = Producer(
            {**_SETTINGS, **config, "bootstrap.servers": bootstrap, **hear}
        )

    def write(self, watched: WatchedRun, lines: Sequence[bytes]) -> None:
        """Hand the lines to the client; OSError where its memory is full."""
        self._producer.poll(0)
        again = watched.head if self._is_due(watched) else []
        for index, data in enumerate([*again, *lines]):
            try:
                self._send(watched, data)
            except BufferError as error:
                # What went is gone: the rest counts as lost rather than being sent twice.
                if index > len(again):
                    self._lost[watched.run] += len(again) + len(lines) - index
                    return
                raise OSError(str(error)) from error

    def end(self, watched: WatchedRun) -> None:
        """Forget the run."""
        self._producer.poll(0)
        self._sent.pop(watched.run, None)

    def lost(self) -> dict[str, int]:
        """Return by run what the client could not deliver."""
        self._producer.poll(0)
        found, self._lost = dict(self._lost), Counter()
        return found

    def close(self, seconds: float) -> None:
        """Deliver what is here within that time and drop the rest, which no exit waits for."""
        if self._producer.flush(max(seconds, 0.0)):
            self._producer.purge()
            self._producer.flush(0)

    def _send(self, watched: WatchedRun, data: bytes) -> None:
        def delivered(error: Any, _message: Any) -> None:
            if error is not None:
                self._lost[watched.run] += 1

        try:
            self._producer.produce(
                self._topic, key=watched.query, value=data.rstrip(b"\n"), on_delivery=delivered
            )
        except BufferError:
            raise
        except Exception:  # such as a message beyond what the client takes
            self._lost[watched.run] += 1

    def _is_due(self, watched: WatchedRun) -> bool:
        """Whether the head is to be sent once more; the first lines of a run have it themselves."""
        last, now = self._sent.setdefault(watched.run, time.monotonic()), time.monotonic()
        if now - last < _ANEW:
            return False
        self._sent[watched.run] = now
        return True
