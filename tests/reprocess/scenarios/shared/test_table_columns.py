"""Which values of a result go to which column of a table, and which don't fit."""

import pytest

from headgate.model.tables import DatabaseTable, TableColumn
from headgate.reprocess.scenarios.historical_range import scenario as historical_range
from headgate.reprocess.scenarios.historical_range.table_target import _missing_keys, _stream
from headgate.reprocess.scenarios.late_batch import scenario as late_batch
from headgate.reprocess.scenarios.shared.database_table import table_columns, without_value

WINDOW = "struct<start:timestamp,end:timestamp>"


def table(*columns):
    return DatabaseTable(
        connection="shop", schema="public", name="t", id="1", unique=(), columns=columns
    )


def column(name, kind, **more):
    return TableColumn(name=name, kind=kind, type=more.pop("type", kind), **more)


@pytest.mark.parametrize(
    ("kind", "there", "form"),
    [
        ("int", column("c", "int2"), "value"),
        ("int", column("c", "float8"), "value"),
        ("bigint", column("c", "float8"), None),
        ("bigint", column("c", "numeric", scale=2), "value"),
        ("bigint", column("c", "numeric", scale=-2), None),
        ("double", column("c", "float4"), None),
        ("double", column("c", "numeric"), None),
        ("decimal(10,2)", column("c", "numeric", scale=2), "value"),
        ("decimal(10,3)", column("c", "numeric", scale=2), None),
        ("decimal(10,3)", column("c", "numeric"), "value"),
        ("string", column("c", "bpchar", category="S"), "value"),
        ("string", column("c", "mood", category="E"), "value"),
        ("string", column("c", "jsonb"), "value"),
        ("string", column("c", "int4", category="N"), None),
        ("array<int>", column("c", "jsonb"), "json"),
        ("array<int>", column("c", "_int4"), None),
        ("timestamp", column("c", "timestamptz"), "value"),
        ("timestamp", column("c", "timestamp"), "local-time"),
        ("timestamp_ntz", column("c", "timestamptz"), None),
        ("interval day", column("c", "interval"), None),
        ("int", column("c", "int4", is_computed=True), None),
        (WINDOW, column("c", "json"), "json"),
    ],
)
def test_a_value_fits_if_the_column_takes_all_of_it(kind, there, form):
    columns, blockers = table_columns({"c": kind}, table(there))
    assert [c["form"] for c in columns] == ([form] if form else [])
    assert len(blockers) == (form is None)


def test_a_window_has_a_column_for_its_start_and_perhaps_its_end():
    start, end = column("w_start", "timestamptz"), column("w_end", "timestamptz")
    columns, blockers = table_columns({"w": WINDOW}, table(start))
    assert ([c["path"] for c in columns], blockers) == ([["w", "start"]], [])
    columns, _ = table_columns({"w": WINDOW}, table(start, end))
    assert [c["path"] for c in columns] == [["w", "start"], ["w", "end"]]
    _, (said,) = table_columns({"w": WINDOW}, table(end))
    assert "has no column w_start" in said


def test_keys_and_columns_without_a_value_are_named():
    there = table(
        column("id", "int4"), column("key", "text"), column("needed", "int4", is_filled=False)
    )
    results = {"id": "int"}
    assert _missing_keys(results, there, ("id", "key")) == [
        "--keys: the results have no column key. Their columns: id",
    ]
    assert without_value(results, there) == [
        "--to: the results have no values for these columns of public.t, which can't be null: "
        "needed. Set a default for each column",
    ]


def test_the_keys_of_a_stream_are_those_of_its_results():
    columns = [{"name": "w_start", "path": ["w", "start"]}, {"name": "city", "path": ["city"]}]
    what = {"stream": {"max_records": 5, "keys": ["w_start", "city"]}}
    assert _stream(what, columns) == {"max_records": 5, "keys": ["w.start", "city"]}
    assert _stream({"stream": None}, columns) is None


@pytest.mark.parametrize("scenario", [historical_range, late_batch])
def test_an_option_has_one_meaning(scenario):
    names = [option.name for option in scenario.SCENARIO.options]
    assert len(set(names)) == len(names)
