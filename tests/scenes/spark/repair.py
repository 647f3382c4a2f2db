"""A query that ended within the writing of its log is repaired; the undo breaks it again."""

from __future__ import annotations

from scenes.scene import STOP, QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class RepairSpark(QueryScene):
    """The newest entry of its offset log was not written to its end."""

    name = "repair-spark"
    scenario = "repair"

    make_ready = FromScratchSpark.make_ready

    def prepare(self) -> None:
        """Stop it, and break off what it would write next."""
        super().prepare()
        assert self.shell(STOP) == 0
        newest = max(int(f.name) for f in (self.checkpoint / "commits").glob("[0-9]*"))
        self.broken = self.checkpoint / "offsets" / str(newest + 1)
        self.broken.write_text("v1\n{")

    def check_end(self) -> None:
        """It goes on where it stopped, as the same query."""
        self.check_neighbour()
        self.check_goes_on()

    def check_undone(self) -> None:
        """The broken entry is back, and nothing runs."""
        self.check_neighbour()
        assert self.broken.read_text() == "v1\n{", "the broken checkpoint is not back"
        self.wait(lambda: not self._alive(), "something was started over the broken checkpoint")
