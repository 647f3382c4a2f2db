"""A consumer group begins anew into an emptied output; its undo puts the old records back."""

from __future__ import annotations

from scenes.records import Part, Seen, make_topic, read_all, write_history
from scenes.scene import GroupScene

Row = tuple[int, bytes | None, bytes | None]


class FromScratchGroup(GroupScene):
    """Everything again, with what was written before backed up and out of the way."""

    name = "from-scratch-group"
    scenario = "from-scratch"

    def make_ready(self) -> None:
        """Make the output, as an earlier life has left it."""
        self.output = self.unique("bills")
        make_topic(self.bootstrap, self.output, 2, **{"retention.ms": "86400000"})
        write_history(self.bootstrap, self.output, 2, count=20)
        self.before = rows(read_all(self.bootstrap, [self.output]))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The output is emptied, and can come back."""
        return ("--outputs=empty", f"--output-topics={self.output}", "--back-up-outputs")

    def check_end(self) -> None:
        """The output is empty, and the first life after the run read from the beginning."""
        self.check_neighbour()
        self.check_reading(since=1)
        assert self.lives()[1].at == {part: begin for part, (begin, _) in self.truth().items()}
        left = rows(read_all(self.bootstrap, [self.output]))
        assert not any(left.values()), "the output was not emptied"

    def check_undone(self) -> None:
        """The output holds what it held, record by record, and the group goes on."""
        self.check_neighbour()
        assert rows(read_all(self.bootstrap, [self.output])) == self.before
        self.check_goes_on()


def rows(found: dict[Part, list[Seen]]) -> dict[Part, list[Row]]:
    """Return the records without their offsets, which are others after an undo."""
    return {part: [(r.timestamp, r.key, r.value) for r in seen] for part, seen in found.items()}
