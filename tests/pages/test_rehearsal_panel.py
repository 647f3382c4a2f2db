"""A rehearsal asked for on the Compare page: it runs beside it, and Spark's verdict is shown."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from console_seed import orders_v2
from headgate.model.version import Evidence
from headgate.store import open_store
from headgate.ui.keys import CompareKey

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))
from rehearse_corpus import prepare  # noqa: E402

CASE = ROOT / "tests" / "cases" / "rehearsal" / "agg_add_column"
TOML = """\
[[pipeline]]
name = "counts"
engine = "spark"
checkpoint = "checkpoint"
{entry_point}
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


def test_a_rehearsal_of_another_function_is_not_taken_for_the_version_after(open_page, seeded):
    text = seeded.read_text()
    spark = 'checkpoint = "ck/orders-by-city"'
    seeded.write_text(text.replace(spark, f'{spark}\nentry_point = "sales.orders:v1"'))
    store = open_store(f"sqlite:///{seeded.parent}/.headgate/headgate.db")
    later = replace(orders_v2(), evidence=(Evidence(kind="capture", path="sales.orders:v2"),))
    store.versions.add("orders-by-city", later, "later")
    store.close()
    said = shown(open_page("compare", pipeline="orders-by-city", before="1", after="2"))
    assert "sales.orders:v1" in said and "not the version under After" not in said
    said = shown(open_page("compare", pipeline="orders-by-city", before="1", after="3"))
    assert "not the version under After, which was captured from" in said


@pytest.mark.spark
def test_the_engine_s_verdict_stands_beside_ours(registered, open_page):
    registered('entry_point = "after:rehearsed"')
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    at.radio(key=CompareKey.REHEARSE_BATCH).set_value("none").run()
    at.button(key=CompareKey.REHEARSE).click().run()
    # The page was not held up: it is back while the rehearsal runs.
    running = at.session_state[CompareKey.REHEARSAL]
    assert "copying" in " ".join(running.said) or "waiting" in running.said[0]
    running.future.result()
    at.run()
    assert not at.exception
    assert "Spark: refuses" in shown(at)
    assert "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" in shown(at)
    assert "agrees with the rules" in shown(at)
    assert "unchanged" in shown(at)
