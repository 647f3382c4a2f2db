"""A real Kafka Streams application begins again; its undo brings its state back."""

from __future__ import annotations

from scenes.kafka_streams.streams_scene import StreamsScene


class FromScratchStreams(StreamsScene):
    """It counts the keys of its input over a repartition topic, and writes each count."""

    name = "from-scratch-streams"
    scenario = "from-scratch"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The state is kept for the undo; which topics are its own is said by name."""
        return ("--back-up-internal", f"--internal-topics={','.join(self.internal)}")

    def check_end(self) -> None:
        """Each key was counted anew from one on, once more, and all of it."""
        self.check_neighbour()
        self.check_counted(least=2)
        for key, lives in self.lives().items():
            assert len(lives) <= 2, f"{key} was counted in {len(lives)} lives"
            assert lives[-1][0] == 1

    def check_undone(self) -> None:
        """The first life's counts go on where they were; nothing is missing and nothing twice."""
        self.check_neighbour()
        self.check_counted()
