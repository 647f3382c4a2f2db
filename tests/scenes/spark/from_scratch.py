"""A query begins anew with a fresh checkpoint; its undo puts the old one back."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

from scenes.scene import QueryScene

# Written by Spark 4.2 over a topic `orders` of two partitions.
WRITTEN = Path(__file__).parents[2] / "golden" / "checkpoints" / "kafka_source" / "checkpoint"


class FromScratchSpark(QueryScene):
    """Everything again, from the beginning of the log."""

    name = "from-scratch-spark"
    scenario = "from-scratch"

    def make_ready(self) -> None:
        """Take over a checkpoint of Spark's as if it were just written, for this scene's topic.

        A query with a batch in months is taken for stopped only after a minute of silence.
        """
        shutil.copytree(WRITTEN, self.checkpoint)
        now = f'"batchTimestampMs":{int(time.time() * 1000)}'
        for log in ("offsets", "sources/0"):
            for file in (self.checkpoint / log).iterdir():
                text = file.read_text().replace('{"orders":', f'{{"{self.topics[0]}":')
                file.write_text(re.sub(r'"batchTimestampMs":\d+', now, text))
        self.query = json.loads((self.checkpoint / "metadata").read_text())["id"]

    def check_end(self) -> None:
        """A new query read every record from the beginning, once."""
        self.check_neighbour()
        self.check_reading(since=1)
        first = self.lives()[1]
        assert first.at == {part: begin for part, (begin, _) in self.truth().items()}
        assert {life.query for life in self.lives()[1:]} == {first.query} != {self.query}

    def check_undone(self) -> None:
        """The old query goes on where it stopped."""
        self.check_neighbour()
        self.check_goes_on()
