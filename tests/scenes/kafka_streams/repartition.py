"""A real Kafka Streams application gets an input with more partitions, and counts anew."""

from __future__ import annotations

import subprocess
import sys

from headgate.gateway.kafka.cluster import Kafka
from scenes.kafka_streams.streams_scene import StreamsScene
from scenes.records import write_history
from support import resettable

_HAD, _WANTED = 2, 4


class RepartitionStreams(StreamsScene):
    """Four partitions instead of two, while a producer writes on that knows of the first two."""

    name = "repartition-streams"
    scenario = "repartition"
    no_rollback = "Kafka can't remove"

    def fields(self) -> dict[str, object]:
        """Return the topology, too, which a worker reads whenever it looks at the application."""
        return {**super().fields(), "evidence": ["rekeyed.txt"]}

    def make_ready(self) -> None:
        """Store its topology: without one nobody knows what lies behind its input."""
        words = [sys.executable, "-m", "headgate.cli.main", "--config", str(self.config)]
        found = resettable.evidence(self.folder, "rekeyed", self.app)
        words += ["capture", found, "--pipeline", self.pipeline]
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The number, and by name which topics are its own."""
        return (f"--partitions={_WANTED}", f"--internal-topics={','.join(self.internal)}")

    def check_end(self) -> None:
        """Each key was counted anew from one on, once more, in the added partitions, too."""
        self.check_neighbour()
        assert self._partitions() == dict.fromkeys((*self.topics, *self.internal), _WANTED)
        write_history(self.bootstrap, self.topics[0], _WANTED, count=12)
        self.check_counted(least=2)
        for key, lives in self.lives().items():
            assert len(lives) <= 2, f"{key} was counted in {len(lives)} lives"
            assert lives[-1][0] == 1

    def check_undone(self) -> None:
        """It was not yet raised: the first life's counts go on, over as many partitions."""
        self.check_neighbour()
        assert self._partitions() == dict.fromkeys((*self.topics, *self.internal), _HAD)
        self.check_counted()
        self.check_one_life()

    def _partitions(self) -> dict[str, int]:
        named = {*self.topics, *self.internal}
        with Kafka(self.bootstrap) as kafka:
            return {name: len(parts) for name, parts in kafka.partitions().items() if name in named}
