"""A new version of a query takes over where the old one's last committed batch ended."""

from __future__ import annotations

from scenes.scene import QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class NewCheckpointSpark(QueryScene):
    """Another query id, no state, and not a record twice or left out."""

    name = "new-checkpoint-spark"
    scenario = "new-checkpoint"

    make_ready = FromScratchSpark.make_ready

    def check_end(self) -> None:
        """The new query began exactly where the old one had committed, and read all since."""
        self.check_neighbour()
        self.check_reading(since=1)
        old, new = self.lives()[0], self.lives()[1]
        assert new.at == {part: old.position(part) for part in new.at}
        assert {life.query for life in self.lives()[1:]} == {new.query} != {old.query}

    def check_undone(self) -> None:
        """The old query goes on where it stopped."""
        self.check_neighbour()
        self.check_goes_on()
