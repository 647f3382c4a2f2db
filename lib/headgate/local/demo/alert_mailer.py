"""Consumer group `alert-mailer`: writes a line for each alert; SIGTERM ends it.

`python -m headgate.local.demo.alert_mailer --ready FILE`; the file appears once it has partitions.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer

from headgate.gateway.process.stop_signals import when_asked_to_end
from headgate.local.demo.topics import REVENUE_ALERTS, kafka

GROUP = "alert-mailer"


def main() -> None:
    """Read and "mail" until SIGTERM, then leave the group."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ready", type=Path, required=True)
    ready: Path = parser.parse_args().ready
    ended = threading.Event()
    when_asked_to_end(ended.set, signal.SIGTERM)
    consumer = Consumer(
        {
            "bootstrap.servers": kafka(),
            "group.id": GROUP,
            "client.id": GROUP,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 2000,
            "session.timeout.ms": 10000,
        }
    )
    consumer.subscribe([REVENUE_ALERTS.name], on_assign=lambda *_: ready.touch())
    while not ended.is_set():
        message = consumer.poll(0.5)
        if message is not None and not message.error():
            print(letter(json.loads(message.value())), flush=True)
    consumer.close()


def letter(alert: dict[str, Any]) -> str:
    """Return the mail's one line."""
    revenue = alert["revenue_cents"] / 100
    return f"To: sales, {alert['city']}: {revenue:,.2f} since {alert['window_start']}"


if __name__ == "__main__":
    main()
