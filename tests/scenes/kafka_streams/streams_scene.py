"""A scene whose pipeline is a real Kafka Streams application that counts keys."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from headgate.gateway.kafka.cluster import Kafka
from headgate.model.version import Engine
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import Scene
from support import resettable

POISON = "poison"


@cache
def class_path() -> str:
    """Compile the application once; return its class path."""
    return resettable.compiled(Path(tempfile.mkdtemp(prefix="resettable")))


class StreamsScene(Scene):
    """It counts the keys of its input over a repartition topic, and writes each count."""

    engine = Engine.KAFKA_STREAMS

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self.app = self.unique("app")
        self._writer: Writer | None = None
        self._commands: dict[str, str] = {}

    @property
    def topics(self) -> tuple[str, ...]:
        """The one input."""
        return (f"{self.app}-in",)

    @property
    def internal(self) -> tuple[str, ...]:
        """Its internal topics."""
        return tuple(f"{self.app}-{end}" for end in ("counts-changelog", "by-key-repartition"))

    def prepare(self) -> None:
        """Start it, let it count the history, then write on."""
        make_topic(self.bootstrap, self.topics[0], 2)
        make_topic(self.bootstrap, f"{self.app}-out", 1)
        write_history(self.bootstrap, self.topics[0], 2)
        self.neighbour()
        state = self.folder / "state"
        words = resettable.argv(
            class_path(), "KIND", self.bootstrap,
            application_id=self.app, prefix=self.app, state_dir=state, session_timeout_ms=6000,
            describe=self.folder, pause=self.folder / "pause",
        )  # fmt: skip
        (self.folder / "kind").write_text("rekeyed\n")
        self._commands = self.commands(resettable.versioned(words, state))
        self.register(self.fields(), self._commands)
        assert self.shell(self._commands["start"]) == 0
        count = len(self.read())
        self.wait(lambda: sum(map(len, self.written().values())) >= count, "it counts nothing")
        self.make_ready()
        self._writer = Writer(self.bootstrap, self.topics[0], 2)

    def fields(self) -> dict[str, object]:
        """Return what the registry says of it, beside name, engine and commands."""
        return {"group": self.app}

    def commands(self, every: dict[str, str]) -> dict[str, str]:
        """Return those of its commands that are registered."""
        return {word: every[word] for word in ("start", "stop", "status", "clean")}

    def make_ready(self) -> None:
        """Do what has to be done before records come on."""

    def start(self) -> None:
        """Start it, as its owner would, where it does not run."""
        if self.shell(self._commands["status"]) == 3:
            assert self.shell(self._commands["start"]) == 0

    def check_counted(
        self, truth: Callable[[], Counter[str]] | None = None, *, least: int = 1
    ) -> None:
        """Wait until the last life has counted what there is, and none twice.

        Each key must have `least` lives. `truth` returns how often each is to be counted by now;
        without one that is how often it stands in the input.
        """
        right = truth or (lambda: Counter(self.read()))
        wanted = right()

        def wrong() -> str:
            lives = self.lives()
            late = [k for k, n in wanted.items() if k not in lives or lives[k][-1][-1] < n]
            few = any(len(lives.get(key, ())) < least for key in wanted)
            now = right()
            # Before it begins anew at a later point it has counted more than it is to count then.
            more = [k for k, n in lives.items() if len(n) >= least and n[-1][-1] > now[k]]
            assert not more, f"{more} counted double: {[lives[k] for k in more[:1]]}"
            return f"{late} not counted" if late else ("it did not begin anew" if few else "")

        self.wait(lambda: not wrong(), wrong)

    def check_one_life(self) -> None:
        """Assert that no count came twice and none was left out."""
        broken = {key: found for key, found in self.lives().items() if len(found) > 1}
        assert not broken, f"counts don't go on: {broken}"

    def lives(self) -> dict[str, list[list[int]]]:
        """Return the counts of each key, split where they don't go on by one."""
        found: dict[str, list[list[int]]] = {}
        for key, counts in self.written().items():
            lives = found.setdefault(key, [])
            for count in (int(text.rpartition(":")[2]) for text in counts):
                if lives and lives[-1][-1] + 1 == count:
                    lives[-1].append(count)
                else:
                    lives.append([count])
        return found

    def written(self) -> dict[str, list[str]]:
        """Return what it wrote of each key, in order."""
        found: dict[str, list[str]] = {}
        for key, count, _ in resettable.read(self.bootstrap, f"{self.app}-out"):
            found.setdefault(key, []).append(count)
        return found

    def read(self) -> list[str]:
        """Return the keys of all that its input holds but the poison."""
        records = read_all(self.bootstrap, self.topics).values()
        keys = ((r.key or b"").decode() for part in records for r in part)
        return [key for key in keys if key != POISON]

    def names(self) -> set[str]:
        """Return the topics of its own that there are."""
        with Kafka(self.bootstrap) as kafka:
            return {name for name in kafka.partitions() if name.startswith(f"{self.app}-")}

    def close(self) -> None:
        """End producer and application."""
        if self._writer is not None:
            self._writer.close()
        self.shell(self._commands["stop"])
