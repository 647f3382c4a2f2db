"""Rows are the same for the same seed, and have what the plans compare."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headgate.twin.generate_rows import SIZES_A, SIZES_B, RowMaker, SourceRows
from headgate.twin.row_hints import Hints

ORDERS = {
    "fields": [
        {"name": "k", "type": "string"},
        {"name": "v", "type": "integer"},
        {"name": "price", "type": "decimal(10,2)"},
        {"name": "at", "type": "timestamp"},
        {"name": "tags", "type": {"type": "array", "elementType": "string"}},
        {"name": "who", "type": {"type": "struct", "fields": [{"name": "id", "type": "string"}]}},
    ]
}
STREAM = SourceRows("in", ORDERS, True)


def rows(feed):
    return [row for batch in (*feed.a, *feed.b) for row in batch["in"]]


def hints(**fields):
    return Hints(**fields)


def test_a_seed_gives_the_same_rows_and_another_seed_others():
    first, again, other = (RowMaker(hints(), seed).feed([STREAM]) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert [len(b["in"]) for b in first.a] == list(SIZES_A)
    assert [len(b["in"]) for b in first.b] == list(SIZES_B)


@pytest.mark.slow
def test_a_seed_gives_the_same_rows_in_any_process():
    code = (
        "import sys, hashlib; sys.path[:0] = sys.argv[1:]; import test_generate_rows as t;"
        "feed = t.RowMaker(t.hints(), 1).feed([t.STREAM]);"
        "print(hashlib.sha256(repr((feed.a, feed.b)).encode()).hexdigest())"
    )
    here = Path(__file__).parent
    said = {
        subprocess.run(
            (sys.executable, "-c", code, str(here), str(here.parent)),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_rows_are_json_of_their_schema():
    found = rows(RowMaker(hints(), 1).feed([STREAM]))
    assert json.loads(json.dumps(found)) == found
    assert {type(r["v"]) for r in found} == {int, type(None)}
    assert all(r["at"] is not None for r in found)
    assert {type(r["tags"]) for r in found} == {list, type(None)}
    assert len({r["k"] for r in found}) > 50


def test_numbers_that_are_read_as_times_are_times_of_the_batches():
    found = rows(RowMaker(hints(conversions={"stream:v": "since 1970:1000"}), 1).feed([STREAM]))
    times = [r["v"] / 1000 for r in found if r["v"] is not None]
    first = datetime(2024, 3, 1, tzinfo=UTC).timestamp()
    assert all(first < t < first + 365 * 86_400 for t in times)
    assert len(set(times)) > 20


@pytest.mark.parametrize("column", ["v", "k"])
def test_parts_of_times_make_the_times_of_the_batches(column):
    read = hints(conversions={f"stream:{column}": "part:hour"})
    found = {r[column] for r in rows(RowMaker(read, 1).feed([STREAM]))} - {None}
    assert {int(hour) for hour in found} <= set(range(24)) and len(found) > 1


def test_texts_that_are_compared_in_one_case_mostly_have_it():
    found = [r["k"] for r in rows(RowMaker(hints(cases={"stream:k": "upper"}), 1).feed([STREAM]))]
    kept = [k for k in found if k]
    assert len(kept) * 0.6 < sum(k == k.upper() for k in kept) < len(kept)


def test_most_texts_are_what_a_plan_compares_them_with():
    compared = hints(literals={"stream:k": {("paid", "string")}, "stream:v": {("17", "integer")}})
    found = rows(RowMaker(compared, 1).feed([STREAM]))
    assert sum(r["k"] == "paid" for r in found) > len(found) / 4
    assert any(r["k"] == "PAID" for r in found)
    assert {16, 17, 18} <= {r["v"] for r in found}


def test_text_has_the_form_that_the_query_reads():
    read = {
        "stream:k": {"type": "struct", "fields": [{"name": "city", "type": "string"}]},
        "stream:who.id": "format:dd/MM/yyyy",
    }
    found = rows(RowMaker(hints(conversions=read), 1).feed([STREAM]))
    assert {tuple(json.loads(r["k"])) for r in found if r["k"] not in (None, "null")} == {("city",)}
    days = [r["who"]["id"] for r in found if r["who"] and r["who"]["id"]]
    assert all(len(day) == 10 and day[2] == day[5] == "/" for day in days)


def test_columns_that_are_compared_share_values_and_others_do_not():
    table = SourceRows("dim", {"fields": [{"name": "id", "type": "string"}]}, False)
    joined = hints()
    joined.equate("stream:k", "dim:id")
    feed = RowMaker(joined, 1).feed([STREAM, table])
    keys = {r["id"] for r in feed.tables["dim"]}
    assert len(keys) == len(feed.tables["dim"]) > 100
    assert len({r["k"] for r in rows(feed)} & keys) > 30
    apart = RowMaker(hints(), 1).feed([STREAM, table])
    shared = {r["id"] for r in apart.tables["dim"]} & {r["k"] for r in rows(apart)}
    assert not any(word and ".1" in word for word in shared)


def test_time_advances_with_the_largest_interval_and_its_ends_are_far_away():
    feed = RowMaker(hints(intervals={600.0, 60.0}), 1).feed([STREAM])
    first, middle, last = (
        sorted(r["at"] for r in batch["in"]) for batch in (feed.a[0], feed.a[1], feed.b[-1])
    )
    assert first[0][:10] == "2024-03-04" and middle[-1][:10] == "2024-03-05"
    assert last[0] > middle[-1]


def test_named_sources_have_different_numbers_of_files_and_all_rows():
    named = [SourceRows(name, STREAM.schema, True, is_named=True) for name in ("in", "in2")]
    feed = RowMaker(hints(), 1).feed(named)
    files = {name: sum(name in batch for batch in feed.a) for name in ("in", "in2")}
    assert files == {"in": 3, "in2": 2}
    assert len({sum(len(b.get(n, ())) for b in feed.a) for n in files}) == 1


def test_points_in_time_name_their_zone():
    found = rows(RowMaker(hints(), 1).feed([STREAM]))
    assert found and all(row["at"].endswith("Z") for row in found)


def test_wide_rows_have_more_keys_and_more_windows_at_once():
    def reached(*, is_wide):
        mined = hints(intervals={3600.0}, identities={"stream:v"})
        maker = RowMaker(mined, 7, is_wide=is_wide)
        last = maker.feed([STREAM]).a[-1]["in"]
        found = [(row["k"], row["at"][:13], row["v"]) for row in last]
        return [len(set(values)) for values in zip(*found, strict=True)]

    usual, wide = reached(is_wide=False), reached(is_wide=True)
    assert all(more > few for more, few in zip(wide, usual, strict=True))
    assert wide[2] > 2 * usual[2]


def test_a_table_has_periods_before_within_and_after_the_rows_and_open_ones():
    names, kinds = ("code", "since", "until"), ("string", "date", "timestamp")
    fields = [{"name": n, "type": t} for n, t in zip(names, kinds, strict=True)]
    maker = RowMaker(hints(intervals={3600.0}, nulls={"rates:until"}), 1)
    feed = maker.feed([STREAM, SourceRows("rates", {"fields": fields}, False)])
    found, now = feed.tables["rates"], "2024-03-05T12"
    assert {(r["since"] <= now[:10], (r["until"] or "9") <= now) for r in found} == {
        (before, after) for before in (True, False) for after in (True, False)
    }
    assert 0.1 < sum(r["until"] is None for r in found) / len(found) < 0.35
    assert json.loads(json.dumps(found)) == found


def test_a_time_is_written_in_each_format_that_the_query_tries():
    formats = {"stream:k": ["format:yyyy-MM-dd", "format:dd.MM.yyyy"]}
    read = {"stream:k": "format:dd.MM.yyyy"}
    found = rows(RowMaker(hints(conversions=read, formats=formats), 1).feed([STREAM]))
    share = sum("." in (r["k"] or "") for r in found) / len(found)
    assert 0.4 < share < 0.6
