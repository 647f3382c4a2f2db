"""A real Kafka Streams application is upgraded beside itself; every count that it writes counts."""

import json
import shlex
import subprocess
import threading
import time
from collections import Counter

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from integration.conftest import Team, end_workers
from scenes.records import make_topic, read_all
from support import resettable
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.long]
HISTORY = 120


class Clicks(threading.Thread):
    """A producer that keeps writing to both partitions; times are not in order."""

    def __init__(self, bootstrap, topic):
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic, self._end, self.sent = topic, threading.Event(), Counter()

    def send(self, number):
        key, at = f"k{number % 7}", int(time.time() * 1000) - (number * 7919) % 60_000
        self._producer.produce(self._topic, "v", key=key, partition=number % 2, timestamp=at)
        self._producer.poll(0)
        self.sent[key] += 1

    def run(self):
        number = HISTORY
        while not self._end.wait(0.05):
            self.send(number)
            number += 1

    def close(self):
        self._end.set()
        self.join()
        assert self._producer.flush(30) == 0


class Counting:
    """Two registered applications: `app` counts keys, `app-v2` is its new version."""

    def __init__(self, team, unique, class_path, new="rekeyed"):
        self.team, self.class_path = team, class_path
        self.kinds = {"app": "rekeyed", "app-v2": new}
        self.ids = {"app": unique("app"), "app-v2": unique("other")}
        self.source, self.output = f"{unique('clicks')}-in", unique("counts")
        for topic in (self.source, self.output):
            make_topic(team.bootstrap, topic, 2)
        self.producer = Clicks(team.bootstrap, self.source)
        for number in range(HISTORY):
            self.producer.send(number)
        team.register(*(self._table(name) for name in self.kinds))
        self.shell("app", "start")
        self.producer.start()
        until(lambda: sum(self.written().values()) >= HISTORY, "nothing is counted")

    def _table(self, name):
        commands = "\n".join(f"{k} = {json.dumps(v)}" for k, v in self.commands(name).items())
        return (
            f'[[pipeline]]\nname = "{name}"\nengine = "kafka-streams"\n'
            f'group = "{self.ids[name]}"\n[pipeline.commands]\n{commands}\n'
        )

    def commands(self, name):
        state, pid = self.team.folder / f"state-{name}", f"{name}.pid"
        words = resettable.argv(
            self.class_path, self.kinds[name], self.team.bootstrap, output="OUTPUT",
            application_id=self.ids[name], prefix=self.source.removesuffix("-in"),
            state_dir=state, session_timeout_ms=6000, heartbeat_interval_ms=500,
        )  # fmt: skip
        output = f"${{HEADGATE_OUTPUT_TOPIC:-{self.output}}}"
        runs = f"grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat {pid})/status"
        program = shlex.join(words).replace("OUTPUT", output)
        return {
            "start": f"nohup {program} >> {name}.log 2>&1 & echo $! > {pid}",
            "stop": f"[ -e {pid} ] || exit 0; kill $(cat {pid}) 2>/dev/null;"
            f" while {runs}; do sleep 0.1; done",
            "status": f"[ -e {pid} ] && {runs} && exit 0 || exit 3",
            "clean": f"rm -rf {state}",
        }

    def shell(self, name, word):
        command = self.commands(name)[word]
        return subprocess.run(command, shell=True, cwd=self.team.folder, check=False).returncode

    def written(self):
        """How often each count of each key was written."""
        found = read_all(self.team.bootstrap, [self.output]).values()
        return Counter((r.key.decode(), r.value.decode()) for part in found for r in part)

    def right(self):
        """Each count of each key, once: what one application without a switch writes."""
        return Counter(
            (key, str(n)) for key, count in self.producer.sent.items() for n in range(1, count + 1)
        )

    def wait_until_counted(self):
        right = self.right()
        until(lambda: not right - self.written(), lambda: f"lost: {right - self.written()}")

    def plan(self, *options):
        given = ("--new-pipeline=app-v2", f"--output-topic={self.output}", "--keys=key")
        return self.team.plan("app", *given, "--compare-for=4", *options, scenario="online-upgrade")

    def topics(self):
        return (
            AdminClient({"bootstrap.servers": self.team.bootstrap}).list_topics(timeout=10).topics
        )

    def in_flight(self, name):
        """How many records of its repartition topic a version has not counted."""
        from headgate.gateway.kafka.cluster import Kafka
        from headgate.gateway.kafka.committed_offsets import read_offsets

        topic = f"{self.ids[name]}-by-key-repartition"
        with Kafka(self.team.bootstrap) as kafka:
            at = {p: o.offset for p, o in read_offsets(kafka, self.ids[name]).items()}
            ends = kafka.begin_end([(topic, number) for number in range(2)])
        return sum(end - max(at.get(part, begin), begin) for part, (begin, end) in ends.items())

    def check_clean(self):
        """Nothing is left of the new application, and only the old one runs."""
        left = [t for t in self.topics() if t.startswith(self.ids["app-v2"])]
        assert not left and f"{self.output}-shadow" not in self.topics()
        assert not (self.team.folder / "state-app-v2").exists()
        assert (self.shell("app", "status"), self.shell("app-v2", "status")) == (0, 3)

    def close(self):
        if self.producer.is_alive():
            self.producer.close()
        for name in self.kinds:
            self.shell(name, "stop")


@pytest.fixture
def counting(tmp_path, broker, unique, class_path):
    made = []

    def make(**given):
        made.append(Counting(Team(tmp_path, broker), unique, class_path, **given))
        return made[-1]

    yield make
    for one in made:
        one.close()
        end_workers(one.team)


def test_no_count_is_lost_and_as_many_come_twice_as_the_run_says(counting):
    app = counting()
    file, plan = app.plan()
    assert plan["can_apply"], plan["blockers"]
    done = app.team.run("apply", str(file))
    assert done["state"] == "done"
    assert (app.shell("app", "status"), app.shell("app-v2", "status")) == (3, 0)
    assert f"{app.output}-shadow" not in app.topics()
    app.wait_until_counted()
    text = json.dumps(app.team.run("runs", done["run"]))
    most = int(text.partition("the results of up to ")[2].partition(" record")[0])
    twice = sum(n - 1 for n in app.written().values() if n > 1)
    # What the old version had passed on to itself when it stopped, only the new one has counted.
    assert twice == most - app.in_flight("app") and max(app.written().values()) <= 2

    undone = app.team.run("undo", done["run"])
    assert undone["state"] == "done"
    app.check_clean()
    app.producer.close()
    app.wait_until_counted()
    # The old version has its own state of the switch: it continues to count without a gap.
    assert set(app.written()) == set(app.right())
    said = json.dumps(app.team.run("runs", undone["run"])).partition("app reprocesses up to ")[2]
    again = sum(n - 1 for n in app.written().values() if n > 1) - twice
    assert 0 < again <= int(said.partition(" record")[0])


def test_an_application_that_counts_otherwise_is_not_switched_to(counting):
    app = counting(new="marked")
    file, _ = app.plan()
    ended = app.team.run("apply", str(file), code=None)
    assert ended["state"] == "refused" and "the results differ" in ended["error"], ended
    app.check_clean()
    app.wait_until_counted()
    assert set(app.written().values()) == {1}
