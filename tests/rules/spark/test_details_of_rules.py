"""What a rule looks at, case by case: keys, functions, zones, patterns, archives, watermarks."""

from dataclasses import replace

import pytest

from headgate.model.state_schema import Field
from headgate.model.topology import Node, NodeKind
from headgate.model.version import Progress, Sink, Watermark
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from rules.build import (
    OTHER_TIME,
    SUM,
    TIME,
    WINDOWED,
    K,
    aggregate,
    files,
    graph,
    sources,
    version,
)

R, U, W, X = (Outcome.RESUMES, Outcome.UNKNOWN, Outcome.SILENTLY_WRONG, Outcome.REFUSES)
NOT_NULL = Field("k", "string", False)


def test_a_nullable_key_is_refused_where_the_stored_one_is_not():
    report = compare(version(aggregate(key=(NOT_NULL,))), version(aggregate(key=(K,))))
    assert [f.rule for f in report.findings] == ["STA001"]
    assert compare(version(aggregate(key=(K,))), version(aggregate(key=(NOT_NULL,)))).findings == ()


@pytest.mark.parametrize("unknown", ["old", "new"])
def test_the_version_is_named_whose_state_schema_the_evidence_lacks(unknown):
    known, bare = version(aggregate()), version(aggregate(functions=("sum(s0.v)",), stores=()))
    report = compare(bare, known) if unknown == "old" else compare(known, bare)
    (found,) = [f for f in report.findings if f.rule == "STA003"]
    assert f"state schema of the {unknown} version" in found.why
    assert f"does the {unknown} version use" in found.question


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


def _functions(old, new, count=1):
    """Compare aggregates that store as many long values, none of them refused."""
    value = (SUM,) * count
    return compare(
        version(aggregate(functions=old, value=value)),
        version(aggregate(functions=new, value=value)),
    )


BIG, SMALL, EQUAL = "(s0.v > 4)", "(s0.v <= 2)", "(s0.d = x)"


@pytest.mark.parametrize(
    "shape",
    [
        "count(CASE(NOT {0}, null, {0}))",
        "sum(s0.v) FILTER (WHERE {0})",
        "count(1) FILTER (WHERE {0})",
        "sum(CASE({0}, s0.v))",
        "collect_list(s0.v) FILTER (WHERE {0})",
    ],
)
def test_measures_that_differ_in_their_condition_have_places(shape):
    big, small, equal = (shape.format(c) for c in (BIG, SMALL, EQUAL))
    swapped = _functions((big, small), (small, big), 2)
    assert [(f.rule, f.outcome) for f in swapped.findings] == [("AGG002", W), ("AGG002", W)]
    moved = _functions((big, small), (small, equal), 2)
    assert ("AGG002", W) in [(f.rule, f.outcome) for f in moved.findings]
    other = _functions((big, small), (equal, small), 2)
    assert "AGG002" not in [f.rule for f in other.findings]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"sum(CASE({BIG}, 1, 0))", f"count(CASE(NOT {BIG}, null, {BIG}))"),
        (f"sum(CASE({BIG}, 1))", f"count(1) FILTER (WHERE {BIG})"),
        (f"sum(cast({BIG} as int))", f"count(CASE({BIG}, 1))"),
        (f"sum(1) FILTER (WHERE {BIG})", f"sum(CASE({BIG}, 1, 0))"),
        ("sum(1)", "count(1)"),
        ("sum(CASE(isnotnull(s0.v), 1, 0))", "count(s0.v)"),
    ],
)
def test_a_sum_of_ones_is_a_count(old, new):
    report = _functions((old,), (new,))
    assert [(f.rule, f.outcome) for f in report.findings] == [("AGG004", R)]


@pytest.mark.parametrize(
    "old", ["sum(2)", "sum(s0.v)", f"sum(CASE({BIG}, 2, 0))", f"sum(CASE({BIG}, 1, -1))"]
)
def test_a_sum_of_anything_else_is_no_count(old):
    assert [f.rule for f in _functions((old,), ("count(1)",)).findings] == ["AGG002"]


def _with_table(path, *keys):
    """Return an aggregate behind a join with the static table at `path`."""
    details = {"position": 0, "path": path, "static": True}
    table = Node("table", NodeKind.SOURCE, "json", f"json {path}", details=details)
    drawn = graph()
    return version(
        aggregate(keys=keys or ("static0.d",)),
        topology=replace(drawn, nodes=(table, *drawn.nodes)),
    )


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("/lake/towns", "/lake/areas", W),
        ("/lake/towns", "/archive/towns", U),
        ("/lake/towns", "/lake/towns", R),
    ],
)
def test_a_key_of_a_table_is_that_table(old, new, outcome):
    report = compare(_with_table(old), _with_table(new))
    assert report.outcome is outcome
    assert [f.rule for f in report.findings if f.rule[:3] == "AGG"] == ["AGG001"] * (outcome != R)


def test_a_table_that_no_key_reads_may_be_another():
    report = compare(_with_table("/towns", "s0.k"), _with_table("/areas", "s0.k"))
    assert "AGG001" not in [f.rule for f in report.findings]


def test_another_table_changes_what_comes_in():
    found = compare(_with_table("/towns", "s0.k"), _with_table("/areas", "s0.k")).findings
    assert [f.rule for f in found] == ["TRF001"]


def _windowed(*filters):
    """Return windows of `s0.ts` behind filters, each (conditions, details)."""
    drawn = graph(*(("filter", " ".join(c)) for c, _ in filters))
    nodes = list(drawn.nodes)
    for place, (conditions, more) in enumerate(filters, 1):
        nodes[place] = replace(nodes[place], details={"conditions": list(conditions), **more})
    last = nodes[-2]
    nodes[-2] = replace(last, details={"keys": ["window(s0.ts, 10000000, 10000000, 0)", "s0.k"]})
    return version(WINDOWED, topology=replace(drawn, nodes=tuple(nodes)))


def test_a_filter_that_the_optimiser_wrote_is_no_change():
    plain = _windowed()
    for conditions, more in ((["isnotnull(s0.ts)"], {}), (["isnotnull(s0.d)"], {"inferred": True})):
        drawn = _windowed((conditions, more))
        assert compare(plain, drawn).findings == ()
        assert compare(drawn, plain).findings == ()
    written = _windowed((["isnotnull(s0.d)"], {}))
    assert [f.rule for f in compare(plain, written).findings] == ["TRF001"]


def test_append_mode_needs_a_key_that_carries_the_watermark():
    last = replace(WINDOWED, extra={"keys_carry_watermark": False})
    report = compare(
        version(WINDOWED, watermarks=(TIME,), output_mode="append"),
        version(last, watermarks=(TIME,), output_mode="append"),
    )
    assert [(f.rule, f.outcome) for f in report.findings] == [("MOD001", X)]


OFF = {
    "spark.sql.streaming.stateStore.stateSchemaCheck": "false",
    "spark.sql.streaming.stateStore.formatValidation.enabled": "false",
}


def test_another_number_of_fields_is_read_as_it_is_without_both_checks():
    old = version(aggregate(functions=("sum(s0.v)",), value=(SUM,)))
    wider = aggregate(functions=("sum(s0.v)", "count(1)"), value=(SUM, SUM))
    report = compare(old, version(wider, settings=OFF))
    found = [(f.rule, f.outcome) for f in report.findings if f.rule != "CFG009"]
    assert found == [("STA004", W)]
    one_off = compare(old, version(wider, settings=dict(list(OFF.items())[:1])))
    assert ("STA004", X) in [(f.rule, f.outcome) for f in one_off.findings]


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
        ("collect_list(s0.v, 0, 0, true)", "listagg(s0.v, , , s0.v ASC NULLS FIRST, 0, 0)"),
        ("string_agg(s0.v, ;)", "collect_list(s0.v)"),
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
        ("percentile(s0.v, 0.5, 1, 0, 0, false)", "histogram_numeric(s0.v, 5)"),
        ("collect_list(s0.v)", "listagg(s0.w, , , s0.w ASC NULLS FIRST)"),
        ("collect_list(s0.v)", "listagg(s0.v, , , s0.w ASC NULLS FIRST)"),
        ("corr(s0.v, s0.w)", "regr_r2(s0.w, s0.v)"),
    ],
)
def test_other_values_are_not_taken_over(old, new):
    report = compare(version(aggregate(functions=(old,))), version(aggregate(functions=(new,))))
    assert report.outcome is W


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("mode(s0.v)", "collect_list(s0.v)", None),
        ("percentile_approx(s0.v, 0.5)", "median(s0.v)", "EOFException"),
        ("collect_set(s0.v)", "hll_sketch_agg(s0.v)", "SketchesArgumentException"),
        ("hll_sketch_agg(s0.v)", "percentile_approx(s0.v, 0.5)", None),
        (
            "theta_sketch_agg(s0.v)",
            "kll_sketch_agg_double(s0.w)",
            "KLL_INVALID_INPUT_SKETCH_BUFFER",
        ),
    ],
)
def test_bytes_of_another_format_can_not_be_read(old, new, error):
    report = compare(version(aggregate(functions=(old,))), version(aggregate(functions=(new,))))
    assert [(f.rule, f.outcome, f.error_class) for f in report.findings] == [("AGG007", X, error)]


@pytest.mark.parametrize("old", [1, 2])
def test_the_interval_of_a_log_matters_once_it_has_so_many_entries(old):
    interval = "spark.sql.streaming.fileSource.log.compactInterval"
    before = version(sources=(files(offsets={"logOffset": old}),))
    report = compare(before, version(sources=(files(),), settings={interval: "3"}))
    assert [(f.rule, f.outcome) for f in report.findings] == [("CFG013", X if old == 2 else R)]


@pytest.mark.parametrize(("last", "told"), [(1, R), (3, X), (9, Outcome.NO_EFFECT), (None, R)])
def test_the_log_of_a_file_sink_has_an_interval_too(last, told):
    sink = Sink(format="parquet", target="/out", node="sink")
    before = version(sink=sink, progress=Progress(last_commit_batch=last))
    interval = "spark.sql.streaming.fileSink.log.compactInterval"
    report = compare(before, version(sink=sink, settings={interval: "3"}))
    assert [f.outcome for f in report.findings if f.rule == "CFG013"] == [told]
    of_topic = replace(before, sink=Sink(format="kafka", target="t", node="sink"))
    report = compare(of_topic, replace(of_topic, settings={interval: "3"}))
    assert [f.outcome for f in report.findings if f.rule == "CFG013"] == [R]


def test_the_interval_of_a_log_with_a_compact_file_stays():
    interval = "spark.sql.streaming.fileSource.log.compactInterval"
    before = version(sources=(files(offsets={"logOffset": 9}),))
    report = compare(before, version(sources=(files(),), settings={interval: "3"}))
    assert [(f.rule, f.outcome) for f in report.findings] == [("CFG013", Outcome.NO_EFFECT)]


def test_a_folder_that_is_read_recursively_has_the_files_of_a_pattern():
    recursive = {"recursiveFileLookup": "true"}
    for old, new, told in (
        ("/a/*", files(0, "/a", options=recursive), R),
        ("/a/day=*", files(0, "/a", options=recursive), Outcome.UNKNOWN),
        ("/a/*", files(0, "/a"), Outcome.UNKNOWN),
        ("/a/*", files(0, "/b", options=recursive), Outcome.REFUSES),
    ):
        before = version(sources=(files(0, old, advanced=True),))
        assert compare(before, version(sources=(new,))).outcome is told, (old, new)


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


@pytest.mark.parametrize(("new", "outcome"), [("Asia/Tokyo", W), ("UTC", R)])
def test_a_plan_shows_the_zone_that_no_setting_names(new, outcome):
    before = version(aggregate(keys=("hour(s0.ts, Some(UTC))",)))
    key = (f"hour(s0.ts, Some({new}))",)
    after = version(aggregate(keys=key), settings={"spark.sql.session.timeZone": new})
    assert compare(before, after).outcome is outcome


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


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        # A row without a time is in no window: only such rows come or go.
        ("s0.ts", "coalesce(s0.ts, gettimestamp(s0.text, dd.MM.yyyy))", R),
        ("coalesce(s0.ts, s0.sent)", "s0.ts", R),
        ("s0.ts", "coalesce(s0.sent, s0.ts)", W),
        (
            "timestamp_seconds((s0.e + s0.d))",
            "timestampadd(SECOND, s0.d, timestamp_seconds(s0.e))",
            U,
        ),
        ("timestamp_seconds((s0.e + s0.d))", "timestamp_seconds((s0.e - s0.d))", W),
    ],
)
def test_a_time_of_other_functions_is_asked_about_unless_only_nulls_differ(old, new, outcome):
    def of(column):
        windowed = replace(WINDOWED, window=replace(WINDOWED.window, column=column))
        return version(windowed, watermarks=(replace(TIME, column=column),))

    found = {f.rule: f.outcome for f in compare(of(old), of(new)).findings}
    assert (found["WIN003"], found["WMK003"]) == (outcome, outcome)


def test_a_key_of_a_function_of_batches_is_hidden_in_its_code():
    before, after = (
        version(aggregate(keys=(f"map_in_{kind}.plate",))) for kind in ("pandas", "arrow")
    )
    assert [(f.rule, f.outcome) for f in compare(before, after).findings] == [("AGG001", U)]
