"""The process that compares two outputs: how it ends, and where else it runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyspark
import pytest

from headgate.errors import RunCancelledError, UnreachableError
from headgate.gateway.process.child_process import descendants
from headgate.gateway.spark.compare_outputs import CompareRequest, compare_outputs
from headgate.model.registered_pipelines import Registry, SparkSettings
from headgate.spark_jobs.data import compare_outputs as program
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.spark
SECRET = "cmp-s3cr3t-value"
SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


LOCAL = SparkSettings(master="local[1]", config=SMALL)


@pytest.fixture
def team(tmp_path, monkeypatch):
    """Two outputs that differ in a row; temporary files are in a folder of the test."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    (tmp_path / "a.csv").write_text("id,n\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("id,n\n1,2\n2,4\n")
    settings = "".join(f'"{key}" = "{value}"\n' for key, value in SMALL.items())
    (tmp_path / "headgate.toml").write_text(
        f'[spark]\nmaster = "local[1]"\n[spark.config]\n{settings}'
    )
    return tmp_path


@pytest.fixture
def compare(team):
    def compared(spark=LOCAL, **more):
        wish = CompareRequest(a=str(team / "a.csv"), b=str(team / "b.csv"), keys=["id"])
        return compare_outputs(wish, Registry(spark=spark), **more)

    return compared


def processes(team):
    """Return the names of all processes of comparisons in the test's folder, by their ids."""
    wanted = f"HEADGATE_COMMAND=compare:{team / 'tmp'}".encode()
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "comm").read_text().strip()
    return found


def engines(team):
    return [pid for pid, name in processes(team).items() if name == "java"]


def folders(team):
    return list((team / "tmp").glob("headgate-compare-*"))


def test_a_cancelled_comparison_leaves_no_process_and_no_file(team, compare):
    with pytest.raises(RunCancelledError, match="Start the comparison again"):
        compare(cancelled=lambda: bool(engines(team)))
    until(lambda: not processes(team))
    assert folders(team) == []


def test_it_ends_with_the_command_that_started_it(team):
    command = [sys.executable, "-m", "headgate.cli.main", "compare-output", "a.csv", "b.csv"]
    for ended, last in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, None)):
        process = subprocess.Popen([*command, "--keys", "id"], cwd=team, stderr=subprocess.DEVNULL)
        until(lambda: engines(team))
        process.send_signal(ended)
        code = process.wait(PATIENCE)
        assert code == last if last else code != 0
        until(lambda: not processes(team))
        # Nothing can delete the files of a process that was killed, but others can't read them.
        (folder,) = folders(team)
        assert folder.stat().st_mode & 0o077 == 0


def test_an_engine_that_dies_is_named_in_one_sentence(team, compare):
    def kill(text):
        if text.startswith("Reading"):
            for pid in engines(team):
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(UnreachableError, match=r"^the comparison of .* failed: .+") as caught:
        compare(say=kill)
    assert "\n" not in str(caught.value)

    def kill_all(text):
        for pid in processes(team):
            os.kill(pid, signal.SIGKILL)

    with pytest.raises(UnreachableError, match=r"ended without a result \(killed by signal 9\)"):
        compare(say=kill_all)
    until(lambda: not processes(team))
    assert folders(team) == []


@pytest.mark.long
def test_two_at_once_are_apart(compare):
    with ThreadPoolExecutor(2) as both:
        for one in [both.submit(compare) for _ in range(2)]:
            assert (one.result().different, one.result().rows_a) == (1, 2)


@pytest.mark.long
def test_on_a_cluster_it_finds_the_same(team, compare, standalone_cluster):
    config = {**standalone_cluster.config, "spark.hadoop.fs.s3a.secret.key": SECRET}
    shown = []

    def look(text):
        shown.extend(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in descendants(os.getpid()))

    found = compare(SparkSettings(master=standalone_cluster.master, config=config), say=look)
    assert (found.equal, found.different, found.rows_a, found.rows_b) == (False, 1, 2, 2)
    assert not any(SECRET.encode() in line for line in shown)
    assert not processes(team) and folders(team) == []


def test_without_headgate_it_writes_the_result_to_a_file_or_to_stdout(team):
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

    def run(*given):
        small = [word for pair in SMALL.items() for word in ("--conf", "=".join(pair))]
        program_of_ours = [program.__file__, *given, "--keys", "id"]
        command = [submit, "--master", "local[1]", *small, *program_of_ours]
        done = subprocess.run(command, cwd=team, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    code, out, err = run("a.csv", "b.csv", "--result", "result.json")
    assert code == 1, err
    found = json.loads((team / "result.json").read_text())
    assert (found["equal"], found["rows"], found["different"]) == (False, {"a": 2, "b": 2}, 1)
    assert out == ""
    code, out, err = run("a.csv", "a.csv")
    assert code == 0 and json.loads(out)["equal"] is True, err
    code, out, err = run("a.csv", "none.csv")
    assert code == 2 and json.loads(out).keys() == {"error", "kind"}, err
