"""A consumer group that was stopped for good is deleted; its undo makes it anew."""

from __future__ import annotations

from scenes.records import read_all
from scenes.scene import STOP, GroupScene


class DecommissionGroup(GroupScene):
    """Nothing is left of it but the topic that it read."""

    name = "decommission-group"
    scenario = "decommission"

    def prepare(self) -> None:
        """Stop it before it is asked for: what runs is not decommissioned."""
        super().prepare()
        assert self.shell(STOP) == 0
        self.before = self.committed(self.group)
        self.offsets = {p: r[0].offset for p, r in read_all(self.bootstrap, self.topics).items()}

    def check_end(self) -> None:
        """The group is gone, and nobody started it."""
        self.check_neighbour()
        assert self.committed(self.group) == {}, "the group is still there"
        self._check_stays_stopped()

    def check_undone(self) -> None:
        """The group is at where it was, with its metadata."""
        self.check_neighbour()
        assert self.committed(self.group) == self.before
        self._check_stays_stopped()

    def _check_stays_stopped(self) -> None:
        assert self._alive() == [], "somebody started it"
        begins = {p: r[0].offset for p, r in read_all(self.bootstrap, self.topics).items()}
        assert begins == self.offsets, "records of its input are gone"
