"""Pipelines that pass topics on go back together: what comes of it is computed in plain Python."""

from __future__ import annotations

import subprocess
import time
from collections import Counter

import pytest

from headgate.text.times import from_milliseconds, iso
from headgate.usecases.restore_points.make_point import make_point
from integration.spark.chain_queries import ChainQuery, member_entry, write_code
from integration.spark.test_spark_rewind import run_slowly
from scenes.generations import generations
from scenes.records import read_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
SECONDS = 120


def wait_for(condition, said=lambda: "it came too late", seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, said()
        time.sleep(0.2)


def values(broker, topic):
    """Every value of a topic by partition, in order."""
    found = read_all(broker, [topic])
    return {part: [r.value.decode() for r in rows] for (_, part), rows in found.items()}


def count(broker, topic):
    return sum(len(rows) for rows in read_all(broker, [topic]).values())


def now_ms():
    return int(time.time() * 1000)


def row_of(plan, name):
    return next(r for r in plan["impact"]["chain"] if r["pipeline"] == name)


@pytest.fixture
def shell(team):
    started = []

    def call(commands, word):
        started.append(commands)
        done = subprocess.run(commands[word], shell=True, cwd=team.folder, check=False)
        return done.returncode

    yield call
    for commands in started:
        subprocess.run(commands["stop"], shell=True, cwd=team.folder, check=False)


def test_a_group_processes_each_rewritten_record_once(
    team, spark, broker, topic, produce, unique, shell
):
    orders, upper, group = topic("orders", partitions=2), topic("upper", partitions=2), unique("b")
    write_code(team, orders=orders, upper=upper)
    entry, member = member_entry(team, "billing", group, upper)
    out = team.folder / "billing.jsonl"
    with ChainQuery(spark, team, "upper") as query:
        team.register(query.entry, entry)
        team.run("capture", "chain_code:upper", "--pipeline", "upper")
        query.shell("start")
        shell(member, "start")
        sent = []
        for burst in range(2):
            sent += [f"a{burst}-{n % 7}" for n in range(10)]
            produce(orders, [(v, v) for v in sent[-10:]])
            wait_for(lambda: count(broker, upper) == len(sent))
        time.sleep(0.5)
        moment = now_ms()
        time.sleep(0.5)
        for burst in range(2):
            sent += [f"b{burst}-{n % 7}" for n in range(10)]
            produce(orders, [(v, v) for v in sent[-10:]])
            wait_for(lambda: count(broker, upper) == len(sent))
        wait_for(lambda: read_by(out) == len(sent))
        before = values(broker, upper)

        at = iso(from_milliseconds(moment))
        file, plan = team.plan("upper", f"--at={at}", scenario="chain")
        assert plan["can_apply"], plan["blockers"]
        assert row_of(plan, "upper")["choice"] == "rewind"
        assert row_of(plan, "billing")["choice"] == "skip"
        assert row_of(plan, "upper")["is_exact"] and row_of(plan, "billing")["is_exact"]
        actions = [s["action"] for s in plan["steps"]]
        assert actions[:2] == ["stop_pipeline"] * 2 and actions[-2:] == ["start_pipeline"] * 2

        run = run_slowly(team, "apply", str(file))
        assert run["state"] == "done"
        # What was written since the moment is written again, and no more.
        again = Counter(v.upper() for v in sent if v.startswith("b"))
        wait_for(lambda: count(broker, upper) == len(sent) + 20)
        after = values(broker, upper)
        assert {p: rows[: len(before[p])] for p, rows in after.items()} == before
        rewritten = Counter(v for p, rows in after.items() for v in rows[len(before[p]) :])
        assert rewritten == again
        # The group has skipped nothing but what it had read, and reads the rest once.
        wait_for(lambda: read_by(out) == len(sent) + 20)
        first, second = generations(out)
        assert second.at == {f"{upper}-{p}": len(rows) for p, rows in before.items()}
        for part, rows in after.items():
            name = f"{upper}-{part}"
            read = first.read.get(name, []) + second.read.get(name, [])
            assert read == list(range(len(rows)))

        undone = run_slowly(team, "undo", run["run"])
        assert undone["state"] == "done"
        produce(orders, [("late", "late")])
        wait_for(lambda: count(broker, upper) == len(sent) + 21)
        # Each pipeline is where it was: the rewritten records are duplicates now, as announced.
        assert any("duplicates" in text for text in plan["outputs"]["undo"])
        wait_for(lambda: len(generations(out)) == 3 and read_by(out) == len(sent) + 20 + 21)
        third = generations(out)[2]
        assert third.at == second.at
        shell(member, "stop")
        query.shell("stop")


def newest_totals(broker, topic):
    """The last count of each key: what a consumer that overwrites by key has."""
    rows = (r for found in read_all(broker, [topic]).values() for r in found)
    return {r.key.decode(): int(r.value) for r in sorted(rows, key=lambda r: r.timestamp)}


def counted(sent):
    return dict(Counter(v.upper() for v in sent))


class Shop:
    """Two queries after each other, and what was sent to the first one."""

    def __init__(self, team, spark, broker, topic, produce):
        self.team, self.broker, self._produce = team, broker, produce
        names = ("orders", "upper", "totals")
        self.topics = {name: topic(name, partitions=2) for name in names}
        write_code(team, **self.topics)
        self.upper = ChainQuery(spark, team, "upper")
        # Spark removes what a rewind needs after two batches: only restore points go further back.
        self.totals = ChainQuery(spark, team, "totals", retain=2)
        self.sent = []
        team.register(self.upper.entry, self.totals.entry)
        for name in ("upper", "totals"):
            team.run("capture", f"chain_code:{name}", "--pipeline", name)

    def send(self, letter, times=9):
        more = [f"{letter}-{n % 4}" for n in range(times)]
        self._produce(self.topics["orders"], [(v, v) for v in more])
        self.sent += more
        self.wait()

    def wait(self):
        wait_for(lambda: self.result == counted(self.sent), lambda: str(self.result))

    @property
    def result(self):
        return newest_totals(self.broker, self.topics["totals"])

    @property
    def written(self):
        return values(self.broker, self.topics["upper"])


@pytest.fixture
def shop(team, spark, broker, topic, produce):
    made = Shop(team, spark, broker, topic, produce)
    with made.upper, made.totals:
        for query in (made.upper, made.totals):
            query.shell("start")
        yield made
        for query in (made.upper, made.totals):
            query.shell("stop")
    spark.conf.unset("spark.sql.streaming.minBatchesToRetain")


def test_a_stateful_query_counts_each_record_once(team, shop):
    shop.send("a")
    point = make_point(team.context, "totals")
    # Not in the point, but before the moment: the run must process it before it skips.
    shop.send("b")
    shop.send("c")
    time.sleep(0.5)
    moment = now_ms()
    time.sleep(0.5)
    for letter in "defg":
        shop.send(letter)
    before = shop.written
    file, plan = team.plan("upper", f"--at={iso(from_milliseconds(moment))}", scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    row = row_of(plan, "totals")
    assert (row["choice"], row["batch"], row["is_exact"]) == ("rewind", point.batch, True)
    assert "run_bounded" in [s["action"] for s in plan["steps"]]
    run = run_slowly(team, "apply", str(file))
    assert run["state"] == "done"
    again = sum(v[0] in "defg" for v in shop.sent)
    wait_for(lambda: sum(map(len, shop.written.values())) == sum(map(len, before.values())) + again)
    # Had it kept its state, or read the replaced records as well, these would count twice.
    shop.wait()
    shop.send("h")

    undone = run_slowly(team, "undo", run["run"])
    assert undone["state"] == "done"


def read_by(out):
    return sum(len(rows) for life in generations(out) for rows in life.read.values())
