"""A real query is upgraded beside itself; a consumer counts every record that it writes."""

import json
import random
import threading
import time
from collections import Counter

import pytest
from confluent_kafka import Producer

from headgate.gateway.checkpoint.folders import read_checkpoint
from integration.conftest import Team, end_workers
from integration.spark.driven import Driven
from integration.spark.online_queries import JOBS
from scenes.records import make_topic, read_all
from scenes.small_spark import small_spark
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
CONFIG = small_spark()


class Orders(threading.Thread):
    """A producer that keeps writing orders; some ids come again, also long after."""

    def __init__(self, bootstrap, topic):
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic, self._end, self.sent = topic, threading.Event(), []

    def send(self, number):
        order = {"id": f"o{number}", "city": f"c{number % 5}", "amount": number % 13}
        self._producer.produce(self._topic, json.dumps(order), partition=number % 2)
        self._producer.poll(0)

    def run(self):
        chance, number = random.Random(7), 0
        while not self._end.wait(0.2):
            self.send(number)
            self.sent.append(number)
            if number % 6 == 5:
                self.send(chance.randrange(number))
            number += 1

    def close(self):
        self._end.set()
        self.join()
        assert self._producer.flush(30) == 0


class Pipeline(Driven):
    """A query that writes each order once; `current` names the function that runs."""

    def __init__(self, spark, team, topic, unique):
        super().__init__(team.folder)
        self.spark, self.team = spark, team
        self.topic, self.sink = topic("orders", partitions=2), unique("known")
        make_topic(team.bootstrap, self.sink, 2, **{"cleanup.policy": "delete"})
        self.jobs = JOBS.format(
            broker=team.bootstrap, folder=self.folder, topic=self.topic, sink=self.sink
        )
        (self.folder / "jobs.py").write_text(self.jobs)
        (self.folder / "current").write_text("first")
        # The new version is what the deploy command is told.
        deploy = 'echo "${HEADGATE_MESSAGE#jobs:}" > current'
        self.commands |= {"deploy": deploy, "rollback": "echo first > current"}
        team.register(self.table("known", 'entry_point = "jobs:first"'), CONFIG)

    def begin(self):
        jobs = {}
        exec(self.jobs, jobs)
        return jobs[(self.folder / "current").read_text().strip()](self.spark).start()

    def _run(self, wanted):
        query = self.begin()
        try:
            while wanted.exists() and not query.awaitTermination(0.2):
                pass
            while query.status["isTriggerActive"]:
                time.sleep(0.01)
        finally:
            query.stop()

    @property
    def checkpoint(self):
        return self.folder / "checkpoint"

    @property
    def current(self):
        return (self.folder / "current").read_text().strip()

    def plan(self, after, *options, lag=60, code=0):
        given = (f"--after=jobs:{after}", "--keys=id", "--compare-for=3", f"--max-lag={lag}")
        every = (*given, *options)
        return self.team.plan("known", *every, scenario="online-upgrade", code=code)

    def written(self):
        """What is in the output topic, each record: the id, and which version wrote it."""
        found = read_all(self.team.bootstrap, [self.sink])
        values = [json.loads(r.value) for records in found.values() for r in records]
        return [(v["id"], v.get("by", "first")) for v in values]

    def wait_until_written(self, orders):
        """Wait until all orders that were sent by now are in the output topic."""
        wanted = {f"o{n}" for n in list(orders.sent)}
        until(
            lambda: wanted <= {order for order, _ in self.written()},
            lambda: f"orders are missing: {self.why}",
            every=1,
        )

    def shadow(self):
        from confluent_kafka.admin import AdminClient

        topics = AdminClient({"bootstrap.servers": self.team.bootstrap}).list_topics(timeout=10)
        return f"{self.sink}-shadow" in topics.topics

    def notes(self, run):
        return [n["message"] for n in self.team.run("runs", run)["progress"]]

    def wait_for_question(self, run):
        """Wait until the run asks for the switch."""
        until(lambda: self.team.run("runs", run)["waits_for"] is not None, every=1)

    def wait_until_followed(self, run):
        """Wait until the new version has processed batches since the question was asked."""
        before = len(self.notes(run))
        until(lambda: any("has read" in n for n in self.notes(run)[before:]), every=1)

    def leftovers(self):
        return sorted(p.name for p in self.folder.glob(".checkpoint.*"))


@pytest.fixture(scope="module")
def pipeline(spark, tmp_path_factory, topic, broker, unique):
    team = Team(tmp_path_factory.mktemp("online"), broker)
    with Pipeline(spark, team, topic, unique) as made:
        team.run("capture", "jobs:first", "--pipeline", "known")
        yield made
        made.shell("stop")
    end_workers(team)


@pytest.fixture(scope="module")
def orders(pipeline, broker):
    made = Orders(broker, pipeline.topic)
    made.start()
    pipeline.shell("start")
    # Nothing is waited for before the first order is sent, and there is no checkpoint yet.
    until(lambda: made.sent, "no order was sent")
    pipeline.wait_until_written(made)
    yield made
    made.close()


def test_a_version_with_other_results_is_stopped_before_the_switch(pipeline, orders):
    before = read_checkpoint(str(pipeline.checkpoint))
    file, plan = pipeline.plan("wrong")
    assert plan["can_apply"], plan["blockers"]
    refused = pipeline.team.run("apply", str(file), code=3)
    assert "results differ" in refused["error"] and "columns amount" in refused["error"]
    assert {s["state"] for s in refused["steps"]} <= {"undone", "failed", "skipped"}
    now = read_checkpoint(str(pipeline.checkpoint))
    assert now.query_id == before.query_id and now.last_commit_batch > before.last_commit_batch
    assert pipeline.shell("status") == 0 and pipeline.current == "first"
    assert not pipeline.shadow() and not pipeline.leftovers()
    pipeline.wait_until_written(orders)
    counts = Counter(pipeline.written())
    assert set(counts.values()) == {1}, "a record was written twice"


def test_a_version_without_a_field_that_consumers_have_is_blocked(pipeline, orders, groups, unique):
    _, plan = pipeline.plan("smaller", "--ignore=city")
    (risk,) = [r for r in plan["risks"] if "output schema" in r]
    assert "field city is missing" in risk and "no known consumers" in risk
    mailer = unique("mailer")
    groups.commit(mailer, {(pipeline.sink, 0): (0, "")})
    _, plan = pipeline.plan("smaller", "--ignore=city", code=3)
    (said,) = plan["blockers"]
    assert f"field city is missing. Consumers of {pipeline.sink}: {mailer}" in said


def test_a_version_that_was_stored_meanwhile_is_a_conflict(pipeline, orders):
    file, plan = pipeline.plan("second", "--ignore=by")
    assert plan["can_apply"], plan["blockers"]
    process = pipeline.team.popen("apply", str(file), "--format", "json")
    runs = pipeline.folder / ".headgate" / "runs"
    known = set(runs.glob("*/staged.json"))
    while not set(runs.glob("*/staged.json")) - known:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    pipeline.team.run("capture", "jobs:wrong", "--pipeline", "known")
    out, err = process.communicate()
    pipeline.team.run("capture", "jobs:first", "--pipeline", "known")
    assert process.returncode == 3, f"{out}\n{err}\n{pipeline.team.worker_log()}"
    assert "conflict: the running version of known changed" in json.loads(out)["error"]
    assert pipeline.shell("status") == 0 and pipeline.current == "first"
    assert not pipeline.shadow() and not pipeline.leftovers()
    pipeline.wait_until_written(orders)
    assert set(Counter(pipeline.written()).values()) == {1}, "a record was written twice"


def test_the_switch_loses_nothing_and_writes_nothing_twice(pipeline, orders):
    file, plan = pipeline.plan("second", "--ignore=by", "--confirm-switch", lag=8)
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "create_shadow_topic",
        "stage_checkpoint",
        "run_beside",
        "compare_outputs",
        "run_beside",
        "run_beside",
        "check_production",
        "stop_pipeline",
        "run_beside",
        "swap_staged_checkpoint",
        "deploy_version",
        "start_version",
        "verify_switch",
        "compare_version",
        "delete_shadow_topic",
    ]
    run = pipeline.team.run("apply", str(file), "--detach")["run"]
    # While the run waits, the new version repeats batches as soon as it is more than 8 behind.
    pipeline.wait_for_question(run)
    assert pipeline.shell("status") == 0 and pipeline.current == "first"
    pipeline.wait_until_followed(run)
    pipeline.team.run("confirm", run)
    done = {"run": run, "state": pipeline.team.ended(run)}
    assert done["state"] == "done", pipeline.team.run("runs", run)
    notes = pipeline.notes(done["run"])
    assert any("0 missing, 0 extra, 0 different" in n for n in notes), notes
    assert pipeline.current == "second" and not pipeline.shadow()
    until(
        lambda: any(version == "second" for _, version in pipeline.written()),
        "the second version writes nothing",
    )
    pipeline.wait_until_written(orders)
    written = pipeline.written()
    counts = Counter(order for order, _ in written)
    assert {o for o, n in counts.items() if n != 1} == set(), "an order was written twice"
    by = Counter(version for _, version in written)
    assert by["first"] > 0 and by["second"] > 0, by
    pipeline.run = done["run"]


def test_a_rollback_writes_only_what_came_since_the_switch_twice(pipeline, orders):
    undone = pipeline.team.run("undo", pipeline.run)
    assert undone["state"] == "done", undone
    assert pipeline.current == "first"
    since = {order for order, version in pipeline.written() if version == "second"}
    pipeline.wait_until_written(orders)
    counts = Counter(order for order, _ in pipeline.written())
    assert {o for o, n in counts.items() if n == 2} == since
    assert all(n <= 2 for n in counts.values())
