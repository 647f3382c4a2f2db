"""Settings, modes and sinks that changed: what makes a rule speak, and what keeps it silent."""

from dataclasses import replace

from headgate.model.version import Sink
from headgate.rules.core.report import Outcome

from .build import (
    PLAIN,
    TIME,
    WINDOWED,
    S,
    aggregate,
    files,
    pinned,
    version,
)

R, N, U, W, X = (
    Outcome.RESUMES,
    Outcome.NO_EFFECT,
    Outcome.UNKNOWN,
    Outcome.SILENTLY_WRONG,
    Outcome.REFUSES,
)
FORMAT = S + "stateStore.checkpointFormatVersion"
ZONE = "spark.sql.session.timeZone"
PARTITIONS = "spark.sql.shuffle.partitions"
ROCKS = pinned(stateStore__providerClass="x.RocksDBStateStoreProvider")
DATES = aggregate(keys=("date_format(s0.ts, yyyy)",))
ASYNC = {"asyncprogresstrackingenabled": "true"}
JSON_SINK = Sink(format="json", target="/out", node="sink")


def settings(**values):
    return version(aggregate(), settings={S + k.replace("__", "."): v for k, v in values.items()})


def old_state(*operators, partitions=None, **more):
    made = tuple(
        replace(o, stores=tuple(replace(s, partitions=partitions) for s in o.stores))
        for o in operators
    )
    return version(*made, **more)


# code: (before, after that makes it speak, its outcome, after that keeps it silent)
CASES = {
    "MOD001": (PLAIN, replace(PLAIN, output_mode="append"), X, PLAIN),
    "MOD002": (
        version(WINDOWED, watermarks=(TIME,), output_mode="append"),
        version(WINDOWED, watermarks=(TIME,), output_mode="update"),
        W,
        version(WINDOWED, watermarks=(TIME,), output_mode="append"),
    ),
    "MOD003": (PLAIN, replace(PLAIN, output_mode="complete"), R, PLAIN),
    "MOD004": (
        version(output_mode="append"),
        version(sink=JSON_SINK, output_mode="update"),
        X,
        version(sink=JSON_SINK, output_mode="append"),
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
    "CFG013": (
        version(sources=(files(offsets={"logOffset": 2}),)),
        version(sources=(files(),), settings={S + "fileSource.log.compactInterval": "3"}),
        X,
        version(sources=(files(),)),
    ),
    "SNK007": (
        PLAIN,
        replace(PLAIN, sink=Sink(format="kafka", target="out", options=ASYNC)),
        X,
        version(sink=Sink(format="kafka", target="out", options=ASYNC)),
    ),
}
