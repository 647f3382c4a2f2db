"""Every rule has a pair that makes it speak and one that keeps it silent."""

from dataclasses import replace

import pytest

from headgate.compat.compare import compare
from headgate.compat.report import Outcome
from headgate.compat.rules import RULES
from headgate.model.schema import Field
from headgate.model.topology import Topology
from headgate.model.version import Evidence, OperatorKind, Sink, StatefulOperator, Watermark

from . import checkpoint_cases, output_cases, spark_cases, variable_cases, world_cases
from .build import (
    COUNT,
    SUM,
    TIME,
    WINDOW,
    K,
    S,
    aggregate,
    deduplicate,
    files,
    graph,
    join,
    kafka,
    pinned,
    store,
    union_of,
    version,
)

EVOLUTION = S + "queryEvolution.enableSourceEvolution"
CHECK = S + "stateStore.stateSchemaCheck"
FORMAT = S + "stateStore.checkpointFormatVersion"
ZONE = "spark.sql.session.timeZone"
PARTITIONS = "spark.sql.shuffle.partitions"
ROCKS = pinned(stateStore__providerClass="x.RocksDBStateStoreProvider")
PLAIN = version(aggregate())
STATELESS = version()
NAMED = {"offset_log_version": 2, "pinned": {EVOLUTION: "true"}}
TWO_FIELDS = aggregate(functions=("count(1)", "sum(s0.v)"), value=(COUNT, SUM))
NOT_NULL = Field("k", "string", False)
WINDOWED = aggregate(keys=("window(s0.ts)", "s0.k"), window=WINDOW, key=(K,))
OTHER_TIME = Watermark(column="s0.other", delay="10 seconds")
NAMELESS = replace(aggregate(), keys=None, functions=None)
LIMIT = StatefulOperator(kind=OperatorKind.LIMIT, operator_id=0, node="limit")
TWS = StatefulOperator(kind=OperatorKind.TRANSFORM_WITH_STATE, operator_id=0, node="tws")
GROUPS = StatefulOperator(
    kind=OperatorKind.MAP_GROUPS, operator_id=0, node="m", keys=("s0.k",), stores=(store(),)
)
EVENT_TIME = replace(GROUPS, extra={"timeout": "EventTimeTimeout"})
CLOCK_TIME = replace(GROUPS, extra={"timeout": "ProcessingTimeTimeout"})
DATES = aggregate(keys=("date_format(s0.ts, yyyy)",))
JSON_SINK = Sink(format="json", target="/out", node="sink")
TWO = (files(0, "/a"), files(1, "/b"))
SWAPPED = (files(0, "/b"), files(1, "/a"))


def sources(*found, **more):
    return version(aggregate(), sources=found, **more)


def settings(**values):
    return version(aggregate(), settings={S + k.replace("__", "."): v for k, v in values.items()})


def old_state(*operators, partitions=None, **more):
    made = tuple(
        replace(o, stores=tuple(replace(s, partitions=partitions) for s in o.stores))
        for o in operators
    )
    return version(*made, **more)


def branches(left: str, right: str):
    """Return a union of two counts that differ in their filters only."""
    return version(
        replace(aggregate(), node="agg0"),
        replace(aggregate(operator_id=1), node="agg1"),
        sources=(files(0), files(1)),
        topology=union_of((left, "agg0"), (right, "agg1")),
    )


# code: (before, after that makes it speak, its outcome, after that keeps it silent)
R, N, U, W, X = (
    Outcome.RESUMES,
    Outcome.NO_EFFECT,
    Outcome.UNKNOWN,
    Outcome.SILENTLY_WRONG,
    Outcome.REFUSES,
)
CASES = {
    "EVD001": (PLAIN, version(capture_error="[CAST_INVALID_INPUT.X] no"), X, PLAIN),
    "EVD002": (
        PLAIN,
        version(stateful=None, sources=None, topology=Topology()),
        U,
        PLAIN,
    ),
    "MOD001": (PLAIN, replace(PLAIN, output_mode="append"), X, PLAIN),
    "MOD002": (
        version(WINDOWED, watermarks=(TIME,), output_mode="append"),
        version(WINDOWED, watermarks=(TIME,), output_mode="update"),
        W,
        version(WINDOWED, watermarks=(TIME,), output_mode="append"),
    ),
    "MOD003": (PLAIN, replace(PLAIN, output_mode="complete"), R, PLAIN),
    "SRC001": (sources(files()), sources(*TWO), X, sources(files())),
    "SRC002": (sources(files()), sources(kafka()), X, sources(files(format="csv"))),
    "SRC003": (
        sources(files(0, "/a", name="a"), files(1, "/b", name="b"), **NAMED),
        sources(files(0, "/b", name="b"), files(1, "/a", name="a")),
        R,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC004": (
        sources(files(0, "/a", name="a"), **NAMED),
        sources(files(0, "/a", name="b")),
        W,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC005": (sources(files()), sources(files(name="a")), X, sources(files())),
    "SRC006": (
        sources(files(name="a"), **NAMED),
        sources(files(0, "/a", name="a"), files(1, "/b", name="a")),
        X,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC007": (
        sources(files(0, "/a", name="a", offsets=1), files(1, "/b", name="b", offsets=0)),
        sources(files(0, "/b", name="b"), files(1, "/a", name="a")),
        X,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC008": (PLAIN, replace(PLAIN, sources=None), U, PLAIN),
    "SRC009": (PLAIN, replace(PLAIN, settings={EVOLUTION: "true"}), X, PLAIN),
    "SRC010": (PLAIN, sources(replace(files(), format=None, path=None)), U, PLAIN),
    "SRC011": (
        sources(files(0, "/a", name="a"), **NAMED),
        sources(files(0, "/a"), evidence=(Evidence(kind="explain", path="after.txt"),)),
        U,
        sources(files(0, "/a", name="a")),
    ),
    "FIL001": (sources(*TWO), sources(*SWAPPED), X, sources(*TWO)),
    "FIL002": (
        sources(files(0, "/a", advanced=False), files(1, "/b", advanced=False)),
        sources(*SWAPPED),
        W,
        sources(*TWO),
    ),
    "FIL003": (
        sources(files(0, "/a", advanced=False)),
        sources(files(0, "/c")),
        U,
        sources(files(0, "file:///a/")),
    ),
    "FIL004": (sources(files(0, "/a")), sources(files(0, "/a/*")), R, sources(files(0, "/a"))),
    "FIL005": (
        sources(files()),
        sources(files(options={"fileNameOnly": "true"})),
        U,
        sources(files(options={"fileNameOnly": "false"})),
    ),
    "FIL006": (
        sources(files()),
        sources(files(options={"cleanSource": "archive"})),
        X,
        sources(files(options={"cleanSource": "archive", "sourceArchiveDir": "/done"})),
    ),
    "KAF006": (
        sources(kafka(offsets={"orders": {"0": 5, "1": 5}})),
        sources(kafka(options={"assign": '{"orders": [0]}'})),
        X,
        sources(kafka(options={"assign": '{"orders": [0, 1]}'})),
    ),
    "MOD004": (
        version(output_mode="append"),
        version(sink=JSON_SINK, output_mode="update"),
        X,
        version(sink=JSON_SINK, output_mode="append"),
    ),
    "KAF001": (sources(kafka()), sources(kafka(topics=("other",))), X, sources(kafka())),
    "KAF002": (
        sources(kafka(0, ("a",)), kafka(1, ("b",))),
        sources(
            kafka(0, ("b",), {"failOnDataLoss": "false"}),
            kafka(1, ("a",), {"failondataloss": "false"}),
        ),
        W,
        sources(kafka(0, ("a",)), kafka(1, ("b",))),
    ),
    "KAF003": (sources(kafka()), sources(kafka(topics=("orders", "more"))), R, sources(kafka())),
    "KAF004": (
        sources(kafka(options={"startingOffsets": "earliest"})),
        sources(kafka(options={"startingoffsets": "latest"})),
        N,
        sources(kafka(options={"startingoffsets": "earliest"})),
    ),
    "KAF005": (
        sources(kafka(options={"kafka.bootstrap.servers": "a:1"})),
        sources(kafka(options={"kafka.bootstrap.servers": "b:1"})),
        U,
        sources(kafka(options={"kafka.bootstrap.servers": "a:1,c:1"})),
    ),
    "OPS001": (PLAIN, version(deduplicate()), X, PLAIN),
    "OPS002": (STATELESS, PLAIN, X, STATELESS),
    "OPS003": (
        replace(PLAIN, engine_version="3.5.8"),
        replace(STATELESS, engine_version="3.5.8"),
        W,
        replace(PLAIN, engine_version="3.5.8"),
    ),
    "OPS005": (branches("s0.v > 1", "s1.v < 2"), branches("s0.v < 2", "s1.v > 1"), W, PLAIN),
    "OPS004": (PLAIN, replace(PLAIN, stateful=None), U, PLAIN),
    "STA001": (PLAIN, version(aggregate(key=(Field("k", "long", True),))), X, PLAIN),
    "STA002": (PLAIN, version(TWO_FIELDS), X, PLAIN),
    "STA003": (
        PLAIN,
        version(aggregate(functions=("sum(s0.v)",), stores=())),
        U,
        version(aggregate(stores=())),
    ),
    "STA004": (
        PLAIN,
        version(aggregate(value=(Field("c", "double", False),)), settings={CHECK: "false"}),
        W,
        version(aggregate(), settings={CHECK: "false"}),
    ),
    "STA005": (
        version(aggregate(keys=("s0.k",))),
        version(aggregate(keys=("collate(s0.k, UTF8_LCASE)",))),
        X,
        version(aggregate(keys=("collate(s0.k, UTF8_BINARY)",))),
    ),
    "AGG001": (
        version(aggregate(keys=("s0.k", "s0.d"), key=(K, K))),
        version(aggregate(keys=("s0.d", "s0.k"), key=(K, K))),
        W,
        version(aggregate(keys=("s0.k", "s0.d"), key=(K, K))),
    ),
    "AGG002": (
        version(aggregate(functions=("min(s0.v)",))),
        version(aggregate(functions=("max(s0.v)",))),
        W,
        version(aggregate(functions=("min(s0.v)",))),
    ),
    "AGG003": (
        version(aggregate(functions=("sum(s0.v)",))),
        version(aggregate(functions=("sum((s0.v * 10))",))),
        R,
        version(aggregate(functions=("sum(cast(s0.v as bigint))",))),
    ),
    "AGG004": (
        version(aggregate(functions=("avg(s0.v)",))),
        version(aggregate(functions=("sum(cast(s0.v as double))", "count(s0.v)"))),
        R,
        version(aggregate(functions=("avg(s0.v)",))),
    ),
    "AGG005": (PLAIN, version(NAMELESS), U, PLAIN),
    "AGG006": (
        version(aggregate(functions=("collect_list(s0.v)",))),
        version(aggregate(functions=("collect_list(abs(s0.v))",))),
        U,
        version(aggregate(functions=("collect_set(s0.v)",))),
    ),
    "WIN001": (
        version(WINDOWED),
        version(replace(WINDOWED, window=replace(WINDOW, size_us=20_000_000))),
        W,
        version(WINDOWED),
    ),
    "WIN002": (
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="10 seconds"))),
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="15 seconds"))),
        W,
        version(replace(WINDOWED, window=replace(WINDOW, session_gap="10 seconds"))),
    ),
    "WIN003": (
        version(WINDOWED),
        version(replace(WINDOWED, window=replace(WINDOW, column="s0.ts2"))),
        W,
        version(WINDOWED),
    ),
    "WIN004": (version(WINDOWED), version(replace(WINDOWED, window=None)), W, version(WINDOWED)),
    "DED001": (
        version(deduplicate()),
        version(deduplicate(keys=("s0.d",))),
        W,
        version(deduplicate()),
    ),
    "DED002": (
        version(deduplicate()),
        version(replace(deduplicate(), keys=None)),
        U,
        version(deduplicate()),
    ),
    "JOI001": (version(join()), version(join(("s0.d",), ("s1.d",))), W, version(join())),
    "JOI002": (version(join()), version(join(("s1.k",), ("s0.k",))), W, version(join())),
    "JOI003": (
        version(join(extra={"left_columns": ("s0.a", "s0.b")})),
        version(join(extra={"left_columns": ("s0.b", "s0.a")})),
        W,
        version(join(extra={"left_columns": ("s0.a", "s0.b")})),
    ),
    "JOI004": (version(join()), version(join(join_type="LeftOuter")), R, version(join())),
    "JOI005": (version(join()), version(join(condition="s0.v > 1")), R, version(join())),
    "JOI006": (version(join()), version(replace(join(), keys=None)), U, version(join())),
    "WMK001": (PLAIN, replace(PLAIN, watermarks=(TIME,)), R, PLAIN),
    "WMK002": (
        replace(PLAIN, watermarks=(TIME,)),
        replace(PLAIN, watermarks=(Watermark(column="s0.ts", delay="1 minutes"),)),
        R,
        replace(PLAIN, watermarks=(TIME,)),
    ),
    "WMK003": (
        version(WINDOWED, watermarks=(TIME,)),
        version(replace(WINDOWED, keys=("window(s0.other)", "s0.k")), watermarks=(OTHER_TIME,)),
        W,
        version(WINDOWED, watermarks=(TIME,)),
    ),
    "WMK004": (
        version(WINDOWED, watermarks=(TIME,)),
        version(WINDOWED),
        U,
        version(WINDOWED, watermarks=(TIME,)),
    ),
    "WMK005": (
        version(WINDOWED, watermarks=(TIME, TIME)),
        version(WINDOWED, watermarks=(TIME,)),
        U,
        version(WINDOWED, watermarks=(TIME, TIME)),
    ),
    "SNK001": (
        version(sink=JSON_SINK),
        version(sink=replace(JSON_SINK, target="/new")),
        W,
        version(sink=replace(JSON_SINK, target="file:/out/")),
    ),
    "SNK002": (
        version(sink=replace(JSON_SINK, partition_by=())),
        version(sink=replace(JSON_SINK, partition_by=("k",))),
        W,
        version(sink=JSON_SINK),
    ),
    "SNK003": (
        PLAIN,
        version(sink=Sink(format="memory"), output_mode="append"),
        X,
        replace(PLAIN, sink=Sink(format="memory"), output_mode="complete"),
    ),
    "SNK004": (
        PLAIN,
        replace(PLAIN, sink=Sink(format="kafka", target="out")),
        R,
        PLAIN,
    ),
    "SNK005": (
        version(sink=JSON_SINK),
        version(sink=replace(JSON_SINK, format="parquet")),
        W,
        version(sink=JSON_SINK),
    ),
    "SNK006": (replace(PLAIN, sink=None), version(aggregate(), sink=JSON_SINK), U, PLAIN),
    "CFG001": (
        version(aggregate(), pinned=pinned(stateStore__compression__codec="lz4")),
        settings(stateStore__compression__codec="zstd"),
        N,
        settings(stateStore__compression__codec="lz4"),
    ),
    "CFG002": (
        old_state(aggregate(), partitions=5, offset_log_version=2),
        version(aggregate(), settings={PARTITIONS: "2"}),
        W,
        version(aggregate(), settings={PARTITIONS: "5"}),
    ),
    "CFG003": (
        version(pinned={PARTITIONS: "2"}),
        version(settings={PARTITIONS: "5"}),
        R,
        version(settings={PARTITIONS: "2"}),
    ),
    "CFG004": (
        PLAIN,
        settings(offsetLog__formatVersion="2"),
        N,
        settings(offsetLog__formatVersion="1"),
    ),
    "CFG005": (
        version(aggregate(), pinned=ROCKS, settings={FORMAT: "2"}),
        version(aggregate(), settings={FORMAT: "1"}),
        X,
        version(aggregate(), settings={FORMAT: "2"}),
    ),
    "CFG006": (PLAIN, settings(stateStore__encodingFormat="avro"), X, PLAIN),
    "CFG007": (
        version(DATES, settings={ZONE: "UTC"}),
        version(DATES, settings={ZONE: "Europe/Paris"}),
        W,
        version(DATES, settings={ZONE: "UTC"}),
    ),
    "CFG008": (
        version(settings={"spark.sql.ansi.enabled": "false"}),
        version(settings={"spark.sql.ansi.enabled": "true"}),
        U,
        version(settings={"spark.sql.ansi.enabled": "false"}),
    ),
    "CFG009": (PLAIN, settings(minBatchesToRetain="2"), R, PLAIN),
    "CFG011": (
        version(DATES),
        version(DATES, settings={"spark.sql.legacy.timeParserPolicy": "LEGACY"}),
        U,
        version(DATES, settings={ZONE: "UTC"}),
    ),
    "CFG012": (
        PLAIN,
        settings(disabledV2MicroBatchReaders="org.apache.spark.sql.kafka010.KafkaSourceProvider"),
        U,
        settings(minBatchesToRetain="2"),
    ),
    "CFG010": (PLAIN, settings(queryEvolution__enableSinkEvolution="true"), U, PLAIN),
    "GRP001": (version(GROUPS), version(replace(GROUPS, keys=("s0.v",))), W, version(GROUPS)),
    "GRP002": (version(replace(GROUPS, keys=None)), version(GROUPS), U, version(aggregate())),
    "GRP003": (version(EVENT_TIME), version(CLOCK_TIME), W, version(EVENT_TIME)),
    "FUN001": (version(TWS), version(TWS), U, PLAIN),
    "FUN002": (
        version(replace(GROUPS, extra={"timeout": "NoTimeout"})),
        version(GROUPS),
        U,
        version(replace(GROUPS, extra={"timeout": "EventTimeTimeout"})),
    ),
    "FUN003": (
        PLAIN,
        replace(PLAIN, user_functions=("f",)),
        U,
        PLAIN,
    ),
    "FUN004": (
        version(replace(TWS, extra={"time_mode": "NoTime"})),
        version(replace(TWS, extra={"time_mode": "EventTime"})),
        X,
        version(replace(TWS, extra={"time_mode": "NoTime"})),
    ),
    "TRF001": (
        PLAIN,
        replace(PLAIN, topology=graph(("filter", "s0.v > 1"))),
        R,
        PLAIN,
    ),
    "TRF002": (
        sources(kafka()),
        sources(kafka(options={"maxOffsetsPerTrigger": "5"})),
        R,
        sources(kafka()),
    ),
    "TRG001": (
        version(sources=(replace(files(), format="rate"),), trigger={"availableNow": True}),
        version(sources=(replace(files(), format="rate"),), trigger={"continuous": "1 second"}),
        X,
        version(sources=(replace(files(), format="rate"),), trigger={"availableNow": True}),
    ),
    "TRG002": (
        version(trigger={"availableNow": True}),
        version(trigger={"processingTime": "1 second"}),
        R,
        version(trigger={"availableNow": True}),
    ),
    "TRG003": (
        version(trigger={"availableNow": True}),
        version(trigger={"realTime": "5 minutes"}, output_mode="complete"),
        X,
        version(trigger={"processingTime": "1 second"}),
    ),
}


CASES |= output_cases.CASES


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_where_it_should(code):
    before, after, outcome, _ = CASES[code]
    found = [f for f in compare(before, after).findings if f.rule == code]
    assert found, f"{code} did not speak"
    assert max(f.outcome for f in found) is outcome
    assert all(f.why and f.source for f in found)


@pytest.mark.parametrize("code", CASES)
def test_a_rule_stays_silent_where_nothing_changed_for_it(code):
    before, _, _, after = CASES[code]
    assert code not in {f.rule for f in compare(before, after).findings}


def test_every_rule_has_a_case_and_a_code_of_its_own():
    codes = [r.code for r in RULES]
    assert len(codes) == len(set(codes))
    elsewhere = (world_cases, checkpoint_cases, variable_cases, spark_cases)
    assert set(codes) == CASES.keys() | {code for m in elsewhere for code in m.CASES}


def test_a_nullable_key_is_refused_where_the_stored_one_is_not():
    report = compare(version(aggregate(key=(NOT_NULL,))), version(aggregate(key=(K,))))
    assert [f.rule for f in report.findings] == ["STA001"]
    assert compare(version(aggregate(key=(K,))), version(aggregate(key=(NOT_NULL,)))).findings == ()


def test_an_event_time_that_no_operator_goes_by_decides_nothing():
    other = Watermark(column="s0.other", delay="10 seconds")
    report = compare(
        version(aggregate(), watermarks=(TIME,)), version(aggregate(), watermarks=(other,))
    )
    assert [(f.rule, f.outcome) for f in report.findings] == [("WMK003", R)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_by(s0.v, s0.w)", "max_by(s0.w, s0.v)"),
        ("max_by(s0.v, s0.l)", "max_by(s0.v, s0.m)"),
        ("max(struct(s0.v, s0.w))", "max(struct(s0.w, s0.v))"),
        ("covar_samp(s0.v, s0.w)", "covar_samp(s0.w, s0.v)"),
    ],
)
def test_each_argument_has_its_own_place_in_what_is_stored(old, new):
    report = compare(version(aggregate(functions=(old,))), version(aggregate(functions=(new,))))
    assert report.outcome is Outcome.SILENTLY_WRONG


def test_the_start_of_a_window_is_another_key_than_its_end():
    start, end = (f"window(s0.ts, 600, 600, 0).{part}" for part in ("start", "end"))
    report = compare(version(aggregate(keys=(start,))), version(aggregate(keys=(end,))))
    assert [(f.rule, f.outcome) for f in report.findings] == [("AGG001", W)]


def test_covariances_store_the_same():
    old, new = (aggregate(functions=(f"covar_{way}(s0.v, s0.w)",)) for way in ("samp", "pop"))
    assert compare(version(old), version(new)).outcome is R


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mode(s0.v, 0, 0, None)", "percentile(s0.v, 0.5, 1, 0, 0, false)"),
        ("percentile(s0.v, 0.5, 1, 0, 0, false)", "percentile_cont(s0.v, 0.5)"),
        ("regr_slope(s0.v, s0.w)", "regr_intercept(s0.v, s0.w)"),
        ("corr(s0.v, s0.w)", "regr_r2(s0.v, s0.w)"),
    ],
)
def test_functions_of_one_family_take_over_what_was_stored(old, new):
    report = compare(version(aggregate(functions=(old,))), version(aggregate(functions=(new,))))
    assert [(f.rule, f.outcome) for f in report.findings] == [("AGG004", R)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mode(s0.v, 0, 0, None)", "percentile(s0.v, 0.5, s0.n, 0, 0, false)"),
        ("mode(s0.v, 0, 0, None)", "percentile(s0.w, 0.5, 1, 0, 0, false)"),
        ("mode(s0.v, 0, 0, None)", "collect_list(s0.v)"),
        ("corr(s0.v, s0.w)", "regr_r2(s0.w, s0.v)"),
    ],
)
def test_other_values_are_not_taken_over(old, new):
    report = compare(version(aggregate(functions=(old,))), version(aggregate(functions=(new,))))
    assert report.outcome is W


def test_a_key_of_a_users_function_is_asked_about():
    before = replace(version(aggregate(keys=("trim_all(s0.k)",))), user_functions=("trim_all",))
    assert compare(before, version(aggregate(keys=("trim(s0.k)",)))).outcome is U
    assert compare(before, version(aggregate(keys=("trim(s0.d)",)))).outcome is W


@pytest.mark.parametrize(
    ("key", "outcome"),
    [("hour(s0.ts, Some({}))", W), ("unix_timestamp(s0.ts, yyyy, Some({}), true)", U), ("s0.k", R)],
)
def test_a_zone_counts_where_a_key_reads_it(key, outcome):
    sides = [
        version(aggregate(keys=(key.format(zone),)), settings={"spark.sql.session.timeZone": zone})
        for zone in ("UTC", "Asia/Tokyo")
    ]
    assert compare(*sides).outcome is outcome


@pytest.mark.parametrize(
    ("pattern", "policy", "outcome"),
    [("u", "CORRECTED", X), ("YYYY-'W'ww", "EXCEPTION", X), ("yyyy-MM-dd'u'", "CORRECTED", U)],
)
def test_a_pattern_that_only_the_old_time_parser_knows_is_refused(pattern, policy, outcome):
    key, name = f"date_format(s0.ts, {pattern}, Some(UTC))", "spark.sql.legacy.timeParserPolicy"
    sides = [version(aggregate(keys=(key,)), settings={name: p}) for p in ("LEGACY", policy)]
    assert compare(*sides).outcome is outcome


@pytest.mark.parametrize(
    ("source", "archive", "outcome"),
    [
        ("/data/in", "/data/in/done", X),
        ("/data/in", "/data", X),
        ("/data/*", "/data/done", X),
        ("/data/in", "/data/done", R),
        ("file:/data/in", "file:///done/in", R),
    ],
)
def test_an_archive_must_not_meet_the_source(source, archive, outcome):
    options = {"cleanSource": "archive", "sourceArchiveDir": archive}
    before, after = sources(files(0, source)), sources(files(0, source, options=options))
    assert compare(before, after).outcome is outcome


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        ("sum((cast(s0.v as decimal(30,12)) * cast(s0.v as decimal(30,12))))", U),
        ("sum(cast(s0.v as decimal(30,12)))", R),
        ("sum((s0.v * s0.v))", R),
    ],
)
def test_types_of_decimal_arithmetic_are_asked_about(function, outcome):
    name = "spark.sql.decimalOperations.allowPrecisionLoss"
    sides = [
        version(aggregate(functions=(function,)), settings={name: v}) for v in ("true", "false")
    ]
    assert compare(*sides).outcome is outcome


def test_a_watermark_that_no_operator_goes_by_is_as_good_as_none():
    before, after = (version(WINDOWED, watermarks=(w,)) for w in (TIME, OTHER_TIME))
    found = [(f.rule, f.outcome) for f in compare(before, after).findings]
    assert ("WMK003", U) in found
    assert W not in {outcome for _, outcome in found}
