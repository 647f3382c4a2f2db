"""A query that was stopped for good has its checkpoint set aside; its undo puts it back."""

from __future__ import annotations

from headgate.gateway.checkpoint.folders import tree_hash
from scenes.records import read_all
from scenes.scene import STOP, QueryScene
from scenes.spark.from_scratch import FromScratchSpark


class DecommissionSpark(QueryScene):
    """Nothing is left in its place; the topic that it read is left alone."""

    name = "decommission-spark"
    scenario = "decommission"

    make_ready = FromScratchSpark.make_ready

    def prepare(self) -> None:
        """Stop it before it is asked for: what runs is not decommissioned."""
        super().prepare()
        assert self.shell(STOP) == 0
        self.before = tree_hash(self.checkpoint)
        self.begins = self._begins()

    def check_end(self) -> None:
        """The checkpoint is beside its place, byte for byte, once; nobody started the query."""
        self.check_neighbour()
        assert not self.checkpoint.exists(), "the checkpoint is still there"
        kept = list(self.folder.glob(f".{self.checkpoint.name}.aside-*"))
        assert [tree_hash(folder) for folder in kept] == [self.before]
        self._check_stays_stopped()

    def check_undone(self) -> None:
        """The checkpoint is in its place, byte for byte."""
        self.check_neighbour()
        assert tree_hash(self.checkpoint) == self.before, "the checkpoint is not what it was"
        self._check_stays_stopped()

    def _check_stays_stopped(self) -> None:
        assert self._alive() == [], "somebody started it"
        assert self._begins() == self.begins, "records of its input are gone"

    def _begins(self) -> dict[tuple[str, int], int]:
        return {p: r[0].offset for p, r in read_all(self.bootstrap, self.topics).items()}
