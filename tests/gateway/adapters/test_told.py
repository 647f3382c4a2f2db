"""What drivers tell of themselves to a plan: the watch first, then Spark's UI; never a guess."""

import json
from dataclasses import replace

import pytest
from platforms import served

from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.spark.rest_api import running_queries
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.ports.processes import Status
from headgate.spark_driver.records import Kind, Record, line, now
from headgate.spark_driver.session import this_process

QUERY = "11111111-2222-3333-4444-555555555555"
RUN = "66666666-7777-8888-9999-000000000000"
BATCH = f"orders\nid = {QUERY}\nrunId = {RUN}\nbatch = 7"


@pytest.fixture
def ui():
    """A server that answers as a running application's UI; `batches` are its executions."""

    def show(jobs, *batches, completed=False):
        application = {"id": "app-1", "name": "x", "attempts": [{"completed": completed}]}
        executions = [
            {"id": n, "status": status, "description": text}
            for n, (status, text) in enumerate(batches)
        ]
        jobs.answers["/api/v1/applications/app-1/sql"] = 200, json.dumps(executions).encode()
        jobs.answers["/api/v1/applications"] = 200, json.dumps([application]).encode()

    with served() as (address, jobs):
        yield f"http://{address}", lambda *batches, **more: show(jobs, *batches, **more)


@pytest.fixture
def pipeline(tmp_path):
    (tmp_path / "ck").mkdir()
    (tmp_path / "ck" / "metadata").write_text(json.dumps({"id": QUERY}))
    return Pipeline(
        name="orders",
        engine=Engine.SPARK,
        checkpoint=str(tmp_path / "ck"),
        watch=str(tmp_path / "watch"),
    )


@pytest.fixture
def told(tmp_path):
    def ask(pipeline):
        registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,))
        return LiveInspector(registry, tmp_path).processes.driver_status(pipeline.name)

    return ask


def write(folder, *records):
    folder.mkdir(exist_ok=True)
    name = f"{QUERY}_20261121T100000000Z_{RUN[:8]}_000000.jsonl"
    (folder / name).write_bytes(b"".join(line(r) for r in records))


def record(kind, **body):
    return Record(kind, QUERY, RUN, now(), body)


def test_a_batch_under_way_is_seen_in_the_ui(ui):
    url, show = ui
    show(("COMPLETED", BATCH.replace("7", "6")), ("RUNNING", BATCH))
    assert running_queries(url) == {QUERY}
    show(("COMPLETED", BATCH), ("RUNNING", "show at shell:1"))
    assert running_queries(url) == frozenset()
    show(("RUNNING", BATCH), completed=True)
    assert running_queries(url) == frozenset()


def test_a_ui_speaks_against_a_stop_and_never_for_one(ui, pipeline, told):
    url, show = ui
    watched = replace(pipeline, watch=None, evidence=(url,))
    show(("RUNNING", BATCH))
    assert told(watched).status is Status.RUNS
    assert "shows a batch in progress" in told(watched).why
    show(("COMPLETED", BATCH))
    assert told(watched).status is Status.UNKNOWN
    assert told(replace(watched, evidence=("http://127.0.0.1:9",))).status is Status.UNKNOWN


def test_the_watch_tells_a_life_and_its_end(tmp_path, pipeline, told):
    assert told(pipeline).status is Status.UNKNOWN
    started = record(Kind.STARTED, name="orders", driver=this_process())
    write(tmp_path / "watch", started)
    assert told(pipeline).status is Status.RUNS
    write(tmp_path / "watch", started, record(Kind.TERMINATED, exception=None))
    assert told(pipeline).status is Status.STOPPED


def test_a_driver_whose_process_is_gone_is_stopped_at_once(tmp_path, pipeline, told):
    gone = {**this_process(), "begun": 1}
    write(tmp_path / "watch", record(Kind.STARTED, name="orders", driver=gone))
    found = told(pipeline)
    assert found.status is Status.STOPPED
    assert "has ended" in found.why


def test_another_query_of_the_same_watch_proves_nothing(tmp_path, pipeline, told):
    write(tmp_path / "watch", record(Kind.STARTED, name="else", driver=this_process()))
    (tmp_path / "ck" / "metadata").write_text('{"id": "another"}')
    assert told(pipeline).status is Status.UNKNOWN
