"""A pipeline that is stopped catches up to the offsets of the run's start, and is stopped again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from headgate.model.version import Engine
from integration.spark.bounded_query import SOURCE, counted, written
from scenes.generations import wrong_reading
from scenes.kafka_streams.streams_scene import StreamsScene
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import STOP, GroupScene, Scene
from scenes.small_spark import spark_tables, submit_options

MORE = 5


def _ends(bootstrap: str, topics: tuple[str, ...]) -> dict[tuple[str, int], int]:
    found = read_all(bootstrap, topics)
    return {part: records[-1].offset + 1 for part, records in found.items() if records}


class BoundedGroup(GroupScene):
    """A group that is stopped, and behind: it reads to the bound and a little further."""

    name = "bounded-group"
    scenario = "bounded"

    def prepare(self) -> None:
        """Stop the group, and let records arrive that it has not read."""
        super().prepare()
        self.shell(STOP)
        self.wait(lambda: self._alive() == [], "it does not stop")
        self.before = self.committed(self.group)
        self.wait(self._is_behind, "no records arrive")
        self.ends = _ends(self.bootstrap, self.topics)

    def _is_behind(self) -> bool:
        ends = _ends(self.bootstrap, self.topics)
        return all(end >= self.before[part][0] + MORE for part, end in ends.items())

    def check_end(self) -> None:
        """It has committed at least the offsets of before the run, gap by gap, and is stopped."""
        self.check_neighbour()
        assert self._alive() == [], "it was not stopped"
        at = {part: offset for part, (offset, _) in self.committed(self.group).items()}
        late = {part: (at.get(part), end) for part, end in self.ends.items() if at[part] < end}
        assert not late, f"not read to the bound: {late}"
        ends = {f"{t}-{p}": offset for (t, p), offset in at.items()}
        wrong = wrong_reading(self.lives(), ends, dict.fromkeys(ends, 0))
        assert not wrong, wrong

    def check_undone(self) -> None:
        """The offsets are those of before, and nobody started it."""
        self.check_neighbour()
        assert self._alive() == [], "it was started, and was stopped before"
        assert self.committed(self.group) == self.before


class BoundedStreams(StreamsScene):
    """An application with a repartition topic: what it has read is counted when it is stopped."""

    name = "bounded-streams"
    scenario = "bounded"

    def prepare(self) -> None:
        """Stop it, and let records arrive that it has not counted."""
        super().prepare()
        assert self.shell(self._commands["stop"]) == 0
        self.wait(lambda: self.shell(self._commands["status"]) == 3, "it does not stop")
        count = len(self.read())
        self.wait(lambda: len(self.read()) >= count + 2 * MORE, "no records arrive")
        self.ends = _ends(self.bootstrap, self.topics)

    def check_end(self) -> None:
        """It is stopped; all before the bound is counted, nothing twice."""
        self.check_neighbour()
        assert self.shell(self._commands["status"]) == 3, "it was not stopped"
        lives, least = self.lives(), self._before_the_bound()
        late = {k: n for k, n in least.items() if k not in lives or lives[k][-1][-1] < n}
        assert not late, f"not counted: {late}"
        self.check_one_life()

    def _before_the_bound(self) -> Counter[str]:
        found = read_all(self.bootstrap, self.topics)
        records = [r for part, rs in found.items() for r in rs if r.offset < self.ends[part]]
        return Counter((r.key or b"").decode() for r in records)

    def check_undone(self) -> None:
        """Offsets and state are kept: it goes on where it was stopped, once it is started."""
        self.check_neighbour()
        assert self.shell(self._commands["status"]) == 3, "it was started"
        self.start()
        self.check_counted()
        self.check_one_life()
        assert self.shell(self._commands["stop"]) == 0


class BoundedSpark(Scene):
    """A real query that is stopped, with a checkpoint of its own and files as its sink."""

    name = "bounded-spark"
    scenario = "bounded"
    engine = Engine.SPARK
    markers = ("kafka", "spark")
    on_cluster = True

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._topic = self.unique("orders")
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that it reads."""
        return (self._topic,)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Batches so small that there are several."""
        return ("--max-records=60",)

    def prepare(self) -> None:
        """Let the query read the history, by the program itself; then more arrives."""
        make_topic(self.bootstrap, self._topic, 2)
        write_history(self.bootstrap, self._topic, 2)
        self.neighbour()
        (self.folder / "bounded_orders.py").write_text(SOURCE)
        given = {"bootstrap": self.bootstrap, "topic": self._topic}
        (self.folder / "query.json").write_text(json.dumps(given))
        self._run_once()
        stopped = {"stop": "true", "start": "echo >> started", "status": "exit 3"}
        fields = {"checkpoint": "checkpoint", "entry_point": "bounded_orders:orders"}
        self.register(fields, stopped)
        self.before = tree_hash(self.checkpoint)
        write_history(self.bootstrap, self._topic, 2)
        self.ends = _ends(self.bootstrap, self.topics)
        self._writer = Writer(self.bootstrap, self._topic, 2)

    @property
    def checkpoint(self) -> Path:
        """The query's checkpoint."""
        return self.folder / "checkpoint"

    def _run_once(self) -> None:
        """Run the program as anybody would, without a worker."""
        from headgate.gateway.spark.run_job import joined_jars

        options = f"--master local[2] --jars {joined_jars()} {submit_options()} pyspark-shell"
        path = os.pathsep.join(filter(None, (str(self.folder), os.environ.get("PYTHONPATH"))))
        subprocess.run(
            [
                *(sys.executable, "-m", "headgate.spark_jobs.data.run_bounded"),
                *("--entry-point=bounded_orders:orders", "--checkpoint=checkpoint"),
                "--bounds=first.json",
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "PYSPARK_SUBMIT_ARGS": options},
            check=True,
            capture_output=True,
            timeout=300,
        )

    def register(
        self, fields: dict[str, object], commands: dict[str, str], store: str = ""
    ) -> None:
        """Write the registry, with small settings for Spark."""
        super().register(fields, commands, store)
        self.config.write_text(spark_tables(self.folder, self.cluster) + self.config.read_text())

    def check_end(self) -> None:
        """It read to one bound, at which its checkpoint ends, and wrote what plain Python says."""
        self.check_neighbour()
        assert not (self.folder / "started").exists(), "it was started"
        found = read_checkpoint(str(self.checkpoint))
        assert found is not None and found.head[0] == found.head[1]
        at = found.offsets[self._topic]
        assert all(at[p] >= end for (_, p), end in self.ends.items()), "not read to the bound"
        kept = [json.loads(f.read_text()) for f in self.folder.glob(".headgate/runs/*/bounds.json")]
        bounds = [k["sources"]["0"]["bound"][self._topic] for k in kept]
        assert {str(p): end for p, end in at.items()} in bounds, f"{at} is not one of {bounds}"
        truth = read_all(self.bootstrap, self.topics)
        right = counted([r for (_, p), rs in truth.items() for r in rs if r.offset < at[p]])
        assert written(self.folder) == right

    def check_undone(self) -> None:
        """The checkpoint is byte for byte that of before."""
        self.check_neighbour()
        assert tree_hash(self.checkpoint) == self.before, "the checkpoint is not what it was"

    def close(self) -> None:
        """End the producer."""
        if self._writer is not None:
            self._writer.close()
