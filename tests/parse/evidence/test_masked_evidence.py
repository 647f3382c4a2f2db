"""Secrets never enter a version: every form of a secret in every kind of evidence."""

from __future__ import annotations

import json
import time

import pytest

from headgate.errors import HeadgateError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.evidence.version_file import dump
from headgate.text.secrets import MASK, mask_options, mask_record, mask_text

S = "hunter2X9"
FORMS = {
    "option": f"password={S}",
    "quoted option": f'password="{S} {S}"',
    "option with a comma": f"password=a,{S}",
    "option with underscores": f"api_key={S}",
    "arrow": f"truststore.password->{S}",
    "spaced arrow": f"truststore.password -> {S}",
    "JSON": json.dumps({"apiKey": S}),
    "compact JSON": json.dumps({"client_secret": S}, separators=(",", ":")),
    "JSON in JSON": json.dumps(json.dumps({"apiKey": S})),
    "Python's dict": str({"password": S}),
    "colon": f"pwd: {S}",
    "word": f"token {S}",
    "word in capitals": "token HUNTERXSECRET".replace("HUNTERXSECRET", S.upper()),
    "flag": f"--client-secret {S}",
    "Bearer": f"Bearer {S}{S}",
    "header": f"Authorization: Bearer {S}",
    "header with a key": f"x-api-key: {S}",
    "query": f"https://h/x?a=1&sig={S}",
    "JAAS": f'org.x.PlainLoginModule required username="u" password="{S}";',
    "user info": f"jdbc:postgresql://u:{S}@h/db",
    "JDBC of SQL Server": f"jdbc:sqlserver://h;user=u;password={S};x=1",
    "JDBC of MySQL": f"jdbc:mysql://h/db?user=u&password={S}",
    "JDBC of Oracle": f"jdbc:oracle:thin:u/{S}@//h:1/x",
    "Azure's connection string": f"Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey={S}=",
    "account key": f"fs.azure.account.key.x.dfs.core.windows.net={S}",
    "GitHub's token": f"ghp_{S}{'0' * 36}",
    "AWS key": "AKIA" + S.upper() + "0000000",
}


def _attribute(name: str) -> dict:
    kind = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
    head = {"class": kind, "num-children": 0, "name": name, "dataType": "string"}
    return {**head, "nullable": True, "metadata": {}, "exprId": {"id": 1}}


def _plan_json(form: str) -> str:
    below = "org.apache.spark.sql.catalyst."
    equal = {"class": f"{below}expressions.EqualTo", "num-children": 2, "left": 0, "right": 1}
    literal = {"class": f"{below}expressions.Literal", "num-children": 0, "value": form}
    condition = [equal, _attribute("k"), {**literal, "dataType": "string"}]
    relation = "org.apache.spark.sql.execution.streaming.StreamingRelation"
    nodes = [
        {"class": f"{below}plans.logical.Filter", "num-children": 1, "child": 0,
         "condition": condition},
        {"class": relation, "num-children": 0, "dataSource": form, "sourceName": form,
         "output": [[_attribute("k")]]},
    ]  # fmt: skip
    return json.dumps(nodes)


def _progress(source: str = "X", sink: str = "Y", end: object = None, **more: object) -> dict:
    sources = [{"description": source, "startOffset": None, "endOffset": end}]
    head = {"id": "q", "runId": "r", "batchId": 1, "timestamp": "2026-01-01T00:00:00.000Z"}
    return {**head, "sources": sources, "sink": {"description": sink}, **more}


def _watch(form: str) -> str:
    head = {"headgate": "watch", "schema": 1, "id": "q", "runId": "r"}
    head["at"] = "2026-01-01T00:00:00.000Z"
    source = {"format": "x", "options": {"extra": form}}
    capture = {"sources": [source], "sink": {"format": "y", "target": form}}
    lines = (
        {"event": "started", "application": "a", "spark": "4.2.0", "settings": {"spark.x": form}},
        {"event": "query", "capture": capture},
        {"event": "progress", "progress": _progress(sink=f"JdbcSink[{form}]")},
        {"event": "terminated", "exception": f"failed: {form}"},
    )
    return "\n".join(json.dumps({**head, **line}) for line in lines)


def _capture(form: str) -> str:
    source = {"format": "x", "name": form, "options": {"conf": form}, "relation": form}
    sink = {"format": "y", "target": form, "options": {"extra": form}}
    return json.dumps(
        {"sources": [source], "sink": sink, "output_mode": "append", "error": f"no: {form}"}
    )


def _event_log(form: str) -> str:
    sql, ui = "org.apache.spark.sql.", "org.apache.spark.sql.execution.ui."
    listener = f"{sql}streaming.StreamingQueryListener$"
    started = {"id": "q", "runId": "r", "name": "n", "timestamp": "2026-01-01T00:00:00.000Z"}
    progress = json.dumps(_progress(sink=f"JdbcSink[{form}]"))
    plan = f"== Physical Plan ==\nWriteToDataSourceV2 J[{form}]\n+- Filter (k#1 = {form})\n"
    execution = {"executionId": 0, "description": f"id = q\nrunId = r\nbatch = 1 {form}",
                 "details": form, "physicalPlanDescription": plan, "time": 1}  # fmt: skip
    events = (
        {"Event": "SparkListenerLogStart", "Spark Version": "4.2.0"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.x": form}},
        {"Event": f"{listener}QueryStartedEvent", **started},
        {"Event": f"{ui}SparkListenerSQLExecutionStart", **execution},
        {"Event": f"{listener}QueryProgressEvent", "progress": json.loads(progress)},
        {"Event": f"{listener}QueryTerminatedEvent", "id": "q", "runId": "r",
         "exception": f"failed: {form}"},
    )  # fmt: skip
    return "\n".join(map(json.dumps, events))


KINDS = {
    EvidenceKind.EXPLAIN: lambda f: (
        f"== Physical Plan ==\nWriteToDataSourceV2 JdbcSink[{f}]\n"
        f"+- *(1) Filter (k#1 = {f})\n   +- StreamingRelation MyFormat[{f}], [k#1]\n"
    ),
    "formatted": lambda f: (
        "== Physical Plan ==\n* Filter (2)\n+- Scan json (1)\n\n\n(1) Scan json\n"
        f"Output [1]: [k#1]\nLocation: InMemoryFileIndex [file:/x?{f}]\n\n(2) Filter\n"
        "Input [1]: [k#1]\n"
        f"Condition : (k#1 = {f})\n"
    ),
    EvidenceKind.PLAN_JSON: _plan_json,
    EvidenceKind.PROGRESS: lambda f: json.dumps(
        [
            _progress(source=f"MySource[{f}]"),
            _progress(sink=f"JdbcSink[url=jdbc:x,{f},dbtable=t]", end=f, id="q2", name="other"),
        ][1:]
    ),
    "progress of a source": lambda f: json.dumps(_progress(source=f"MySource[{f}]")),
    EvidenceKind.CAPTURE: _capture,
    EvidenceKind.SETTINGS: lambda f: json.dumps({"spark.x": f}),
    EvidenceKind.WATCH: _watch,
    EvidenceKind.STREAMS_CONFIG: lambda f: json.dumps({"application.id": "a", "x": f}),
    "properties": lambda f: f"application.id=a\nx={f}\n",
    EvidenceKind.DESCRIBE: lambda f: (
        "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [in])\n"
        "      --> KSTREAM-SINK-0000000001\n"
        f"    Sink: KSTREAM-SINK-0000000001 (extractor class: X {f})\n"
        "      <-- KSTREAM-SOURCE-0000000000\n"
    ),
}


def leaks(text: str) -> bool:
    return S.lower() in text.lower()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_secret_gets_through_any_kind_of_evidence(kind, form):
    text = KINDS[kind](FORMS[form])
    assert leaks(text)
    try:
        piece = recognise(text.encode(), path="evidence")
        assert piece is not None
        version = assemble(Gathered(pieces=[piece]))
    except HeadgateError as error:
        assert not leaks(str(error))
        return
    assert not leaks(dump(version).decode())


@pytest.mark.parametrize("form", FORMS)
def test_nor_an_event_log(form, tmp_path):
    from headgate.usecases.evidence.read_version import read_version

    log = tmp_path / "app-1"
    log.write_text(_event_log(FORMS[form]))
    version = read_version([str(log)])
    assert MASK in dump(version).decode()
    assert not leaks(dump(version).decode())


@pytest.mark.parametrize("form", FORMS)
def test_masking_twice_changes_nothing(form):
    for mask in (mask_text, mask_options):
        once = mask(f"before {FORMS[form]} after")
        assert not leaks(once)
        assert mask(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "Project [token#1, token#1 AS token2#3, cast(password#4 as string) AS pwd#5]",
        "Filter (isnotnull(token#3) AND (token#3 = abc))",
        "Sort [token#1 ASC NULLS FIRST], true, 0",
        "Window [row_number() windowspecdefinition(token DESC NULLS LAST)]",
        "ReadSchema: struct<token:string,password:string,k: int>",
        " |-- token: string (nullable = true)",
        "StructField(token,StringType,true), token STRING, token VARCHAR(10), secret DECIMAL(10,2)",
        '{"type":"struct","fields":[{"name":"token","type":"string","nullable":true}]}',
        '{"tokens":{"0":5},"secrets":3}',
        "the token expired and the password is wrong, no token was given",
        "Subscribe[tokens,secrets-v2]",
        "Sub-topology: 0 Source: token-source (topics: [tokens]) --> token-filter",
        "Processor: token-count-2 (stores: [token-store-2])",
        "abfss://box@account.dfs.core.windows.net/x localhost:9092,other:9092",
        "(s0.token = 5)",
        "run --conf password=${SECRET}",
        "hashpartitioning(keys#1, 200), keyspace=orders, partitionKey -> k",
    ],
)
def test_columns_types_topics_and_prose_stay(text):
    assert mask_text(text) == text


def test_a_column_may_be_called_token():
    from headgate.model.version import Engine, Sink, Version

    version = Version(engine=Engine.SPARK, sink=Sink(made_by={"token": "s0.token"}))
    assert mask_record(version) is version


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "token" * 20_000,
        "password=" * 10_000,
        ("a." * 50_000) + "token",
        ";" * 100_000 + "token",
        '"token":"' * 10_000,
        "\\" * 100_000 + '"token',
        "jdbc:oracle:thin:" + "a/" * 50_000,
        "x://" + ":" * 100_000,
        "-token " * 10_000,
        "token:  " * 10_000,
    ],
)
def test_a_hostile_text_takes_no_time(text):
    begin = time.process_time()
    mask_text(text)
    mask_options(text)
    assert time.process_time() - begin < 5
