"""A consumer group goes back to a time: the same point in every partition."""

from __future__ import annotations

import time

from headgate.text.times import from_milliseconds, iso
from scenes.records import MINUTE, read_all
from scenes.scene import GroupScene


class FromPointGroup(GroupScene):
    """Back to half an hour ago, with records that came late before and after it."""

    name = "from-point-group"
    scenario = "from-point"

    def prepare(self) -> None:
        """Decide the time once."""
        self.at = int(time.time() // 60 - 30) * MINUTE
        super().prepare()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The time, as it is written."""
        return (f"--to-datetime={iso(from_milliseconds(self.at))}",)

    def check_end(self) -> None:
        """The first life after the run began at the time's first record, and read all since."""
        self.check_neighbour()
        self.check_reading(since=1)
        truth = read_all(self.bootstrap, self.topics)
        expected = {
            f"{topic}-{number}": next(r.offset for r in records if r.timestamp >= self.at)
            for (topic, number), records in truth.items()
        }
        assert self.lives()[1].at == expected

    def check_undone(self) -> None:
        """The group goes on where it was."""
        self.check_neighbour()
        self.check_goes_on()
