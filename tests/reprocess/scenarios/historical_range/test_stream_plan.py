"""Whether a plan processes as a batch or as a stream, why, and what a stream reads beyond."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headgate.cli.shared.show_plan import plan_lines
from headgate.errors import RefusedError, ScenarioError
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import (
    Engine,
    OperatorKind,
    Sink,
    Source,
    StatefulOperator,
    Version,
    Watermark,
    Window,
)
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.spark_jobs import EventTimes, Slice
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.shared import processing_mode
from headgate.reprocess.steps import load_step
from headgate.text.times import milliseconds
from support.flat_ports import FlatPorts

HOUR_US = 3_600_000_000
DAY = datetime(2026, 4, 2, tzinfo=UTC)
HOURLY = StatefulOperator(
    kind=OperatorKind.AGGREGATE,
    window=Window(column="at", size_us=HOUR_US, slide_us=HOUR_US),
    watermark_column="at",
)
GROUPS = StatefulOperator(kind=OperatorKind.MAP_GROUPS)
PIPELINE = Pipeline(name="p", engine=Engine.SPARK, entry_point="m:f", checkpoint="/data/checkpoint")


def version(*operators, mode="append", **options):
    return Version(
        engine=Engine.SPARK,
        sources=(Source(position=0, format="kafka", topics=("orders",), options=options),),
        stateful=operators,
        output_mode=mode,
        sink=Sink(format="kafka", target="totals"),
        watermarks=(Watermark(column="at", delay="2 hours"),),
    )


def at(hours):
    return milliseconds(DAY + timedelta(hours=hours))


def part(begin, first, last, number=0, topic="orders"):
    return Slice(
        topic=topic, partition=number, begin=begin, end=begin + 10, first=at(first), last=at(last)
    )


TIMES = EventTimes(
    slices=(part(0, -9, 3), part(10, 2, 24.5), part(20, 24, 26), part(30, 26, 30),
            part(40, 30, 31), part(0, 1, 2, 1), part(10, 2, 28, 1)),
    column="at", is_exact=True, result_time="window", columns=("window", "city"),
    delay_ms=7_200_000,
)  # fmt: skip


class Cluster(FlatPorts):
    """A topic, and what is measured of it."""

    begins = (0, 0)

    def __init__(self, times=TIMES):
        self.times = times
        self.retention_ms, self.first = None, 0

    def place(self, location):
        return location

    def registered(self, _name):
        return PIPELINE

    def topics(self, names):
        ends = enumerate(zip(self.begins, (50, 20), strict=True))
        parts = tuple(Partition(number=n, begin=begin, end=end) for n, (begin, end) in ends)
        facts = {"partitions": parts, "retention_ms": self.retention_ms}
        return {n: Topic(name=n, id="1", **facts) for n in names if n == "orders"}

    def identities(self, names):
        return {name: (topic.id, 2) for name, topic in self.topics(names).items()}

    def cluster_id(self):
        return "c"

    def first_at(self, parts, _at):
        return dict.fromkeys(parts, self.first)

    def event_times(self, _job, _topics):
        return self.times

    def pipelines(self):
        return (PIPELINE,)

    def can_write(self, _folder):
        return True

    def exists(self, _folder):
        return False

    def system_folder(self, _folder, _known):
        return None


def plan(found, *, times=TIMES, scenario="historical-range", cluster=None, again=False, **options):
    given = {"from": "2026-04-02T00:00:00Z", "until": "2026-04-03T00:00:00Z", "to": "/data/april"}
    if scenario == "ab":
        given = {"other": "m:g", "keys": ["city"], "to": "/data/ab"}
    given |= {name.replace("_", "-"): value for name, value in options.items()}
    found_in = cluster or Cluster(times)
    return build_plan(scenario, "p", found_in, options=given, version=found, again=again)


def test_a_batch_is_the_default_where_operators_mean_the_same():
    made = plan(version(HOURLY))
    assert made.steps[0].stream is None
    said = "all operators of the query have the same results in a batch as in a stream"
    assert said in made.risks[1]
    assert made.steps[0].job().program == "replay_query"


@pytest.mark.parametrize("scenario", ["historical-range", "ab"])
def test_records_that_expire_before_the_run_needs_them_are_a_risk(scenario):
    cluster = Cluster()
    cluster.retention_ms = 1000
    made = plan(version(HOURLY), scenario=scenario, cluster=cluster)
    assert not any("orders keeps records" in r for r in made.risks)
    cluster.first = None
    made = plan(version(HOURLY), scenario=scenario, cluster=cluster)
    assert any("Kafka may delete the first record that the run needs" in r for r in made.risks)


def test_the_plan_shows_where_the_range_is_and_how_late_records_are():
    made = plan(version(HOURLY))
    assert made.impact["range"]["orders"] == {
        "first": "2026-04-01T15:00:00.000Z",
        "last": "2026-04-03T04:00:00.000Z",
        "offsets": {"0": [0, 30], "1": [0, 20]},
    }
    lines = plan_lines(made)
    assert any(
        "Range in orders" in line
        and "event times 2026-04-01 15:00:00 to 2026-04-03 04:00:00 UTC, "
        "orders[0] offsets 0 to 29, orders[1] offsets 0 to 19"
        in line
        for line in lines
    ), lines
    (late,) = [line for line in lines if "Lateness" in line]
    assert "at most 26 h behind an earlier record of the same partition" in late
    none = replace(TIMES, slices=tuple(replace(s, first=None, last=None) for s in TIMES.slices))
    made = plan(version(HOURLY), times=none)
    assert made.impact["range"] == {} and made.impact["lateness_ms"] is None


@pytest.mark.parametrize(
    ("scenario", "records", "size"), [("historical-range", 50, "1 GB"), ("ab", 140, "2.8 GB")]
)
def test_the_load_on_the_brokers_and_a_quota_are_named(scenario, records, size, monkeypatch):
    class Large(Cluster):
        def topic_bytes(self, names):
            return dict.fromkeys(names, 1_400_000_000)

        def read_quota(self):
            return 100_000.0

    assert not any("brokers" in r for r in plan(version(HOURLY), cluster=Large()).risks)
    monkeypatch.setattr(processing_mode, "MANY", 50)
    made = plan(version(HOURLY), scenario=scenario, cluster=Large())
    load, quota = (r for r in made.risks if "brokers as fast" in r or "quota of Kafka" in r)
    assert load == (
        f"the run reads up to {records} records (about {size}) from the brokers as fast as Spark "
        "can. To limit the load, pass --rate with --as stream, or set the quota consumer_byte_rate "
        "for the query's Kafka user"
    )
    least = {"1 GB": "2.78 h", "2.8 GB": "7.78 h"}[size]
    assert quota.startswith("a quota of Kafka limits Headgate's user to 100 kB/s.")
    assert quota.endswith(f"the run takes at least {least}")
    (load,) = (r for r in plan(version(HOURLY), scenario=scenario).risks if "as fast as" in r)
    assert f"up to {records} records from the brokers" in load, "sizes aren't always known"
    made = plan(version(HOURLY), scenario=scenario, rate=9, **{"as": "stream"})
    assert not any("as fast as Spark can. To" in r for r in made.risks)


def test_a_stream_says_its_batches_and_what_it_drops():
    made = plan(version(HOURLY, maxOffsetsPerTrigger="500"), **{"as": "stream"})
    step = made.steps[0]
    assert step.stream == {"max_records": 500, "keys": []}
    assert "as a stream (at most 500 records per batch)" in step.describe()
    job = step.job("--to", "x")
    assert job.program == "replay_stream"
    assert "--input-from" not in job.arguments and "--from" in job.arguments
    assert made.risks[0].startswith("the input is complete: Headgate measured")
    assert any(
        "as a stream, because you passed --as stream. Each batch ends at the same record timestamp "
        "in all partitions, and has at most 500 records" in r
        for r in made.risks
    )
    assert any(r.startswith("Spark drops records older than the watermark") for r in made.risks)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (OperatorKind.MAP_GROUPS, "mapGroupsWithState"),
        (OperatorKind.TRANSFORM_WITH_STATE, "transformWithState"),
        (OperatorKind.DEDUPLICATE_WITHIN_WATERMARK, "dropDuplicatesWithinWatermark"),
        (OperatorKind.UNKNOWN, "an unknown operator"),
    ],
)
def test_operators_that_only_a_stream_has_choose_it(kind, word):
    found = version(StatefulOperator(kind=kind))
    assert "Pass --warm-up" in plan(found).blockers[0]
    made = plan(found, warm_up="1h")
    assert made.steps[0].stream == {"max_records": 100_000, "keys": []}
    assert any(f"the results of {word} would be different in a batch" in r for r in made.risks)
    blocked = plan(found, warm_up="1h", **{"as": "batch"})
    assert blocked.blockers[0].startswith(f"--as batch: the query uses {word}, and in a batch")


def test_a_stream_reads_until_its_windows_close():
    # Windows of the day end at 24:00, plus the input of one window more, plus two hours of delay.
    made = plan(version(HOURLY), **{"as": "stream"})
    assert made.steps[0].offsets == {"orders": {"0": (0, 30), "1": (0, 20)}}
    assert not any("the watermark ends" in r for r in made.risks)
    later = replace(TIMES, slices=TIMES.slices[:5])
    made = plan(version(HOURLY), times=later, **{"as": "stream"})
    assert made.steps[0].offsets["orders"]["0"] == (0, 40)
    # As a batch, nothing after the last window is needed.
    assert plan(version(HOURLY), times=later).steps[0].offsets["orders"]["0"] == (0, 30)


def test_windows_that_stay_open_are_named():
    early = replace(TIMES, slices=TIMES.slices[:3])
    made = plan(version(HOURLY), times=early, **{"as": "stream"})
    (said,) = [r for r in made.risks if r.startswith("the watermark ends")]
    assert "at 2026-04-03T00:00:00.000Z, because an input has no measured record with" in said
    assert said.endswith("2026-04-03T03:00:00.000Z or later. Results of windows that end after "
                         "2026-04-03T00:00:00.000Z are missing. Pass an earlier --until, or "
                         "plan again when later records exist")  # fmt: skip
    made = plan(version(HOURLY, mode="Update"), times=early, keys=["city"], **{"as": "stream"})
    assert any("2026-04-03T00:00:00.000Z are not final. Pass" in r for r in made.risks)
    # A query without state has nothing that stays in it.
    assert not any(
        "the watermark" in r for r in plan(version(), times=early, **{"as": "stream"}).risks[2:]
    )


def test_update_mode_needs_the_keys_of_a_result():
    found = version(HOURLY, mode="update")
    assert (
        "pass the key columns of a result with --keys"
        in plan(found, **{"as": "stream"}).blockers[0]
    )
    made = plan(found, keys=["window", "city"], **{"as": "stream"})
    assert made.steps[0].stream["keys"] == ["window", "city"]
    assert made.steps[0].job().arguments[-4:] == ("--keys", "window", "--keys", "city")
    assert any(
        "run keeps the last row of each key (key columns: city, window)" in r for r in made.risks
    )
    # As a batch, each result comes once anyway.
    assert plan(found).can_apply


def test_a_rate_limit_is_kept_by_small_batches_of_a_stream():
    made = plan(version(HOURLY), rate=20, **{"as": "stream"})
    (step,) = [s for s in made.steps if s.action == "process_records"]
    assert step.stream == {"max_records": 100, "keys": [], "rate": 20}
    assert step.describe().count(", at most 20 records/s)") == 1
    assert load_step(step.action, step.details()) == step
    arguments = step.job().arguments
    assert arguments[arguments.index("--rate") + 1] == "20"
    assert any(
        "batch of 100 records starts at least 5.0 s after the previous batch" in r
        for r in made.risks
    )
    # Its offsets are ranges that are read, no moves.
    assert step.offsets and not made.moves()
    assert f"  + {step.describe()}" in list(plan_lines(made))
    records = made.impact["total"]
    assert f"with this rate limit, the run takes at least {records / 20:g} s" in made.risks
    own = plan(version(HOURLY), rate=20, max_records=30, **{"as": "stream"})
    assert own.steps[0].stream["max_records"] == 30
    assert any("each batch of 30 records starts at least 1.5 s after" in r for r in own.risks)
    query = plan(version(HOURLY, maxOffsetsPerTrigger="7"), rate=20, **{"as": "stream"})
    assert query.steps[0].stream["max_records"] == 7


def test_both_versions_of_a_comparison_have_the_limit():
    made = plan(version(HOURLY), scenario="ab", rate=20, **{"as": "stream"})
    limits = [s.stream["rate"] for s in made.steps if s.action == "process_records"]
    assert limits == [20, 20]
    assert "with this rate limit, the run takes at least 7 s" in made.risks


def test_a_rate_below_one_is_an_error():
    for how in ("batch", "stream"):
        with pytest.raises(ScenarioError, match="--rate: expected 1 or more, found 0"):
            plan(version(HOURLY), rate=0, **{"as": how})


@pytest.mark.parametrize(
    ("found", "options", "said"),
    [
        (version(HOURLY), {"rate": 5}, "--rate: Spark can't limit a batch. Pass --as stream"),
        (version(HOURLY), {"max_records": 5}, "--max-records needs --as stream"),
        (
            version(StatefulOperator(kind=OperatorKind.LIMIT)),
            {"warm_up": "1h"},
            "the query has a limit",
        ),
    ],
)
def test_what_makes_no_sense_is_a_blocker(found, options, said):
    assert said in plan(found, **options).blockers[0]


def test_a_stream_needs_the_column_of_a_results_time():
    made = plan(version(HOURLY), times=replace(TIMES, result_time=None), **{"as": "stream"})
    assert "Pass --time-column with the result column" in made.blockers[0]
    assert not made.steps


def test_a_batch_of_no_records_is_an_error():
    with pytest.raises(ScenarioError, match="--max-records: expected 1 or more, found 0"):
        plan(version(HOURLY), max_records=0, **{"as": "stream"})


def test_both_versions_are_streams_of_the_same_batches():
    made = plan(version(GROUPS), scenario="ab", max_records=40)
    steps = [s for s in made.steps if s.action == "process_records"]
    assert [s.stream for s in steps] == [{"max_records": 40, "keys": []}] * 2
    assert any(r.startswith("both versions get the same batches") for r in made.risks)
    update = plan(version(HOURLY, mode="update"), scenario="ab", **{"as": "stream"})
    assert update.steps[0].stream["keys"] == ["city"]


def test_an_undo_deletes_the_checkpoint_too():
    step = plan(version(GROUPS), warm_up="1h").steps[0]
    was = {"staged": "/data/.april.headgate-r", **step.stream_folder(step.folder, "r")}
    assert [s.folder for s in step.undo(was)] == [
        "/data/.april.headgate-r",
        "/data/.april.stream.headgate-r",
    ]


LOCAL = replace(TIMES, result_time="local", is_event_time=False)


@pytest.mark.parametrize("mode", ["batch", "stream"])
def test_a_time_made_of_the_event_time_limits_no_input(mode):
    made = plan(version(HOURLY), times=LOCAL, **{"as": mode})
    (step,) = [s for s in made.steps if s.action == "process_records"]
    assert step.offsets == {"orders": {"0": (0, 50), "1": (0, 20)}}
    assert (step.input_start, step.input_until, step.result_time) == (None, None, "local")
    said = "result (column local) isn't the event time of its records (column at)"
    assert any(said in r for r in made.risks)
    assert any("the result is exact" in r or "the input is complete" in r for r in made.risks)
    open_ones = [r for r in made.risks if "may not close the last windows" in r]
    assert len(open_ones) == (mode == "stream")


def test_a_warm_up_says_how_far_both_times_may_differ():
    made = plan(version(HOURLY), times=LOCAL, warm_up="2h", **{"as": "batch"})
    (step,) = [s for s in made.steps if s.action == "process_records"]
    assert step.input_start == "2026-04-01T22:00:00.000Z"
    assert any("at most 2h (--warm-up) before and after the range" in r for r in made.risks)
    late = plan(version(HOURLY), times=LOCAL, lateness="1d", **{"as": "batch"})
    assert any("Headgate doesn't know which records --lateness" in b for b in late.blockers)


def test_an_open_end_is_a_time_like_others():
    made = plan(version(HOURLY), until="9999-12-31T23:30:00Z", **{"as": "batch"})
    assert made.can_apply, made.blockers
    assert made.steps[0].input_until == "9999-12-31T23:59:59.999Z"


def test_event_times_beyond_our_calendar_are_told_not_raised():
    far = replace(TIMES, slices=(replace(part(0, 0, 1), first=1 << 60, last=1 << 61),))
    made = plan(version(HOURLY), times=far)
    assert any("9999-12-31" in b for b in made.blockers)


@pytest.mark.parametrize("to", [{"to": "jdbc:shop.totals"}, {"to": "kafka:t", "append": True}])
def test_a_stream_into_a_table_says_what_to_do_instead(to):
    """`--as batch` is no way out for a query whose results a batch doesn't give."""
    option = "--append" if "append" in to else "--to"
    (blocker,) = plan(version(HOURLY), keys=["city"], **{"as": "stream"}, **to).blockers
    assert blocker.startswith(f"{option}: the run processes the records as a stream, and")
    assert blocker.endswith("with --to, or use --as batch")
    found = plan(version(GROUPS), keys=["city"], warm_up="1h", **to).blockers
    assert "mapGroupsWithState can't be processed as a batch" in found[-1]
    assert "--as batch" not in found[-1]


@pytest.mark.parametrize("to", [{"to": "kafka:new"}, {"to": "kafka:totals", "append": True}])
def test_a_topic_that_kafka_would_not_create_is_a_blocker(to):
    class Closed(Cluster):
        def shapes(self, names):
            there = {n for n in names if n in ("orders", "totals")}
            return {n: TopicShape(name=n, id="1", partitions=2, replication=3) for n in there}

        def may_write(self, names):
            return dict.fromkeys(names, True)

        def uncreatable(self, shapes):
            (shape,) = shapes
            assert (shape.partitions, shape.replication) == (2, 3)
            return {shape.name: f"Kafka's ACLs don't allow it: {shape.name}"}

    made = plan(version(HOURLY), cluster=Closed(), **to)
    name = "headgate-staged-run" if "append" in to else "new"
    assert made.blockers == (f"Kafka's ACLs don't allow it: {name}",)


def test_offsets_without_records_are_not_blamed_on_event_times():
    scan = ["orders:0:0-0", "orders:1:0-0"]
    (blocker,) = plan(version(HOURLY), times=replace(TIMES, slices=()), scan=scan).blockers
    assert blocker.startswith("no record has an event time from 2026-04-02T00:00:00.000Z to")
    assert "The offsets of --scan have no records. Omit the option, or change" in blocker


def test_a_topic_that_the_version_does_not_show_is_no_pattern():
    found = version(HOURLY)
    unknown = replace(found, sources=(replace(found.sources[0], topics=()),))
    assert plan(unknown).blockers[0].startswith("the stored version of p doesn't show the topics")
    pattern = replace(found, sources=(replace(found.sources[0], pattern="o.*"),))
    assert "p has a source with `subscribePattern`" in plan(pattern).blockers[0]


def test_a_rate_above_the_number_of_records_has_no_least_time():
    made = plan(version(HOURLY), rate=100_000, max_records=1, **{"as": "stream"})
    assert not any("the run takes at least" in risk for risk in made.risks)
    assert any("each batch of 1 record starts at least 0.01 ms" in risk for risk in made.risks)


EARLY = {"from": "2026-04-02T03:00:00Z", "until": "2026-04-02T04:00:00Z"}


class CutCluster(Cluster):
    """The record at offset n of each partition has a Kafka timestamp of n hours after midnight."""

    def __init__(self, *begins):
        super().__init__()
        self.begins = begins

    def first_at(self, parts, at):
        hour = max(-(-(at - milliseconds(DAY)) // 3_600_000), 0)
        logs = {("orders", p.number): p for p in self.topics({"orders"})["orders"].partitions}
        found = {part: max(logs[part].begin, hour) for part in parts}
        return {part: offset if offset < logs[part].end else None for part, offset in found.items()}


def test_a_range_that_begins_before_the_first_record_left_is_incomplete():
    made = plan(version(HOURLY), cluster=CutCluster(6, 0), **EARLY)
    said = (
        "Kafka has deleted the first records of orders (6 offsets). Records with Kafka timestamps "
        "before 2026-04-02T06:01:00.000Z may be missing, so results of the range may be incomplete"
    )
    wayout = "Pass 2026-04-02T06:01:00.000Z or later as --from. To accept incomplete results, pass"
    assert made.blockers == (f"{said}. {wayout} --accept-expired",)
    accepted = plan(version(HOURLY), cluster=CutCluster(6, 0), accept_expired=True, **EARLY)
    assert accepted.can_apply and accepted.risks[0] == said
    assert not any("exact" in risk or "past retention" in risk for risk in accepted.risks)
    later = plan(
        version(HOURLY),
        cluster=CutCluster(6, 0),
        **EARLY | {"from": "2026-04-02T06:01:00Z", "until": "2026-04-02T08:00:00Z"},
    )
    assert later.can_apply, later.blockers
    assert later.risks[0] == (
        "the result is exact: Headgate measured the event times of all records that Kafka still "
        "has. The deleted ones are from before the range"
    )


def test_lateness_and_warm_up_need_earlier_records():
    late = {**EARLY, "from": "2026-04-02T08:00:00Z", "until": "2026-04-02T09:00:00Z"}
    assert plan(version(HOURLY), cluster=CutCluster(6, 0), **late).can_apply
    for more in ({"lateness": "3h"}, {"warm_up": "3h"}):
        (said,) = plan(version(HOURLY), cluster=CutCluster(6, 0), **late | more).blockers
        assert "Pass 2026-04-02T09:01:00.000Z or later as --from" in said
    assert plan(version(HOURLY), cluster=CutCluster(6, 0), lateness="1h", **late).can_apply


def test_a_partition_of_which_no_record_is_left_may_lack_records_of_the_range():
    (said,) = plan(version(HOURLY), cluster=CutCluster(0, 20), **EARLY).blockers
    assert said.startswith(
        "Kafka has deleted the first records of orders (20 offsets). Records may"
    )
    scan = ["orders:0:10-50", "orders:1:0-20"]
    made = plan(version(HOURLY), cluster=CutCluster(6, 0), scan=scan, **EARLY)
    assert made.risks[0].startswith("the result includes only records at the offsets of --scan")


def test_records_that_no_result_needs_may_expire_before_the_run():
    night = {"from": "2026-04-02T20:00:00Z", "until": "2026-04-02T21:00:00Z"}
    cluster = CutCluster(0, 0)
    cluster.times = replace(TIMES, slices=(part(0, 0, 9), part(10, 10, 19), part(20, 20, 29)))
    made = plan(version(HOURLY), cluster=cluster, **night)
    assert made.steps[0].offsets == {"orders": {"0": (20, 30)}}
    cluster.begins = (15, 3)
    now = plan(version(HOURLY), cluster=cluster, again=True, **made.options)
    assert now.can_apply, now.blockers
    assert now.hash == made.hash
    assert now.risks[0] == made.risks[0]
    made.steps[0].check(cluster)
    (said, *_) = plan(version(HOURLY), cluster=cluster, **made.options).blockers
    assert "orders[0] doesn't have all offsets from 0 to 50. Pass a range within 15-50" in said
    cluster.begins = (22, 3)
    with pytest.raises(RefusedError, match="begins at offset 22, after the planned offset 20"):
        made.steps[0].check(cluster)


def test_an_ab_run_says_that_its_records_expired_and_not_that_offsets_were_passed():
    cluster = CutCluster(0, 0)
    made = plan(version(HOURLY), cluster=cluster, scenario="ab")
    cluster.begins = (5, 0)
    assert plan(
        version(HOURLY), cluster=cluster, scenario="ab", again=True, **made.options
    ).can_apply
    with pytest.raises(RefusedError, match="begins at offset 5, after the planned offset 0"):
        made.steps[0].check(cluster)


def test_a_version_that_cannot_be_imported_is_a_blocker_of_an_ab_run():
    class Broken(Cluster):
        def check_import(self, function):
            raise RefusedError(f"the import of {function} failed: module m has no function g")

    made = plan(version(HOURLY), cluster=Broken(), scenario="ab")
    assert made.blockers == ("--other: the import of m:g failed: module m has no function g",)


def test_the_text_of_a_plan_has_each_option_that_is_approved():
    (said,) = [s for s in plan_lines(plan(version(HOURLY))) if s.startswith("Command: ")]
    assert said == (
        "Command: headgate plan historical-range p --from=2026-04-02T00:00:00Z "
        "--scan=orders:0:0-50 --scan=orders:1:0-20 --to=/data/april --until=2026-04-03T00:00:00Z "
        "-o historical-range-p.json && headgate apply historical-range-p.json"
    )
    blocked = plan(version(HOURLY), **{"as": "batch", "rate": 5})
    assert not any(s.startswith("Command: ") for s in plan_lines(blocked))


def test_an_ab_run_counts_the_records_that_both_versions_read():
    made = plan(version(HOURLY), scenario="ab")
    assert made.impact == {"records": {"orders": 140}, "total": 140}
    assert [step.records for step in made.steps if step.action == "process_records"] == [70, 70]
    assert any(risk.startswith("each version reads up to 70 records.") for risk in made.risks)
