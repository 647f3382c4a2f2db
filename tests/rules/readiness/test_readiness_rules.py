"""Every readiness rule fires where it should, and stays silent where it should."""

from datetime import UTC, datetime

import pytest
from readiness_subjects import (
    BY_KEY,
    DAY,
    HDFS,
    NOW,
    ROCKSDB,
    S,
    aggregate,
    batch,
    cluster,
    files,
    internal,
    kafka,
    operator,
    repartition,
    running,
    spark,
    stateful,
    stopped,
    store,
    streams,
    topic,
)

from headgate.model.kafka_streams import InternalKind
from headgate.model.state_schema import Field, Schema
from headgate.model.version import OperatorKind, Progress, Sink, Watermark
from headgate.rules.readiness.check import check
from headgate.rules.readiness.codes import RULES
from headgate.rules.readiness.facts.report import Severity

EVOLUTION = f"{S}queryEvolution.enableSourceEvolution"
NAMED = (kafka(name="a"), kafka(position=1, name="b"))
BOTH = (kafka(), kafka(position=1))
RANGED = "(s1.ts <= (s0.ts + INTERVAL '10' SECOND)) AND (s1.ts >= s0.ts)"
GENERATED = "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
JOINED = {"right_keys": ("s1.k",), "condition": RANGED}


def join(marks, **more):
    found = operator(OperatorKind.STREAM_JOIN, **{**JOINED, **more})
    times = tuple(Watermark(column=f"s{n}.ts", delay="1 minute") for n in marks)
    return stateful(found, watermarks=times, sources=BOTH)


def dedup(*keys, kind=OperatorKind.DEDUPLICATE):
    return stateful(operator(kind, keys=keys))


def tws(**extra):
    return stateful(operator(OperatorKind.TRANSFORM_WITH_STATE, extra=extra))


def groups(timeout):
    return stateful(operator(OperatorKind.MAP_GROUPS, extra={"timeout": timeout}))


def timed(trigger):
    found = operator(OperatorKind.MAP_GROUPS, extra={"timeout": "ProcessingTimeTimeout"})
    return stateful(found, trigger={trigger: True})


def to(format_, **more):
    return spark(sink=Sink(format=format_, node="sink", **more))


def setting(**named):
    return stateful(settings={k.replace("__", "."): v for k, v in named.items()})


def log(**configs):
    return streams(internal=(internal("shop-counts-changelog", **configs),))


WINDOWED = {"cleanup_policy": "compact,delete", "retention_ms": str(2 * DAY)}
WEEK = topic("orders", 100, 1000, retention_ms=7 * DAY)
BUSY = topic("orders", 1000, 11000, retention_ms=7 * DAY)
BIG = topic("shop-counts-changelog", bytes=4_000_000_000)

# code, version, what else is known, whether it fires
CASES = [
    ("RDY001", streams(stores=(store(GENERATED, 1),)), {}, True),
    ("RDY001", streams(stores=(store(GENERATED, 1, restored_from="orders"),)), {}, False),
    ("RDY001", streams(), {}, False),
    ("RDY002", streams(repartitions=(repartition(number=3),)), {}, True),
    ("RDY002", streams(repartitions=(repartition(),)), {}, False),
    ("RDY003", spark(sources=BOTH), {}, True),
    ("RDY003", spark(sources=BOTH, engine_version="3.5.8"), {}, False),
    ("RDY003", spark(sources=NAMED), {}, False),
    ("RDY003", spark(), {}, False),
    ("RDY004", spark(sources=NAMED), {}, True),
    ("RDY004", spark(sources=NAMED, settings={EVOLUTION: "true"}), {}, True),
    ("RDY004", spark(sources=NAMED, pinned={EVOLUTION: "true"}, offset_log_version=2), {}, False),
    ("RDY004", spark(sources=NAMED, settings={}, evidence=()), {}, False),
    ("RDY010", stateful(aggregate(delay=None), watermarks=()), {}, True),
    ("RDY010", stateful(aggregate(), output_mode="Complete"), {}, True),
    ("RDY010", dedup("s0.k"), {}, True),
    ("RDY010", join(()), {}, True),
    ("RDY010", join((0,)), {}, True),
    ("RDY010", join((0, 1), condition=None), {}, True),
    ("RDY010", join((0, 1), condition="(s1.ts >= s0.ts)"), {}, True),
    ("RDY010", join((0, 1)), {}, False),
    ("RDY010", join((0, 1), condition=None, keys=("s0.ts",), right_keys=("s1.ts",)), {}, False),
    ("RDY010", join((0, 1), condition="(s1.ts = s0.ts)"), {}, False),
    ("RDY010", dedup("s0.k", "s0.ts"), {}, False),
    ("RDY010", dedup("s0.k", kind=OperatorKind.DEDUPLICATE_WITHIN_WATERMARK), {}, False),
    ("RDY010", stateful(), {}, False),
    ("RDY010", stateful(aggregate("window_time(op1.window)")), {}, False),
    ("RDY010", stateful(operator(OperatorKind.DEDUPLICATE, keys=None), watermarks=()), {}, False),
    ("RDY011", stateful(BY_KEY), {}, True),
    ("RDY011", stateful(), {}, False),
    ("RDY011", stateful(operator(OperatorKind.AGGREGATE, keys=())), {}, False),
    ("RDY011", stateful(operator(OperatorKind.AGGREGATE, keys=None)), {}, False),
    ("RDY012", groups("NoTimeout"), {}, True),
    ("RDY012", groups("ProcessingTimeTimeout"), {}, False),
    ("RDY012", tws(time_mode="NoTime", variables={"c": {"ttl": False}}), {}, True),
    ("RDY012", tws(time_mode="NoTime", variables={"c": {"ttl": True}}), {}, False),
    ("RDY012", tws(time_mode="EventTime"), {}, False),
    ("RDY013", stateful(), {"newest": batch(rows=5_000_000)}, True),
    ("RDY013", stateful(), {"newest": batch(held=3_000_000_000)}, True),
    ("RDY013", stateful(), {"newest": batch()}, False),
    ("RDY013", stateful(pinned={f"{S}stateStore.providerClass": ROCKSDB}),
     {"newest": batch(rows=5_000_000)}, False),
    ("RDY014", stateful(pinned={}, offset_log_version=2), {}, True),
    ("RDY014", stateful(offset_log_version=2), {}, False),
    ("RDY014", stateful(pinned={}, offset_log_version=2, progress=None), {}, False),
    ("RDY014", stateful(pinned={}, offset_log_version=1), {}, False),
    ("RDY015", spark(stateful=(aggregate(),), pinned={"spark.sql.shuffle.partitions": "200"}),
     {}, True),
    ("RDY015", stateful(pinned={"spark.sql.shuffle.partitions": "200"}), {}, False),
    ("RDY015", stateful(), {}, False),
    ("RDY016", timed("availableNow"), {}, True),
    ("RDY016", timed("processingTime"), {}, False),
    ("RDY045", spark(sources=(files(),), settings={f"{S}schemaInference": "true"}), {}, True),
    ("RDY045", spark(settings={f"{S}schemaInference": "true"}), {}, False),
    ("RDY030", spark(checkpoint=None, settings={f"{S}checkpointLocation": "/tmp/x"}), {}, True),
    ("RDY020", spark(sources=(kafka(failOnDataLoss="False"),)), {}, True),
    ("RDY020", spark(sources=(kafka(failOnDataLoss="true"),)), {}, False),
    ("RDY020", spark(), {}, False),
    ("RDY021", spark(sources=(kafka(startingOffsets=None),)), {}, True),
    ("RDY021", spark(sources=(kafka(startingOffsets="latest"),)), {}, True),
    ("RDY021", spark(sources=(kafka(startingOffsets=None, startingTimestamp="1"),)), {}, False),
    ("RDY021", spark(), {}, False),
    ("RDY022", spark(sources=(kafka(maxOffsetsPerTrigger=None),)), {}, True),
    ("RDY022", spark(sources=(files(maxFilesPerTrigger=None),)), {}, True),
    ("RDY022", spark(sources=(files(maxFilesPerTrigger=None, maxBytesPerTrigger="1g"),)),
     {}, False),
    ("RDY022", spark(), {}, False),
    ("RDY023", spark(sources=(kafka(**{"kafka_group.id": "x"}),)), {}, True),
    ("RDY023", spark(), {}, False),
    ("RDY024", spark(sources=(files(cleanSource="delete"),)), {}, True),
    ("RDY024", spark(sources=(files(cleanSource="off"),)), {}, False),
    ("RDY025", spark(sources=(files(mode="dropMalformed"),)), {}, True),
    ("RDY025", spark(sources=(files(mode="PERMISSIVE"),)), {}, False),
    ("RDY030", spark(checkpoint="/tmp/ck"), {}, True),
    ("RDY030", spark(checkpoint="file:///private/var/folders/x/ck"), {}, False),
    ("RDY030", spark(), {"checkpoint": "file:/tmp/ck"}, True),
    ("RDY030", spark(checkpoint="hdfs://nn/tmp/ck"), {}, False),
    ("RDY030", spark(checkpoint="/tmp/ck", settings={"spark.hadoop.fs.defaultFS": "hdfs://n"}),
     {}, False),
    ("RDY030", spark(), {}, False),
    ("RDY031", spark(checkpoint="file:/data/ck"), {}, True),
    ("RDY031", spark(checkpoint="/data/ck", settings={"spark.hadoop.fs.defaultFS": "file:///"}),
     {}, True),
    ("RDY031", spark(checkpoint="/data/ck"), {}, False),
    ("RDY031", spark(), {}, False),
    ("RDY032", spark(checkpoint="s3a://out/orders/_ck"), {}, True),
    ("RDY032", spark(sources=(files(),), checkpoint="s3a://in/orders/ck"), {}, True),
    ("RDY032", spark(sources=(files(),), checkpoint="s3a://in"), {}, True),
    ("RDY032", spark(checkpoint="s3a://other/orders/_ck"), {}, False),
    ("RDY032", spark(checkpoint="s3a://out/orders-ck"), {}, False),
    ("RDY032", spark(sink=Sink(format="kafka", target="orders"), checkpoint="/"), {}, False),
    ("RDY033", stateful(settings={f"{S}minBatchesToRetain": "2"}, trigger=None), {}, True),
    ("RDY033", stateful(settings={f"{S}minBatchesToRetain": "30"}), {}, True),
    ("RDY033", stateful(trigger={"processingTime": "2 hours"},
                        settings={f"{S}minBatchesToRetain": "5"}), {}, False),
    ("RDY033", stateful(trigger=None), {}, False),
    ("RDY033", spark(settings={f"{S}minBatchesToRetain": "2"}), {}, False),
    ("RDY034", spark(trigger=None), {}, True),
    ("RDY034", spark(trigger=None, evidence=()), {}, False),
    ("RDY034", spark(), {}, False),
    ("RDY040", spark(settings={f"{S}stateStore.stateSchemaCheck": "false"}), {}, True),
    ("RDY040", spark(settings={f"{S}stateStore.stateSchemaCheck": "true"}), {}, False),
    ("RDY041", spark(settings={"spark.sql.ansi.enabled": "false"}), {}, True),
    ("RDY041", spark(settings={"spark.sql.ansi.enabled": "true",
                               "spark.sql.session.timeZone": None}), {}, False),
    ("RDY042", stateful(aggregate("date_trunc(day, s0.ts)", window=None),
                        settings={"spark.sql.session.timeZone": None}), {}, True),
    ("RDY042", stateful(aggregate("date_trunc(day, s0.ts)", window=None)), {}, False),
    ("RDY042", stateful(aggregate("from_json(cast(s0.value as string)).k", window=None),
                        settings={"spark.sql.session.timeZone": None}), {}, False),
    ("RDY043", spark(settings={"spark.sql.files.ignoreMissingFiles": "true"}), {}, True),
    ("RDY043", spark(), {}, False),
    ("RDY044", spark(settings={"spark.speculation": "true"}, sink=Sink(format="kafka")), {}, True),
    ("RDY044", spark(settings={"spark.speculation": "true"}), {}, False),
    ("RDY050", to("foreachBatch"), {}, True),
    ("RDY050", spark(), {}, False),
    ("RDY051", to("foreach"), {}, True),
    ("RDY051", to("foreachBatch"), {}, False),
    ("RDY052", to("parquet", target="s3a://out/x"), {}, True),
    ("RDY052", to("delta", target="s3a://out/x"), {}, False),
    ("RDY053", to("kafka", target="totals"), {}, True),
    ("RDY053", spark(), {}, False),
    ("RDY054", streams(), {"cluster": cluster(topic("totals"))}, True),
    ("RDY054", streams(), {"cluster": cluster()}, False),
    ("RDY054", streams(), {}, False),
    ("RDY055", to("memory"), {}, True),
    ("RDY055", spark(), {}, False),
    ("RDY060", spark(engine_version="3.4.1"), {}, True),
    ("RDY060", spark(engine_version="4.0.2"), {}, False),
    ("RDY060", spark(engine_version=None), {}, False),
    ("RDY061", streams(engine_version="4.3.0"), {}, True),
    ("RDY061", streams(engine_version="4.3.1"), {}, False),
    ("RDY070", streams(config={"errors.dead.letter.queue.topic.name": None}), {}, True),
    ("RDY070", streams(), {}, False),
    ("RDY070", streams(config=dict.fromkeys(streams().streams.config)), {}, False),
    ("RDY071", streams(config={"processing.exception.handler": None}), {}, True),
    ("RDY071", streams(config={"deserialization.exception.handler":
                               "class a.LogAndFailExceptionHandler"}), {}, True),
    ("RDY071", streams(), {}, False),
    ("RDY072", streams(config={"processing.exception.handler": "com.shop.Ours",
                               "errors.dead.letter.queue.topic.name": None}), {}, True),
    ("RDY072", streams(config={"processing.exception.handler": "com.shop.Ours"}), {}, True),
    ("RDY072", streams(), {}, False),
    ("RDY073", streams(config={"task.timeout.ms": "0"}), {}, True),
    ("RDY073", streams(config={"task.timeout.ms": None}), {}, True),
    ("RDY073", streams(), {}, False),
    ("RDY080", streams(config={"num.standby.replicas": None}), {"cluster": cluster(BIG)}, True),
    ("RDY080", streams(), {"cluster": cluster(BIG)}, False),
    ("RDY080", streams(config={"num.standby.replicas": "0"}),
     {"cluster": cluster(topic("shop-counts-changelog", bytes=1000))}, False),
    ("RDY080", streams(config={"num.standby.replicas": "0"}), {}, False),
    ("RDY081", streams(config={"state.dir": None}), {}, True),
    ("RDY081", streams(config={"state.dir": None}, stores=()), {}, False),
    ("RDY081", streams(config={"state.dir": "/tmpfs/x"}), {}, False),
    ("RDY082", streams(config={"replication.factor": "1"}), {}, True),
    ("RDY082", streams(), {}, False),
    ("RDY083", streams(config={"processing.guarantee": None}), {}, True),
    ("RDY083", streams(), {}, False),
    ("RDY084", streams(config={"processing.guarantee": "exactly_once_beta"}), {}, True),
    ("RDY084", streams(), {}, False),
    ("RDY085", streams(config={"upgrade.from": "3.4"}), {}, True),
    ("RDY085", streams(), {}, False),
    ("RDY086", streams(protocol="streams"), {}, True),
    ("RDY086", streams(), {}, False),
    ("RDY087", streams(config={"auto.offset.reset": "latest"}), {}, True),
    ("RDY087", streams(config={"auto.offset.reset": "latest",
                               "main.consumer.auto.offset.reset": "earliest"}), {}, False),
    ("RDY088", log(cleanup_policy="delete", retention_ms=str(DAY)), {}, True),
    ("RDY088", streams(repartitions=(repartition(),), internal=(internal(
        "shop-by-city-repartition", InternalKind.REPARTITION,
        cleanup_policy="delete", retention_ms=str(DAY)),)), {}, True),
    ("RDY088", streams(repartitions=(repartition(),), internal=(internal(
        "shop-by-city-repartition", InternalKind.REPARTITION,
        cleanup_policy="delete", retention_ms="-1"),)), {}, False),
    ("RDY088", log(**WINDOWED), {}, False),
    ("RDY089", log(**WINDOWED), {}, True),
    ("RDY089", log(cleanup_policy="compact"), {}, False),
    ("RDY090", log(cleanup_policy="compact"), {}, True),
    ("RDY090", log(**WINDOWED), {}, False),
    ("RDY100", stateful(BY_KEY), {"cluster": cluster(WEEK)}, True),
    ("RDY100", stateful(), {"cluster": cluster(WEEK)}, False),
    ("RDY100", stateful(aggregate(delay="20 days")), {"cluster": cluster(WEEK)}, True),
    ("RDY100", stateful(BY_KEY), {"cluster": cluster()}, False),
    ("RDY100", spark(), {"cluster": cluster(WEEK)}, False),
    ("RDY100", streams(), {"cluster": cluster(WEEK)}, True),
    ("RDY100", stateful(BY_KEY, sources=(kafka(topic="x", **{"kafka_bootstrap.servers": "z:1"}),)),
     {"cluster": cluster(WEEK)}, False),
    ("RDY101", stateful(BY_KEY), {"cluster": cluster(topic("orders", cleanup_policy="compact"))},
     True),
    ("RDY101", stateful(BY_KEY), {"cluster": cluster()}, False),
    ("RDY102", spark(sources=(kafka(topic="gone"),)), {"cluster": cluster()}, True),
    ("RDY102", spark(), {"cluster": cluster()}, False),
    ("RDY110", spark(), {"cluster": cluster(topic("orders", 950, 1000))}, True),
    ("RDY110", streams(), {"cluster": cluster(topic("orders", 950, 1000))}, True),
    ("RDY110", spark(), {"cluster": cluster()}, False),
    ("RDY110", spark(progress=Progress(offsets_from="stored")),
     {"cluster": cluster(topic("orders", 950, 1000))}, False),
    ("RDY111", streams(), {"cluster": cluster(BUSY, offset=1500)}, True),
    ("RDY111", streams(), {"cluster": cluster(BUSY, offset=9000)}, False),
    ("RDY111", streams(), {"cluster": cluster(WEEK, offset=150)}, False),
    ("RDY111", streams(), {"cluster": cluster(topic("orders", 0, 11000, retention_ms=DAY),
                                              offset=10)}, False),
    ("RDY112", streams(), {"cluster": cluster(), "activity": stopped(days=5)}, True),
    ("RDY112", streams(), {"cluster": cluster()}, True),
    ("RDY112", streams(), {"cluster": running()}, False),
    ("RDY112", streams(), {"cluster": running(expire="60")}, True),
    ("RDY112", streams(), {"cluster": cluster(expire=None)}, False),
]  # fmt: skip
RULE = {rule.code: rule for rule in RULES}


@pytest.mark.parametrize(
    ("code", "version", "known", "fires"), CASES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)]
)
def test_a_rule_fires_or_stays_silent(code, version, known, fires):
    report = check(version, now=NOW, rules=(RULE[code],), **known)
    assert report.findings or not fires, (
        f"{code} did not speak: write its check, and in CASES a version that it reports"
    )
    assert [f.rule for f in report.findings][:1] == ([code] if fires else [])
    for found in report.findings:
        assert found.what.endswith((".", ".)")) and found.remedy.endswith((".", ".)"))
        assert "  " not in found.what and found.why == RULE[code].why


def test_every_code_is_unique_fires_and_stays_silent():
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))
    assert {(c, f) for c, _, _, f in CASES} == {(c, f) for c in codes for f in (True, False)}


@pytest.mark.parametrize("version", [spark(), stateful(), streams()], ids=["spark", "state", "ks"])
def test_nothing_is_said_where_all_is_fine(version):
    report = check(version, cluster=running(), newest=batch(), now=NOW)
    assert report.findings == ()


def test_the_worst_is_first_and_a_finding_is_accepted_by_nobody():
    report = check(spark(checkpoint="/tmp/ck", trigger=None, sources=BOTH), now=NOW)
    grades = [f.severity for f in report.findings]
    assert grades == sorted(grades, reverse=True)
    assert grades[0] is Severity.HIGH
    assert report.closes({"high"}) and report.closes({"RDY034"}) and not report.closes({"medium"})


def test_many_rows_make_a_key_worse():
    few = check(stateful(BY_KEY), newest=batch(), rules=(RULE["RDY011"],))
    many = check(stateful(BY_KEY), newest=batch(rows=2_000_000), rules=(RULE["RDY011"],))
    assert few.findings[0].severity < many.findings[0].severity
    assert "2,000,000 rows" in many.findings[0].what


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        (
            "s3a://in/orders/ck",
            "The checkpoint s3a://in/orders/ck is inside a source's folder s3a://in/orders.",
        ),
        (
            "s3a://in/orders/",
            "The checkpoint and a source's folder are the same folder: s3a://in/orders/.",
        ),
        ("s3a://in", "A source's folder s3a://in/orders is inside the checkpoint s3a://in."),
    ],
)
def test_a_checkpoint_in_a_data_folder_or_as_one(checkpoint, said):
    subject = spark(sources=(files(),))
    found = check(subject, rules=(RULE["RDY032"],), checkpoint=checkpoint).findings
    assert [f.what for f in found] == [said]


@pytest.mark.parametrize(
    ("held", "severity", "said"),
    [
        (4_000_000_000, Severity.MEDIUM, ("4 GB", "3.33 minutes")),
        (20_000_000_000, Severity.HIGH, ("20 GB", "16.7 minutes")),
    ],
)
def test_restoration_is_estimated_from_bytes_and_the_rate_is_said(held, severity, said):
    # 4 GB at 20 MB per second are 200 s.
    known = cluster(topic("shop-counts-changelog", bytes=held))
    report = check(streams(config={"num.standby.replicas": "0"}), cluster=known, now=NOW)
    found = next(f for f in report.findings if f.rule == "RDY080")
    assert found.severity is severity
    assert all(words in found.what for words in (*said, "20 MB per second"))


def test_a_first_batch_without_a_limit_is_worse_with_state():
    unlimited = (kafka(maxOffsetsPerTrigger=None),)
    grades = [
        check(version, rules=(RULE["RDY022"],)).findings[0].severity
        for version in (spark(sources=unlimited), stateful(sources=unlimited))
    ]
    assert grades == [Severity.LOW, Severity.MEDIUM]


def test_files_that_are_only_moved_can_still_be_replayed():
    archived = spark(sources=(files(cleanSource="archive", sourceArchiveDir="s3a://done"),))
    (found,) = check(archived, rules=(RULE["RDY024"],)).findings
    assert found.severity is Severity.LOW
    assert "cleanSource=archive (s3a://done)" in found.what and "sourceArchiveDir" in found.remedy


def test_a_release_that_soon_gets_no_fixes_is_a_smaller_risk():
    def said(month, day):
        at = datetime(2026, month, day, tzinfo=UTC)
        found = check(spark(engine_version="4.0.2"), now=at, rules=(RULE["RDY060"],)).findings
        return [(f.severity, f.what) for f in found]

    ending = [(Severity.LOW, "Bug fixes for Spark 4.0.2 end on 2026-11-23.")]
    assert said(8, 24) == [] and said(8, 25) == said(11, 23) == ending
    assert said(11, 24) == [(Severity.MEDIUM, "Bug fixes for Spark 4.0.2 ended on 2026-11-23.")]


def test_columns_without_a_key_answer_the_question():
    def found(**more):
        (one,) = check(to("kafka", target="totals", **more), rules=(RULE["RDY053"],)).findings
        return one

    value = Schema((Field("value", "string"),))
    open_, known = found(), found(schema=value)
    assert open_.question and open_.severity is Severity.LOW
    assert known.question is None and known.severity is Severity.MEDIUM
    assert "The records have no key." in known.what


def test_offsets_of_a_stopped_group_have_a_date():
    # Kept for 7 days, stopped for 5: two days are left.
    report = check(streams(), cluster=cluster(), activity=stopped(days=5), now=NOW)
    found = next(f for f in report.findings if f.rule == "RDY112")
    assert found.severity is Severity.HIGH
    assert "2026-06-03 12:00 UTC" in found.what
    early = check(streams(), cluster=cluster(), activity=stopped(days=1), now=NOW)
    assert next(f for f in early.findings if f.rule == "RDY112").severity is Severity.LOW


def test_how_much_history_is_gone_is_counted():
    report = check(stateful(BY_KEY), cluster=cluster(WEEK), now=NOW)
    found = next(f for f in report.findings if f.rule == "RDY100")
    assert "7 days" in found.what
    assert "Kafka has deleted the records at 100 of 1,000 offsets (10 %)." in found.what


def test_state_of_unknown_age_is_a_question():
    (known,) = check(stateful(BY_KEY), cluster=cluster(WEEK), rules=(RULE["RDY100"],)).findings
    (open_,) = check(streams(), cluster=cluster(WEEK), rules=(RULE["RDY100"],)).findings
    assert known.question is None and "The state includes records of any age" in known.what
    assert open_.question and open_.severity is Severity.LOW


def test_a_store_of_an_aggregation_keeps_its_name_and_a_join_can_not():
    kept, lost = (
        check(streams(stores=(store(name, 1),)), rules=(RULE["RDY001"],)).findings[0]
        for name in (GENERATED, "KSTREAM-JOINTHIS-0000000004-store")
    )
    assert f'Materialized.as("{GENERATED}")' in kept.remedy and kept.keeps_state is True
    assert "StreamJoined.withStoreName" in lost.remedy and lost.keeps_state is False


def test_what_was_not_looked_at_is_said():
    bare = spark(sources=None, stateful=None, sink=None, settings={}, evidence=(), checkpoint=None,
                 engine_version=None)  # fmt: skip
    said = " ".join(check(bare).warnings)
    for word in (
        "the sources",
        "the state",
        "the sink",
        "settings",
        "the location of the checkpoint",
    ):
        assert f"Not checked: {word}" in said or word in said
    assert check(spark(), cluster=running()).warnings == ()
    assert "Not checked: Kafka" in " ".join(check(streams()).warnings)


def test_evidence_without_options_and_settings_gives_no_guess():
    silent = kafka(startingOffsets=None, maxOffsetsPerTrigger=None, subscribe=None)
    report = check(spark(sources=(silent,), settings={}, evidence=(), trigger=None))
    assert report.findings == ()


def test_provider_of_a_checkpoint_is_the_pinned_one():
    asked = {f"{S}stateStore.providerClass": ROCKSDB}
    version = stateful(settings=asked, pinned={f"{S}stateStore.providerClass": HDFS})
    report = check(version, newest=batch(rows=5_000_000), rules=(RULE["RDY013"],))
    assert len(report.findings) == 1


def test_a_size_that_is_not_reported_is_not_shown():
    known = batch(rows=5_000_000, held=0)
    (rows,) = check(stateful(), newest=known, rules=(RULE["RDY013"],)).findings
    assert "keeps 5,000,000 rows in the executors' heap" in rows.what
    known = batch(rows=0, held=3_000_000_000)
    (held,) = check(stateful(), newest=known, rules=(RULE["RDY013"],)).findings
    assert "keeps 3 GB in the executors' heap" in held.what


def test_records_that_are_about_to_be_deleted_have_no_time_left():
    known = cluster(BUSY, offset=BUSY.partitions[0].begin)
    (found,) = check(streams(), cluster=known, rules=(RULE["RDY111"],), now=NOW).findings
    assert "starts to delete unread records at any moment" in found.what
