"""The Compare page: what a reviewer reads, declares and takes along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.ui.compare.finding_card import engine_words
from headgate.ui.compare.panel import write_report
from headgate.ui.shared.keys import CompareKey
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.evidence.read_version import read_version
from pages.test_pages import text
from support.console_seed import orders_v1, orders_v2

pytestmark = pytest.mark.slow

CASES = Path(__file__).parents[1] / "cases"
ORDERS = {"pipeline": "orders-by-city", "before": "1", "after": "2"}


@pytest.fixture
def streams(seeded):
    """Register two versions of a Kafka Streams application whose generated names shifted."""
    store = open_store(f"sqlite:///{seeded.parent}/.headgate/headgate.db")
    for side in ("before", "after"):
        version = read_version([str(CASES / "kafka_streams" / "U30_rolling_name_shift" / side)])
        store.versions.add("counts", version, fingerprint(version))
    store.close()
    with seeded.open("a") as file:
        file.write('\n[[pipeline]]\nname = "counts"\nengine = "kafka-streams"\ngroup = "g"\n')
    return seeded


def test_a_version_beside_itself_is_said_to_be_the_same(open_page, seeded):
    at = open_page("compare", **{**ORDERS, "after": "1", "only_changes": "true"})
    assert not at.exception
    said = text(at)
    assert "Both versions are the same." in said
    assert "No findings" in said
    assert "the whole graph is shown" in said


def test_the_line_on_top_names_the_engine_s_version(open_page, seeded):
    assert "for Spark 4.2.0" in text(open_page("compare", **ORDERS))


def test_what_was_not_checked_says_what_to_do_on_the_page(open_page, seeded):
    said = text(open_page("compare", **ORDERS))
    assert "deleted unread records. Kafka isn&#x27;t configured. Set bootstrap_servers" in said
    assert "--cluster" not in said and "did not read the Kafka cluster" not in said


def test_the_engine_is_named_as_people_write_it():
    judged = "spark 4.2.0 against Kafka as of 1999-11-21T19:30:44.631+00:00"
    said = "for Spark 4.2.0 against Kafka as of 21 Nov 1999 19:30 UTC"
    assert engine_words(judged) == said
    assert engine_words("kafka-streams 4.3.1") == "for Kafka Streams 4.3.1"
    assert engine_words("") == ""


def test_a_finding_shows_its_rule_and_leads_to_its_scenario(open_page, seeded):
    at = open_page("compare", **ORDERS, finding="0", node="aggregate-city")
    said = text(at)
    assert "Rule AGG001" in said
    assert 'pipeline = "orders-by-city"\nreason = ' in at.code[0].value
    assert "Spark finds a state row by the values of the grouping columns, in their order." in said
    assert "sum by city and hour → sum by region and hour" in said
    (link,) = at.get("page_link")
    assert link.proto.page == "reprocess"
    assert link.proto.query_string == "pipeline=orders-by-city&scenario=from-scratch"


def test_an_accepted_finding_stays_and_says_who_lives_with_it(open_page, seeded):
    with seeded.open("a") as file:
        file.write('\n[[accept]]\nrule = "AGG001"\nreason = "Rebuilt"\nuntil = 2999-12-31\n')
    accepted = "Accepted until 2999-12-31: Rebuilt"
    at = open_page("compare", **ORDERS)
    assert f"The new version starts but writes wrong results. {accepted}." in text(at)
    (first, *_) = (b for b in at.button if str(b.key).startswith("finding-"))
    assert accepted in first.label.replace("\\", "")


def test_a_rename_that_is_none_is_a_sentence_beside_the_comparison(open_page, seeded):
    at = open_page("compare", **ORDERS, rename="source:nothing=orders")
    (problem,) = at.error
    assert "the old version has no source" in problem.value
    assert "hg-verdict" in text(at)
    at.button(key="forget_renames").click().run()
    assert not at.error and "rename" not in at.query_params


def test_a_store_is_declared_to_be_renamed(open_page, streams):
    at = open_page("compare", pipeline="counts")
    said = text(at)
    assert "Upgrade steps" in said and "reset the application" in said
    assert "1 removed" in said
    # What has no counterpart is offered first.
    at.button(key=CompareKey.RENAME_TAKE).click().run()
    assert not at.error and not at.exception
    name = "KSTREAM-AGGREGATE-STATE-STORE-000000000"
    assert at.query_params["rename"] == f"store:{name}1={name}2"
    said = text(at)
    assert "1 removed" not in said
    assert any("You declared that the store" in b.label.replace("\\", "") for b in at.button)


def test_a_report_is_taken_along_as_diff_writes_it(open_page, seeded):
    at = open_page("compare", **ORDERS)
    names = {b.label.partition(",")[0] for b in at.get("download_button")}
    assert names == {"Markdown", "JSON", "SARIF"}
    report = compare_read(orders_v1(), orders_v2())
    assert json.loads(write_report(report, "json"))["outcome"] == "silently_wrong"
    (run,) = json.loads(write_report(report, "sarif"))["runs"]
    assert "AGG001" in {r["ruleId"] for r in run["results"]}
    assert "AGG001" in write_report(report, "markdown")
