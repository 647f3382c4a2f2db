"""The report of a run says how many rows of a table it replaced."""

from contextlib import nullcontext

import pytest

from headgate.gateway.adapters import tables
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.postgres import replace_rows
from headgate.model.registered_pipelines import Registry
from headgate.model.tables import RowCounts, TableChange
from headgate.reprocess.run_report import counts_of


@pytest.mark.parametrize(
    ("counts", "reported"),
    [(RowCounts(added=1, replaced=2, deleted=3), [{"replaced": 5}]), (None, [])],
)
def test_replaced_rows_of_a_table_are_reported(monkeypatch, tmp_path, counts, reported):
    kept = []
    context = RunContext(
        registry=Registry(path=tmp_path / "headgate.toml"),
        home=tmp_path,
        run="r",
        keep=lambda name, document: kept.append(document),
    )
    change = TableChange.__new__(TableChange)
    object.__setattr__(change, "connection", "db")
    monkeypatch.setattr(tables, "connected", lambda *_: nullcontext())
    monkeypatch.setattr(replace_rows, "replace_rows", lambda *_: counts)
    assert tables.TableAdapter(context).replace_rows(change) == counts
    assert [counts_of(document["facts"]) for document in kept] == reported
