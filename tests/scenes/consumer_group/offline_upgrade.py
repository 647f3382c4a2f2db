"""A consumer is upgraded: the new version goes on where the old one stopped; so does the undo."""

from __future__ import annotations

from scenes.scene import GroupScene


class OfflineUpgradeGroup(GroupScene):
    """The file `code` says which version is deployed; the stand-in does the same in both."""

    name = "offline-upgrade-group"
    scenario = "offline-upgrade"

    def prepare(self) -> None:
        """Say which version is deployed."""
        (self.folder / "code").write_text("old\n")
        super().prepare()

    def commands(self) -> dict[str, str]:
        """Return the registered commands; a version is deployed by writing its name."""
        return {**super().commands(), "deploy": "echo new > code", "rollback": "echo old > code"}

    def check_end(self) -> None:
        """The new version went on where the old one stopped, and read all since."""
        self.check_neighbour()
        assert (self.folder / "code").read_text() == "new\n", "the new version is not deployed"
        self.check_goes_on()
        assert len(self.lives()) > 1, "the old version was not stopped"

    def check_undone(self) -> None:
        """The old version goes on from the same place again, over what the new one has read."""
        self.check_neighbour()
        assert (self.folder / "code").read_text() == "old\n", "the old version is not deployed"
        self.check_goes_on()
