"""An application that counts keys is upgraded beside itself, with state of its own."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path

from headgate.gateway.kafka.cluster import Kafka
from headgate.model.version import Engine
from scenes.kafka_streams.streams_scene import class_path
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import Scene
from support import resettable


class OnlineUpgradeStreams(Scene):
    """Both versions count alike: each count of each key must be in the output."""

    name = "online-upgrade-streams"
    scenario = "online-upgrade"
    engine = Engine.KAFKA_STREAMS
    pipeline = "old"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._apps = {"old": self.unique("app"), "new": self.unique("next")}
        self._prefix = self.unique("orders")
        self._sink = f"{self._prefix}-out"
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that both versions read."""
        return (f"{self._prefix}-in",)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The new version; a count is found by the record's key."""
        given = ("--new-pipeline=new", f"--output-topic={self._sink}")
        return (*given, "--keys=key", "--compare-for=2")

    def prepare(self) -> None:
        """Start the old version, let it count the history, then write on."""
        make_topic(self.bootstrap, self.topics[0], 2)
        make_topic(self.bootstrap, self._sink, 1)
        write_history(self.bootstrap, self.topics[0], 2)
        self.neighbour()
        self.register({"group": self._apps["old"]}, self._commands("old"))
        with self.config.open("a") as file:
            file.write(self._table("new"))
        assert self.shell(self._commands("old")["start"]) == 0
        self._wait_until_counted()
        self._writer = Writer(self.bootstrap, self.topics[0], 2)

    def _table(self, name: str) -> str:
        fields = {"name": name, "engine": self.engine.value, "group": self._apps[name]}
        lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
        commands = [f"{word} = {json.dumps(text)}" for word, text in self._commands(name).items()]
        return "\n".join(["[[pipeline]]", *lines, "[pipeline.commands]", *commands]) + "\n"

    def _commands(self, name: str) -> dict[str, str]:
        """Return a version's commands; a start while it runs leaves a file `twice`."""
        pid, state = f"{name}.pid", self.folder / f"state-{name}"
        runs = f"grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat {pid})/status"
        words = resettable.argv(
            class_path(), "rekeyed", self.bootstrap, output="OUTPUT",
            application_id=self._apps[name], prefix=self._prefix, state_dir=state,
            session_timeout_ms=6000,
        )  # fmt: skip
        output = f"${{HEADGATE_OUTPUT_TOPIC:-{self._sink}}}"
        program = shlex.join(words).replace("OUTPUT", output)
        return {
            "start": f"[ -e {pid} ] && {runs} && echo >> twice;"
            f" nohup {program} >> {name}.log 2>&1 & echo $! > {pid}",
            "stop": f"[ -e {pid} ] || exit 0; kill $(cat {pid}) 2>/dev/null;"
            f" while {runs}; do sleep 0.1; done",
            "status": f"[ -e {pid} ] && {runs} && exit 0 || exit 3",
            "clean": f"rm -rf {shlex.quote(str(state))}",
        }

    def _written(self) -> Counter[tuple[str, int]]:
        """Return how often each count of each key was written."""
        found = resettable.read(self.bootstrap, self._sink)
        return Counter((key, int(count)) for key, count, _ in found)

    def _right(self) -> Counter[tuple[str, int]]:
        """Return each count of each key once, as the input has them."""
        found = read_all(self.bootstrap, self.topics).values()
        keys = Counter((r.key or b"").decode() for records in found for r in records)
        return Counter((key, n) for key, total in keys.items() for n in range(1, total + 1))

    def _wait_until_counted(self) -> None:
        """Wait until every record that was sent by now is counted, without a gap."""
        right = self._right()
        self.wait(
            lambda: not right - self._written(), lambda: f"not counted: {right - self._written()}"
        )

    def check_end(self) -> None:
        """The new version runs; no count is missing, none is too high, and few came twice."""
        self.check_neighbour()
        assert self._status() == {"old": 3, "new": 0}, f"other versions run: {self._status()}"
        self._wait_until_counted()
        written = self._written()
        assert not written.keys() - self._right().keys(), "counted twice"
        assert max(written.values()) <= 2, f"written too often: {written.most_common(3)}"
        self._check_no_shadow()

    def check_undone(self) -> None:
        """The old version continues with the state of the switch; the new one is gone."""
        self.check_neighbour()
        assert self._status() == {"old": 0, "new": 3}, f"other versions run: {self._status()}"
        self._wait_until_counted()
        assert not self._written().keys() - self._right().keys(), "counted twice"
        self._check_no_shadow()
        with Kafka(self.bootstrap) as kafka:
            left = [name for name in kafka.partitions() if name.startswith(self._apps["new"])]
        assert not left, f"left behind: {left}"
        assert self.committed(self._apps["new"]) == {}, "the new group is left behind"
        assert not (self.folder / "state-new").exists(), "its local state is left behind"

    def _status(self) -> dict[str, int]:
        return {name: self.shell(self._commands(name)["status"]) for name in self._apps}

    def _check_no_shadow(self) -> None:
        with Kafka(self.bootstrap) as kafka:
            assert f"{self._sink}-shadow" not in kafka.partitions(), "the shadow topic is left"

    def close(self) -> None:
        """End the producer and both versions."""
        if self._writer is not None:
            self._writer.close()
        for name in self._apps:
            self.shell(self._commands(name)["stop"])
