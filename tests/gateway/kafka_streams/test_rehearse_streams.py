"""Rehearsals of Kafka Streams, each with a real broker and a real JVM of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.kafka.cluster import Kafka
from headgate.gateway.kafka.committed_offsets import read_offsets
from headgate.gateway.process.child_process import descendants
from headgate.usecases.rehearsal.rehearse_kafka_streams import PREFIX
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def rehearse(old_run, rehearsed_jar, scratch, tmp_path, monkeypatch):
    """Call `headgate rehearse` on the old version's directory and cluster; return its JSON."""
    (tmp_path / "headgate.toml").write_text(f'[kafka]\nbootstrap_servers = "{old_run.address}"\n')
    monkeypatch.chdir(tmp_path)

    def call(after: str, *more: str):
        given = ["--state-dir", str(old_run.state), "--jar", str(rehearsed_jar), "--after", after]
        done = CliRunner().invoke(
            headgate, ["rehearse", *given, "--scratch", str(scratch), "--format", "json", *more]
        )
        assert done.exit_code == 0, done.output
        assert list(scratch.iterdir()) == []
        return json.loads(done.stdout)

    return call


def on_the_cluster(address: str):
    """Everything that a rehearsal must leave as it is, asked without its help.

    Of groups only the names: the broker removes groups of other tests at any time, and writes it
    into the topic of offsets.
    """
    with Kafka(address, timeout=60.0) as kafka:
        seen = kafka.snapshot()
        ends = {n: [(p.begin, p.end) for p in t.partitions] for n, t in seen.topics.items()}
        del ends["__consumer_offsets"]
        return ends, read_offsets(kafka, "rehearsed"), set(seen.groups)


def files(folder: Path):
    return {f: (f.stat().st_mtime_ns, f.read_bytes()) for f in folder.rglob("*") if f.is_file()}


@pytest.mark.long
def test_a_harmless_change_goes_on_with_the_old_state_and_touches_nothing(rehearse, old_run):
    topics, offsets, groups = on_the_cluster(old_run.address)
    was = topics, offsets, files(old_run.state)
    engine = rehearse("Rehearsed#filtered")["engine"]
    topics, offsets, groups_now = on_the_cluster(old_run.address)
    assert (topics, offsets, files(old_run.state)) == was
    assert groups_now <= groups and "rehearsed" in groups_now
    assert (engine["outcome"], engine["rows_in"], engine["rows_out"]) == ("resumes", 3, 3)
    # The old version had counted `a` twice and `b` once.
    rows = [(r["key"], r["value"]) for r in engine["rows"]]
    assert rows == [("a", "3"), ("c", "1"), ("b", "2")]
    store = {k: engine["state"][0][k] for k in ("store", "fate", "before", "after", "folders")}
    assert store == {"store": "counts", "fate": "kept", "before": 2, "after": 3, "folders": 1}
    assert engine["directory"]["unchanged"] and engine["cluster"]["unchanged"]
    assert (engine["cluster"]["topics"], engine["cluster"]["offsets"]) == (3, 1)


@pytest.mark.long
def test_a_store_that_nobody_reads_any_more_is_told(rehearse, rehearsed_jar):
    old = ["--before", "Rehearsed#counts", "--before-jar", str(rehearsed_jar)]
    found = rehearse("Rehearsed#renamed", *old)
    engine = found["engine"]
    assert engine["outcome"] == "resumes"
    fates = {s["store"]: (s["fate"], s["before"], s["after"]) for s in engine["state"]}
    assert fates == {"counts": ("lost", 2, None), "tallies": ("empty", None, 3)}
    assert (engine["output"]["old"], engine["output"]["equal"]) == ("resumes", 1)
    assert [r["value"] for r in engine["output"]["sample_before"]] == ["3", "2"]
    assert [r["value"] for r in engine["output"]["sample_after"]] == ["1", "1"]
    assert (found["outcome"], found["agreement"]) == ("silently_wrong", "agree")


def test_a_refusal_comes_with_its_class_its_cause_and_how_far_it_came(rehearse):
    found = rehearse("Rehearsed#texts", "--batch", "real")["engine"]
    assert found["outcome"] == "refuses"
    assert found["error_class"] == "org.apache.kafka.streams.errors.StreamsException"
    assert found["message"].startswith("Exception caught in process. taskId=0_0")
    assert found["causes"][1] == (
        "org.apache.kafka.common.errors.SerializationException:"
        " Size of data received by IntegerDeserializer is not 4"
    )
    assert found["stage"] == "batch"
    assert found["directory"]["unchanged"]


def test_a_main_class_is_started_without_any_cluster_on_given_records(rehearse, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"topic": "rehearsed-in", "key": "a", "value": "v"}\n')
    words = [w for p in ("bootstrap", "application_id", "state_dir") for w in ("--arg", f"{{{p}}}")]
    engine = rehearse("Rehearsed", *words, "--offline", "--records", "in.jsonl")["engine"]
    assert (engine["outcome"], engine["form"], engine["cluster"]) == ("resumes", "main", None)
    # From the directory alone: nothing else knows that `a` was counted twice.
    assert [(r["key"], r["value"]) for r in engine["rows"]] == [("a", "3")]


@pytest.mark.long
def test_nothing_is_left_where_the_rehearsal_itself_is_killed(old_run, rehearsed_jar, scratch):
    given = ["--state-dir", str(old_run.state), "--jar", str(rehearsed_jar), "--offline"]
    given += ["--after", "Rehearsed#sleeping", "--scratch", str(scratch)]
    program = [sys.executable, "-c", "from headgate.cli.main import headgate; headgate()"]
    process = subprocess.Popen([*program, "rehearse", *given], stderr=subprocess.DEVNULL)
    try:
        until(lambda: _speaks(scratch))
        below = descendants(process.pid)
        assert len(below) >= 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    until(lambda: not [pid for pid in below if _lives(pid)])
    assert list(scratch.iterdir())
    with scratch_folder(PREFIX, scratch) as folder:
        assert [f.name for f in scratch.iterdir()] == [folder.name]


def _speaks(scratch: Path) -> bool:
    """Whether the JVM of the application has said where it listens."""
    logs = scratch.glob(f"{PREFIX}*/after/application.log")
    return any(log.read_text().count("\n") >= 2 for log in logs)


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
