"""A pipeline is paused while its input goes on, suspended meanwhile, and goes on where it was."""

from __future__ import annotations

from scenes.generations import Generation
from scenes.scene import GroupScene, QueryScene, WorkingScene


class _Paused(WorkingScene):
    """A pause of either engine: nobody lives, nothing is lost, restarts are suspended."""

    scenario = "pause"

    def commands(self) -> dict[str, str]:
        """Return the commands; a start while restarts are suspended leaves `suspended-out`."""
        found = super().commands()
        start = f"[ -e suspended ] && echo >> suspended-out; {found['start']}"
        notify = 'echo "$HEADGATE_MESSAGE" >> told'
        more = {"suspend": "touch suspended", "reenable": "rm -f suspended", "notify": notify}
        return {**found, "start": start, **more}

    def check_end(self) -> None:
        """Nobody lives, restarts are suspended, and what was read was committed."""
        self.check_neighbour()
        self.wait(lambda: not self._alive(), lambda: f"{self._alive()} live while it is paused")
        assert (self.folder / "suspended").exists(), "nothing suspends it"
        assert "is paused" in (self.folder / "told").read_text(), "the notification failed"
        (life,) = self.lives()
        self.check_drained(life)

    def check_drained(self, life: Generation) -> None:
        """Assert that the first life left nothing open."""
        for part, read in life.read.items():
            reached = read[-1] + 1 if read else None
            # What was read and not committed yet is read again: at least nothing is skipped.
            assert reached is None or (life.position(part) or 0) <= reached

    def check_undone(self) -> None:
        """It goes on where it was, and restarts are re-enabled."""
        self.check_neighbour()
        assert not (self.folder / "suspended").exists(), "restarts are still suspended"
        assert not (self.folder / "suspended-out").exists(), (
            "it was started while restarts were suspended"
        )
        self.check_goes_on()


class PauseGroup(_Paused, GroupScene):
    """A consumer group with one member."""

    name = "pause-group"


class PauseSpark(_Paused, QueryScene):
    """A query over Kafka with a checkpoint."""

    name = "pause-spark"
