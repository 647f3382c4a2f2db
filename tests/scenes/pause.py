"""A pipeline is paused while its input goes on, fenced meanwhile, and goes on where it was."""

from __future__ import annotations

from scenes.generations import Generation
from scenes.scene import GroupScene, QueryScene, WorkingScene


class _Paused(WorkingScene):
    """What a pause of either engine must leave: nobody lives, nothing is lost, the fence is up."""

    scenario = "pause"

    def commands(self) -> dict[str, str]:
        """Return the commands with a fence; a start behind it would leave a file `fenced-out`."""
        found = super().commands()
        start = f"[ -e fenced ] && echo >> fenced-out; {found['start']}"
        notify = 'echo "$HEADGATE_MESSAGE" >> told'
        fence = {"fence": "touch fenced", "unfence": "rm -f fenced", "notify": notify}
        return {**found, "start": start, **fence}

    def check_end(self) -> None:
        """Nobody lives, the fence is up, and what was read was committed."""
        self.check_neighbour()
        self.wait(lambda: not self._alive(), lambda: f"{self._alive()} live while it is paused")
        assert (self.folder / "fenced").exists(), "nothing fences it"
        assert "is paused" in (self.folder / "told").read_text(), "nobody was told"
        (life,) = self.lives()
        self.check_drained(life)

    def check_drained(self, life: Generation) -> None:
        """Assert that the first life left nothing open."""
        for part, read in life.read.items():
            reached = read[-1] + 1 if read else None
            # What was read and not committed yet is read again: at least nothing is skipped.
            assert reached is None or (life.position(part) or 0) <= reached

    def check_undone(self) -> None:
        """It goes on where it was, and the fence is gone."""
        self.check_neighbour()
        assert not (self.folder / "fenced").exists(), "the fence is still up"
        assert not (self.folder / "fenced-out").exists(), "it was started behind its fence"
        self.check_goes_on()


class PauseGroup(_Paused, GroupScene):
    """A consumer group with one member."""

    name = "pause-group"


class PauseSpark(_Paused, QueryScene):
    """A query over Kafka with a checkpoint."""

    name = "pause-spark"
