"""Evidence as people put it in: pasted, uploaded, as a folder; and what the page makes of it."""

from __future__ import annotations

import json
import re

import pytest

from browser.conftest import LARGE, SMALL
from browser.test_console import node, ready
from headgate.parse.evidence.version_file import dump
from support.console_seed import orders_v2, seed
from support.sampled import sampled

pytestmark = pytest.mark.browser

EXPLAIN = """\
== Parsed Logical Plan ==
~WriteToMicroBatchDataSourceV1 ForeachBatchSink, 7b3ace30, [checkpointLocation=/ck], Update, 0
+- ~Aggregate [k#1], [k#1, count(1) AS c#2L]
   +- ~Filter isnotnull(k#1)
      +- ~Project [k#3 AS k#1]
         +- Relation [k#3,v#4] json

== Physical Plan ==
*(4) HashAggregate(keys=[k#3], functions=[count(1)], output=[k#3, c#2L])
+- StateStoreSave [k#3], state info [ checkpoint = file:/ck/state, opId = 0], Update, 0, 0, 2
   +- *(3) HashAggregate(keys=[k#3], functions=[merge_count(1)], output=[k#3, count#5L])
      +- StateStoreRestore [k#3], state info [ checkpoint = file:/ck/state, opId = 0], 2
         +- Exchange hashpartitioning(k#3, 2), REQUIRED_BY_STATEFUL_OPERATOR, [plan_id=1]
            +- *(1) HashAggregate(keys=[k#3], functions=[partial_count(1)], output=[k#3, count#5L])
               +- *(1) Filter isnotnull(k#3)
                  +- FileScan json [k#3] Batched: false, Format: JSON, Location: InMemoryFileIndex[]
"""
HOSTILE = "<script>alert(1)</script> **b** ![x](http://evil.example/x.png) :red[r] 😀"


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """A store of its own: other tests keep versions of the pipeline that has none here."""
    return seed(tmp_path_factory.mktemp("evidence"))


@pytest.fixture(scope="module")
def console(registry, serving):
    """The address of its console."""
    yield from serving(registry)


def paste(page, words):
    page.locator(".paste textarea").fill(words)


def report(number, query="11111111-1111-1111-1111-111111111111", name="orders"):
    return {
        "id": query, "runId": "0" * 8 + f"-0000-0000-0000-{number // 3:012d}", "name": name,
        "timestamp": f"2026-11-21T06:{number:02d}:00.000Z", "batchId": number,
        "batchDuration": 900, "numInputRows": 40 + number,
        "durationMs": {"addBatch": 700, "triggerExecution": 900, "walCommit": 60},
        "stateOperators": [{"operatorName": "stateStoreSave", "numRowsTotal": 10 * number,
                            "memoryUsedBytes": 1000 * number, "customMetrics": {}}],
        "sources": [{"description": "RateStreamV2[rowsPerSecond=10]", "startOffset": number,
                     "endOffset": number + 1, "latestOffset": number + 1, "numInputRows": 40,
                     "inputRowsPerSecond": 4.0 + number, "processedRowsPerSecond": 44.4}],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
    }  # fmt: skip


def test_pasted_text_is_recognised_at_once_drawn_and_folded(visit, shoot):
    page = visit("topology?pipeline=billing", size=SMALL)
    page.locator(".hg-empty").wait_for()
    paste(page, EXPLAIN)
    page.get_by_text("extended explain, 2 query plans of Spark").wait_for()
    shoot(page, "evidence-pasted-1280")
    page.get_by_role("button", name="Show evidence").click()
    ready(page)
    page.locator(".graph .node", has_text="isnotnull(k)").wait_for()
    page.get_by_text("Missing in this evidence").wait_for()
    page.get_by_text("Hide isnotnull filters (1)").click()
    page.locator(".graph .node", has_text="isnotnull(k)").wait_for(state="detached")
    shoot(page, "evidence-folded-1280")


def test_hostile_text_is_one_sentence_and_asks_for_nothing_outside(visit, shoot):
    page = visit("topology?pipeline=billing", scheme="dark")
    page.locator(".hg-empty").wait_for()
    paste(page, HOSTILE)
    page.get_by_text("pasted text isn't evidence").wait_for()
    assert page.get_by_role("button", name="Show evidence").is_disabled()
    shoot(page, "evidence-refused-dark")


@pytest.mark.long
def test_names_in_a_plan_stay_text(visit):
    page = visit("topology?pipeline=billing")
    page.locator(".hg-empty").wait_for()
    paste(page, f"== Physical Plan ==\n*(1) Filter (name#1 = {HOSTILE})\n+- Scan kafka [name#1]\n")
    page.get_by_text("simple explain, 1 query plan").wait_for()
    page.get_by_role("button", name="Show evidence").click()
    ready(page)
    page.locator(".graph .node", has_text="alert(1)").or_(
        page.locator(".graph .node.projection")
    ).first.click()
    page.get_by_text("Reads from").wait_for()
    assert page.locator("img[src*='evil']").count() == 0


@pytest.mark.long
def test_several_files_make_one_version_and_a_stranger_is_named(visit, tmp_path, shoot):
    files = {"explain.txt": EXPLAIN, "conf.json": '{"spark.sql.shuffle.partitions": "2"}',
             "query.py": "print(1)"}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    page = visit("topology?pipeline=billing")
    page.get_by_text("Files", exact=True).click()
    page.locator("input[type=file]").set_input_files([tmp_path / n for n in files])
    page.get_by_text("conf.json: session settings").wait_for()
    page.get_by_text("query.py isn't evidence").wait_for()
    shoot(page, "evidence-files")
    page.get_by_role("button", name="Show evidence").click()
    ready(page)


@pytest.mark.long
def test_a_folder_is_uploaded_as_it_is(visit, tmp_path):
    checkpoint = tmp_path / "ck"
    for name, text in {
        "metadata": '{"id":"0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10"}',
        "offsets/0": 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}\n{"logOffset":0}',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }.items():
        (checkpoint / name).parent.mkdir(parents=True, exist_ok=True)
        (checkpoint / name).write_text(text)
    page = visit("topology?pipeline=billing")
    page.get_by_text("Folder", exact=True).click()
    page.locator("input[type=file]").set_input_files(checkpoint)
    page.get_by_text("checkpoint of Spark").wait_for()


@pytest.mark.long
def test_of_several_queries_one_is_chosen_and_its_batches_drawn(visit, tmp_path, shoot):
    file = tmp_path / "progress.json"
    reports = [report(n) for n in range(9)]
    reports += [report(n, "22222222-2222-2222-2222-222222222222", HOSTILE) for n in range(3)]
    file.write_text("\n".join(map(json.dumps, reports)))
    page = visit("topology?pipeline=billing")
    page.get_by_text("Files", exact=True).click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("2 queries: choose one").wait_for()
    page.get_by_text("9 batches").wait_for()
    shoot(page, "evidence-queries")
    assert page.get_by_role("button", name="Show evidence").is_disabled()
    page.get_by_text("orders", exact=True).click()
    page.get_by_role("button", name="Show evidence").click()
    ready(page)
    page.get_by_text("Progress", exact=True).click()
    page.locator(".js-plotly-plot").wait_for()
    page.get_by_text("restarted 2 times").wait_for()
    page.locator(".hg-tiles").get_by_text("Last batch").wait_for()


@sampled("scheme, size", [("dark", SMALL), ("light", LARGE)], one_in=2)
def test_the_history_leads_to_graph_and_comparison(visit, shoot, scheme, size):
    page = visit("topology?pipeline=orders-by-city&view=history", scheme=scheme, size=size)
    page.get_by_text("sum by city and hour → sum by region and hour").wait_for()
    shoot(page, f"topology-history-{scheme}-{size[0]}")
    page.locator(".st-key-draw-1 button").click()
    ready(page)
    page.wait_for_url(re.compile("version=1"))
    page.get_by_text("History", exact=True).click()
    page.get_by_role("link", name="Compare with previous").first.click()
    page.wait_for_url(re.compile("before=1"))
    page.locator(".hg-verdict").wait_for()


def test_compare_reads_uploaded_files(visit, tmp_path, shoot):
    file = tmp_path / "after.json"
    file.write_bytes(dump(orders_v2()))
    page = visit("compare?pipeline=orders-by-city&before=1&after=given")
    page.get_by_text("Files", exact=True).click()
    shoot(page, "compare-evidence")
    page.locator("input[type=file]").set_input_files(file)
    ready(page)
    page.locator(".hg-verdict", has_text="Wrong results").wait_for()
    page.get_by_text("version file", exact=False).first.wait_for()


@pytest.mark.long
def test_compare_takes_a_paste_on_each_side(visit):
    page = visit("compare?pipeline=billing")
    areas = page.locator(".paste textarea")
    areas.nth(1).wait_for()
    areas.nth(0).fill(EXPLAIN)
    page.get_by_text("Chosen: ").wait_for()
    page.locator(".paste textarea").last.fill(EXPLAIN.replace("k#1, count(1)", "k#1, sum(1)"))
    page.locator(".hg-verdict").wait_for()
    ready(page)
    assert node(page, "sink").count() == 1
