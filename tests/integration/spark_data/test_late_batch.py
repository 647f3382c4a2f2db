"""A year of orders and records that come a year late, compared row by row with plain Python."""

import json
from collections import Counter, defaultdict
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from integration.spark_data.late_year import (
    ORDERS,
    TOUCHED,
    by_customer,
    daily,
    moment,
    order,
    register_function,
    set_topics,
    write_year,
)
from scenes.records import read_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.fixture(scope="module")
def year(broker, topic):
    """The topics, the orders and the late orders."""
    return write_year(broker, topic)


@pytest.fixture
def pipeline(team, year, monkeypatch, broker):
    """Registers a function of `late_queries` and stores its version."""
    names, kept, late = year
    set_topics(monkeypatch, broker, names)

    def register(function):
        register_function(team, function)
        return kept, late

    return register


TIME = pa.timestamp("us", "UTC")
DAILY = pa.schema(
    [
        ("window", pa.struct([("start", TIME), ("end", TIME)])),
        ("customer", pa.string()),
        ("total", pa.int64()),
        ("orders", pa.int64()),
    ]
)
TOTALS = pa.schema(
    [("customer", pa.string()), ("total", pa.int64()), ("orders", pa.int64()),
     ("last", TIME)]
)  # fmt: skip


def write_totals(folder, results, files=3):
    """Write the rows of `by_customer` as several files, sorted by customer."""
    folder.mkdir()
    rows = [{"customer": k, "total": t, "orders": n, "last": at}
            for k, (t, n, at) in sorted(results.items(), key=str)]  # fmt: skip
    for n in range(files):
        part = rows[n * len(rows) // files : (n + 1) * len(rows) // files]
        pq.write_table(pa.Table.from_pylist(part, TOTALS), folder / f"part-{n}.parquet")


def write_days(folder, results):
    """Write the rows of `daily`, a file for each day."""
    folder.mkdir()
    days = defaultdict(list)
    for (day, who), (total, count) in results.items():
        window = {"start": day, "end": day + timedelta(days=1)}
        days[day].append({"window": window, "customer": who, "total": total, "orders": count})
    for day, rows in days.items():
        pq.write_table(pa.Table.from_pylist(rows, DAILY), folder / f"{day:%Y-%m-%d}.parquet")


def read_totals(folder):
    rows = pq.read_table(folder).to_pylist()
    found = {r["customer"]: (r["total"], r["orders"], r["last"]) for r in rows}
    assert len(found) == len(rows), "a result comes twice"
    return found


def read_days(folder):
    rows = pq.read_table(folder).to_pylist()
    found = {(r["window"]["start"], r["customer"]): (r["total"], r["orders"]) for r in rows}
    assert len(found) == len(rows), "a result comes twice"
    return found


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_totals_of_touched_customers_are_those_of_all_orders(team, pipeline, year):
    kept, late = pipeline("by_customer")
    target = team.folder / "totals"
    write_totals(target, by_customer(kept))
    before = contents(target)
    file, plan = team.plan(
        "by_customer", "--late", year[0]["late"], "--keys", "customer", "--to", str(target),
        "--duplicates", "value.id", scenario="late-batch",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == ["replace_results", "install_results"]
    said = plan["impact"]["late"]
    assert (said["records"], said["duplicates"]) == (len(late) + 6 + 4, 6 + 4)
    assert said["keys"] == len(TOUCHED)
    assert contents(target) == before
    done = team.run("apply", str(file))
    assert done["state"] == "done"
    right = by_customer([*kept, *late])
    found = read_totals(target)
    assert found == right
    assert {c: found[c] for c in found if c not in TOUCHED} == {
        c: row for c, row in by_customer(kept).items() if c not in TOUCHED
    }
    detail = team.run("runs", done["run"])
    assert any("10 duplicates dropped" in n["message"] for n in detail["progress"])
    assert team.run("undo", done["run"])["state"] == "done"
    assert contents(target) == before
    assert not [p for p in team.folder.iterdir() if ".headgate-" in p.name]


@pytest.mark.long
def test_only_touched_windows_are_replaced_and_other_files_stay(team, pipeline, year):
    kept, late = pipeline("daily")
    orders = year[0]["orders"]
    target = team.folder / "days"
    old = daily(kept)
    write_days(target, old)
    inodes = {p.name: p.stat().st_ino for p in target.iterdir()}
    files = team.folder / "late"
    files.mkdir()
    places = [("archive", 0, n) for n in range(len(late))]
    # One came twice, one is in the input.
    records = [*zip(late, places, strict=True), (late[0], places[0]), (kept[0], (orders, 0, 0))]
    rows = [
        {"key": None, "value": json.dumps(o), "timestamp": "2026-04-02T00:00:00Z", "topic": t,
         "partition": p, "offset": n} for o, (t, p, n) in records
    ]  # fmt: skip
    (files / "a.json").write_text("\n".join(json.dumps(r) for r in rows))
    file, plan = team.plan(
        "daily", "--late", str(files), "--late-format", "json", "--keys", "customer",
        "--to", str(target), "--lateness", "1d", scenario="late-batch",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["late"]["windows"] == len(daily(late))
    assert plan["impact"]["late"]["duplicates"] == 2
    # Only the first days of a year are read.
    assert plan["impact"]["total"] < ORDERS / 10
    team.run("apply", str(file))
    assert read_days(target) == daily([*kept, *late])
    # A file without a row of a touched customer and day stays, even if the day gets new rows.
    days = {f"{day:%Y-%m-%d}.parquet" for day, who in daily(late) if (day, who) in old}
    assert days
    same = {p.name for p in target.iterdir() if p.stat().st_ino == inodes.get(p.name)}
    assert same == inodes.keys() - days


@pytest.mark.long
def test_offsets_of_the_input_itself_are_not_counted_twice(team, pipeline, year, broker):
    kept, _ = pipeline("daily_begin")
    name = year[0]["orders"]
    late = {o: json.loads(r.value) for r in read_all(broker, [name])[name, 0]
            if 100 <= (o := r.offset) < 140}  # fmt: skip
    right = {(day, who and who.upper()): total for (day, who), (total, _) in daily(kept).items()}
    ids = {o["id"] for o in late.values()}
    before = daily([o for o in kept if o["id"] not in ids])
    target = team.folder / "days"
    target.mkdir()
    schema = pa.schema([("begin", TIME), ("who", pa.string()), ("total", pa.int64())])
    rows = [{"begin": day, "who": who and who.upper(), "total": total}
            for (day, who), (total, _) in before.items()]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema), target / "all.parquet")
    file, plan = team.plan(
        "daily_begin", "--late", f"{name}:0:100-140", "--keys", "who", "--time-column", "begin",
        "--to", str(target), scenario="late-batch",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    team.run("apply", str(file))
    rows = pq.read_table(target).to_pylist()
    assert {(r["begin"], r["who"]): r["total"] for r in rows} == right
    assert len(rows) == len(right)


@pytest.mark.long
def test_late_orders_are_joined_with_the_views_that_they_belong_to(team, pipeline, year, broker):
    kept, _ = pipeline("viewed")
    name = year[0]["views"]
    views = [json.loads(r.value) for rs in read_all(broker, [name]).values() for r in rs]
    hour = timedelta(hours=1)

    def joined(orders):
        return Counter(
            (o["id"], o["customer"], v["page"], o["amount"])
            for o in orders
            for v in views
            if v["customer"] == o["customer"] is not None
            and moment(o["at"]) - hour <= moment(v["seen"]) <= moment(o["at"])
        )

    # Late orders right after a view, which no order of the year has.
    seen = [v for v in views if v["customer"] is not None][:20]
    made = [order(2_000_000 + n, v["customer"], moment(v["seen"]) + hour / 2, 3)
            for n, v in enumerate(seen)]  # fmt: skip
    files = team.folder / "late"
    files.mkdir()
    rows = [{"key": None, "value": json.dumps(o), "timestamp": o["at"]} for o in made]
    (files / "a.json").write_text("\n".join(json.dumps(r) for r in rows))
    target = team.folder / "viewed"
    target.mkdir()
    schema = pa.schema([("id", pa.int64()), ("customer", pa.string()), ("page", pa.string()),
                        ("amount", pa.int64())])  # fmt: skip
    old = [dict(zip(schema.names, row, strict=True)) for row in joined(kept).elements()]
    pq.write_table(pa.Table.from_pylist(old, schema), target / "all.parquet")
    file, plan = team.plan(
        "viewed", "--late", str(files), "--late-format", "json", "--input", year[0]["orders"],
        "--keys", "customer", "--to", str(target), scenario="late-batch",
    )  # fmt: skip
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["late"]["keys"] == len({v["customer"] for v in seen})
    team.run("apply", str(file))
    found = Counter(tuple(r[n] for n in schema.names) for r in pq.read_table(target).to_pylist())
    assert found == joined([*kept, *made])
    assert len(found) > len(old)


@pytest.mark.long
def test_a_function_that_fails_at_a_record_changes_nothing(team, pipeline, year):
    pipeline("failing")
    target = team.folder / "totals"
    target.mkdir()
    schema = pa.schema([("customer", pa.string()), ("n", pa.int64())])
    pq.write_table(pa.Table.from_pylist([{"customer": "c1", "n": 1}], schema), target / "a.parquet")
    before = contents(target)
    given = ("--late", year[0]["late"], "--keys", "customer", "--to", str(target))
    # Already the measuring calls it for the late order that fails.
    _, plan = team.plan("failing", *given, scenario="late-batch", code=3)
    assert "ZeroDivisionError" in plan["blockers"][0]
    code = team.folder / "late_queries.py"
    code.write_text(code.read_text().replace("1_000_003", "7"))
    file, plan = team.plan("failing", *given, scenario="late-batch")
    failed = team.run("apply", str(file), code=5)
    (step,) = [s for s in failed["steps"] if s["state"] == "failed"]
    assert "ZeroDivisionError" in step["error"]
    assert contents(target) == before
    assert team.run("undo", failed["run"])["state"] == "done"
    assert contents(target) == before


@pytest.mark.long
def test_what_is_wrong_is_a_blocker_before_the_run(team, pipeline, year):
    kept, _ = pipeline("by_customer")
    names = year[0]
    target = team.folder / "totals"
    write_totals(target, by_customer(kept))
    sink = team.folder / "sink"
    (sink / "_spark_metadata").mkdir(parents=True)
    late, to = ("--late", names["late"]), ("--to", str(target))
    keys = ("--keys", "customer")
    wrong = (
        ((*late, *keys, "--to", str(sink)), "the output of a streaming query"),
        (("--late", f"{names['late']}:2:0-0", *keys, *to), "--late: no records found"),
        (("--late", "nothing", *keys, *to), "topic nothing does not exist"),
        ((*late, "--keys", "city", *to), "the result has no column city. Its columns: customer"),
    )
    for options, said in wrong:
        _, plan = team.plan("by_customer", *options, scenario="late-batch", code=3)
        assert said in plan["blockers"][0]
    file, plan = team.plan("by_customer", *late, *keys, *to, scenario="late-batch")
    assert any("doesn't include the late records" in risk for risk in plan["risks"])
    (target / "more.parquet").write_bytes((target / "part-0.parquet").read_bytes())
    before = contents(target)
    team.run("apply", str(file), code=3)
    assert contents(target) == before
