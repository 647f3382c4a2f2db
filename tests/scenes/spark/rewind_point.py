"""A query goes back to a restore point whose batch its own logs no longer have."""

from __future__ import annotations

import shutil

from headgate.usecases.context import open_context
from headgate.usecases.restore_points.make_point import make_point
from scenes.spark.rewind import RewindSpark


class RewindPointSpark(RewindSpark):
    """Back to a point at the end of batch 0, which Spark has removed from the checkpoint since."""

    name = "rewind-point-spark"
    point = ""

    @property
    def arguments(self) -> tuple[str, ...]:  # type: ignore[override]
        """The point, which was made before the run."""
        return (f"--restore-point={self.point}", "--sink=file", "--sink-path=results")

    def make_ready(self) -> None:
        """Make the point while batch 0 is the newest one, then let batch 1 be all that is left."""
        super().make_ready()
        self.register(self.fields(), self.commands())
        kept = self.folder / "later"
        for log in ("offsets", "commits"):
            (kept / log).mkdir(parents=True)
            (self.checkpoint / log / "1").rename(kept / log / "1")
        self.point = make_point(open_context(str(self.config)), self.pipeline).id
        for log in ("offsets", "commits"):
            (kept / log / "1").rename(self.checkpoint / log / "1")
            (self.checkpoint / log / "0").unlink()
        shutil.rmtree(kept)
