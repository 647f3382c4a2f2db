"""A query begins anew at a time, with a new checkpoint: the same point in every partition."""

from __future__ import annotations

import time

from headgate.text.times import from_milliseconds, iso
from scenes.records import MINUTE, read_all
from scenes.scene import QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class FromPointSpark(QueryScene):
    """Back to half an hour ago, with records that came late before and after it."""

    name = "from-point-spark"
    scenario = "from-point"

    make_ready = FromScratchSpark.make_ready

    def prepare(self) -> None:
        """Decide the time once."""
        self.at = int(time.time() // 60 - 30) * MINUTE
        super().prepare()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The time, as it is written."""
        return (f"--to-datetime={iso(from_milliseconds(self.at))}",)

    def check_end(self) -> None:
        """A new query began at the time's first record of each partition, and read all since."""
        self.check_neighbour()
        self.check_reading(since=1)
        expected = {
            f"{topic}-{number}": next(r.offset for r in records if r.timestamp >= self.at)
            for (topic, number), records in read_all(self.bootstrap, self.topics).items()
        }
        assert self.lives()[1].at == expected
        assert self.lives()[1].query != self.lives()[0].query

    def check_undone(self) -> None:
        """The old query goes on where it stopped."""
        self.check_neighbour()
        self.check_goes_on()
