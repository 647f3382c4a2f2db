"""Orders of half an hour ago come late, in a topic of their own; others don't stop coming."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from confluent_kafka import Producer

from scenes.records import MINUTE, make_topic, read_all
from scenes.spark.historical_range import WINDOW, _Processing
from scenes.spark.scene_table import TO, SceneTable

CITIES = ("city-2", "city-5", "city-new")


class LateBatchSpark(_Processing):
    """The windows of three cities are replaced in a folder of results, the others stay."""

    name = "late-batch-spark"
    scenario = "late-batch"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._late = self.unique("late-orders")
        self._before: dict[str, bytes] = {}

    @property
    def arguments(self) -> tuple[str, ...]:
        """The late topic, the key and the folder."""
        return (f"--late={self._late}", "--keys=city", "--time-column=begin", f"--to={self.target}")

    def prepare(self) -> None:
        """Write late records of some cities, and the results without them."""
        super().prepare()
        make_topic(self.bootstrap, self._late, 2)
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for n in range(24):
            producer.produce(
                self._late, key=CITIES[n % 3], value=json.dumps({"id": f"late-{n}"}),
                partition=n % 2, timestamp=self.since - n * MINUTE,
            )  # fmt: skip
        assert producer.flush(30) == 0
        self._write_results()
        self._before = self._files()

    def check_end(self) -> None:
        """Each result before now has every record, also the late ones, once."""
        self.check_neighbour()
        assert self._old(self.counted(self.target)) == self._right((self._topic, self._late))

    def check_undone(self) -> None:
        """The folder has the files that it had, and nothing is left beside it."""
        self.check_neighbour()
        assert self._files() == self._before
        left = [p.name for p in self.folder.iterdir() if ".headgate-" in p.name]
        assert not left, f"left behind: {left}"

    def _files(self) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in self.target.iterdir()}

    def _right(self, topics: tuple[str, ...]) -> Counter[tuple[int, str]]:
        found = read_all(self.bootstrap, topics)
        records = [r for rs in found.values() for r in rs if r.timestamp < self.since]
        return Counter((r.timestamp // WINDOW * WINDOW, (r.key or b"").decode()) for r in records)

    def _old(self, found: Counter[tuple[int, str]]) -> Counter[tuple[int, str]]:
        return Counter({key: n for key, n in found.items() if key[0] < self.since})

    def _write_results(self) -> None:
        """Write what the function gave before, of the time in which no record arrives any more."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.target.mkdir()
        schema = pa.schema(
            [("begin", pa.timestamp("ms", "UTC")), ("city", pa.string()), ("n", pa.int64())]
        )
        rows = [{"begin": begin, "city": city, "n": n}
                for (begin, city), n in self._right((self._topic,)).items()]  # fmt: skip
        for half in (0, 1):
            table = pa.Table.from_pylist(rows[half::2], schema)
            pq.write_table(table, self.target / f"part-{half}.parquet")


class LateBatchTable(LateBatchSpark):
    """All windows of three cities are replaced in a table, and one without records is deleted."""

    name = "late-batch-table"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._table = SceneTable()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The late topic, the key and the table."""
        return (f"--late={self._late}", "--keys=city", TO)

    def counted(self, folder: Path) -> Counter[tuple[int, str]]:
        """Return the results of the table, but for those that the query didn't give."""
        rows = self._table.rows()
        others = [[r for r in of if r[1] not in CITIES] for of in (rows, self._table.old)]
        assert others[0] == others[1], "a row of another city changed"
        found = [r for r in rows if r[1] != "old"]
        return Counter({(int(at.timestamp() * 1000), city): n for at, city, n, _ in found})

    def check_undone(self) -> None:
        """The table is as it was, and the run's tables are gone."""
        self.check_neighbour()
        self._table.check_undone()

    def close(self) -> None:
        """End the server, too."""
        super().close()
        self._table.close()

    def _files(self) -> dict[str, bytes]:
        return {}

    def _write_results(self) -> None:
        """Write what the function gave before, and rows of two cities that it never gave."""
        rows = [(at / 1000, city, n) for (at, city), n in self._right((self._topic,)).items()]
        self._table.start(self.config, [*rows, (0.0, "old", 7), (0.0, CITIES[0], 7)])
