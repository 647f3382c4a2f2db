"""A range and an A/B comparison as streams, killed with -9 too, against plain Python."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from integration.conftest import worker_pids
from integration.spark_data.streamed_orders import HOUR, numbers, write_orders
from scenes.records import make_topic
from scenes.small_spark import small_spark
from support.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
SINCE, UNTIL = "2026-04-01T12:00:00Z", "2026-04-02T18:00:00Z"


@pytest.fixture
def pipeline(team, broker, unique):
    """Registers a function over three days of orders, of which none is too late."""
    topic = unique("orders")
    make_topic(broker, topic, 4, **{"retention.ms": "-1"})
    orders = write_orders(broker, topic, latest=100)
    shutil.copy(Path(__file__).with_name("stream_queries.py"), team.folder)
    configure(team, bootstrap=broker, topic=topic)

    def register(function):
        team.register(
            f'[[pipeline]]\nname = "{function}"\nengine = "spark"\n'
            f'checkpoint = "checkpoint"\nentry_point = "stream_queries:{function}"\n',
            small_spark(),
        )
        command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
        command += [f"stream_queries:{function}", "--pipeline", function]
        subprocess.run(command, cwd=team.folder, check=True, capture_output=True)
        return topic, orders

    return register


def configure(team, **given):
    file = team.folder / "query.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(found | given))


def rows_of(folder):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder).to_pylist()


def read_by(step, topic, orders):
    """The orders that a step of a plan reads."""
    ranges = {
        int(part): range(*limits) for part, limits in step["details"]["offsets"][topic].items()
    }
    return [
        (record, order) for record, order in orders if record.offset in ranges[record.partition]
    ]


def totals_of(orders, since, until):
    totals = Counter()
    for _, order in orders:
        begin = datetime.fromisoformat(order["at"]).replace(minute=0, second=0)
        if datetime.fromisoformat(since) <= begin < datetime.fromisoformat(until):
            totals[begin, order["city"]] += order["amount"]
    return totals


@pytest.mark.long
@pytest.mark.parametrize("how", ["kill -9", "cancel"])
def test_a_query_with_state_runs_as_a_stream_and_continues(team, pipeline, how):
    topic, orders = pipeline("numbered")
    configure(team, seconds=0.3)
    target = team.folder / "results"
    given = ("--from", SINCE, "--until", UNTIL, "--to", str(target), "--time-column", "at")
    _, blocked = team.plan("numbered", *given, scenario="historical-range", code=3)
    assert (
        "a function with state for each group, so its results also depend" in blocked["blockers"][0]
    )
    given = (*given, "--warm-up", "6h", "--max-records", "70")
    file, plan = team.plan("numbered", *given, scenario="historical-range")
    assert any(
        "the results of mapGroupsWithState would be different in a batch" in r
        for r in plan["risks"]
    )
    apply = team.popen("apply", str(file), "--format", "json")
    log = ".*.stream.headgate-*/checkpoint/commits/1"
    found = until(
        lambda: list(team.folder.glob(log)) or apply.poll() is not None,
        "no second batch was committed",
    )
    assert found is not True, apply.communicate()
    assert not target.exists()
    (run,) = [p.name for p in (team.folder / ".headgate" / "runs").iterdir()]
    if how == "cancel":
        assert team.run("cancel", run, "--wait")["state"] == "cancelled"
        assert found[0].exists(), "the run can't continue after this batch"
    for pid in worker_pids(team) if how == "kill -9" else ():
        os.kill(pid, signal.SIGKILL)
    configure(team, seconds=0)
    apply.communicate(timeout=300)
    state = team.run("runs", run)["state"]
    if state != "done":
        assert team.run("resume", run)["state"] == "done"
    step = json.loads(file.read_text())["steps"][0]
    read = read_by(step, topic, orders)
    rows = rows_of(target)
    assert Counter((r["id"], r["city"], r["n"]) for r in rows) == numbers(read, SINCE, UNTIL)
    notes = [n["message"] for n in team.run("runs", run)["progress"]]
    assert any("0 rows dropped as late" in n for n in notes), notes
    assert not [p for p in team.folder.iterdir() if ".headgate-" in p.name]
    assert team.run("undo", run)["state"] == "done"
    assert not target.exists()


@pytest.mark.long
def test_windows_as_a_stream_and_as_a_batch_are_the_same(team, pipeline):
    _, orders = pipeline("hourly")
    expected = totals_of(orders, SINCE, UNTIL)
    given = ("--from", SINCE, "--until", UNTIL)
    for how in ("stream", "batch"):
        target = team.folder / how
        more = ("--max-records", "70") if how == "stream" else ()
        file, plan = team.plan(
            "hourly",
            *given,
            "--to",
            str(target),
            "--as",
            how,
            *more,
            scenario="historical-range",
        )
        assert any(r.startswith(f"Spark processes the records as a {how}") for r in plan["risks"])
        team.run("apply", str(file))
        rows = rows_of(target)
        found = {(r["window"]["start"].replace(tzinfo=UTC), r["city"]): r["total"] for r in rows}
        assert len(found) == len(rows)
        assert found == expected, how


@pytest.mark.long
def test_a_processor_runs_as_a_stream(team, pipeline):
    topic, orders = pipeline("processed")
    target = team.folder / "results"
    given = ("--from", SINCE, "--until", UNTIL, "--to", str(target), "--time-column", "at")
    _, blocked = team.plan("processed", *given, scenario="historical-range", code=3)
    assert any("transformWithState" in b and "--warm-up" in b for b in blocked["blockers"])
    given = (*given, "--warm-up", "6h", "--max-records", "70")
    file, plan = team.plan("processed", *given, scenario="historical-range")
    assert plan["can_apply"], plan["blockers"]
    done = team.run("apply", str(file))
    read = read_by(json.loads(file.read_text())["steps"][0], topic, orders)
    rows = rows_of(target)
    assert Counter((r["id"], r["city"], r["n"]) for r in rows) == numbers(read, SINCE, UNTIL)
    assert team.run("undo", done["run"])["state"] == "done"
    assert not target.exists()


@pytest.mark.long
def test_windows_without_a_later_record_stay_open(team, pipeline):
    _, orders = pipeline("hourly")
    newest = max(datetime.fromisoformat(o["at"]) for _, o in orders)
    until = (newest + HOUR).isoformat()
    target = team.folder / "results"
    given = (
        "--from",
        SINCE,
        "--until",
        until,
        "--to",
        str(target),
        "--as",
        "stream",
        "--max-records",
        "70",
    )
    file, plan = team.plan("hourly", *given, scenario="historical-range")
    (said,) = [r for r in plan["risks"] if r.startswith("the watermark ends at")]
    assert "are missing" in said
    watermark = datetime.fromisoformat(said.removeprefix("the watermark ends at ").split(",")[0])
    team.run("apply", str(file))
    expected = {
        k: n for k, n in totals_of(orders, SINCE, until).items() if k[0] + HOUR <= watermark
    }
    rows = rows_of(target)
    found = {(r["window"]["start"].replace(tzinfo=UTC), r["city"]): r["total"] for r in rows}
    assert found == expected


@pytest.mark.long
def test_results_of_a_stream_go_to_a_new_topic(team, pipeline, topic, consume):
    orders_topic, orders = pipeline("numbered_to_topic")
    name = f"{topic('numbers')}-again"
    given = ("--from", SINCE, "--until", UNTIL, "--to", f"kafka:{name}", "--warm-up", "6h")
    more = ("--time-column", "value.at", "--max-records", "40")
    file, plan = team.plan("numbered_to_topic", *given, *more, scenario="historical-range")
    assert plan["can_apply"], plan["blockers"]
    done = team.run("apply", str(file))
    step = json.loads(file.read_text())["steps"][0]
    right = numbers(read_by(step, orders_topic, orders), SINCE, UNTIL)
    rows = [json.loads(r.value()) for r in consume(name, right.total() + 1, seconds=8)]
    assert Counter((r["id"], r["city"], r["n"]) for r in rows) == right
    assert team.run("undo", done["run"])["state"] == "done"


@pytest.mark.long
def test_two_versions_with_state_are_compared_as_streams(team, pipeline):
    _, orders = pipeline("numbered")
    given = ("--other=stream_queries:numbered", "--keys=id", "--keys=n", "--max-records=60")
    file, plan = team.plan("numbered", *given, f"--to={team.folder / 'ab'}", scenario="ab")
    assert any(r.startswith("both versions get the same batches") for r in plan["risks"])
    done = team.run("apply", str(file))
    assert [s["state"] for s in done["steps"]] == ["done"] * 5
    for name in ("a", "b"):
        rows = rows_of(team.folder / "ab" / name)
        assert Counter((r["id"], r["city"], r["n"]) for r in rows) == numbers(orders)
    assert team.run("undo", done["run"])["state"] == "done"
    assert not list((team.folder / "ab").iterdir())
