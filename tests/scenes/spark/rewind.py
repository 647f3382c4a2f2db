"""A query goes back to its first batch; its file sink forgets what the later ones wrote."""

from __future__ import annotations

import json
from pathlib import Path

from headgate.gateway.checkpoint.folders import tree_hash
from scenes.scene import QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class RewindSpark(QueryScene):
    """Back to the end of batch 0, of at least two."""

    name = "rewind-spark"
    scenario = "rewind"
    arguments = ("--batch=0", "--sink=file", "--sink-path=results")

    def make_ready(self) -> None:
        """Take over Spark's checkpoint, and an output of both of its batches."""
        FromScratchSpark.make_ready(self)  # type: ignore[arg-type]
        log = self.results / "_spark_metadata"
        log.mkdir(parents=True)
        for batch in (0, 1):
            made = self.results / f"part-{batch}.json"
            made.write_text(f'{{"batch":{batch}}}\n')
            (log / str(batch)).write_text("v1\n" + json.dumps({"path": f"file://{made}"}))
        self.was = tree_hash(log)

    @property
    def results(self) -> Path:
        """The folder of the file sink."""
        return self.folder / "results"

    def check_end(self) -> None:
        """The same query began where batch 0 ended, and read every record since."""
        self.check_neighbour()
        self.check_reading(since=1)
        first, second = self.lives()[:2]
        assert second.query == first.query == self.query
        assert second.at == {f"{self.topics[0]}-{part}": 2 for part in range(self.partitions)}
        assert self._sink() == (["0"], ["part-0.json"])

    def check_undone(self) -> None:
        """The query goes on where it stopped, and the sink is as it was."""
        self.check_neighbour()
        self.check_goes_on()
        assert self._sink() == (["0", "1"], ["part-0.json", "part-1.json"])
        assert tree_hash(self.results / "_spark_metadata") == self.was

    def _sink(self) -> tuple[list[str], list[str]]:
        """Return the batches in the sink's log, and the files that readers see."""
        log = sorted(p.name for p in (self.results / "_spark_metadata").iterdir())
        return log, sorted(p.name for p in self.results.glob("part-*"))
