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
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]


def values(broker, topic):
    """Every value of a topic by partition, in order."""
    found = read_all(broker, [topic])
    return {part: [r.value.decode() for r in rows] for (_, part), rows in found.items()}


def now_ms():
    return int(time.time() * 1000)


def row_of(plan, name):
    return next(r for r in plan["impact"]["chain"] if r["pipeline"] == name)


class Billing:
    """A query that writes to a topic, and a group that reads it."""

    def __init__(self, team, spark, topic, produce, group):
        self.broker, self._produce = team.bootstrap, produce
        self.orders, self.upper = topic("orders", partitions=2), topic("upper", partitions=2)
        write_code(team, orders=self.orders, upper=self.upper)
        entry, self.member = member_entry(team, "billing", group, self.upper)
        self.out, self.sent = team.folder / "billing.jsonl", []
        self.query = ChainQuery(spark, team, "upper")
        team.register(self.query.entry, entry)
        team.run("capture", "chain_code:upper", "--pipeline", "upper")

    def send(self, letter):
        more = [f"{letter}-{n % 7}" for n in range(10)]
        self._produce(self.orders, [(v, v) for v in more])
        self.sent += more
        self.wait(len(self.sent))

    def wait(self, written):
        """Wait until so many records are in the topic, and the group has read to its end."""
        until(lambda: sum(map(len, self.written.values())) == written, lambda: self.written)
        until(lambda: self.position == {p: len(r) for p, r in self.written.items()})

    @property
    def written(self):
        return values(self.broker, self.upper)

    @property
    def lives(self):
        return generations(self.out)

    @property
    def position(self):
        last = self.lives[-1] if self.lives else None
        return {p: last.reached(f"{self.upper}-{p}") if last else None for p in self.written}


@pytest.fixture
def billing(team, spark, topic, produce, unique):
    made = Billing(team, spark, topic, produce, unique("billing"))

    def shell(word):
        subprocess.run(made.member[word], shell=True, cwd=team.folder, check=False)

    with made.query:
        made.query.shell("start")
        shell("start")
        yield made
        made.query.shell("stop")
        shell("stop")


def moment_now():
    """Return a time that lies well between what was written before and what comes after."""
    # Batches and records have times of their own.
    time.sleep(0.5)
    found = now_ms()
    time.sleep(0.5)
    return iso(from_milliseconds(found))


def test_a_group_processes_each_rewritten_record_once(team, billing):
    billing.send("a")
    billing.send("b")
    at = moment_now()
    billing.send("c")
    billing.send("d")
    before = billing.written
    file, plan = team.plan("upper", f"--at={at}", scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    rows = [(r["pipeline"], r["choice"], r["is_exact"]) for r in plan["impact"]["chain"]]
    assert rows == [("upper", "rewind", True), ("billing", "skip", True)]
    actions = [s["action"] for s in plan["steps"]]
    assert actions[:2] == ["stop_pipeline"] * 2 and actions[-2:] == ["start_pipeline"] * 2
    _, alone = team.plan("upper", "--batch=0", scenario="rewind")
    assert any("headgate plan chain upper --at=" in r for r in alone["risks"]), alone["risks"]

    run = run_slowly(team, "apply", str(file))
    assert run["state"] == "done"
    # What was written since the moment is written again, and no more.
    billing.wait(len(billing.sent) + 20)
    after = billing.written
    assert {p: rows[: len(before[p])] for p, rows in after.items()} == before
    rewritten = Counter(v for p, rows in after.items() for v in rows[len(before[p]) :])
    assert rewritten == Counter(v.upper() for v in billing.sent if v[0] in "cd")
    # The group skipped nothing but what it had read, and read the rest once.
    first, second = billing.lives
    assert second.at == {f"{billing.upper}-{p}": len(rows) for p, rows in before.items()}
    for part, rows in after.items():
        name = f"{billing.upper}-{part}"
        read = first.read.get(name, []) + second.read.get(name, [])
        assert read == list(range(len(rows)))
    assert_undone(team, billing, plan, run["run"])


def assert_undone(team, billing, plan, run):
    """Each pipeline is where it was: the rewritten records are duplicates now, as announced."""
    was = billing.lives[1].at
    assert run_slowly(team, "undo", run)["state"] == "done"
    assert any("duplicates" in text for text in plan["outputs"]["undo"])
    until(lambda: len(billing.lives) == 3)
    billing.wait(len(billing.sent) + 20)
    assert billing.lives[2].at == was


def test_an_excluded_group_gets_duplicates_as_the_plan_says(team, billing):
    billing.send("a")
    at = moment_now()
    billing.send("b")
    asked = (f"--at={at}", "--exclude=billing")
    file, plan = team.plan("upper", *asked, scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    assert any(
        t.startswith("billing: nothing. ") and "duplicates" in t for t in plan["outputs"]["run"]
    )
    assert run_slowly(team, "apply", str(file))["state"] == "done"
    billing.wait(len(billing.sent) + 10)
    (life,) = billing.lives
    found = [billing.written[p][n] for p in billing.written
             for n in life.read.get(f"{billing.upper}-{p}", ())]  # fmt: skip
    twice = Counter(v.upper() for v in billing.sent if v[0] == "b")
    assert Counter(found) == Counter(v.upper() for v in billing.sent) + twice


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
        names = ("orders", "upper", "totals", "shout")
        self.topics = {name: topic(name, partitions=2) for name in names}
        write_code(team, **self.topics)
        self.upper = ChainQuery(spark, team, "upper")
        # Spark removes what a rewind needs after two batches: only restore points go further back.
        self.totals = ChainQuery(spark, team, "totals", retain=2)
        self.shout = ChainQuery(spark, team, "shout")
        self.sent = []
        team.register(self.upper.entry, self.totals.entry, self.shout.entry)
        for name in ("upper", "totals", "shout"):
            team.run("capture", f"chain_code:{name}", "--pipeline", name)

    def send(self, letter, times=9):
        more = [f"{letter}-{n % 4}" for n in range(times)]
        self._produce(self.topics["orders"], [(v, v) for v in more])
        self.sent += more
        self.wait()

    def wait(self):
        until(lambda: self.result == counted(self.sent), lambda: self.result)
        until(lambda: self.missing == 0, lambda: f"{self.missing} of the totals")

    @property
    def missing(self):
        """How many records of `totals` the last query has not passed on; below 0: passed twice."""
        found = read_all(self.broker, [self.topics["totals"], self.topics["shout"]])
        sizes = dict.fromkeys(self.topics.values(), 0)
        for (name, _), rows in found.items():
            sizes[name] += len(rows)
        return sizes[self.topics["totals"]] - sizes[self.topics["shout"]]

    @property
    def result(self):
        return newest_totals(self.broker, self.topics["totals"])

    @property
    def written(self):
        return values(self.broker, self.topics["upper"])


@pytest.fixture
def shop(team, spark, broker, topic, produce):
    made = Shop(team, spark, broker, topic, produce)
    queries = (made.upper, made.totals, made.shout)
    with made.upper, made.totals, made.shout:
        for query in queries:
            query.shell("start")
        yield made
        for query in queries:
            query.shell("stop")
    spark.conf.unset("spark.sql.streaming.minBatchesToRetain")


def test_a_stateful_query_counts_each_record_once(team, shop):
    shop.send("a")
    point = make_point(team.context, "totals")
    # Not in the point, but before the moment: the run must process it before it skips.
    shop.send("b")
    shop.send("c")
    at = moment_now()
    for letter in "defg":
        shop.send(letter)
    before = shop.written
    file, plan = team.plan("upper", f"--at={at}", scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    assert (row_of(plan, "upper")["choice"], row_of(plan, "shout")["choice"]) == ("rewind", "skip")
    row = row_of(plan, "totals")
    assert (row["choice"], row["batch"], row["is_exact"]) == ("rewind", point.batch, True)
    assert "run_bounded" in [s["action"] for s in plan["steps"]]
    run = run_slowly(team, "apply", str(file))
    assert run["state"] == "done"
    again = sum(v[0] in "defg" for v in shop.sent)
    until(lambda: sum(map(len, shop.written.values())) == sum(map(len, before.values())) + again)
    # Had it kept its state, or read the replaced records as well, these would count twice. What
    # it wrote while it caught up comes after what the last query skips.
    shop.wait()
    shop.send("h")
    # Before the run's own batch, the query has read what is replaced: it may not go back there.
    _, later = team.plan("upper", f"--at={at}", scenario="chain", code=None)
    assert row_of(later, "totals")["batch"] in {None, *range(point.batch + 1, 1000)}

    undone = run_slowly(team, "undo", run["run"])
    assert undone["state"] == "done"


def test_from_the_earliest_offsets_state_is_rebuilt_from_the_rewritten_records(team, shop):
    for letter in "abc":
        shop.send(letter)
    before = shop.written
    file, plan = team.plan("upper", "--to-earliest", scenario="chain")
    assert plan["can_apply"], plan["blockers"]
    rows = [(r["pipeline"], r["choice"], r["is_exact"]) for r in plan["impact"]["chain"]]
    assert rows == [("upper", "reset", True), ("totals", "reset", True), ("shout", "skip", True)]
    assert run_slowly(team, "apply", str(file))["state"] == "done"
    until(lambda: sum(map(len, shop.written.values())) == 2 * len(shop.sent))
    after = shop.written
    for part, rows in before.items():
        assert Counter(after[part][len(rows) :]) == Counter(rows)
    # Its state had each record once: rewritten records on top of it would count twice.
    shop.send("d")
