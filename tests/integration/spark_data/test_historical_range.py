"""A range of a month of late, duplicate and disordered records, compared with plain Python."""

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scenes.small_spark import small_spark

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
START = datetime(2026, 4, 1, tzinfo=UTC)
RECORDS, PARTITIONS = 6000, 3
STEP = timedelta(days=30) / RECORDS


@pytest.fixture(scope="module")
def month(broker, topic):
    """A month of orders in order of arrival; the last partition stays empty.

    A tenth is up to three days late, some come twice, some of a transaction that is aborted.
    """
    from confluent_kafka import Producer

    name = topic("orders", partitions=PARTITIONS, config={"retention.ms": "-1"})
    rnd = random.Random(7)
    kept = []
    producer = Producer({"bootstrap.servers": broker})
    aborting = Producer({"bootstrap.servers": broker, "transactional.id": f"abort-{name}"})
    aborting.init_transactions()
    for number in range(RECORDS):
        arrives = START + number * STEP
        late = timedelta(seconds=rnd.randint(0, 3 * 86_400)) if rnd.random() < 0.1 else timedelta()
        order = {"id": number, "city": rnd.choice("abc"), "amount": rnd.randint(1, 99),
                 "at": (arrives - late).isoformat()}  # fmt: skip
        times = 2 if rnd.random() < 0.02 else 1
        for _ in range(times):
            producer.produce(
                name, json.dumps(order), partition=number % 2,
                timestamp=int(arrives.timestamp() * 1000),
            )  # fmt: skip
            kept.append(order)
        if number % 500 == 50:
            assert producer.flush(30) == 0
            aborting.begin_transaction()
            aborting.produce(name, json.dumps(order), partition=0)
            aborting.flush(30)
            aborting.abort_transaction()
        producer.poll(0)
    assert producer.flush(30) == 0
    return name, kept


@pytest.fixture
def pipeline(team, month, monkeypatch, broker):
    """Registers a function of `history_queries` and stores its version."""
    name, kept = month
    monkeypatch.setenv("ORDERS_BROKER", broker)
    monkeypatch.setenv("ORDERS_TOPIC", name)
    shutil.copy(Path(__file__).with_name("history_queries.py"), team.folder)

    def register(function):
        team.register(
            f'[[pipeline]]\nname = "{function}"\nengine = "spark"\n'
            f'checkpoint = "checkpoint"\nentry_point = "history_queries:{function}"\n',
            small_spark(),
        )
        command = [sys.executable, "-m", "headgate.cli.main", "--config", team.config, "capture"]
        command += [f"history_queries:{function}", "--pipeline", function]
        subprocess.run(command, cwd=team.folder, check=True, capture_output=True)
        return kept

    return register


def moment(text):
    return datetime.fromisoformat(text)


def window_totals(orders, start, until, slide):
    """Sum and count by start of the window of an hour and city, in plain Python."""
    totals, counts = Counter(), Counter()
    for order in orders:
        at = moment(order["at"])
        first = at - (at - START) % slide
        while first > at - timedelta(hours=1):
            if start <= first < until:
                totals[first, order["city"]] += order["amount"]
                counts[first, order["city"]] += 1
            first -= slide
    return totals, counts


def rows_of(folder):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder).to_pylist()


@pytest.mark.parametrize(
    ("start", "until"),
    [
        ("2026-04-10T00:00:00Z", "2026-04-12T00:00:00Z"),
        pytest.param("2026-03-01T00:00:00Z", "2026-04-01T06:00:00Z", marks=pytest.mark.long),
        pytest.param("2026-04-29T12:00:00Z", "2026-06-01T00:00:00Z", marks=pytest.mark.long),
    ],
    ids=["inside", "first-edge", "last-edge"],
)
def test_hours_of_a_range_are_those_of_all_records(team, pipeline, start, until):
    orders = pipeline("hourly")
    target = team.folder / "results"
    file, plan = team.plan(
        "hourly", "--from", start, "--until", until, "--to", str(target),
        scenario="historical-range",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == ["process_records", "install_results"]
    assert any(r.startswith("the result is exact") for r in plan["risks"])
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    totals, counts = window_totals(orders, moment(start), moment(until), timedelta(hours=1))
    rows = rows_of(target)
    found = {(r["window"]["start"].replace(tzinfo=UTC), r["city"]): r for r in rows}
    assert len(found) == len(rows)
    assert {k: r["total"] for k, r in found.items()} == totals
    assert {k: r["orders"] for k, r in found.items()} == counts
    report = team.run("report", done["run"])
    assert report["totals"]["written"] == len(rows)
    assert report["totals"]["read"] >= sum(counts.values())
    assert report["rate"] > 0 and report["state"] == "done"
    undone = team.run("undo", done["run"])
    assert undone["state"] == "done"
    assert not target.exists()
    assert not [p for p in team.folder.iterdir() if ".headgate-" in p.name]


@pytest.mark.long
def test_only_slices_with_records_of_the_range_are_processed(team, pipeline):
    pipeline("large")
    target = team.folder / "results"
    given = ("--from", "2026-04-10T00:00:00Z", "--until", "2026-04-10T12:00:00Z")
    file, plan = team.plan("large", *given, "--to", str(target), scenario="historical-range")
    impact = plan["impact"]
    assert impact["total"] < RECORDS / 4
    (found,) = impact["range"].values()
    assert found["first"] < given[3] and found["last"] > given[1]
    assert sum(end - begin for begin, end in found["offsets"].values()) == impact["total"]
    days = impact["lateness_ms"] / 86_400_000
    assert 2.5 < days < 6.5, "up to three days, and what a slice holds"
    done = team.run("apply", str(file))
    detail = team.run("runs", done["run"])
    assert detail["truth"]["seconds"] > 0 and detail["truth"]["error"] is None
    to = ("--to", str(team.folder / "again"))
    estimate = team.run("estimate", "historical-range", "large", *given, *to)
    assert estimate["records"] == impact["total"]
    assert estimate["seconds"]["expected"] == pytest.approx(detail["truth"]["seconds"], rel=0.1)
    assert any("results written" in n["message"] for n in detail["progress"])
    ids = Counter(r["id"] for r in rows_of(target))
    code = team.folder / "history_queries.py"
    code.write_text(code.read_text().replace('v.*")', 'v.*").withColumn("at", f.expr(LATER))'))
    code.write_text('LATER = "at + interval 60 days"\n' + code.read_text())
    to = ("--to", str(team.folder / "later"))
    _, moved = team.plan("large", *given, *to, scenario="historical-range", code=3)
    # What was measured with other code is not used.
    assert "no record has an event time" in moved["blockers"][0]
    start, until = (moment(text) for text in given[1::2])
    orders = pipeline("large")
    assert ids == Counter(
        o["id"] for o in orders if o["amount"] > 50 and start <= moment(o["at"]) < until
    )


@pytest.mark.long
def test_a_field_of_json_chooses_sliding_windows_and_a_folder_is_replaced(team, pipeline):
    orders = pipeline("sliding")
    target = team.folder / "results"
    target.mkdir()
    (target / "old").write_text("kept")
    start, until = "2026-04-10T00:10:00Z", "2026-04-10T09:05:00Z"
    given = ("--from", start, "--until", until, "--to", str(target), "--replace")
    _, blocked = team.plan("sliding", *given, scenario="historical-range", code=3)
    assert "--time-column" in blocked["blockers"][0]
    file, plan = team.plan(
        "sliding", *given, "--time-column", "value.start", scenario="historical-range"
    )
    assert plan["can_apply"], plan["blockers"]
    done = team.run("apply", str(file))
    totals, _ = window_totals(orders, moment(start), moment(until), timedelta(minutes=15))
    rows = [json.loads(r["value"]) for r in rows_of(target)]
    assert {(moment(r["start"]), r["city"]): r["total"] for r in rows} == totals
    assert len(rows) == len(totals)
    team.run("undo", done["run"])
    assert (target / "old").read_text() == "kept"


@pytest.mark.long
def test_results_go_to_a_new_topic_that_an_undo_deletes(team, pipeline, topic, consume):
    orders = pipeline("sliding")
    name = f"{topic('april')}-again"
    start, until = "2026-04-10T00:10:00Z", "2026-04-10T09:05:00Z"
    given = ("--from", start, "--until", until, "--time-column", "value.start")
    file, plan = team.plan("sliding", *given, "--to", f"kafka:{name}", scenario="historical-range")
    assert [s["action"] for s in plan["steps"]] == ["process_into_topic"], plan["blockers"]
    done = team.run("apply", str(file))
    totals, _ = window_totals(orders, moment(start), moment(until), timedelta(minutes=15))
    records = consume(name, len(totals) + 1, seconds=10)
    rows = [json.loads(r.value()) for r in records]
    assert len(rows) == len(totals)
    assert {(moment(r["start"]), r["city"]): r["total"] for r in rows} == totals
    assert all(r.key().decode() == row["city"] for r, row in zip(records, rows, strict=True))
    assert {r.headers()[0] for r in records} == {("headgate.run", done["run"].encode())}
    again = team.plan(
        "sliding", *given, "--to", f"kafka:{name}", scenario="historical-range", code=3
    )[1]
    assert again["blockers"] == [
        f"--to: topic {name} already exists. Pass another topic, or --append"
    ]
    assert team.run("undo", done["run"])["state"] == "done"
    assert team.plan("sliding", *given, "--to", f"kafka:{name}", scenario="historical-range")[1][
        "can_apply"
    ]


@pytest.mark.long
def test_results_are_a_delta_table(team, pipeline):
    orders = pipeline("hourly")
    target = team.folder / "results"
    start, until = "2026-04-10T00:00:00Z", "2026-04-10T12:00:00Z"
    file, _ = team.plan(
        "hourly", "--from", start, "--until", until, "--to", str(target),
        "--file-format", "delta", scenario="historical-range",
    )  # fmt: skip
    done = team.run("apply", str(file))
    totals, _ = window_totals(orders, moment(start), moment(until), timedelta(hours=1))
    log = (target / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    added = [line["add"]["path"] for line in map(json.loads, log) if "add" in line]
    rows = [row for path in added for row in rows_of(target / path)]
    found = {(r["window"]["start"].replace(tzinfo=UTC), r["city"]): r["total"] for r in rows}
    assert found == totals
    assert len(rows) == len(totals)
    team.run("undo", done["run"])
    assert not target.exists()


@pytest.mark.long
def test_a_function_that_fails_at_a_record_leaves_no_results(team, pipeline):
    pipeline("failing")
    target = team.folder / "results"
    file, _ = team.plan(
        "failing", "--from", "2026-04-04T00:00:00Z", "--until", "2026-04-05T00:00:00Z",
        "--to", str(target), scenario="historical-range",
    )  # fmt: skip
    failed = team.run("apply", str(file), code=5)
    (step,) = [s for s in failed["steps"] if s["state"] == "failed"]
    assert "ZeroDivisionError" in step["error"]
    assert not target.exists()
    assert team.run("undo", failed["run"])["state"] == "done"


@pytest.mark.long
def test_what_is_wrong_is_a_blocker_before_the_run(team, pipeline):
    pipeline("hourly")
    given = ("--from", "2026-04-04T00:00:00Z", "--until", "2026-04-05T00:00:00Z")
    there, missing = team.folder / "there", team.folder / "missing"
    (there / "day=1" / "_spark_metadata").mkdir(parents=True)
    wrong = (
        (("--to", "results"), "--to: expected an absolute path"),
        (("--to", "/nowhere/results"), "Headgate can't write to /nowhere"),
        (
            ("--to", str(there), "--replace"),
            "contains or is inside the output of a streaming query",
        ),
        (("--to", str(missing), "--replace"), f"--replace: {missing} doesn't exist"),
    )
    for options, said in wrong:
        _, plan = team.plan("hourly", *given, *options, scenario="historical-range", code=3)
        assert said in plan["blockers"][0]
    to = ("--to", str(team.folder / "results"))
    none = ("--from", "2027-01-01T00:00:00Z", "--until", "2027-01-02T00:00:00Z", *to)
    _, plan = team.plan("hourly", *none, scenario="historical-range", code=3)
    assert "no record has an event time from 2027-01-01" in plan["blockers"][0]
    unknown = (*given, *to, "--time-column", "nothing")
    _, plan = team.plan("hourly", *unknown, scenario="historical-range", code=3)
    assert "the result has no column nothing. Its columns: window, city" in plan["blockers"][0]
