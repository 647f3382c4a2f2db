"""Changes of what a session says besides the plan: sources, sink, trigger, mode, settings."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from headgate.model.spark_settings import PINNED_DEFAULTS

from .mutant import HARM, HARMLESS, MIXED, NO, OK, Base, Mutant, R, U, W

_S = "spark.sql.streaming."
_FILES = ("parquet", "json", "csv", "orc", "text")
# What says nothing of data: each may be set, changed or left out at will.
IDLE_SETTINGS = {
    "spark.app.name": "another name",
    "spark.executor.memory": "7g",
    "spark.executor.instances": "9",
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.port": "4099",
    "spark.log.level": "WARN",
    _S + "ui.enabled": "false",
    _S + "ui.retainedQueries": "7",
    _S + "metricsEnabled": "true",
    _S + "numRecentProgressUpdates": "7",
    _S + "pollingDelay": "20ms",
    _S + "stateStore.maintenanceInterval": "90s",
    _S + "stateStore.minDeltasForSnapshot": "20",
    _S + "minBatchesToRetain": "200",
    _S + "stopTimeout": "10s",
    _S + "noDataProgressEventInterval": "20s",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.maxPartitionBytes": "64m",
}
# Settings that no checkpoint holds and that decide what is read, or who reads it.
DECISIVE_SETTINGS = {
    _S + "internal.stateStore.partitions": ("7", "state"),
    _S + "disabledV2MicroBatchReaders": ("org.example.KafkaProvider", "kafka"),
    "spark.sql.files.ignoreMissingFiles": ("true", "file"),
    "spark.sql.files.ignoreCorruptFiles": ("true", "file"),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("LEGACY", "file"),
}


def mutants(base: Base) -> Iterator[Mutant]:
    """Yield changes of the session, beside the plan as JSON and as formatted text."""
    if "capture.json" not in base.session:
        return
    plan = {
        f: t for name in ("json", "formatted") if name in base.forms for f, t in [base.forms[name]]
    }
    said = json.loads(base.session["capture.json"])
    conf = json.loads(base.session.get("conf.json", "{}"))
    yield Mutant("session: unchanged", "nothing", {**plan, **base.session}, HARMLESS, told=False)
    for kind, what, changed, allowed, told in _said(said):
        files = {**plan, **base.session, "capture.json": json.dumps(changed)}
        yield Mutant(f"session: {kind}", what, files, frozenset(allowed), told)
    for kind, what, settings, allowed, told in _settings(conf, said, json.dumps(plan)):
        files = {**plan, **base.session, "conf.json": json.dumps(settings)}
        yield Mutant(f"session: {kind}", what, files, frozenset(allowed), told)


def _said(said: dict[str, Any]) -> Iterator[tuple]:
    yield from _sources(said)
    yield from _sink(said)
    for mode in ("Append", "Update", "Complete"):
        if said.get("output_mode") not in (None, mode):
            yield "output mode", mode, {**said, "output_mode": mode}, MIXED | {NO}, True
    yield "query name", "other", {**said, "name": "quite_another"}, HARMLESS, False
    yield "trigger", "real time", {**said, "trigger": {"realTime": "5 minutes"}}, {R, U}, True
    yield "trigger", "continuous", {**said, "trigger": {"continuous": "1 second"}}, {R, U}, True
    yield "trigger", "time", {**said, "trigger": {"processingTime": "7 seconds"}}, HARMLESS, False


def _sources(said: dict[str, Any]) -> Iterator[tuple]:
    for i, source in enumerate(said.get("sources") or ()):
        options = {k.lower(): k for k in source.get("options") or {}}
        for key, value, allowed in (
            ("subscribe", "somewhere-else", HARM),
            ("subscribepattern", "somewhere-else.*", HARM),
            ("assign", '{"somewhere-else":[0]}', HARM),
            ("kafka.bootstrap.servers", "elsewhere:9092", HARM),
            ("failondataloss", "false", {OK, NO, U, W}),
            ("startingoffsets", "latest", {OK, NO}),
        ):
            kafka = source.get("format") == "kafka"
            if key in options or (kafka and key in ("failondataloss", "startingoffsets")):
                changed = copy.deepcopy(said)
                changed["sources"][i]["options"][options.get(key, key)] = value
                yield f"source {key}", f"source {i}", changed, allowed, True
        if source.get("format") == "rate":
            changed = copy.deepcopy(said)
            changed["sources"][i]["options"]["rowsPerSecond"] = "777"
            yield "source rate", f"source {i}", changed, {R, W, U, OK}, True
    if len(said.get("sources") or ()) > 1:
        a, b = said["sources"][:2]
        if a != b and not (a.get("name") or b.get("name")):
            changed = {**said, "sources": [b, a, *said["sources"][2:]]}
            yield "sources said in other order", "0 and 1", changed, HARM, True


def _sink(said: dict[str, Any]) -> Iterator[tuple]:
    sink = said.get("sink") or {}
    form, options = sink.get("format"), sink.get("options") or {}
    if form in _FILES:
        for key in [k for k in options if k.lower() == "path"]:
            other = {**options, key: "/data/another/output"}
            yield "sink path", "other", {**said, "sink": {**sink, "options": other}}, HARM, True
        other = "orc" if form != "orc" else "parquet"
        yield "sink format", other, {**said, "sink": {**sink, "format": other}}, HARM, True
        if not sink.get("partition_by"):
            parts = {**sink, "partition_by": ["k"]}
            yield "sink partitions", "k", {**said, "sink": parts}, HARM, True
    elif form:
        files = {"format": "parquet", "options": {"path": "/data/new/output"}, "partition_by": None}
        yield "sink to files", "parquet", {**said, "sink": files}, HARM, True
    if form == "kafka":
        other = {**options, "topic": "another-topic"}
        yield "sink topic", "other", {**said, "sink": {**sink, "options": other}}, {OK, U}, True


def _settings(conf: dict[str, str], said: dict[str, Any], plan: str) -> Iterator[tuple]:
    for key, value in IDLE_SETTINGS.items():
        if conf.get(key) != value:
            yield "idle setting", key, {**conf, key: value}, HARMLESS, False
    for key, usual in PINNED_DEFAULTS.items():
        value = _other(usual)
        if value and conf.get(key) != value and "Evolution" not in key:
            yield "pinned setting", key, {**conf, key: value}, {NO, OK, U}, False
    partitions = "spark.sql.shuffle.partitions"
    yield "partitions", "7", {**conf, partitions: "7"}, {NO, OK, R, W, U}, True
    has_state = "StateStore" in plan or "StreamingSymmetricHashJoin" in plan
    if has_state:
        format_ = _S + "stateStore.checkpointFormatVersion"
        yield "checkpoint format", "2", {**conf, format_: "2"}, HARM, True
    for key, (value, needs) in DECISIVE_SETTINGS.items():
        if _concerns(needs, plan, said) and conf.get(key) != value:
            yield "decisive setting", key, {**conf, key: value}, HARM, True


def _concerns(needs: str, plan: str, said: dict[str, Any]) -> bool:
    formats = {s.get("format") for s in said.get("sources") or ()}
    match needs:
        case "file":
            return not formats.isdisjoint(_FILES)
        case "kafka":
            return "kafka" in formats
        case "state":
            return "StateStore" in plan or "StreamingSymmetricHashJoin" in plan
    return False


def _other(usual: str) -> str | None:
    if usual in ("true", "false"):
        return "false" if usual == "true" else "true"
    return {
        "min": "max",
        "lz4": "zstd",
        "2": "1",
        "5": "6",
    }.get(usual)
