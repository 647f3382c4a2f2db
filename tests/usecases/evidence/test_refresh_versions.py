"""What the worker re-reads each minute: a version is added only where its content changed."""

import json
from pathlib import Path

import pytest

from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import dump
from headgate.store import open_store
from headgate.store.rows import NewRun
from headgate.usecases.context import open_context
from headgate.usecases.evidence.list_versions import list_versions
from headgate.usecases.evidence.refresh_versions import refresh_versions
from headgate.usecases.landscape.show_landscape import show_landscape

REGISTRY = """
[[pipeline]]
name = "orders"
engine = "spark"
checkpoint = "ck"

[[pipeline]]
name = "payments"
engine = "consumer-group"
group = "payments"
evidence = ["payments.version"]

[[pipeline]]
name = "foreign"
engine = "consumer-group"
group = "foreign"
"""


@pytest.fixture
def context(tmp_path):
    (tmp_path / "headgate.toml").write_text(REGISTRY)
    return open_context(str(tmp_path / "headgate.toml"))


def write(context, mode):
    file = context.home.parent / "payments.version"
    file.write_bytes(dump(Version(engine=Engine.SPARK, output_mode=mode)))


def test_only_what_changed_is_added_and_what_is_not_there_is_said(context):
    write(context, "Append")
    problem, added = refresh_versions(context)
    assert problem.pipeline == "orders" and problem.number is None and problem.problem
    assert (added.pipeline, added.number) == ("payments", 1)
    assert [f.pipeline for f in refresh_versions(context)] == ["orders"]
    write(context, "Update")
    assert str(refresh_versions(context)[-1]) == "payments: stored as new version 2"
    assert [row.number for row in list_versions(context, "payments")] == [1, 2]


def test_a_query_before_its_first_batch_is_left_alone(context):
    checkpoint = context.home.parent / "ck"
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"00000000-0000-0000-0000-000000000000"}')
    refresh_versions(context)
    assert list_versions(context, "orders") == ()


def test_a_pipeline_that_a_run_is_at_is_left_for_the_next_time(context):
    write(context, "Append")
    store = open_store(context.store_url)
    run = NewRun(scenario="s", pipeline="payments", plan_hash="h", plan="{}", resources=("g",))
    store.runs.enqueue(run, by="ann", action="apply")
    store.close()
    assert [f.pipeline for f in refresh_versions(context)] == ["orders"]


SPARK = '[[pipeline]]\nname = "orders"\nengine = "spark"\n'
GOLDEN = Path(__file__).parents[2] / "golden"
LOG = GOLDEN / "event_logs" / "plain" / "local-1"


def registered(tmp_path, *lines):
    (tmp_path / "headgate.toml").write_text(SPARK + "".join(f"{line}\n" for line in lines))
    return open_context(str(tmp_path / "headgate.toml"))


def test_an_event_log_of_several_queries_is_enough_where_one_has_the_pipelines_name(tmp_path):
    context = registered(tmp_path, f'evidence = ["{LOG}"]')
    assert [str(f) for f in refresh_versions(context)] == ["orders: stored as new version 1"]
    named = registered(tmp_path, f'evidence = ["{LOG}"]', 'query = "f3f8ba49"')
    assert [str(f) for f in refresh_versions(named)] == ["orders: stored as new version 2"]


def test_where_no_query_has_the_name_the_registry_is_asked_which_one_it_is(tmp_path):
    context = registered(tmp_path, f'evidence = ["{LOG}"]')
    file = tmp_path / "headgate.toml"
    file.write_text(file.read_text().replace('"orders"', '"shop"'))
    (found,) = refresh_versions(open_context(str(context.registry.path)))
    assert "Set `query` of shop in headgate.toml to one of these:" in found.problem
    assert "f5276c1b-cd01-47d6-ae22-49bdc7ad81d1" in found.problem


def tell(watch):
    """Write what a watch tells of one query called `orders`."""
    query, run = "83431542-b723-4496-b046-d94b8fd7f64b", "00000000-0000-0000-0000-000000000001"
    head = {"headgate": "watch", "schema": 1, "id": query, "runId": run}
    plan = (GOLDEN / "spark/4.2.0/source_kafka_subscribe/run/explain.txt").read_text()
    records = (
        {"event": "started", "at": "2026-11-21T06:00:00.000Z", "name": "orders"},
        {"event": "plan", "at": "2026-11-21T06:00:01.000Z", "batch": 0, "text": plan},
    )
    file = watch / f"{query}_20261121T060000000Z_00000000_000000.jsonl"
    file.write_text("".join(json.dumps(head | r) + "\n" for r in records))


def test_a_watch_alone_is_enough(tmp_path):
    watch = tmp_path / "watch"
    watch.mkdir()
    context = registered(tmp_path, 'watch = "watch"')
    assert refresh_versions(context) == []
    tell(watch)
    assert [str(f) for f in refresh_versions(context)] == ["orders: stored as new version 1"]
    (kept,) = show_landscape(context, None).pipelines
    assert len(kept.nodes) == 3
