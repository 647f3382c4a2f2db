"""A rehearsal asked for on the Compare page: it runs beside it, and Spark's verdict is shown."""

import contextlib
import os
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
import streamlit as st

from headgate.errors import EvidenceError, RunCancelledError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.rehearsal import (
    Batch,
    BatchKind,
    EngineOutcome,
    EngineVerdict,
    OutputDifference,
    RollbackTrial,
    StateRows,
    Untouched,
)
from headgate.model.twin import Counterexample, OperatorRows, TwinVerdict
from headgate.model.version import Engine, Evidence, OperatorKind, StatefulOperator, Version
from headgate.rules.compare.engine_agreement import Agreement, Judged
from headgate.rules.compare.twin_findings import Disagreement
from headgate.rules.core.report import Outcome, Report
from headgate.store import open_store
from headgate.ui.rehearsal.form import GENERATED, NONE
from headgate.ui.rehearsal.queue import Order, Running, _asked
from headgate.ui.shared.keys import CompareKey
from headgate.ui.shared.server_paths import startable
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_spark import Rehearsal
from headgate.usecases.rehearsal.twin_spark import TwinRun
from support.console_seed import orders_v2

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))
from rehearse_corpus import prepare  # noqa: E402

pytestmark = pytest.mark.slow

CASE = ROOT / "tests" / "cases" / "rehearsal" / "agg_add_column"
TOML = """\
[[pipeline]]
name = "counts"
engine = "spark"
checkpoint = "checkpoint"
{entry_point}
[[pipeline]]
name = "other"
engine = "spark"
checkpoint = "checkpoint"
entry_point = "before:rehearsed"
"""


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """A registry in a case's folder, with or without the function to start."""

    def make(entry_point: str) -> None:
        folder = prepare(CASE, tmp_path)
        (folder / "headgate.toml").write_text(TOML.format(entry_point=entry_point))
        monkeypatch.setenv("HEADGATE_CONFIG", str(folder / "headgate.toml"))
        monkeypatch.chdir(folder)
        st.cache_resource.clear()

    return make


def shown(at) -> str:
    return " ".join(str(h.value) for h in at.get("html"))


def test_without_a_function_the_page_says_what_to_declare(registered, open_page):
    registered("")
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    assert "entry_point" in shown(at)
    assert not [b for b in at.button if b.key == CompareKey.REHEARSE]


def with_functions(seeded) -> None:
    """Register sales.orders:v1 for a pipeline whose newest version was captured from :v2."""
    package = seeded.parent / "sales"
    package.mkdir()
    (package / "orders.py").write_text("")
    text = seeded.read_text()
    spark = 'checkpoint = "ck/orders-by-city"'
    seeded.write_text(text.replace(spark, f'{spark}\nentry_point = "sales.orders:v1"'))
    store = open_store(f"sqlite:///{seeded.parent}/.headgate/headgate.db")
    later = replace(orders_v2(), evidence=(Evidence(kind="capture", path="sales.orders:v2"),))
    store.versions.add("orders-by-city", later, "later")
    store.close()
    st.cache_resource.clear()


def test_what_the_version_after_was_captured_from_is_what_is_started(open_page, seeded):
    with_functions(seeded)
    at = open_page("compare", pipeline="orders-by-city", before="1", after="2")
    assert at.selectbox(key=CompareKey.REHEARSE_AFTER).value == "sales.orders:v1"
    at = open_page("compare", pipeline="orders-by-city", before="1", after="3")
    assert not at.exception
    chosen = at.selectbox(key=CompareKey.REHEARSE_AFTER)
    assert chosen.value == "sales.orders:v2"
    assert chosen.options == ["sales.orders:v1", "sales.orders:v2"]
    old = at.selectbox(key=CompareKey.REHEARSE_BEFORE)
    assert (old.value, old.options[1:]) == ("sales.orders:v1", chosen.options)
    # Each choice says what it is for.
    for what in ("Function that builds the new version", "To test the rollback", "compares hashes"):
        assert what in shown(at)


def test_what_came_out_stands_on_the_page_until_the_next_one(open_page, seeded):
    with_functions(seeded)
    engine = EngineVerdict(
        outcome=EngineOutcome.RESUMES,
        rows_in=3,
        rows_out=2,
        batches=(Batch(number=7, kind=BatchKind.NEW, rows_in=3, rows_out=2),),
        state=(StateRows(operator_id=0, operator="dedupe", store="default", before=4, after=6),),
        spark_version="4.0.1",
        sink="rows were collected",
        output=OutputDifference(
            old=EngineOutcome.RESUMES,
            same_input=True,
            only_before=1,
            only_after=1,
            sample_before=({"k": "a", "n": 1},),
            sample_after=({"k": "a", "n": "one"},),
        ),
        rollback=RollbackTrial(
            outcome=EngineOutcome.REFUSES,
            error_class="KAFKA_DATA_LOSS",
            removed=("offsets/8",),
            repaired=EngineOutcome.RESUMES,
        ),
        checkpoint=Untouched(location="/ck", files=8, bytes=99, before="ab" * 32, after="cd" * 32),
    )
    order = Order(pipeline="orders-by-city", after="sales.orders:v1", checkpoint="/ck")
    future = Future()
    future.set_result(Rehearsal(Report(), engine, Judged(Agreement.AGREE, "Both run.")))
    _asked()[str(seeded), order.pipeline] = Running(order, future, [(0.0, "copying")], Event())
    at = open_page("compare", pipeline="orders-by-city", before="1", after="3")
    assert not at.exception
    said = shown(at)
    assert "The version selected under After was captured from" in said
    assert "The rehearsal ran on Spark 4.0.1. The version selected under After is for" in said
    assert "Spark 4.0.1: Resumes" in said and "Outcome of the rules: " in said
    assert "confirms the outcome of the rules." in said
    assert "A rollback works after a repair. The rules expect that the old version runs" in said
    assert "ab" * 32 in said and "cd" * 32 in said and "Another process changed" in said
    batches, state, rows = (table.value for table in at.dataframe[-3:])
    assert list(batches.iloc[0]) == [7, 3, 2, "with new rows"]
    assert list(state.iloc[0])[:4] == ["0 dedupe", "default", 4, 6]
    assert list(rows.iloc[:, 0]) == ["− old output", "+ new output"]


def test_generated_rows_need_an_old_version(registered, open_page):
    registered('entry_point = "after:rehearsed"')
    at = open_page("compare", pipeline="counts")
    at.selectbox(key=CompareKey.REHEARSE_CHECKPOINT).set_value(GENERATED).run()
    at.selectbox(key=CompareKey.REHEARSE_BEFORE).set_value(NONE).run()
    at.button(key=CompareKey.REHEARSE).click().run()
    assert not at.exception
    assert "choose an old version" in " ".join([shown(at), *(e.value for e in at.error)])
    assert not _asked()


def test_a_twin_run_shows_both_values_side_by_side(registered, open_page):
    registered('entry_point = "after:rehearsed"')
    example = Counterexample(
        kind="state", operator_id=0, operator="stateStoreSave", store="default",
        key={"city": "Rome"}, columns=("count", "sum"), before=3, after=30,
    )  # fmt: skip
    verdict = TwinVerdict(
        outcome="silently_wrong", why="value columns have changed positions", seed=7, rows=674,
        rows_out=40, counterexample=example, spark_version="4.2.0", seconds=9.0,
        operators=(OperatorRows(operator_id=0, operator="stateStoreSave", rows_before=61),),
    )  # fmt: skip
    order = Order(pipeline="counts", after="after:new", before="before:old", checkpoint=None)
    future = Future()
    disagreement = Disagreement("", Outcome.RESUMES, Outcome.SILENTLY_WRONG)
    report = Report(findings=())
    operator = StatefulOperator(kind=OperatorKind.AGGREGATE, node="aggregate-1", operator_id=0)
    one = Version(engine=Engine.SPARK, stateful=(operator,))
    future.set_result(TwinRun(report, verdict, (disagreement,), (one, one)))
    config = os.environ["HEADGATE_CONFIG"]
    _asked()[config, order.pipeline] = Running(order, future, [(0.0, "x")], Event())
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    said = shown(at)
    assert "before:old" in said and "generated rows" in said
    assert "Spark 4.2.0: Wrong results" in said and "Value columns have changed positions." in said
    assert "61 changed state rows in the old version, no state in the new version" in said
    assert "Outcome of the rules: Resumes. Outcome of the engine: Wrong" in said
    row = at.dataframe[-1].value.iloc[0]
    assert list(row) == ["Rome", "3", "30"]
    assert list(row.index)[1:] == [
        "stored by the old version (count)", "stored by the new version (sum)",
    ]  # fmt: skip
    # The node is selected once, and again by the button.
    assert "aggregate-1" in (at.query_params["node"], *at.query_params["node"])
    del at.query_params["node"]
    at.button(key=CompareKey.TWIN_NODE).click().run()
    assert "aggregate-1" in (at.query_params["node"], *at.query_params["node"])


def test_only_what_lies_beside_the_configuration_is_started(tmp_path):
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.py").write_text("")
    (tmp_path / "outside.py").symlink_to("/etc/hostname")
    context = Context(Registry(path=str(tmp_path / "headgate.toml")), "sqlite://", tmp_path)
    assert startable(context, " sales.orders:v1 ") == "sales.orders:v1"
    for function in ("os:getcwd", "../sales/orders:v1", "sales.gone:v1", "outside:f", "sales", ""):
        with pytest.raises(EvidenceError, match="the console can't call"):
            startable(context, function)


def test_other_functions_of_a_registered_module_are_started(tmp_path):
    pipeline = Pipeline(name="demo", engine=Engine.SPARK, entry_point="shop.demo.orders:v1")
    registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,))
    context = Context(registry, "sqlite://", tmp_path)
    assert startable(context, "shop.demo.orders:v2") == "shop.demo.orders:v2"
    for function in ("shop.demo:v1", "shop.demo.orders", "orders:v2"):
        with pytest.raises(EvidenceError, match="the console can't call"):
            startable(context, function)


@pytest.mark.long
@pytest.mark.spark
def test_the_engine_s_verdict_stands_beside_ours(registered, open_page):
    registered('entry_point = "after:rehearsed"')
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    at.radio(key=CompareKey.REHEARSE_BATCH).set_value("none").run()
    at.selectbox(key=CompareKey.REHEARSE_BEFORE).set_value("before:rehearsed").run()
    at.button(key=CompareKey.REHEARSE).click().run()
    # The page was not held up: it is back while the rehearsal runs, and can end it.
    (running,) = _asked().values()
    assert "copying" in " ".join(text for _, text in running.said) or not running.is_done
    assert at.button(key=CompareKey.REHEARSE_CANCEL)
    running.result()
    at.run()
    assert not at.exception
    assert "4.2.0: Fails to start" in shown(at) and "Outcome of the rules: " in shown(at)
    assert "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" in shown(at)
    assert "confirms the outcome of the rules" in shown(at)
    assert "A rollback works" in shown(at)
    assert "is unchanged" in shown(at)
    # Who comes back, or somebody else, finds it there with its choices.
    at = open_page("compare", pipeline="counts")
    assert "4.2.0: Fails to start" in shown(at)
    assert at.selectbox(key=CompareKey.REHEARSE_BEFORE).value == "before:rehearsed"


@pytest.mark.spark
def test_a_rehearsal_that_never_ends_can_be_cancelled(registered, open_page, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    registered('entry_point = "endless:rehearsed"')
    text = "def rehearsed(spark):\n    open('began', 'w').close()\n    while True: pass\n"
    Path("endless.py").write_text(text)
    at = open_page("compare", pipeline="counts")
    at.button(key=CompareKey.REHEARSE).click().run()
    (running,) = _asked().values()
    while not Path("began").exists():
        assert not running.is_done
        time.sleep(0.2)
    at.run().button(key=CompareKey.REHEARSE_CANCEL).click().run()
    with pytest.raises(RunCancelledError, match="endless:rehearsed was cancelled"):
        running.result()
    assert "was cancelled. The original checkpoint is unchanged" in shown(at.run())
    assert not list(tmp_path.glob("headgate-rehearsal-*"))
    # Nothing of it goes on: whatever it started knew its copy by name.
    assert not [c for c in commands() if str(tmp_path) in c and "rehears" in c]


def commands() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found
