"""Where a query writes, as its watch and its registered evidence tell."""

import json
import shutil
from pathlib import Path

import pytest

from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.usecases.compare.known_outputs import known_outputs
from headgate.usecases.context import Context
from support.watched_run import tell_run

GOLDEN = Path(__file__).parents[2] / "golden"
QUERY = "6bbffc68-d492-4077-83e8-f45d7e470237"


def opened(folder, **more):
    pipeline = Pipeline(name="q", engine=Engine.SPARK, **more)
    registry = Registry(path=str(folder / "headgate.toml"), pipelines=(pipeline,))
    return Context(registry=registry, home=folder, store_url=f"sqlite:///{folder}/s.db")


@pytest.fixture
def recorded(tmp_path):
    """A recorded query that writes to files, as a watch tells of it."""
    folder = tmp_path / "recorded"
    shutil.copytree(GOLDEN / "spark" / "4.2.0" / "sink_file_partitioned" / "run", folder)
    shutil.copy(folder / "physical.json", folder / "logical.json")
    capture = json.loads((folder / "capture.json").read_text())
    capture["sink"] = {"format": "json", "options": {"path": "/data/new"}}
    (folder / "capture.json").write_text(json.dumps(capture))
    return folder


def test_registered_evidence_tells_the_output(tmp_path):
    context = opened(tmp_path, evidence=(str(GOLDEN / "sinks" / "delta_path" / "progress.json"),))
    (found,) = known_outputs(context, "q")
    assert (found.place, found.told_by) == ("/data/out/delta", "registered evidence")
    # A file may be older than the query that runs: it says nothing of a certain one.
    assert known_outputs(context, "q", QUERY) == ()


def test_a_watch_tells_the_output_of_the_query_that_runs(tmp_path, recorded):
    tell_run(tmp_path / "watch", recorded, query=QUERY)
    context = opened(tmp_path, watch=str(tmp_path / "watch"))
    (found,) = known_outputs(context, "q", QUERY)
    assert found.place == "/data/new" and str(tmp_path / "watch") in found.told_by
    assert known_outputs(context, "q", "another") == ()


def test_what_can_not_be_read_tells_nothing(tmp_path):
    context = opened(tmp_path, evidence=(str(tmp_path / "none.json"),))
    assert known_outputs(context, "q") == known_outputs(context, "unknown") == ()
