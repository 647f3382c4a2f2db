"""A consumer writes a bill for each order, and is upgraded beside itself while orders arrive."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from headgate.model.version import Engine
from scenes.records import Writer, make_topic, read_all, write_history
from scenes.scene import Scene

PROGRAM = Path(__file__).parents[1] / "transformer.py"


class OnlineUpgradeGroup(Scene):
    """Each bill says which version wrote it; the old version commits before it stops."""

    name = "online-upgrade-group"
    scenario = "online-upgrade"
    engine = Engine.CONSUMER_GROUP
    pipeline = "old"

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder, bootstrap)
        self._topic, self._sink = self.unique("orders"), self.unique("bills")
        self._groups = {"old": self.unique("billing"), "new": self.unique("billing-v2")}
        self._writer: Writer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The one topic that both versions read."""
        return (self._topic,)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The new version, compared without the field in which it names itself."""
        given = ("--new-pipeline=new", f"--output-topic={self._sink}")
        return (*given, "--keys=id", "--ignore=by", "--compare-for=2")

    def prepare(self) -> None:
        """Start the old version; both are registered."""
        make_topic(self.bootstrap, self._topic, 2)
        make_topic(self.bootstrap, self._sink, 2)
        write_history(self.bootstrap, self._topic, 2)
        self.neighbour()
        self.register({"group": self._groups["old"]}, self._commands("old"))
        with self.config.open("a") as file:
            file.write(self._table("new"))
        assert self.shell(self._commands("old")["start"]) == 0
        self._writer = Writer(self.bootstrap, self._topic, 2)
        self._wait_until_written()

    def _table(self, name: str) -> str:
        fields = {"name": name, "engine": self.engine.value, "group": self._groups[name]}
        lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
        commands = [f"{word} = {json.dumps(text)}" for word, text in self._commands(name).items()]
        return "\n".join(["[[pipeline]]", *lines, "[pipeline.commands]", *commands]) + "\n"

    def _commands(self, name: str) -> dict[str, str]:
        """Return a version's commands; a start while it runs leaves a file `twice`."""
        group, pid = self._groups[name], f"{name}.pid"
        runs = f"grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat {pid})/status"
        output = f"${{HEADGATE_OUTPUT_TOPIC:-{self._sink}}}"
        program = f"{sys.executable} {PROGRAM} {self.bootstrap} {group} {self._topic} {output}"
        return {
            "start": f"[ -e {pid} ] && {runs} && echo >> twice;"
            f" nohup {program} --by {name} >> {name}.log 2>&1 & echo $! > {pid}",
            "stop": f"[ -e {pid} ] || exit 0; kill $(cat {pid}) 2>/dev/null;"
            f" while {runs}; do sleep 0.1; done",
            "status": f"[ -e {pid} ] && {runs} && exit 0 || exit 3",
        }

    def _written(self) -> Counter[tuple[str, str, str]]:
        """Return how often each order was billed: its id, its place and the version's name.

        Some orders were sent twice, and each of them is billed.
        """
        found = read_all(self.bootstrap, [self._sink])
        values = [json.loads(r.value or b"{}") for records in found.values() for r in records]
        return Counter((str(v["id"]), str(v["amount"]), v["by"]) for v in values)

    def _sent(self) -> Counter[tuple[str, str]]:
        found = read_all(self.bootstrap, [self._topic])
        values = [json.loads(r.value or b"{}") for records in found.values() for r in records]
        return Counter((str(v["id"]), str(v["amount"])) for v in values)

    def _bills(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for (order, amount, _), count in self._written().items():
            found[order, amount] += count
        return found

    def _wait_until_written(self) -> None:
        """Wait until every order that was sent by now is billed."""
        sent = self._sent()
        self.wait(
            lambda: not sent - self._bills(),
            lambda: f"not billed: {list(sent - self._bills())[:3]}",
        )

    def check_end(self) -> None:
        """The new version runs; each order was billed once, by one of both versions."""
        self.check_neighbour()
        assert self._status() == {"old": 3, "new": 0}, f"other versions run: {self._status()}"
        self._wait_until_written()
        bills = self._bills()
        more = bills - self._sent()
        assert not more, f"billed twice: {list(more)[:3]}"
        assert self._by("new"), "the new version has written nothing"
        self._check_no_shadow()

    def check_undone(self) -> None:
        """The old version runs; only what the new one wrote was written again."""
        self.check_neighbour()
        assert self._status() == {"old": 0, "new": 3}, f"other versions run: {self._status()}"
        assert self.committed(self._groups["new"]) == {}, "the new group is left behind"
        self._wait_until_written()
        # The old version may still be on its way through what the new one has written.
        self.wait(
            lambda: not self._sent() - self._by("old"),
            "the old version does not continue at the switch",
        )
        more = self._by("old") - self._sent()
        assert not more, f"billed twice by one version: {list(more)[:3]}"
        self._check_no_shadow()

    def _by(self, name: str) -> Counter[tuple[str, str]]:
        found = {(order, n): c for (order, n, by), c in self._written().items() if by == name}
        return Counter(found)

    def _status(self) -> dict[str, int]:
        return {name: self.shell(self._commands(name)["status"]) for name in self._groups}

    def _check_no_shadow(self) -> None:
        from confluent_kafka.admin import AdminClient

        topics = AdminClient({"bootstrap.servers": self.bootstrap}).list_topics(timeout=10).topics
        assert f"{self._sink}-shadow" not in topics, "the shadow topic is left behind"

    def close(self) -> None:
        """End the producer and both versions."""
        if self._writer is not None:
            self._writer.close()
        for name in self._groups:
            self.shell(self._commands(name)["stop"])
