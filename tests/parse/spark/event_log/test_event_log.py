"""Event logs as lines: what is kept of them, and what no line can break."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headgate.parse.spark.event_log.events import KINDS
from headgate.parse.spark.event_log.lines import holds_events, kind_of, split_lines
from headgate.parse.spark.event_log.read import EventLog, EventLogReader
from headgate.parse.spark.event_log.runs import condition, moment
from headgate.parse.spark.event_log.version import logged_version, newest_known, queries

SQL = "org.apache.spark.sql.execution.ui.SparkListener"
QUERY = "org.apache.spark.sql.streaming.StreamingQueryListener$Query"
PLAN = """== Physical Plan ==
* Project (2)
+- MicroBatchScan (1)


(1) MicroBatchScan
Output [7]: [key#{n}, value#8, topic#9, partition#10, offset#11L, timestamp#12, timestampType#13]
Arguments: [key#{n}, value#8, topic#9, partition#10, offset#11L, timestamp#12, timestampType#13]

(2) Project [codegen id : {n}]
Output [1]: [cast(value#8 as string) AS value#{n}]
Input [7]: [key#{n}, value#8, topic#9, partition#10, offset#11L, timestamp#12, timestampType#13]
"""


def _line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"Event": kind, **fields}, separators=(",", ":")).encode()


def _batch(number: int, run: str = "r1", name: str = "orders", **fields: Any) -> bytes:
    said = {
        "executionId": number,
        "rootExecutionId": number,
        "description": f"{name}\nid = q1\nrunId = {run}\nbatch = {number}",
        "physicalPlanDescription": PLAN.replace("{n}", str(number + 20)),
        "time": 1795250745772 + number,
        "modifiedConfigs": {"spark.sql.streaming.stateStore.encodingFormat": "avro"},
    }
    return _line(SQL + "SQLExecutionStart", **{**said, **fields})


def _end(number: int) -> bytes:
    return _line(SQL + "SQLExecutionEnd", executionId=number, time=1795250746000 + number)


def _progress(number: int, run: str = "r1", query: str = "q1") -> bytes:
    report = {
        "id": query,
        "runId": run,
        "name": "orders",
        "timestamp": f"2026-11-21T08:45:{number:02d}.000Z",
        "batchId": number,
        "sources": [{"description": "KafkaV2[Subscribe[orders]]"}],
    }
    return _line(QUERY + "ProgressEvent", progress=report)


def _started(run: str = "r1", query: str = "q1", name: str | None = "orders") -> bytes:
    at = "2026-11-21T08:45:00.000Z"
    return _line(QUERY + "StartedEvent", id=query, runId=run, name=name, timestamp=at)


HEAD = [
    _line("SparkListenerLogStart", **{"Spark Version": "4.2.0"}),
    _line(
        "SparkListenerEnvironmentUpdate",
        **{"Spark Properties": {"spark.sql.ansi.enabled": "false", "spark.db.password": "hunter2"}},
    ),
    _line(
        "SparkListenerApplicationStart",
        **{"App ID": "app-1", "App Name": "shop", "Timestamp": 1795250726652},
    ),
]
WHOLE = [*HEAD, _started(), _batch(0), _end(0), _progress(0), _batch(1), _end(1), _progress(1)]


def _read(lines: Iterable[bytes], **options: Any) -> EventLog:
    reader = EventLogReader("log", **options)
    reader.read(lines, "log")
    return reader.result()


def test_application_run_and_batches_are_read():
    log = _read(WHOLE)
    (application,) = log.applications
    assert (application.id, application.name) == ("app-1", "shop")
    assert (application.spark_version, application.ended_at) == ("4.2.0", None)
    assert application.started_at == "2026-11-21T08:45:26.652Z"
    (run,) = log.runs
    assert (run.query_id, run.run_id, run.name) == ("q1", "r1", "orders")
    assert (run.batches, run.first_batch, run.last_batch) == (2, 0, 1)
    assert (run.started_at, run.ended) == ("2026-11-21T08:45:00.000Z", False)
    assert log.warnings == () and log.events == len(WHOLE)


def test_one_plan_is_kept_for_all_the_batches_that_it_served():
    (run,) = _read(WHOLE).runs
    (plan,) = run.plans
    assert (plan.first_batch, plan.last_batch, plan.batches) == (0, 1, 2)
    assert plan.text == PLAN.replace("{n}", "20")


def test_another_plan_begins_another_range():
    other = PLAN.replace("cast(value#8 as string)", "upper(value#8)")
    lines = [*WHOLE, _batch(2, physicalPlanDescription=other), _end(2)]
    (run,) = _read(lines).runs
    assert [(p.first_batch, p.last_batch) for p in run.plans] == [(0, 1), (2, 2)]


def test_the_files_of_a_batch_are_no_other_plan():
    scan = (
        "== Physical Plan ==\nScan json (1)\n\n\n(1) Scan json\nLocation: InMemoryFileIndex [{f}]"
    )
    lines = [
        _batch(n, physicalPlanDescription=scan.replace("{f}", f))
        for n, f in enumerate(("file:/in/a.json", "file:/in/b.json, file:/in/c.json"))
    ]
    (run,) = _read([*HEAD, *lines]).runs
    assert len(run.plans) == 1


def test_what_a_foreach_batch_executes_is_no_plan_of_the_query():
    inner = _batch(0, executionId=7, rootExecutionId=0, physicalPlanDescription="inner")
    (run,) = _read([*HEAD, _started(), _batch(0), inner, _end(7), _end(0)]).runs
    assert [p.text for p in run.plans] == [PLAN.replace("{n}", "20")]


def test_the_plan_as_it_was_adapted_counts():
    final = PLAN.replace("* Project", "* Filter")
    update = _line(SQL + "SQLAdaptiveExecutionUpdate", executionId=0, physicalPlanDescription=final)
    (run,) = _read([*HEAD, _batch(0), update, _end(0)]).runs
    assert [p.text for p in run.plans] == [final]


def test_a_job_names_the_query_where_the_description_does_not():
    job = _line(
        "SparkListenerJobStart",
        Properties={
            "spark.sql.execution.id": "4",
            "sql.streaming.queryId": "q1",
            "streaming.sql.batchId": "4",
            "spark.jobGroup.id": "r1",
        },
    )
    lines = [*HEAD, _started(), _batch(4, description="nightly"), job, _end(4)]
    (run,) = _read(lines).runs
    assert [(p.first_batch, p.batches) for p in run.plans] == [(4, 1)]


def test_a_batch_query_of_the_same_application_is_no_stream():
    assert _read([*HEAD, _batch(4, description="count at App.scala:3"), _end(4)]).runs == ()


def test_a_name_may_look_like_anything():
    name = "a\nid = x\nrunId = y\nbatch = 3\n<script>✂"
    (run,) = _read([*HEAD, _batch(5, name=name), _end(5)]).runs
    assert (run.query_id, run.name, run.last_batch) == ("q1", name, 5)


def test_a_run_that_failed_says_why():
    text = "x.StateStoreKeySchemaNotCompatible: [STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE] no\n\tat x"
    end = _line(QUERY + "TerminatedEvent", id="q1", runId="r1", exception=text)
    (run,) = _read([*WHOLE, end]).runs
    assert run.ended and run.error_class == "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
    assert run.exception == text.partition("\n")[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "java.lang.AssertionError: assertion failed: There are [1] sources",
            "java.lang.AssertionError",
        ),
        ("a.B: [KAFKA_DATA_LOSS.PARTITIONS_DELETED] x", "KAFKA_DATA_LOSS.PARTITIONS_DELETED"),
        ("something else", None),
        ("", None),
    ],
)
def test_the_condition_of_an_exception(text: str, found: str | None):
    assert condition(text) == found


def test_progress_is_kept_where_it_is_asked_for():
    lines = [*WHOLE, _progress(0, "r9", "q9")]
    asked = _read(lines, keep=lambda query, name: query == "q1")
    assert [len(r.reports) for r in asked.runs] == [2, 0]
    assert [len(r.reports) for r in _read(lines).runs] == [0, 0]
    newest = _read(lines, keep=lambda query, name: True, most=1).runs[0].reports
    assert [json.loads(r)["batchId"] for r in newest] == [1]


def test_secrets_are_masked():
    plan = "== Physical Plan ==\nScan jdbc:x://me:hunter2@db/t"
    start = _batch(0, physicalPlanDescription=plan, modifiedConfigs={"spark.my.api.key": "hunter2"})
    end = _line(QUERY + "TerminatedEvent", id="q1", runId="r1", exception="at s3://a:hunter2@b")
    log = _read([*HEAD, start, _end(0), end])
    assert "hunter2" not in repr(log)
    assert "hunter2" not in log.runs[0].plans[0].text


def test_a_restart_does_not_change_the_settings():
    """Spark sets what is pinned in the session of a restart; defaults among it say nothing."""
    default = {
        "spark.sql.streaming.multipleWatermarkPolicy": "min",
        "spark.sql.cbo.enabled": "false",
    }
    again = _batch(1, "r2", modifiedConfigs=default)
    lines = [*HEAD, _started(), _batch(0, modifiedConfigs={}), _end(0), _started("r2"), again]
    (query,) = queries([_read(lines)])
    first, second = (logged_version(query, r) for r in query.runs)
    assert first.settings == second.settings == {"spark.sql.ansi.enabled": "false"}
    assert first.pinned == second.pinned == {"spark.sql.streaming.multipleWatermarkPolicy": "min"}


@pytest.mark.parametrize(
    ("exception", "error_class", "said"),
    [("x.Y: z", "E", "failed (E)"), ("it broke", None, "failed"), (None, "E", "failed (E)")],
)
def test_a_restart_that_failed_before_its_first_batch_is_said(exception, error_class, said):
    failed = _line(
        QUERY + "TerminatedEvent",
        id="q1",
        runId="r2",
        exception=exception,
        errorClassOnException=error_class,
    )
    (query,) = queries([_read([*WHOLE, _started("r2"), failed])])
    version = logged_version(query, newest_known(query))
    assert version.run.run_id == "r1"
    assert f"r2 {said} before its first completed batch" in version.warnings[0]


def test_a_restart_that_runs_without_a_query_plan_is_said():
    said_of = {"has not completed a batch": (), "logged no query plan": (_progress(2, "r2"),)}
    for said, lines in said_of.items():
        (query,) = queries([_read([*WHOLE, _started("r2"), *lines])])
        version = logged_version(query, newest_known(query))
        assert version.run.run_id == "r1"
        assert f"the newest run r2 {said}" in version.warnings[0]


def test_two_applications_in_one_log_are_both_read():
    second = [
        _line("SparkListenerLogStart", **{"Spark Version": "4.1.0"}),
        _line("SparkListenerApplicationStart", **{"App ID": "app-2", "App Name": "b"}),
    ]
    log = _read([*WHOLE, *second, _started("r7", "q7"), _batch(0, "r7"), _end(0)])
    assert [a.id for a in log.applications] == ["app-1", "app-2"]
    assert [r.application for r in log.runs] == [0, 1, 1]
    assert "2 applications" in log.warnings[0]


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("cut", [5, 30, -1])
@pytest.mark.parametrize("last", [_progress(2), _line("SparkListenerTaskEnd", x=1), HEAD[2]])
def test_a_last_line_cut_in_the_middle_is_one_warning(cut: int, last: bytes):
    log = _read([*WHOLE, last[:cut]])
    assert log.runs == _read(WHOLE).runs
    assert log.events == len(WHOLE)
    (warning,) = log.warnings
    assert warning.startswith(f"log:{len(WHOLE) + 1}: the event log ends early at this line")


def test_lines_that_are_no_events_are_counted():
    junk = [b"26/11/21 WARN Utils: nothing", b"{}", b"[1]", b"\xff\x00\x01", b'"Event"', b""]
    log = _read([*WHOLE[:4], *junk, *WHOLE[4:]])
    assert log.runs == _read(WHOLE).runs
    (warning,) = log.warnings
    assert warning.startswith("log: 5 lines can't be read as events (first: log:5, ")


@pytest.mark.parametrize(
    "line",
    [
        _batch(2, executionId="two"),
        _batch(2, physicalPlanDescription=7, description=8),
        _line(QUERY + "StartedEvent", id=[], runId=None),
        _line(QUERY + "ProgressEvent", progress=[1]),
        _line(QUERY + "ProgressEvent", progress={"id": "q1", "runId": "r1", "batchId": "x"}),
        b'{"Event":"' + QUERY.encode() + b'ProgressEvent","progress":' + b"[" * 200_000,
        b'{"Event":"SparkListenerApplicationStart","App ID":"\\ud800","Timestamp":1',
    ],
)
def test_an_event_of_another_shape_costs_a_warning(line: bytes):
    log = _read([*WHOLE, line, _line("SparkListenerJobEnd")])
    assert log.runs == _read(WHOLE).runs
    assert len(log.warnings) == 1


def test_bytes_that_are_no_text_are_replaced():
    line = _batch(2).replace(b"orders", b"or\xff\xfeders")
    (run,) = _read([*WHOLE, line, _end(2)]).runs
    assert run.last_batch == 2


def test_a_time_beyond_all_calendars_is_none():
    assert moment(10**18) is None
    assert _read([*HEAD, _batch(0, time=10**17), _end(0)]).runs[0].batches == 1


@pytest.mark.slow
def test_a_line_of_fifty_megabytes_is_read_and_a_longer_one_is_skipped():
    text = "x" * (50 << 20)
    log = _read(split_lines([_batch(0, details=text), b"\n", _end(0), b"\n", _progress(1), b"\n"]))
    assert log.runs[0].last_batch == 1 and log.warnings == ()
    cut = list(split_lines([b'{"Event":"' + b"y" * 5000, b"z" * 5000 + b"\nnext"], longest=6000))
    assert [len(line) for line in cut] == [4096, 4]


def test_a_plan_beyond_all_measure_is_left_out_and_said():
    plan = "== Physical Plan ==\n" + "Project (" * (1 << 20)
    log = _read([*WHOLE, _batch(2, physicalPlanDescription=plan), _end(2)])
    assert (len(log.runs[0].plans), log.runs[0].last_batch) == (1, 2)
    assert log.warnings == (
        "log has query plans of 1 batch that Headgate skipped: these plans are too large, or a run "
        "has too many different plans",
    )


def test_plans_of_more_kinds_than_a_topology_shows_are_counted():
    plans = ["".join(chr(97 + int(d)) for d in str(n)) for n in range(150)]
    lines = [_batch(n, physicalPlanDescription=p) for n, p in enumerate(plans)]
    (run,) = _read([*HEAD, *lines]).runs
    assert (len(run.plans), run.plans_left_out, run.batches) == (100, 50, 150)


@given(st.lists(st.binary(max_size=20), max_size=20), st.data())
def test_lines_do_not_depend_on_where_chunks_end(parts: list[bytes], data: st.DataObject):
    text = b"\n".join(parts)
    assume(not text.startswith(b"\xef\xbb\xbf"))
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    expected = text.split(b"\n")
    assert list(split_lines(chunks)) == (expected if expected[-1] else expected[:-1])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_dropped_and_mixed_lines_never_raise_and_keep_the_rest(data: st.DataObject):
    kept = data.draw(st.lists(st.sampled_from(range(len(WHOLE))), max_size=14))
    junk = data.draw(st.lists(st.binary(max_size=60), max_size=4))
    log = _read([*(WHOLE[i] for i in kept), *junk])
    assert {r.run_id for r in log.runs} == ({"r1"} if set(kept) - {0, 1, 2, 5, 8} else set())
    numbers = {0 if i == 6 else 1 for i in kept if i in (6, 9)}
    assert (log.runs and log.runs[0].newest is not None) or not numbers


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_line_can_break_the_reader(line: bytes):
    for kind in KINDS:
        _read([b'{"Event":"' + kind + b'"' + line, b'{"Event":"' + kind + b'",' + line + b"}"])


def test_kinds_are_told_from_the_beginning_of_a_line():
    assert kind_of(b'{"Event":"SparkListenerTaskEnd","x":1}') == b"SparkListenerTaskEnd"
    assert kind_of(b' {"App ID": "a", "Event" : "SparkListenerJobEnd"}') == b"SparkListenerJobEnd"
    assert kind_of(b'{"Event":"' + b"x" * 500) is None
    assert kind_of(b"WARN") is None


def test_only_events_make_a_file_an_event_log():
    assert holds_events(WHOLE[0])
    assert holds_events(b"\xef\xbb\xbf" + WHOLE[0])
    assert holds_events(b"WARN something\n" + WHOLE[0])
    assert not holds_events(b'{"id": "1", "name": "\\"Event\\":\\"SparkListenerX\\""}')
    assert not holds_events(b'{"Event":"click","user":3}')
