"""What the worker re-reads each minute: a version is added only where its content changed."""

import pytest

from headgate.model.version import Engine, Version
from headgate.parse.version_file import dump
from headgate.store import open_store
from headgate.store.runs import NewRun
from headgate.usecases.context import open_context
from headgate.usecases.list_versions import list_versions
from headgate.usecases.refresh_versions import refresh_versions

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
    assert str(refresh_versions(context)[-1]) == "payments: version 2"
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
    assert all(f.pipeline != "payments" for f in refresh_versions(context))
