"""A query is upgraded: the new version goes on where the old one stopped, and so does the undo."""

from __future__ import annotations

from scenes.scene import QueryScene
from scenes.spark.from_scratch import WRITTEN, FromScratchSpark


class OfflineUpgradeSpark(QueryScene):
    """The file `code` says which version is deployed; the stand-in does the same in both."""

    name = "offline-upgrade-spark"
    scenario = "offline-upgrade"

    make_ready = FromScratchSpark.make_ready

    def prepare(self) -> None:
        """Say which version is deployed."""
        (self.folder / "code").write_text("old\n")
        super().prepare()

    def commands(self) -> dict[str, str]:
        """Return the registered commands; a version is deployed by writing its name."""
        return {**super().commands(), "deploy": "echo new > code", "rollback": "echo old > code"}

    @property
    def arguments(self) -> tuple[str, ...]:
        """The evidence of a query like it; what the gate says of it is not the scene's subject."""
        return ("--after", str(WRITTEN), "--fail-on", "none")

    def check_end(self) -> None:
        """The new version went on where the old one stopped, as the same query."""
        self.check_neighbour()
        assert (self.folder / "code").read_text() == "new\n", "the new version is not deployed"
        self.check_goes_on()

    def check_undone(self) -> None:
        """The old version goes on from the same place again."""
        self.check_neighbour()
        assert (self.folder / "code").read_text() == "old\n", "the old version is not deployed"
        self.check_goes_on()
