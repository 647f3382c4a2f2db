"""Which run is taken for the new version, and what its evidence says of it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.model.cluster import Group
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.kafka_streams.from_cluster import with_application_id
from headgate.reprocess.ports.evidence import RunningVersion, Trace
from headgate.usecases.compare.compare_versions import read_side
from headgate.usecases.compare.judge_running import judge_running
from headgate.usecases.context import Context
from support.watched_run import tell_run

ROOT = Path(__file__).parents[2]
CASE = ROOT / "cases" / "spark" / "agg_map_add"
QUERY = "7292eab1-7abd-4d19-87f9-01d728701a87"
# What the old version left: batch 0 is done, batch 1 was begun.
LEFT = Trace(query_id=QUERY, committed=0, begun=1)


@pytest.fixture
def context(tmp_path):
    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint="ck", watch=str(tmp_path / "w"))
    registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,))
    return Context(registry, f"sqlite:///{tmp_path / 'headgate.db'}", tmp_path)


def registered(context, **fields):
    pipeline = replace(context.registry.pipelines[0], **fields)
    return replace(context, registry=replace(context.registry, pipelines=(pipeline,)))


def judged(context, trace=LEFT, after=str(CASE / "after")):
    version = fingerprint(read_side((str(CASE / "after"),), None))
    return judge_running(context, "q", after, version, trace)


def test_the_version_that_was_judged_is_known_again(context, tmp_path):
    told = tell_run(tmp_path / "w", CASE / "after", query=QUERY)
    assert judged(context) == RunningVersion(told_by=str(told))


def test_another_version_is_named_with_what_differs(context, tmp_path):
    tell_run(tmp_path / "w", CASE / "before", query=QUERY)
    found = judged(context)
    assert found.differs == (
        "Stored values were computed with the old expression, and new rows use the new one"
        " (sum((s0.v * 10)) -> sum(s0.v), AGG003)",
        "The stateless operator project was removed (v -> none, TRF001)",
    )


@pytest.mark.parametrize(
    ("batch", "trace"),
    [(0, LEFT), (1, replace(LEFT, committed=1, begun=2)), (5, replace(LEFT, query_id="other"))],
)
def test_a_run_that_may_be_the_old_versions_tells_nothing(context, tmp_path, batch, trace):
    tell_run(tmp_path / "w", CASE / "before", query=QUERY, batch=batch)
    found = judged(context, trace)
    assert found == RunningVersion(
        untold=("no `watch` or `evidence` of the pipeline shows the query plan of the new run",)
    )


def test_of_two_new_runs_the_last_one_counts(context, tmp_path):
    tell_run(tmp_path / "w", CASE / "before", query=QUERY, run=1)
    tell_run(tmp_path / "w", CASE / "after", query=QUERY, run=2, batch=2)
    assert judged(context).told_by and not judged(context).differs


def test_without_evidence_it_is_said_what_to_register(context):
    found = judged(registered(context, watch=None))
    assert found.told_by is None and "has no `watch` and no `evidence`" in found.untold[0]


def test_an_explain_text_of_no_run_proves_nothing(context):
    named = registered(context, watch=None, evidence=(str(CASE / "after" / "explain.txt"),))
    assert judged(named).told_by is None


def test_an_event_log_tells_of_its_newest_run(context):
    log = ROOT / "golden" / "event_logs" / "plain" / "local-1"
    named = registered(context, watch=None, evidence=(str(log),))
    found = judged(named, Trace(query_id="f5276c1b-cd01-47d6-ae22-49bdc7ad81d1"))
    assert found.told_by == str(log) and found.differs


def test_what_can_not_be_read_is_said(context, tmp_path):
    named = registered(context, watch=None, evidence=("http://127.0.0.1:9",))
    assert "could not be read" in judged(named).untold[0]
    tell_run(tmp_path / "w", CASE / "after", query=QUERY)
    assert "can no longer be read" in judged(context, after=str(tmp_path / "gone")).untold[0]


def test_evidence_that_changed_since_is_no_judge(context, tmp_path):
    tell_run(tmp_path / "w", CASE / "after", query=QUERY)
    shutil.copytree(CASE / "after", tmp_path / "after")
    capture = tmp_path / "after" / "capture.json"
    capture.write_text(json.dumps(json.loads(capture.read_text()) | {"output_mode": "complete"}))
    found = judged(context, after=str(tmp_path / "after"))
    assert "has changed since Headgate made the plan" in found.untold[0]


def test_a_streams_group_is_looked_at_itself(context):
    described = ROOT / "golden" / "streams" / "2.8.2" / "count_named.txt"
    named = registered(context, engine=Engine.KAFKA_STREAMS, group="app", checkpoint=None)
    version = fingerprint(with_application_id(read_side((str(described),), None), "app"))
    trace = Trace(group=Group(id="app", members=()))
    found = judge_running(named, "q", str(described), version, trace)
    assert found.told_by == "the group app" and "classic protocol" in found.untold[0]
