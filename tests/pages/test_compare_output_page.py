"""The Outputs page: what it asks, what it refuses to read, and how it shows a comparison."""

from __future__ import annotations

import re
import time
from concurrent.futures import Future
from threading import Event

import pytest
import streamlit as st

from headgate.errors import OutputError, UnreachableError
from headgate.gateway.spark.compare_outputs import CompareRequest
from headgate.model.output_comparison import ComparedColumn, OutputComparison, SampleRow
from headgate.ui.compare_output.queue import Running, _asked
from headgate.ui.shared.keys import OutputKey
from headgate.ui.shared.server_paths import comparable
from headgate.usecases.context import open_context

pytestmark = pytest.mark.slow

FOUND = OutputComparison(
    a="out/a", b="kafka:b", equal=False, rows_a=12_000, rows_b=12_001, missing=1, extra=2,
    different=3,
    columns=(ComparedColumn("amount", 3, "double", "decimal(10,2)"),
             ComparedColumn("city", 0, "string", "string")),
    samples=(
        SampleRow("different", {"id": 5}, ("amount",), {"amount": 2.5}, {"amount": 3.0}),
        SampleRow("missing", {"id": 9}, (), {"amount": 1.0, "city": "Ulm"}, None),
    ),
    keys=("id",), notes=("Column amount is double in A and decimal(10,2) in B.",),
)  # fmt: skip


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """A console that may read a folder and some topics."""
    (tmp_path / "out").mkdir()
    (tmp_path / "headgate.toml").write_text(
        '[kafka]\nbootstrap_servers = "127.0.0.1:1"\n'
        '[console]\noutputs = ["out", "kafka:totals-*", "jdbc:shop.public.*"]\n'
    )
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "headgate.toml"))
    monkeypatch.chdir(tmp_path)
    st.cache_resource.clear()
    return tmp_path


def shown(at) -> str:
    return " ".join(str(h.value) for h in at.get("html"))


def ended(result=None, error=None):
    future = Future()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
    return running(future)


def running(future):
    wish = CompareRequest(a="out/a", b="kafka:b", keys=["id"])
    return Running(wish, future, [(time.monotonic(), "Comparing: 3 of 8 tasks")], Event())


def put(registered, one):
    _asked()[str(registered / "headgate.toml")] = one


def test_an_empty_page_says_what_to_do(open_page, empty):
    at = open_page("compare_output")
    assert "as outputs of [console] in headgate.toml" in re.sub(r"<[^>]*>", "", shown(at))


def test_bad_input_is_one_sentence(open_page, registered):
    at = open_page("compare_output")
    for a, b, keys, said in (
        ("/etc/passwd", "out/b", "id", "doesn't allow this output"),
        ("out/../secret", "out/b", "id", "doesn't allow this output"),
        ("kafka:private", "out/b", "id", "doesn't allow this output"),
        ("out/a", "out/b", "", "enter them under Keys"),
        ("out/a", "out/b", "id", "leave out “Newest record only”"),
        ("out/a", " ", "id", "Output B is empty"),
        ("kafka:totals-a@5", "out/b", "id", "has no range"),
    ):
        at.text_input(key=OutputKey.A).set_value(a)
        at.text_input(key=OutputKey.B).set_value(b)
        at.text_input(key=OutputKey.KEYS).set_value(keys)
        at.checkbox(key=OutputKey.NEWEST).set_value("Newest" in said)
        at.button(key=OutputKey.GO).click().run()
        assert not at.exception
        assert [said in e.value for e in at.error] == [True], (a, [e.value for e in at.error])


def test_only_what_the_console_lists_is_compared(registered):
    context = open_context()
    for address in ("out/a", "kafka:totals-b@1..2", "jdbc:shop.public.orders"):
        assert comparable(context, address) == address
    for address in ("elsewhere", "kafka:totals", "jdbc:shop.secret.orders", "jdbc:crm.public.a"):
        with pytest.raises(OutputError):
            comparable(context, address)


def test_what_the_console_asks_to_list_would_be_allowed(registered):
    """A range is no part of what is listed: listing it would give the same error again."""
    with pytest.raises(OutputError) as error:
        comparable(open_context(), "kafka:private@0:5..0:9")
    assert "Add kafka:private to `outputs` of [console]" in str(error.value)


def test_a_comparison_is_shown_with_counts_columns_and_samples(open_page, registered):
    put(registered, ended(FOUND))
    at = open_page("compare_output")
    assert not at.exception
    text = shown(at)
    said = "The outputs differ: 1 row missing in B, 2 rows extra in B, 3 rows different."
    assert said in text
    assert "12,001" in text and "decimal(10,2) in B" in text
    columns, samples = (frame.value for frame in at.dataframe)
    assert columns["different rows"].tolist() == [3, 0]
    assert samples["A"].tolist() == ["amount: 2.5", "amount: 1.0, city: Ulm"]
    assert samples["B"].tolist() == ["amount: 3.0", "–"]
    assert samples["row"].tolist() == ["different", "only in A"]


def test_progress_can_be_cancelled(open_page, registered):
    one = running(Future())
    put(registered, one)
    at = open_page("compare_output")
    assert "3 of 8 tasks" in shown(at)
    at.button(key=OutputKey.CANCEL).click().run()
    assert one.stop.is_set()
    assert "cancelled before it started" in shown(at)


def test_an_error_is_one_sentence(open_page, registered):
    put(registered, ended(error=UnreachableError("the database of jdbc:shop.t did not respond")))
    at = open_page("compare_output")
    assert len(at.error) == 1 and "did not respond" in at.error[0].value
