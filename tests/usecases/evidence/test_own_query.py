"""Whose reports are a pipeline's: after a reset its watch holds two queries of one name."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from headgate.errors import QueryChoiceError, with_next_step
from headgate.gateway.spark.watch_folder import newest_watch_files
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.ui.shared import cached_reads
from headgate.usecases.check.check_readiness import _newest
from headgate.usecases.context import Context
from headgate.usecases.evidence.own_query import own_query
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_registered import read_registered
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.evidence.watched_query import life_of
from headgate.usecases.landscape.show_landscape import show_landscape
from headgate.usecases.reprocess.estimate_cost import _time
from headgate.usecases.runs.read_catch_up import CatchUpPositions, _with_report
from support.watched_run import tell_run

RECORDED = Path(__file__).parents[2] / "cases" / "spark" / "agg_map_add" / "before"
BEFORE = "7292eab1-7abd-4d19-87f9-01d728701a87"
AFTER = "11112222-7abd-4d19-87f9-01d728701a87"
NAMES = {BEFORE: "by-city", AFTER: "by-city"}


def told(folder: Path, names: dict[str, str | None]) -> str:
    """Write a watch of queries, the later ones newer; return its folder."""
    watch = folder / "watch"
    for run, (query, name) in enumerate(names.items(), start=1):
        file = tell_run(watch, RECORDED, query=query, run=run, batch=91 if run == 1 else 0)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if "progress" in line:
                line["progress"]["name"] = name
            line["name"] = name
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(watch)


def checkpoint(folder: Path, query: str) -> str:
    (folder / "ck").mkdir()
    (folder / "ck" / "metadata").write_text(json.dumps({"id": query}))
    return str(folder / "ck")


def registered(folder: Path, **fields: object) -> tuple[Context, Pipeline]:
    pipeline = replace(Pipeline(name="by-city", engine=Engine.SPARK), **fields)
    registry = Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,))
    return Context(registry, f"sqlite:///{folder / 'store.db'}", folder), pipeline


@pytest.mark.parametrize("query", [None, "by-city"])
@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_after_a_reset_every_reader_takes_the_newest_query(tmp_path, query, has_checkpoint):
    ck = checkpoint(tmp_path, AFTER) if has_checkpoint else None
    watch = told(tmp_path, NAMES)
    context, pipeline = registered(tmp_path, watch=watch, query=query, checkpoint=ck)
    look = CatchUpPositions(at=0, done=0, left=0, ended=0, partitions=1, at_end=0)
    assert "the query reports batch 0" in _with_report(context, pipeline, look, 0).reported
    assert life_of(pipeline, newest_watch_files(_place(watch)), context).query_id == AFTER
    own = cached_reads.own_query_of(context, pipeline)
    assert {b.query_id for b in cached_reads.progress(context, (watch,), own)} == {AFTER}
    version = SimpleNamespace(engine=Engine.SPARK, query_id=BEFORE)
    assert _newest([], version, context, None, pipeline).query_id == AFTER
    cost = _time(context, pipeline, SimpleNamespace(impact={"records": {"orders": 1}}))
    assert "queries" not in json.dumps(cost)


def _place(watch: str):
    from headgate.gateway.files.evidence_files import find

    return find(watch, {})


def test_what_the_query_before_reported_is_not_the_fresh_checkpoints(tmp_path):
    watch = told(tmp_path, {BEFORE: "by-city"})
    context, pipeline = registered(tmp_path, watch=watch, checkpoint=checkpoint(tmp_path, AFTER))
    look = CatchUpPositions(at=0, done=0, left=0, ended=0, partitions=1, at_end=0)
    assert _with_report(context, pipeline, look, 0).reported is None


def test_a_name_means_its_newest_query(tmp_path):
    watch = told(tmp_path, NAMES)
    assert {b.query_id for b in read_progress([watch], query="by-city")} == {AFTER}
    assert read_version([watch], query="by-city").query_id == AFTER
    assert {b.query_id for b in read_progress([watch], query=BEFORE)} == {BEFORE}


def test_progress_of_one_name_is_of_the_query_that_was_seen_last(tmp_path):
    watch = Path(told(tmp_path, NAMES))
    reports = [
        json.loads(line)["progress"]
        for file in sorted(watch.glob("*.jsonl"), reverse=True)
        for line in file.read_text().splitlines()
        if '"progress"' in line
    ]
    for order in (reports, reports[::-1]):
        (tmp_path / "progress.json").write_text(json.dumps(order))
        version = read_version([str(tmp_path / "progress.json")], query="by-city")
        assert version.progress.offsets_batch == 0


def test_queries_of_other_names_need_a_line_in_the_registry(tmp_path):
    watch = told(tmp_path, {BEFORE: "one", AFTER: "other"})
    context, pipeline = registered(tmp_path, watch=watch)
    with pytest.raises(QueryChoiceError, match=r"Set `query` of"):
        read_progress([watch], query=own_query(pipeline, context))
    context, pipeline = registered(tmp_path, watch=watch, query="third")
    with pytest.raises(QueryChoiceError, match=r"the evidence has no query 'third'\. Set"):
        read_progress([watch], query=own_query(pipeline, context))
    context, pipeline = registered(tmp_path, watch=watch, query="one")
    assert {b.query_id for b in read_progress([watch], query=own_query(pipeline, context))} == {
        BEFORE
    }


def test_the_only_query_is_taken_whatever_its_name(tmp_path):
    watch = told(tmp_path, {BEFORE: "other"})
    context, pipeline = registered(tmp_path, watch=watch)
    assert len(read_progress([watch], query=own_query(pipeline, context))) == 1


def test_the_landscape_takes_positions_of_the_newest_query_of_a_watch(tmp_path):
    first = told(tmp_path, {BEFORE: "by-city"})
    context, _ = registered(tmp_path, watch=first)
    version = read_version([first])
    with closing(open_store(context.store_url)) as store:
        store.versions.add("by-city", version, fingerprint(version))
    told(tmp_path, NAMES)
    (found,) = show_landscape(context, None).pipelines
    assert found.lag_at == "2026-11-21T02:00:02.000Z"


def test_a_wrong_query_in_the_registry_is_to_be_corrected_there(tmp_path):
    watch = Path(told(tmp_path, {BEFORE: "one", AFTER: "other"}))
    reports = [
        json.loads(line)["progress"]
        for file in sorted(watch.glob("*.jsonl"))
        for line in file.read_text().splitlines()
        if '"progress"' in line
    ]
    (tmp_path / "progress.json").write_text(json.dumps(reports))
    context, pipeline = registered(
        tmp_path, evidence=(str(tmp_path / "progress.json"),), query="third"
    )
    with pytest.raises(QueryChoiceError) as error:
        read_registered(context, pipeline)
    first, *listed = str(error.value).splitlines()
    how = "Set `query` of by-city in headgate.toml to one of these"
    assert first == f"the evidence has no query 'third'. {how}:"
    assert (len(listed), with_next_step(error.value)) == (2, str(error.value))
