"""An event log while Spark writes it, and after: the same query as its explain text and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headgate.gateway.spark.event_logs import is_rolling
from headgate.usecases.evidence.query_rows import QueryRow, queries_of
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_version import gather, read_version
from support.waiting import PATIENCE

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).with_name("event_log_program.py")


@pytest.mark.parametrize(
    ("codec", "rolling"), [("zstd", "true"), pytest.param("lz4", "false", marks=pytest.mark.long)]
)
def test_a_log_is_read_while_it_is_written_and_after(tmp_path: Path, codec: str, rolling: str):
    (tmp_path / "log").mkdir()
    command = [sys.executable, str(PROGRAM), str(tmp_path), codec, rolling]
    with (tmp_path / "said").open("w") as said:
        driver = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True
        )
        assert driver.stdin is not None and driver.stdout is not None
        try:
            told = json.loads(driver.stdout.readline() or "{}")
            assert told, (tmp_path / "said").read_text()[-2000:]
            running = _seen(tmp_path / "log", told["id"])
            driver.stdin.write("\n")
            driver.stdin.close()
            assert driver.wait(PATIENCE) == 0
        finally:
            driver.kill()
            driver.wait()
    if running is not None:
        assert (running.name, running.state) == ("cities", "running")
    (log,) = (tmp_path / "log").iterdir()
    assert log.is_dir() == (rolling == "true")
    if log.is_dir():
        assert is_rolling(p.name for p in log.iterdir())
    (row,) = queries_of(gather([str(log)]))
    assert (row.id, row.name, row.runs, row.state) == (told["id"], "cities", 1, "stopped")
    assert len(read_progress([str(log)])) >= told["reports"]
    version = read_version([str(log)])
    ids = {n.id for n in version.topology.nodes}
    assert version.warnings == () and version.output_mode == "Complete"
    for name in ("unstarted.txt", "batch.txt"):
        assert {n.id for n in read_version([str(tmp_path / name)]).topology.nodes} == ids
    logical = {n.id for n in read_version([str(tmp_path / "logical.json")]).topology.nodes}
    assert logical and logical <= ids


def _seen(folder: Path, query: str) -> QueryRow | None:
    """The query in the log that is being written; None where Spark has not flushed it yet."""
    # Spark may flush it only at the end: more patience would not help.
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        (log,) = folder.iterdir()
        try:
            rows = queries_of(gather([str(log)]))
        except Exception as error:
            # Nothing of it may have been flushed: then one sentence says so.
            assert "\n" not in str(error) and "log" in str(error)
            rows = ()
        if rows:
            assert [r.id for r in rows] == [query]
            return rows[0]
        time.sleep(0.5)
    return None
