"""The data that a restart reads: files in folders, or records in topics of a real broker."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from recorder.case import Batches, Row

_FIELDS = ("k", "v", "d", "ts")


class World:
    """The sources of one case. Files count on, each newer than the last, as Spark sorts by time."""

    def __init__(self, folder: Path, broker: str, topics: tuple[str, ...]) -> None:
        self.folder, self.broker, self.topics = folder, broker, topics
        self.written: list[Path] = []
        if topics:
            self._create()

    def add(self, data: Batches, *, at_once: bool = False) -> list[Path]:
        """Write a file a batch, or all rows of a folder into one; return the files.

        A folder `kafka:NAME` is a topic.
        """
        made = []
        for name, batches in data.items():
            if name.startswith("kafka:"):
                self._produce(name.removeprefix("kafka:"), batches)
                continue
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            files = [[row for rows in batches for row in rows]] if at_once else batches
            made += [self._file(name, rows) for rows in files]
        self.written += made
        return made

    @contextmanager
    def without(self, files: list[Path]) -> Iterator[None]:
        """Keep files out of sight for the time of a `with` block."""
        aside = self.folder.parent / "aside"
        away = [(file, aside / file.relative_to(self.folder)) for file in files]
        for file, to in away:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, to)
        yield
        for file, to in away:
            shutil.move(to, file)

    def _file(self, name: str, rows: Sequence[Row]) -> Path:
        number = len(list((self.folder / name).iterdir()))
        path = self.folder / name / f"{number}.json"
        path.write_text("".join(_json(row) + "\n" for row in rows), encoding="utf-8")
        # Listed files are taken in the order of their times; the clock alone is too coarse.
        moment = 1_700_000_000 + 10 * (len(self.written) + number)
        os.utime(path, (moment, moment))
        return path

    def _create(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker})
        there = admin.list_topics(timeout=10).topics
        if gone := [t for t in self.topics if t in there]:
            for done in admin.delete_topics(gone).values():
                done.result(20)
            time.sleep(2)
        for done in admin.create_topics([NewTopic(t, 1, 1) for t in self.topics]).values():
            done.result(20)

    def _produce(self, topic: str, batches: Sequence[Sequence[Row]]) -> None:
        producer = Producer({"bootstrap.servers": self.broker})
        for rows in batches:
            for row in rows:
                producer.produce(topic, value=_json(row), partition=0)
        producer.flush(20)


def _json(row: Row | dict[str, object]) -> str:
    if isinstance(row, dict):
        return json.dumps(row)
    return json.dumps(dict(zip(_FIELDS, row, strict=True)))
