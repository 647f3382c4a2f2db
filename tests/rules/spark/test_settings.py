"""Settings of Spark that a checkpoint pins, every one, and those that nothing pins."""

from dataclasses import replace

import pytest

from headgate.model.spark_settings import ABSENT_DEFAULTS, PARTITIONS, PINNED, PINNED_DEFAULTS
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from rules.build import S, aggregate, files, join, store, version

EVOLUTION = S + "queryEvolution.enableSourceEvolution"
ENCODING = S + "stateStore.encodingFormat"
PROVIDER = S + "stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
OTHER = {
    PROVIDER: ROCKSDB,
    S + "multipleWatermarkPolicy": "max",
    S + "flatMapGroupsWithState.stateFormatVersion": "1",
    S + "aggregation.stateFormatVersion": "1",
    S + "join.stateFormatVersion": "1",
    S + "stateStore.compression.codec": "zstd",
    S + "stateStore.rocksdb.formatVersion": "4",
    S + "stateStore.rocksdb.mergeOperatorVersion": "1",
    S + "statefulOperator.useStrictDistribution": "false",
    S + "stateStore.rowChecksum.enabled": "true",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "true",
    "spark.sql.function.protobufExtensions.enabled": "true",
}
"""For each pinned setting a value that is not the default; encoding and evolution stand apart."""
STATE = {**PINNED_DEFAULTS, PARTITIONS: "2"}
STATEFUL = version(aggregate(stores=(store(partitions=2),)), pinned=STATE)


def judged(after, before=STATEFUL, *, was=None, made=None):
    """Compare a session with settings to one that had `was`."""
    old = replace(before, settings=was or {})
    new = replace(made or before, pinned={}, settings=after)
    return compare(old, new)


def test_the_table_has_every_setting_that_is_pinned():
    assert OTHER.keys() | {ENCODING, EVOLUTION} == PINNED
    assert ABSENT_DEFAULTS.keys() <= PINNED


@pytest.mark.parametrize("key", [*OTHER, PARTITIONS])
def test_a_pinned_setting_has_no_effect(key):
    wanted = OTHER.get(key, "8")
    report = judged({key: wanted})
    assert report.outcome is Outcome.NO_EFFECT
    found = next(f for f in report.findings if f.outcome is Outcome.NO_EFFECT)
    assert (found.before, found.after) == (STATEFUL.pinned[key], wanted)
    assert "new checkpoint" in found.remedy


@pytest.mark.parametrize("key", OTHER)
def test_going_back_to_the_default_has_no_effect_either(key):
    before = replace(STATEFUL, pinned={**STATEFUL.pinned, key: OTHER[key]})
    report = judged({"spark.sql.x": "1"}, before, was={key: OTHER[key], "spark.sql.x": "1"})
    assert report.outcome is Outcome.NO_EFFECT


@pytest.mark.parametrize("key", OTHER)
def test_the_value_that_is_pinned_is_no_change(key):
    before = replace(STATEFUL, pinned={**STATEFUL.pinned, key: OTHER[key]})
    assert judged({key: OTHER[key]}, before).findings == ()


@pytest.mark.parametrize(("key", "kept"), ABSENT_DEFAULTS.items())
def test_a_log_of_an_older_spark_pins_what_it_lacks(key, kept):
    if key in (ENCODING, EVOLUTION):
        return
    older = {k: v for k, v in STATEFUL.pinned.items() if k != key}
    wanted = OTHER[key] if OTHER[key] != kept else PINNED_DEFAULTS[key]
    report = judged({key: wanted}, replace(STATEFUL, pinned=older))
    found = next(f for f in report.findings if f.outcome is Outcome.NO_EFFECT)
    assert (found.before, found.after) == (kept, wanted)


def test_an_encoding_that_analysis_takes_is_pinned_and_another_is_refused():
    assert judged({ENCODING: "avro"}).outcome is Outcome.REFUSES


def test_source_evolution_is_pinned_but_asks_for_names():
    named = replace(STATEFUL, sources=(files(name="orders"),))
    assert judged({EVOLUTION: "true"}, named).outcome is Outcome.RESUMES
    assert judged({EVOLUTION: "true"}).outcome is Outcome.REFUSES


ROCKS = replace(STATEFUL, pinned={**STATEFUL.pinned, PROVIDER: ROCKSDB})
V2 = replace(STATEFUL, offset_log_version=2, pinned={})
DATES = version(aggregate(keys=("date_format(s0.ts, yyyy)",)))
FORMAT = S + "stateStore.checkpointFormatVersion"
ZONE, ANSI = "spark.sql.session.timeZone", "spark.sql.ansi.enabled"

# before, its settings, the new settings, outcome, class: nothing pins these.
UNPINNED = [
    (STATEFUL, {}, {FORMAT: "2"}, "refuses", "STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED"),
    (version(), {}, {FORMAT: "2"}, "resumes", None),
    (ROCKS, {}, {FORMAT: "2"}, "refuses", "CANNOT_WRITE_STATE_STORE"),
    (ROCKS, {FORMAT: "2"}, {ZONE: "UTC"}, "refuses", "CANNOT_LOAD_STATE_STORE"),
    (V2, {}, {PARTITIONS: "4"}, "refuses", "CANNOT_LOAD_STATE_STORE"),
    (V2, {}, {PARTITIONS: "1"}, "silently_wrong", None),
    (V2, {}, {PARTITIONS: "2"}, "resumes", None),
    (version(), {}, {PARTITIONS: "4"}, "resumes", None),
    (DATES, {ZONE: "UTC"}, {ZONE: "Asia/Tokyo"}, "silently_wrong", None),
    (STATEFUL, {ZONE: "UTC"}, {ZONE: "Asia/Tokyo"}, "resumes", None),
    (DATES, {}, {ZONE: "Asia/Tokyo"}, "unknown", None),
    (STATEFUL, {ANSI: "false"}, {ANSI: "true"}, "unknown", None),
    (STATEFUL, {ANSI: "true"}, {ANSI: "false"}, "resumes", None),
    (ROCKS, {}, {S + "stateStore.rocksdb.changelogCheckpointing.enabled": "true"}, "resumes", None),
    (STATEFUL, {}, {"spark.sql.legacy.timeParserPolicy": "LEGACY"}, "resumes", None),
    (DATES, {}, {"spark.sql.legacy.timeParserPolicy": "LEGACY"}, "unknown", None),
    (STATEFUL, {}, {S + "minBatchesToRetain": "2"}, "resumes", None),
    (STATEFUL, {}, {S + "noDataMicroBatches.enabled": "false"}, "resumes", None),
    (STATEFUL, {}, {S + "queryEvolution.enableSinkEvolution": "true"}, "unknown", None),
    (STATEFUL, {}, {S + "offsetLog.formatVersion": "2"}, "no_effect", None),
]


@pytest.mark.parametrize(("before", "was", "settings", "outcome", "error"), UNPINNED)
def test_what_nothing_pins_takes_effect(before, was, settings, outcome, error):
    report = judged(settings, before, was=was)
    assert report.outcome.word == outcome
    assert error is None or error in {f.error_class for f in report.findings}


def test_a_check_that_is_switched_off_moves_the_failure_into_the_batch():
    wider = join(value=(*store().key_schema.fields, *store().value_schema.fields))
    check = {S + "stateStore.stateSchemaCheck": "false"}
    report = judged(check, version(join()), made=version(wider))
    assert report.outcome is not Outcome.RESUMES


PLANNED = version(aggregate())


@pytest.mark.parametrize("before", [{}, {"spark.sql.session.timeZone": "UTC"}, {PARTITIONS: "2"}])
def test_other_partitions_are_asked_about_where_no_offset_log_is_evidence(before):
    report = judged({PARTITIONS: "6"}, PLANNED, was=before)
    (found,) = [f for f in report.findings if f.rule == "CFG002"]
    assert found.outcome is Outcome.UNKNOWN
    assert "offset log" in (found.question or "")


def test_the_same_partitions_are_not_asked_about():
    report = judged({PARTITIONS: "6"}, PLANNED, was={PARTITIONS: "6"})
    assert "CFG002" not in {f.rule for f in report.findings}


def test_partitions_of_state_that_is_seen_decide_without_a_log():
    before = version(aggregate(stores=(store(partitions=2),)))
    assert "CFG002" not in {f.rule for f in judged({PARTITIONS: "2"}, before).findings}


@pytest.mark.parametrize(
    ("key", "outcome"),
    [
        ("to_json(struct(s0.k, s0.v))", Outcome.UNKNOWN),
        ("upper(s0.k)", Outcome.RESUMES),
        ("s0.k", Outcome.RESUMES),
    ],
)
def test_nulls_in_json_matter_where_a_key_is_json(key, outcome):
    before = version(aggregate(keys=(key,)))
    name = "spark.sql.jsonGenerator.ignoreNullFields"
    report = compare(replace(before, settings={}), replace(before, settings={name: "false"}))
    assert [f.outcome for f in report.findings if f.rule == "CFG011"] == [outcome]


@pytest.mark.parametrize(
    ("option", "types", "outcome"),
    [
        ("timeZone", ("string", "timestamp"), Outcome.UNKNOWN),
        ("dateFormat", None, Outcome.UNKNOWN),
        ("timestampFormat", ("string", "long"), Outcome.RESUMES),
        ("maxFilesPerTrigger", ("string", "timestamp"), Outcome.RESUMES),
    ],
)
def test_an_option_of_a_source_that_decides_which_times_are_read(option, types, outcome):
    plain = {"path": "/in", "multiline": "false"}
    sides = [
        version(
            aggregate(),
            sources=(replace(files(), options=options, column_types=types),),
        )
        for options in (plain, plain | {option.lower(): "x"})
    ]
    found = [f.outcome for f in compare(*sides).findings if f.rule == "TRF002"]
    assert found == [outcome]
