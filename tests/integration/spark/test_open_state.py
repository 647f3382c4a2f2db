"""What a plan says of dropped state, against two real runs: with the state and without it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F

from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.open_state import OpenState, OpenStore
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.shared.state_losses import LOSSES, Holder, Mode
from headgate.spark_jobs.open_state import work
from headgate.text.times import from_milliseconds, iso
from headgate.usecases.evidence.read_version import read_version
from integration.spark import open_state_queries
from integration.spark.open_state_queries import POINT, QUERIES

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

FIRST = 1_767_261_600  # 2026-01-01T10:00:00Z
cloudpickle.register_pickle_by_value(open_state_queries)


@dataclass
class Lab:
    """A query over topics of its own, and the plans for it."""

    spark: Any
    broker: str
    folder: Path
    query: Any
    topics: list
    produce: Any

    def open_state(self, location, batch):
        """Read it in the tests' session, not in one of its own."""
        rows = work(self.spark, {"checkpoint": location, "batch": batch})
        return OpenState(batch=batch, stores=tuple(OpenStore(**row) for row in rows))

    @property
    def checkpoint(self):
        return self.folder / "checkpoint"

    def write(self, phase):
        for topic, rows in zip(self.topics, phase, strict=True):
            self.produce(topic, [f"{k},{FIRST + round(minute * 60)}" for k, minute in rows])

    def frame(self):
        return self.query.frame(*(self._stream(topic) for topic in self.topics))

    def _stream(self, topic):
        reader = self.spark.readStream.format("kafka")
        reader = reader.option("kafka.bootstrap.servers", self.broker).option("subscribe", topic)
        parts = F.split(F.col("value").cast("string"), ",")
        rows = reader.option("startingOffsets", "earliest").load()
        at = F.timestamp_seconds(parts[1].cast("long"))
        return rows.select(parts[0].alias("k"), at.alias("at"))

    def run(self, checkpoint):
        """Read all that is there; return the rows that were written, in complete mode the last."""
        batches = []
        writer = self.frame().writeStream.outputMode(self.query.mode).trigger(availableNow=True)
        writer = writer.foreachBatch(
            lambda batch, _: batches.append(list(map(tuple, batch.collect())))
        )
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        query.awaitTermination()
        (self.folder / "explain.txt").write_text(query._jsq.explainInternal(True))
        if self.query.mode == "complete":
            batches = [next(rows for rows in reversed(batches) if rows)]
        return Counter(tuple(row) for rows in batches for row in rows)

    def plan(self, scenario, **options):
        pipeline = Pipeline(
            name="q",
            engine=Engine.SPARK,
            checkpoint=str(self.checkpoint),
            commands=Commands(status="exit 3"),
        )
        registry = Registry(
            path=str(self.folder / "headgate.toml"),
            bootstrap_servers=self.broker,
            pipelines=(pipeline,),
        )
        inspector = LiveApplier(
            RunContext(
                registry=registry,
                home=self.folder,
                run=scenario,
            )
        )
        inspector.state.open_state = self.open_state
        version = read_version([str(self.folder / "explain.txt"), str(self.checkpoint)])
        plan = build_plan(scenario, "q", inspector, options, version=version)
        assert plan.can_apply, plan.blockers
        return plan, inspector

    def begin(self, scenario, **options):
        """Plan, make the new checkpoint as the plan's step does, and return both."""
        plan, inspector = self.plan(scenario, **options)
        step = next(s for s in plan.steps if s.action == "create_checkpoint")
        was = step.bind(inspector)
        step.apply(inspector, was)
        place = self.folder / scenario
        Path(was["draft"]).rename(place)
        return plan, place


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What is written with the old state, without it, and without it from the point.

    `rows`, `times` (minutes) and `waiting` (rows without a partner) are what the state holds.
    """

    control: Counter
    continued: Counter
    begun: Counter
    rows: int
    times: tuple | None = None
    waiting: int | None = None


def one(*rows):
    return Counter(row if isinstance(row, tuple) else (row,) for row in rows)


# Never emitted: c, d and e as they are in the state. a is late, and its window was closed.
CLOSED = Expected(
    control=one(("c", 1), ("d", 3), ("e", 1)),
    continued=one(("d", 1), ("a", 1)),
    begun=one(("b", 1), ("d", 2), ("e", 1), ("a", 1)),
    rows=3,
    times=(30, 41),
)
WHOLE = one(("a", 3), ("b", 2), ("c", 1), ("d", 3), ("e", 1), ("z", 1))
ANEW = one(("a", 1), ("d", 1), ("z", 1))
FROM_POINT = one(("a", 1), ("b", 1), ("d", 2), ("e", 1), ("z", 1))
COUNTED = Expected(
    control=one(("a", 3), ("d", 3), ("z", 1)), continued=ANEW, begun=FROM_POINT, rows=5
)
COMPLETE = Expected(control=WHOLE, continued=ANEW, begun=FROM_POINT, rows=5)
PAIRS = [("p", "p"), ("q", "q"), ("r", "r"), ("s", "s"), ("t", "t")]
AGAIN = [("r", "r"), ("t", "t"), ("w", "w")]
INNER = Expected(
    control=one(*PAIRS), continued=one(), begun=one(*AGAIN), rows=10, times=(30.1, 41.1)
)
LEFT, RIGHT = [("s", None), ("t", None)], [(None, "p"), (None, "q"), (None, "r")]
PASSED = Expected(control=one("z"), continued=one(*"abcdez"), begun=one(*"abcdez"), rows=5)
EXPECTED = {
    "windows-append": CLOSED,
    "windows-update": replace(
        CLOSED, control=one(("d", 3), ("z", 1)), continued=ANEW, begun=FROM_POINT
    ),
    "windows-complete": replace(COMPLETE, times=(0, 41)),
    "sessions-append": replace(CLOSED, times=(30.1, 41.1)),
    "sessions-complete": replace(COMPLETE, times=(0.1, 41.1)),
    "moments-append": replace(CLOSED, times=(30, 40)),
    "groups-update": COUNTED,
    "groups-complete": COMPLETE,
    "inner-append": INNER,
    "inner-update": INNER,
    "left-outer": replace(
        INNER,
        control=one(*PAIRS, ("u", None)),
        continued=one(*LEFT),
        begun=one(*AGAIN, LEFT[0]),
        waiting=3,
    ),
    "right-outer": replace(
        INNER,
        control=one(*PAIRS, (None, "v")),
        continued=one(*RIGHT),
        begun=one(*AGAIN, *RIGHT[:2]),
        waiting=3,
    ),
    "full-outer": replace(
        INNER,
        control=one(*PAIRS, ("u", None), (None, "v")),
        continued=one(*LEFT, *RIGHT),
        begun=one(*AGAIN, LEFT[0], *RIGHT[:2]),
        waiting=6,
    ),
    "left-semi": replace(INNER, control=one(*"prst"), begun=one(*"rtw"), rows=8, waiting=3),
    "keys-append": PASSED,
    "keys-update": PASSED,
    "keys-in-time": replace(PASSED, begun=one(*"abbcddez"), rows=4, times=(30.1, 40.1)),
    "keys-within-watermark": replace(PASSED, rows=3),
    "map-groups": COUNTED,
    "transform": COUNTED,
}


@pytest.fixture
def lab(request, spark, broker, topic, produce, tmp_path):
    query = QUERIES[request.param]
    settings = {"spark.sql.shuffle.partitions": "1", **dict(query.settings)}
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield Lab(spark, broker, tmp_path, query, [topic() for _ in query.one], produce)
    for name, value in before.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def ran(lab):
    """Both phases: the plans of both scenarios, and what came before and with each checkpoint."""
    lab.write(lab.query.one)
    before = lab.run(lab.checkpoint)
    held = tree_hash(lab.checkpoint)
    carried, place = lab.begin("new-checkpoint")
    pointed, elsewhere = lab.begin("from-point", **{"to-offset": POINT})
    assert tree_hash(lab.checkpoint) == held
    lab.write(lab.query.two)
    control = lab.run(lab.checkpoint)
    return carried, pointed, before, control, lab.run(place), lab.run(elsewhere)


def said(plan, query, expected, template):
    """Check the sentence: the table's own, with what the state holds; return the plan's risks."""
    row, loss = plan.impact["open_state"][0], LOSSES[query.loss]
    times = [time(minute) for minute in expected.times] if expected.times else None
    assert (row["rows"], row["event_time"]) == (expected.rows, times)
    noun = loss.one if expected.rows == 1 else loss.many
    gap = ", including the session gap" if "session" in query.loss[0] else ""
    span = f" (event time {times[0]} to {times[1]}{gap})" if times else ""
    what = f"{expected.rows} {noun}{span}"
    text = template.format(what=what, unmatched=expected.waiting, point="the starting offset")
    word, _, rest = text.partition(": ")
    (found,) = (risk for risk in plan.risks if f"perator {row['operator']} (" in risk)
    assert found.startswith(
        f"{word}: operator 0 ({row['name']}, {query.loss[0]}, {query.mode} mode)"
    )
    assert found.endswith(f": {rest.rstrip('.')}")
    return plan.risks


def time(minute):
    return iso(from_milliseconds((FIRST + round(minute * 60)) * 1000))


# The others take as long, and differ only in the operator.
SHORT = {"sessions-append", "full-outer"}
ALL = [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in EXPECTED]


@pytest.mark.parametrize("lab", ALL, indirect=True)
def test_what_is_lost_is_what_the_plan_says(lab, request):
    query, expected = lab.query, EXPECTED[request.node.callspec.params["lab"]]
    loss = LOSSES[query.loss]
    carried, pointed, before, control, continued, begun = ran(lab)
    assert (control, continued, begun) == (expected.control, expected.continued, expected.begun)
    risks = said(carried, query, expected, loss.continues)
    said(pointed, query, expected, loss.begins)
    holder, mode = query.loss
    if mode is Mode.APPEND and holder is not Holder.OUTER_JOIN:
        # Whatever the state holds is never written as the state has it.
        assert len(control - continued) == expected.rows
        assert any("A late record reopens its window or group" in risk for risk in risks)
    if mode is Mode.COMPLETE:
        assert len(before) == expected.rows
        assert {k for k, _ in before} - {k for k, _ in continued} == {"b", "c", "e"}
    if mode is Mode.UPDATE:
        # Nothing is missing before, and what comes later is smaller than what it overwrites.
        assert {k for k, _ in before} == set("abcde")
        now, was, right = (dict(rows.keys())["d"] for rows in (continued, before, control))
        assert now < was < right


@pytest.mark.long
@pytest.mark.parametrize("lab", ["limit"], indirect=True)
def test_a_limit_counts_from_zero(lab):
    carried, pointed, before, control, continued, begun = ran(lab)
    assert [sum(rows.values()) for rows in (before, control, continued, begun)] == [3, 0, 3, 3]
    assert any(
        "the limit() starts at zero again, so the query may emit more rows in total" in r
        for r in carried.risks
    )
    assert any(
        "starts at zero again. From the starting offset, the query again emits rows up to the limit"
        in r
        for r in pointed.risks
    )


def test_every_sentence_is_checked():
    assert {query.loss for query in QUERIES.values()} == set(LOSSES)
    assert EXPECTED.keys() | {"limit"} == QUERIES.keys()
