"""Stop a real query through `headgate.watch`: by a folder and by a topic, and never by a forger."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

import headgate
from headgate.errors import StepError
from headgate.gateway.adapters import driver_messages
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.commands import WatchControl
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.spark.watch.driver_messages import FOLDER, ControlRequest
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.spark_driver import driver_messages as messages_in_driver
from support.waiting import until

pytestmark = pytest.mark.spark
TOKEN = "tok-of-the-tests"


def start(spark, tmp_path):
    """Start a query with a batch every half second, from rate to files."""
    frame = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    return (
        frame.writeStream.format("parquet")
        .trigger(processingTime="500 milliseconds")
        .option("checkpointLocation", str(tmp_path / "ck"))
        .start(str(tmp_path / "out"))
    )


@pytest.fixture
def running(spark, tmp_path):
    """The query, which is stopped at the end."""
    query = start(spark, tmp_path)
    yield query
    query.stop()


def effects_of(tmp_path, watch, *, bootstrap=None, token=None):
    commands = Commands(stop="headgate.watch", calls={"stop": WatchControl(token=token)})
    pipeline = Pipeline(
        name="q",
        engine=Engine.SPARK,
        checkpoint=str(tmp_path / "ck"),
        watch=watch,
        commands=commands,
    )
    registry = Registry(
        path=str(tmp_path / "headgate.toml"), bootstrap_servers=bootstrap, pipelines=(pipeline,)
    )
    notes = []
    made: Any = LiveApplier(
        RunContext(
            registry=registry,
            home=tmp_path / ".headgate",
            run="r",
            pause=time.sleep,
            note=notes.append,
        )
    )
    made.notes = notes
    return made


def test_a_driver_stops_its_query_between_two_batches_and_the_stop_is_proven(
    spark, running, tmp_path, monkeypatch
):
    monkeypatch.setenv("T", TOKEN)
    place = str(tmp_path / "watch")
    with headgate.watch(spark, place, control=True, token=TOKEN):
        until(lambda: (running.lastProgress or {}).get("batchId", 0) >= 2)
        applier = effects_of(tmp_path, place, token="${T}")
        until(lambda: applier.processes.driver_status("q").status is Status.RUNS)
        plan = build_plan("pause", "q", applier)
        assert plan.can_apply, plan.blockers
        step, drained = plan.steps
        was = step.bind(applier)
        assert was == {"running": True}
        step.apply(applier, was)
        assert not running.isActive
        step.verify(applier, was)
        found = applier.checkpoints.read(str(tmp_path / "ck"))
        # Batches follow each other at once: the next may be uncommitted, and is reprocessed.
        assert found.last_offset_batch - found.last_commit_batch in (0, 1)
        assert applier.processes.driver_status("q").status is Status.STOPPED
        assert not list((tmp_path / "watch" / FOLDER).iterdir())
        applier.processes.command("q", "stop")  # once more: there is nothing to ask
        assert "reports no running query" in applier.notes[-1]
        drained.apply(applier, drained.bind(applier))
        drained.verify(applier, {})
        assert f"q is paused after batch {found.last_commit_batch}" in applier.notes[-1]
        again = start(spark, tmp_path)
        until(lambda: again.recentProgress)
        assert again.recentProgress[0]["batchId"] == found.last_commit_batch + 1
        again.stop()
    said = "".join(p.read_text() for p in (tmp_path / "watch").glob("*.jsonl"))
    assert TOKEN not in said


def test_forged_expired_and_foreign_requests_stop_nothing(spark, running, tmp_path):
    good = ControlRequest(
        do="stop",
        query=str(running.id),
        run=str(running.runId),
        nonce="n",
        expires=(datetime.now(UTC) + timedelta(seconds=60)).isoformat(),
    )
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    later = (datetime.now(UTC) + timedelta(seconds=90)).isoformat()
    bad = {
        "unsigned": good,
        "forged": replace(good, nonce="forged").signed("another"),
        "expired": replace(good, nonce="expired", expires=past).signed(TOKEN),
        "forever": replace(good, expires="2999-01-01T00:00:00+00:00", nonce="forever").signed(
            TOKEN
        ),
        "changed": replace(replace(good, nonce="changed").signed(TOKEN), expires=later),
        "another word": replace(good, do="drop", nonce="another word").signed(TOKEN),
        "another run": replace(good, run=str(uuid4()), nonce="another run").signed(TOKEN),
    }
    folder = tmp_path / "watch" / FOLDER
    with headgate.watch(spark, tmp_path / "watch", control=True, token=TOKEN):
        folder.mkdir(parents=True)
        (folder / "torn.json").write_bytes(good.signed(TOKEN).line()[:-20])
        for name, request in bad.items():
            (folder / f"{name}.json").write_bytes(replace(request, nonce=name).line())
        applier = effects_of(tmp_path, str(tmp_path / "watch"))

        def refused():
            life = applier.processes.drivers.life(applier.processes.registered("q"))
            return life is not None and len(life.answers) >= 6

        until(refused)
        answers = applier.processes.drivers.life(applier.processes.registered("q")).answers
        assert answers.keys() == bad.keys() - {"another run"}
        assert all(answer.startswith("refused") for answer in answers.values())
        assert "expired" in answers["expired"]
        assert "is valid for longer" in answers["forever"]
        assert "isn't signed" in answers["changed"]
        assert running.isActive
        with pytest.raises(StepError, match="the request isn't signed with this watch's token"):
            applier.processes.command("q", "stop")
        assert running.isActive


def test_a_watch_without_control_hears_nothing(spark, running, tmp_path, monkeypatch):
    monkeypatch.setattr(driver_messages, "HEAR_SECONDS", 2.0)
    with headgate.watch(spark, tmp_path / "watch"):
        applier = effects_of(tmp_path, str(tmp_path / "watch"))
        until(lambda: applier.processes.driver_status("q").status is Status.RUNS)
        with pytest.raises(StepError, match="with control=True"):
            applier.processes.command("q", "stop")
        assert running.isActive


@pytest.mark.kafka
@pytest.mark.long
def test_a_driver_hears_through_its_topic(spark, running, tmp_path, broker, topic, monkeypatch):
    # It looks for the end of its topic only when the first request stands there.
    monkeypatch.setattr(messages_in_driver, "LOOK_SECONDS", 3.0)
    kafka = f"kafka:{topic('watch', partitions=2)}"
    with headgate.watch(spark, kafka, bootstrap_servers=broker, control=True):
        applier = effects_of(tmp_path, kafka, bootstrap=broker)

        until(lambda: applier.processes.driver_status("q").status is Status.RUNS)
        applier.processes.command("q", "stop")
        assert not running.isActive
        assert applier.processes.driver_status("q").status is Status.STOPPED
