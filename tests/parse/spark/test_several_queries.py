"""Plans of several queries in one text or folder are told apart, never mixed."""

import itertools

import pytest

from headgate.errors import EvidenceError
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from parse.spark.explain.test_printed import ROOT

pytestmark = pytest.mark.slow

NAMES = ("stateless", "window", "stream_join", "user_shuffle", "union_dedup")


def text(name, form):
    return (ROOT / name / f"{form}.txt").read_text()


def read(*texts, query=None):
    pieces = [recognise(t.encode(), path=f"f{n}") for n, t in enumerate(texts)]
    return assemble(Gathered(pieces=pieces), query=query)


@pytest.mark.parametrize("form", ["df_simple", "df_formatted", "query_simple", "query_extended"])
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(NAMES, 2)))
def test_two_queries_are_two_whether_in_one_text_or_in_two(form, first, second):
    texts = text(first, form), text(second, form)
    for given in (texts, ("".join(texts),)):
        with pytest.raises(EvidenceError, match="plans of 2 queries: choose one with --query"):
            read(*given)
        names = (first, second) if form == "query_extended" else ("plan-1", "plan-2")
        for name, alone in zip(names, texts, strict=True):
            assert read(*given, query=name).topology == read(alone).topology


def test_the_error_lists_names_places_and_ends():
    with pytest.raises(EvidenceError) as raised:
        read(text("window", "query_extended") + text("stream_join", "query_simple"))
    assert "window (f0:2, HashAggregate, FileScan)\n" in str(raised.value)
    assert "plan-2 (f0:40, StreamingSymmetricHashJoin, FileScan)" in str(raised.value)
    with pytest.raises(
        EvidenceError, match="the evidence has no query 'other', only query plans of:"
    ):
        read(text("window", "query_extended"), text("stream_join", "df_simple"), query="other")


def test_a_name_that_no_plan_carries_picks_none():
    progress = '{"id":"q1","runId":"r","name":"shop","batchId":1,"sources":[],"sink":{}}'
    with pytest.raises(EvidenceError, match="but none with the name or id shop"):
        read(text("window", "df_simple"), text("stream_join", "df_simple"), progress, query="shop")


@pytest.mark.parametrize("name", NAMES)
def test_forms_and_batches_of_one_query_are_one(name):
    forms = ("df_simple", "df_formatted", "df_extended", "df_cost", "query_extended")
    version = read(*(text(name, form) for form in forms), text(name, "ui_formatted"))
    assert version.name == name
    assert (
        read(text(name, "query_simple") * 3).topology == read(text(name, "query_simple")).topology
    )


def test_of_a_query_that_changed_the_last_plan_is_used():
    old = text("window", "query_extended")
    new = old.replace("30000000", "60000000").replace("k#", "kk#").replace("[k,", "[kk,")
    version = read(old + new)
    assert version.stateful == read(new).stateful
    assert (
        "the evidence has several different query plans of this query. Headgate uses only "
        "the last one and ignores those at f0:2"
    ) in version.warnings


def test_filters_that_spark_joins_in_another_order_are_one_query():
    """As Spark 4.2 printed one filter before the start and in a batch."""
    before = (
        "== Physical Plan ==\nFilter (isnotnull(a#1) AND ((NOT (a#1 = x) AND (b#2 >= 3))"
        " AND isnotnull(b#2)))\n+- StreamingRelation kafka, [a#1, b#2]\n"
    )
    running = (
        "== Physical Plan ==\nFilter (((isnotnull(a#1) AND NOT (a#1 = x)) AND (b#2 >= 3))"
        " AND isnotnull(b#2))\n+- MicroBatchScan[a#1, b#2] class org.apache.spark.sql.kafka010"
        ".KafkaSourceProvider$KafkaScan\n"
    )
    assert len(read(before, running).topology.nodes) == len(read(running).topology.nodes)
    with pytest.raises(EvidenceError, match="plans of 2 queries"):
        read(before, running.replace("NOT (a#1 = x)", "(a#1 = x)"))
