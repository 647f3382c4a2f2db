"""A real consumer is upgraded beside itself; another one counts every result that it writes."""

import json
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from integration.conftest import Team, end_workers
from scenes.records import make_topic, read_all
from support.waiting import until

pytestmark = pytest.mark.kafka
PROGRAM = Path(__file__).parents[2] / "scenes" / "transformer.py"
KEYS = ("--keys=id", "--ignore=by")
STEPS = [
    "create_shadow_topic",
    "copy_offsets",
    "start_with_output",
    "compare_versions",
    "confirm_switch",
    "await_equal_lag",
    "stop_beside",
    "stop_pipeline",
    "back_up_offsets",
    "switch_offsets",
    "start_with_output",
    "verify_version",
    "delete_shadow_topic",
]


class Orders(threading.Thread):
    """A producer that keeps writing orders to both partitions, in no order of their ids."""

    def __init__(self, bootstrap, topic):
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic, self._end, self.sent = topic, threading.Event(), []

    def send(self, number):
        order = {"id": f"o{number}", "amount": number % 13}
        at = int(time.time() * 1000) - random.Random(number).randrange(600_000)
        key = f"c{number % 5}"
        self._producer.produce(
            self._topic, json.dumps(order), key=key, partition=number % 2, timestamp=at
        )
        self._producer.poll(0)
        self.sent.append(order["id"])

    def run(self):
        number = 200
        while not self._end.wait(0.03):
            self.send(number)
            number += 1

    def close(self):
        self._end.set()
        self.join()
        assert self._producer.flush(30) == 0


class Billing:
    """Two registered consumers of one topic: `billing` runs, `billing-v2` is its new version."""

    def __init__(self, team, unique):
        self.team, self.unique = team, unique
        self.orders, self.bills = unique("orders"), unique("bills")
        self.groups = {name: unique(name) for name in ("billing", "billing-v2")}
        for topic in (self.orders, self.bills):
            make_topic(team.bootstrap, topic, 2)
        self.producer = Orders(team.bootstrap, self.orders)
        for number in range(200):
            self.producer.send(number)

    def register(self, *, old=(), new=(), tables=""):
        more = {"billing": ("--by", "old", *old), "billing-v2": ("--by", "new", *new)}
        self.team.register(*(self._table(name, words) for name, words in more.items()), tables)
        self.shell("billing", "start")
        self.producer.start()
        until(lambda: len(self.written()) >= 200, "nothing is written")

    def _table(self, name, words):
        table = {"name": name, "engine": "consumer-group", "group": self.groups[name]}
        lines = "\n".join(f"{k} = {json.dumps(v)}" for k, v in table.items())
        commands = "\n".join(
            f"{k} = {json.dumps(v)}" for k, v in self.commands(name, words).items()
        )
        return f"[[pipeline]]\n{lines}\n[pipeline.commands]\n{commands}\n"

    def commands(self, name, words=()):
        group, pid = self.groups[name], f"{name}.pid"
        program = f"{sys.executable} {PROGRAM} {self.team.bootstrap} {group} {self.orders}"
        output = f"${{HEADGATE_OUTPUT_TOPIC:-{self.bills}}}"
        # A number alone may be another process's by now; what has ended has no command line.
        runs = f"grep -qsaF {group} /proc/$(cat {pid})/cmdline"
        return {
            "start": f"nohup {program} {output} {' '.join(words)} >> {name}.log 2>&1 &"
            f" echo $! > {pid}",
            "stop": f"[ -e {pid} ] || exit 0; kill $(cat {pid}) 2>/dev/null;"
            f" while {runs}; do sleep 0.1; done",
            "status": f"[ -e {pid} ] && {runs} && exit 0 || exit 3",
        }

    def shell(self, name, word):
        command = self.commands(name)[word]
        done = subprocess.run(command, shell=True, cwd=self.team.folder, check=False)
        return done.returncode

    def written(self):
        """How often each order was billed, by its id and the version that wrote it."""
        found = read_all(self.team.bootstrap, [self.bills]).values()
        values = [json.loads(r.value) for records in found for r in records]
        return Counter((v["id"], v["by"]) for v in values)

    def count(self):
        """How often each order was billed, by any version."""
        found = Counter()
        for (order, _), number in self.written().items():
            found[order] += number
        return found

    def wait_until_billed(self):
        """Wait until each order that was sent by now is billed."""
        sent = set(self.producer.sent)
        until(lambda: sent <= self.count().keys(), lambda: f"lost: {sent - self.count().keys()}")

    def plan(self, *options, code=0):
        given = ("--new-pipeline=billing-v2", f"--output-topic={self.bills}", *KEYS)
        return self.team.plan(
            "billing", *given, "--compare-for=3", *options, scenario="online-upgrade", code=code
        )

    def journal(self, run):
        return json.dumps(self.team.run("runs", run))

    def check_clean(self):
        """The shadow topic and the new version's group are gone, and only the old version runs."""
        assert f"{self.bills}-shadow" not in self.topics()
        assert self.committed("billing-v2") == {}
        assert (self.shell("billing", "status"), self.shell("billing-v2", "status")) == (0, 3)

    def topics(self):
        return (
            AdminClient({"bootstrap.servers": self.team.bootstrap}).list_topics(timeout=10).topics
        )

    def committed(self, name):
        from headgate.gateway.kafka.cluster import Kafka
        from headgate.gateway.kafka.committed_offsets import read_offsets

        with Kafka(self.team.bootstrap) as kafka:
            found = read_offsets(kafka, self.groups[name])
        return {part: o.offset for part, o in found.items()}

    def close(self):
        if self.producer.is_alive():
            self.producer.close()
        for name in self.groups:
            self.shell(name, "stop")


@pytest.fixture
def billing(tmp_path, broker, unique):
    team = Team(tmp_path, broker)
    made = Billing(team, unique)
    yield made
    made.close()
    end_workers(team)


def test_both_versions_switch_at_one_offset_and_the_undo_returns_to_it(billing):
    billing.register()
    file, plan = billing.plan("--confirm-switch")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == STEPS
    run = billing.team.run("apply", str(file), "--detach")["run"]
    until(lambda: billing.team.run("runs", run)["waits_for"], "nobody is asked", every=1)
    # While a person decides, both versions run, and only the old one writes to the output.
    assert (billing.shell("billing", "status"), billing.shell("billing-v2", "status")) == (0, 0)
    assert {by for _, by in billing.written()} == {"old"}
    billing.team.run("confirm", run)
    assert billing.team.ended(run) == "done"
    assert (billing.shell("billing", "status"), billing.shell("billing-v2", "status")) == (3, 0)
    assert f"{billing.bills}-shadow" not in billing.topics()
    billing.wait_until_billed()
    written, count = billing.written(), billing.count()
    assert {by for _, by in written} == {"old", "new"}
    # A consumer that commits before it stops: nothing is lost, and nothing comes twice.
    assert set(count) >= set(billing.producer.sent[:-50]) and set(count.values()) == {1}
    switch = billing.committed("billing")

    undone = billing.team.run("undo", run)
    assert undone["state"] == "done"
    billing.check_clean()
    billing.producer.close()
    billing.wait_until_billed()
    new = {order for order, by in billing.written() if by == "new"}
    until(
        lambda: new <= {o for o, by in billing.written() if by == "old"},
        "the old version does not continue at the switch",
    )
    written, count = billing.written(), billing.count()
    assert set(count) == set(billing.producer.sent)
    # Exactly what the new version has written since the switch comes a second time.
    assert {o for o, n in count.items() if n > 1} == new and set(written.values()) == {1}
    assert sum(billing.committed("billing").values()) > sum(switch.values())
    said = f"reprocesses up to {len(new)} records that billing-v2 has processed since the switch"
    assert said in billing.journal(undone["run"])


def test_an_output_topic_that_is_recreated_while_a_person_decides_ends_the_run(billing):
    billing.register()
    file, _ = billing.plan("--confirm-switch")
    run = billing.team.run("apply", str(file), "--detach")["run"]
    until(lambda: billing.team.run("runs", run)["waits_for"], "nobody is asked", every=1)
    # Without results the old version leaves the topic alone, and nothing creates it by chance.
    billing.producer.close()
    billing.wait_until_billed()
    admin = AdminClient({"bootstrap.servers": billing.team.bootstrap})
    admin.delete_topics([billing.bills], operation_timeout=30)[billing.bills].result()
    make_topic(billing.team.bootstrap, billing.bills, 2)
    billing.team.run("confirm", run)
    assert billing.team.ended(run) == "refused"
    error = billing.team.run("runs", run)["error"]
    assert f"topic {billing.bills} was deleted and recreated since the plan was made" in error
    billing.check_clean()


@pytest.mark.long
def test_a_version_that_writes_something_else_is_not_switched_to(billing):
    billing.register(new=("--more", "1"))
    pid = (billing.team.folder / "billing.pid").read_text()
    file, _ = billing.plan()
    ended = billing.team.run("apply", str(file), code=None)
    assert ended["state"] == "refused", ended
    assert "the results differ" in ended["error"] and "0 missing, 0 extra" in ended["error"]
    assert (billing.team.folder / "billing.pid").read_text() == pid
    billing.check_clean()
    billing.wait_until_billed()
    assert set(billing.written().values()) == {1}
    assert {by for _, by in billing.written()} == {"old"}


def test_a_field_of_another_type_ends_the_run_if_somebody_reads_the_topic(billing, groups):
    billing.register(new=("--text",))
    groups.commit(billing.unique("mailer"), {(billing.bills, 0): (1, "")})
    file, _ = billing.plan("--allow-differences")
    ended = billing.team.run("apply", str(file), code=None)
    assert ended["state"] == "refused"
    assert "field amount changes from number to string. Consumers of" in ended["error"]
    billing.check_clean()


def test_a_declared_schema_that_consumers_can_not_read_blocks_the_plan(billing, groups):
    types = {"bills": "int", "shadow": "string"}
    for name, kind in types.items():
        fields = [{"name": "id", "type": "string"}, {"name": "amount", "type": kind}]
        schema = {"type": "record", "name": "Bill", "fields": fields}
        (billing.team.folder / f"{name}.avsc").write_text(json.dumps(schema))
    tables = (
        f'[topics."{billing.bills}"]\nschema = "bills.avsc"\n'
        f'[topics."{billing.bills}-shadow"]\nschema = "shadow.avsc"\n'
    )
    billing.register(tables=tables)
    said = [r for r in billing.plan()[1]["risks"] if "no known consumers" in r]
    assert len(said) == 1 and "isn't compatible" in said[0]
    mailer = billing.unique("mailer")
    groups.commit(mailer, {(billing.bills, 0): (1, "")})
    _, plan = billing.plan(code=3)
    assert not plan["can_apply"]
    (blocker,) = plan["blockers"]
    assert "the output schema isn't compatible" in blocker and mailer in blocker


@pytest.mark.long
def test_a_version_that_stops_without_a_commit_repeats_no_more_than_the_run_says(billing):
    billing.register(old=("--careless",))
    file, plan = billing.plan()
    assert any("before it commits" in risk for risk in plan["risks"])
    done = billing.team.run("apply", str(file))
    assert done["state"] == "done"
    billing.producer.close()
    billing.wait_until_billed()
    count = billing.count()
    assert set(count) == set(billing.producer.sent)
    twice = sum(n - 1 for n in count.values())
    text = billing.journal(done["run"])
    found = re.search(r"are up to (\d+) records? before the latest offsets", text)
    assert found is not None, text
    most = int(found[1])
    assert twice <= most, (twice, most)


@pytest.mark.long
def test_a_killed_worker_and_an_undo_before_the_switch(billing):
    billing.register()
    file, _ = billing.plan("--compare-for=20")
    run = billing.team.run("apply", str(file), "--detach")["run"]
    until(lambda: billing.shell("billing-v2", "status") == 0, "it is not started")
    billing.team.kill_workers()
    billing.team.start_worker()
    until(lambda: "while both versions write" in billing.journal(run), "it is not continued")
    billing.team.run("cancel", run, "--wait")
    assert billing.team.ended(run) == "cancelled"
    # Only the old version has written to the output so far.
    assert {by for _, by in billing.written()} == {"old"}
    undone = billing.team.run("undo", run)
    assert undone["state"] == "done"
    billing.check_clean()
    billing.wait_until_billed()
    assert set(billing.written().values()) == {1}
