"""One real driver with a UI, an event log and a watch: each of them tells the same queries.

It is killed at the end: what is left must not be taken for a running query.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import urllib.request
from pathlib import Path

import pytest
from running import environment, running

from headgate.errors import EvidenceError, NotFoundError, UnreachableError
from headgate.usecases.activity.check_pipelines import check_pipelines
from headgate.usecases.context import open_context
from headgate.usecases.evidence.query_rows import queries_of
from headgate.usecases.evidence.read_history import read_history
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_version import gather, read_version
from headgate.usecases.evidence.refresh_versions import refresh_versions
from support.ports import free_port
from support.waiting import until

pytestmark = pytest.mark.spark


class Driver:
    """The program, what it said of itself, and its folder."""

    def __init__(self, process, said, home: Path) -> None:
        self.process, self.said, self.home = process, said, home
        self.watch = str(home / "watch")

    def lines(self) -> list[dict]:
        files = sorted((self.home / "watch").glob("*.jsonl"))
        return [json.loads(x) for f in files for x in f.read_text().splitlines()]

    def until(self, true):
        return until(lambda: true(self.lines()), lambda: [x["event"] for x in self.lines()])


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    home = tmp_path_factory.mktemp("driver")
    with running("driver_program.py", home, log=home / "driver.out") as (process, said):
        found = Driver(process, said, home)
        found.until(lambda lines: {"plan", "terminated"} <= {x["event"] for x in lines})
        found.until(lambda lines: sum(x["event"] == "plan" for x in lines) >= 2)
        yield found


@pytest.fixture(scope="module")
def history_server(driver, tmp_path_factory):
    import subprocess

    import pyspark

    home, port = Path(pyspark.__path__[0]), free_port()
    folder = tmp_path_factory.mktemp("history")
    shutil.copytree(driver.home / "log", folder / "log")
    opens = ("lang", "lang.invoke", "nio", "util", "util.concurrent", "net")
    argv = [
        *("java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *(f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in opens),
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-modules=jdk.incubator.vector",
        f"-Dspark.history.fs.logDirectory={(folder / 'log').as_uri()}",
        f"-Dspark.history.ui.port={port}",
        *("-cp", f"{home}/jars/*", "org.apache.spark.deploy.history.HistoryServer"),
    ]
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, env=environment())
    try:
        url, said = f"http://127.0.0.1:{port}", (folder / "out").read_text
        until(lambda: process.poll() is not None or _lists(url), said, every=0.5)
        assert process.poll() is None, said()[-2000:]
        yield url
    finally:
        process.kill()
        process.wait()


def _lists(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/v1/applications", timeout=5) as answer:
            return bool(json.load(answer))
    # While it starts, it answers with no JSON.
    except (OSError, ValueError):
        return False


# ----------------------------------------------------------------------- what the watch writes


def test_each_query_is_told_with_its_ids_its_plan_its_progress_and_its_end(driver):
    assert driver.said["same"] and driver.said["problem"] is None
    for name, (query, run) in driver.said["queries"].items():
        mine = [x for x in driver.lines() if x["runId"] == run]
        assert {(x["headgate"], x["schema"], x["id"]) for x in mine} == {("watch", 1, query)}
        first = mine[0]
        assert (first["event"], first["name"]) == ("started", name)
        assert (first["spark"], first["application"]) == ("4.2.0", driver.said["application"])
        assert first["driver"]["pid"] == driver.process.pid
    (failed,) = [x for x in driver.lines() if x["event"] == "terminated"]
    assert failed["id"] == driver.said["queries"]["boom"][0]
    assert failed["errorClass"] == "USER_RAISED_EXCEPTION" and "kaboom" in failed["exception"]


def test_progress_is_sparks_own_report(driver):
    reports = [x["progress"] for x in driver.lines() if x["event"] == "progress"]
    (first,) = [r for r in reports if r["name"] == "totals" and r["batchId"] == 0]
    assert first["numInputRows"] == 2
    assert first["stateOperators"][0]["operatorName"] == "stateStoreSave"
    assert first["sources"][0]["endOffset"] == {"logOffset": 0}


def test_no_secret_reaches_the_file(driver):
    text = "".join(f.read_text() for f in (driver.home / "watch").glob("*"))
    assert "hunter2" not in text
    assert '"password":"********"' in text and '"spark.sql.my.password":"********"' in text


def test_a_waiting_query_says_so(driver):
    """Spark tells of idleness each ten seconds, `noDataProgressEventInterval`."""
    driver.until(lambda lines: any(x["event"] == "idle" for x in lines))


# ----------------------------------------------------------------------- the watch as evidence


def test_a_watch_gives_queries_progress_and_the_version(driver):
    rows = {r.name: r for r in queries_of(gather([driver.watch]))}
    assert {n: r.state for n, r in rows.items()} == {
        "totals": "running",
        "copies": "running",
        "boom": "failed",
    }
    assert rows["totals"].id == driver.said["queries"]["totals"][0]
    batches = read_progress([driver.watch], query="totals")
    assert batches[0].batch == 0 and batches[0].sources[0].input_rows == 2
    version = read_version([driver.watch], query="totals")
    assert version.name == "totals" and version.engine_version == "4.2.0"
    assert [o.name for o in version.stateful] == ["stateStoreSave"]
    assert version.output_mode == "Update"
    assert version.trigger == {"processingTime": "1 second"}
    assert version.sink.format == "noop" and version.sink.options["password"] == "********"
    assert version.sources[0].format == "json"
    assert {"watch"} == {e.kind for e in version.evidence}


def test_the_history_of_a_watch_has_one_version_where_nothing_changed(driver):
    assert len(read_history([driver.watch], query="totals")) == 1


def test_several_queries_need_a_choice(driver):
    with pytest.raises(EvidenceError, match="3 queries: choose one with --query"):
        read_version([driver.watch])


# ----------------------------------------------------------------------- a running UI


def test_a_running_ui_gives_the_same_operators_as_the_watch(driver):
    by_rest = read_version([driver.said["ui"]], query="totals")
    by_watch = read_version([driver.watch], query="totals")
    assert by_rest.query_id == by_watch.query_id
    assert [o.name for o in by_rest.stateful] == ["stateStoreSave"]
    shared = {n.id for n in by_rest.topology.nodes} & {n.id for n in by_watch.topology.nodes}
    assert len(shared) >= 4
    assert [e.kind for e in by_rest.evidence] == ["rest"]
    assert any("doesn't show progress, offsets or the end" in w for w in by_rest.warnings)
    assert "hunter2" not in repr(by_rest)


def test_any_page_of_the_ui_is_its_address(driver):
    pages = ("/StreamingQuery/", "/SQL/execution/?id=0", "/jobs/", "/api/v1/applications")
    names = {r.name for p in pages for r in queries_of(gather([driver.said["ui"] + p]))}
    assert {"totals", "copies"} <= names


def test_an_application_that_is_not_there_and_a_server_that_is_not(driver):
    with pytest.raises(NotFoundError, match="unknown app: nope"):
        read_version([f"{driver.said['ui']}/history/nope/jobs/"])
    with pytest.raises(UnreachableError, match="refuses the connection"):
        read_version([f"http://127.0.0.1:{free_port()}"])
    with pytest.raises(UnreachableError, match="does not speak TLS: try http://"):
        read_version([driver.said["ui"].replace("http:", "https:")])


# ----------------------------------------------------------------------- a History Server


def test_a_history_server_gives_the_event_log(driver, history_server):
    application = driver.said["application"]
    version = read_version([f"{history_server}/history/{application}/jobs/"], query="totals")
    assert version.query_id == driver.said["queries"]["totals"][0]
    assert [e.kind for e in version.evidence] == ["event-log"]
    assert [o.name for o in version.stateful] == ["stateStoreSave"]
    (row,) = [r for r in queries_of(gather([history_server])) if r.name == "boom"]
    assert row.state == "failed"


# ----------------------------------------------------------------------- is it running?


def registry(driver, more: str = "") -> object:
    tables = "".join(
        f'[[pipeline]]\nname = "{name}"\nengine = "spark"\nwatch = "watch"\n'
        f'checkpoint = "checkpoints/{name}"\n{more}'
        for name in ("totals", "boom")
    )
    file = driver.home / "headgate.toml"
    file.write_text(tables)
    return open_context(str(file))


def test_the_console_sees_a_query_run_and_fail(driver):
    found = check_pipelines(registry(driver))
    totals, boom = found["totals"], found["boom"]
    assert (totals.state, totals.feed, totals.batch) == ("running", "watch", 0)
    assert totals.run_id == driver.said["queries"]["totals"][1]
    assert boom.state == "failed" and boom.error_class == "USER_RAISED_EXCEPTION"
    assert "kaboom" in boom.reason


def test_the_worker_makes_a_version_of_checkpoint_and_watch(driver):
    context = registry(driver)
    # What failed in its first batch has no version.
    assert [(r.pipeline, r.number) for r in refresh_versions(context) if r.number] == [
        ("totals", 1)
    ]
    version = read_version(["totals"], context=context)
    assert {e.kind for e in version.evidence} == {"checkpoint", "watch"}
    assert version.trigger == {"processingTime": "1 second"} and version.sink.format == "noop"
    assert [str(r) for r in refresh_versions(context) if r.pipeline == "totals"] == []


def test_a_killed_driver_is_said_to_have_died_without_an_end(driver):
    driver.process.send_signal(signal.SIGKILL)
    driver.process.wait()
    found = check_pipelines(registry(driver))["totals"]
    assert (found.state, found.feed) == ("failed", "watch")
    assert "killed or crashed" in found.reason
    assert any(f"driver process {driver.process.pid} has ended" in p for p in found.proof)
    # Somewhere else nobody can look at the process: then it is unknown, after the silence.
    for file in (driver.home / "watch").glob("*.jsonl"):
        file.write_text(file.read_text().replace('"boot":"', '"boot":"elsewhere-'))
    assert check_pipelines(registry(driver))["totals"].state == "running"
    told = '"at":"2026-01-01T00:00:00.000Z"'
    for file in (driver.home / "watch").glob("*.jsonl"):
        file.write_text(re.sub(r'"at":"[^"]*"', told, file.read_text()))
    for log in (driver.home / "checkpoints" / "totals" / "offsets").glob("[0-9]*"):
        log.write_text(re.sub(r'"batchTimestampMs":\d+', '"batchTimestampMs":1', log.read_text()))
    found = check_pipelines(registry(driver))["totals"]
    assert (found.state, found.feed) == ("unknown", None)
    assert "headgate.watch has reported nothing since 2026-01-01 00:00:00 UTC" in found.reason
    # Who can ask the command knows more: it does not run, so it died.
    stopped = '[pipeline.commands]\nstatus = "exit 3"\n'
    assert check_pipelines(registry(driver, stopped))["totals"].state == "failed"
