"""A real Kafka Streams application at work, registered in a team's folder, as tests drive it."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections import Counter, defaultdict
from contextlib import contextmanager

from headgate.gateway.kafka.connect import open_kafka
from integration.conftest import Team, end_workers
from support import resettable
from support.waiting import until


class Application:
    """The application `app`, registered in the team's folder; `kind` there says which version."""

    def __init__(self, team, name, class_path, **settings):
        self.team, self.name, self.topic = team, name, f"{name}-in"
        self.broker, self.folder = team.bootstrap, team.folder
        # What it has read so far, in order, and what stood in front of each count.
        self.lives = []
        words = resettable.argv(
            class_path, "KIND", self.broker,
            application_id=name, prefix=name, state_dir=self.folder / "state",
            describe=self.folder, pause=self.folder / "pause", **settings,
        )  # fmt: skip
        self.commands = resettable.versioned(words, self.folder / "state")

    def register(self, kind):
        (self.folder / "kind").write_text(f"{kind}\n")
        table = "\n".join(f"{word} = {json.dumps(text)}" for word, text in self.commands.items())
        self.team.register(
            f'[[pipeline]]\nname = "app"\nengine = "kafka-streams"\ngroup = "{self.name}"\n'
            f'evidence = ["{kind}.txt"]\n[pipeline.commands]\n{table}\n'
        )

    def evidence(self, kind):
        return resettable.evidence(self.folder, kind, self.name)

    def shell(self, word):
        subprocess.run(self.commands[word], shell=True, cwd=self.folder, check=True)

    @property
    def runs(self):
        command = self.commands["status"]
        return subprocess.run(command, shell=True, cwd=self.folder, check=False).returncode == 0

    def write(self, records):
        resettable.produce(self.broker, self.topic, records)

    def write_by_key(self, records):
        """As a producer does that knows of all partitions."""
        resettable.produce_by_key(self.broker, self.topic, records)

    def read_all(self):
        """Partition, key, value and time of its input's records."""
        with open_kafka(self.team.context.registry) as kafka:
            parts = range(len(kafka.partitions()[self.topic]))
        return [(p, *r) for p in parts for r in resettable.read(self.broker, self.topic, part=p)]

    @property
    def own(self):
        """Its internal topics."""
        return f"{self.name}-counts-changelog", f"{self.name}-by-key-repartition"

    def read(self):
        """The keys of its input, in order."""
        return [key for key, _, _ in resettable.read(self.broker, self.topic)]

    def written(self):
        """What it wrote for each key, in order."""
        found = defaultdict(list)
        for key, count, _ in resettable.read(self.broker, f"{self.name}-out"):
            found[key].append(count)
        return dict(found)

    def must_have_read(self, keys, mark=""):
        """Wait until it has counted these keys on top, then assert that it wrote just that."""
        self.lives.append((list(keys), mark))
        counts, right = Counter(), defaultdict(list)
        for lived, of_life in self.lives:
            for key in lived:
                counts[key] += 1
                right[key].append(f"{of_life}{counts[key]}")
        total = sum(map(len, right.values()))
        until(lambda: sum(map(len, self.written().values())) >= total, self.written)
        until(self.is_at_the_end, "it commits nothing more")
        assert self.written() == dict(right)

    def committed(self):
        """Its committed offset by topic; each has one partition."""
        with open_kafka(self.team.context.registry) as kafka:
            return {o.topic: o.offset for o in kafka.describe_group(self.name).offsets}

    def topics(self):
        with open_kafka(self.team.context.registry) as kafka:
            return {name for name in kafka.partitions() if name.startswith(self.name)}

    def is_at_the_end(self):
        """Whether it has committed all there is of its input and of what it passes on."""
        with open_kafka(self.team.context.registry) as kafka:
            at = {(o.topic, o.partition): o.offset for o in kafka.describe_group(self.name).offsets}
            ends = kafka.begin_end(at)
        return (self.topic, 0) in at and all(ends[part][1] == offset for part, offset in at.items())


def apply(team, scenario, *options):
    file, plan = team.plan("app", *options, scenario=scenario)
    assert plan["can_apply"], plan["blockers"]
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    return plan, done["run"]


def undo(team, run):
    assert team.run("undo", run)["state"] == "done"


@contextmanager
def at_work(folder, broker, class_path, *, kind="rekeyed", **settings):
    """Yield an application that has counted its history, registered in a folder of its own."""
    from confluent_kafka.admin import AdminClient, NewTopic

    team, name = Team(folder, broker), f"app-{uuid.uuid4().hex[:8]}"
    topics = [NewTopic(f"{name}-{end}", 1, 1) for end in ("in", "out")]
    admin = AdminClient({"bootstrap.servers": broker})
    for future in admin.create_topics(topics).values():
        future.result()
    app = Application(team, name, class_path, **settings)
    app.register(kind)
    app.write(resettable.HISTORY)
    app.shell("start")
    try:
        if kind == "windowed":
            total = len(resettable.windowed(resettable.read(broker, app.topic)))
            until(lambda: sum(map(len, app.written().values())) >= total, app.written)
            until(app.is_at_the_end, "it commits nothing more")
        else:
            app.must_have_read(app.read())
        team.run("capture", app.evidence(kind), "--pipeline", "app")
        yield app
    finally:
        app.shell("stop")
        end_workers(team)
