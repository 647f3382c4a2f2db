"""A real Kafka Streams application begins again; its undo brings its state back."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import resettable
from headgate.model.version import Engine
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import Scene


@cache
def _class_path() -> str:
    return resettable.compiled(Path(tempfile.mkdtemp(prefix="resettable")))


class FromScratchStreams(Scene):
    """It counts the keys of its input over a repartition topic, and writes each count."""

    name = "from-scratch-streams"
    scenario = "from-scratch"
    engine = Engine.KAFKA_STREAMS

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self.app = self.unique("app")
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one input."""
        return (f"{self.app}-in",)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The state is kept for the undo; which topics are its own is said by name."""
        ends = ("counts-changelog", "by-key-repartition")
        named = ",".join(f"{self.app}-{end}" for end in ends)
        return ("--park-internal", f"--internal-topics={named}")

    def prepare(self) -> None:
        """Start it, and let it count the history."""
        make_topic(self.bootstrap, self.topics[0], 2)
        make_topic(self.bootstrap, f"{self.app}-out", 1)
        write_history(self.bootstrap, self.topics[0], 2)
        self.neighbour()
        state = self.folder / "state"
        words = resettable.argv(
            _class_path(), "rekeyed", self.bootstrap,
            application_id=self.app, prefix=self.app, state_dir=state, session_timeout_ms=6000,
        )  # fmt: skip
        commands = resettable.commands(words, state)
        self.register({"group": self.app}, commands)
        assert self.shell(commands["start"]) == 0
        self._commands = commands
        count = len(self._read())
        self.wait(lambda: sum(map(len, self._written().values())) >= count, "it counts nothing")
        self._writer = Writer(self.bootstrap, self.topics[0], 2)

    def check_end(self) -> None:
        """Each key was counted anew from one on, once more, and all of it."""
        self.check_neighbour()
        self._wait_for(2)
        for key, lives in self._lives().items():
            assert len(lives) <= 2, f"{key} was counted in {len(lives)} lives"
            assert lives[-1][0] == 1

    def check_undone(self) -> None:
        """The first life's counts go on where they were; nothing is missing and nothing twice."""
        self.check_neighbour()
        self._wait_for(1)

    def _wait_for(self, least: int) -> None:
        def wrong() -> str:
            truth, lives = Counter(self._read()), self._lives()
            late = [k for k, n in truth.items() if k not in lives or lives[k][-1][-1] < n]
            few = max((len(found) for found in lives.values()), default=0) < least
            more = [k for k, found in lives.items() if found[-1][-1] > self._total(k)]
            assert not more, f"{more} counted double: {[lives[k] for k in more[:1]]}"
            return f"{late} not counted" if late else ("it did not begin anew" if few else "")

        self.wait(lambda: not wrong(), wrong)

    def _total(self, key: str) -> int:
        return Counter(self._read())[key]

    def _lives(self) -> dict[str, list[list[int]]]:
        """Return the counts of each key, split where they don't go on by one."""
        found: dict[str, list[list[int]]] = {}
        for key, counts in self._written().items():
            lives = found.setdefault(key, [])
            for count in counts:
                if lives and lives[-1][-1] + 1 == count:
                    lives[-1].append(count)
                else:
                    lives.append([count])
        return found

    def _written(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for key, count, _ in resettable.read(self.bootstrap, f"{self.app}-out"):
            found.setdefault(key, []).append(int(count))
        return found

    def _read(self) -> list[str]:
        records = read_all(self.bootstrap, self.topics).values()
        return [(r.key or b"").decode() for part in records for r in part]

    def close(self) -> None:
        """End producer and application."""
        if self._writer is not None:
            self._writer.close()
        self.shell(self._commands["stop"])
