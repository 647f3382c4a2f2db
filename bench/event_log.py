"""Event logs: against decoding all of it with msgspec, and against Spark's own History Server.

The log is one that Spark 4.2 wrote for dozens of queries, repeated with other batches and
executions until it is large enough.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa
from harness import Row, least_of

LOG = Path(__file__).parent.parent / "tests" / "golden" / "many_queries"
_NUMBER = re.compile(
    rb'(\\nbatch = |"batchId":|"executionId":|"rootExecutionId":|"spark.sql.execution.id":"'
    rb'|"Job ID":|"Stage ID":|"Task ID":|\0)(\d+)'
)
_STAGES = re.compile(rb'"Stage IDs":\[[\d,]+\]')
_EACH = re.compile(rb"(?=\b\d+\b)")
_APPLICATION = "local-1795250729015"
_MIB = 1 << 20
SPEED, REPLAYED, LARGE = 300 * _MIB, 100 * _MIB, 2048 * _MIB
_PATIENCE = 600


def rows() -> Iterator[Row]:
    """Yield speed against msgspec, speed against the History Server, and memory."""
    with tempfile.TemporaryDirectory(prefix="bench-event-log-") as folder:
        log = Path(folder) / "log"
        enlarged(log, SPEED)
        ours, peer = least_of((lambda: _read(log), lambda: _decode(log)), 3)
        yield Row(
            subject=f"event log of {SPEED // _MIB} MiB",
            ours=ours,
            peer=peer,
            goal="at most twice as long as decoding its JSON",
            met=ours <= 2 * peer,
            peer_is="reading and decoding every line with msgspec",
        )
        enlarged(log, REPLAYED)
        (ours,) = least_of((lambda: _read(log),), 3)
        peer = replayed(log, Path(folder) / "history")
        yield Row(
            subject=f"event log of {REPLAYED // _MIB} MiB",
            ours=ours,
            peer=peer,
            goal="at least 10 times as fast as the History Server",
            met=10 * ours <= peer,
            peer_is="Spark's History Server replaying it",
        )
        enlarged(log, LARGE)
        yield _memory(log)


def enlarged(target: Path, size: int) -> None:
    """Write the recorded log again and again, with other batches, executions and jobs each time."""
    packed = next(LOG.rglob("events_1_*"))
    with pa.CompressedInputStream(pa.OSFile(str(packed)), "zstd") as stream:
        lines = stream.read().splitlines(keepends=True)
    head = [x for x in lines[:20] if b"ApplicationStart" in x or b"LogStart" in x or b"Envir" in x]
    body = b"".join(x for x in lines if x not in head and b"ApplicationEnd" not in x)
    body = _STAGES.sub(lambda m: _EACH.sub(b"\0", m[0]), body)
    parts = _NUMBER.split(body)
    texts = [a + b.strip(b"\0") for a, b in zip(parts[0::3], [*parts[1::3], b""], strict=True)]
    numbers = [int(n) for n in parts[2::3]]
    with target.open("wb") as out:
        out.writelines(head)
        step = 0
        while out.tell() < size:
            told = [b"%d" % (n + step) for n in numbers]
            out.write(b"".join(x for pair in zip(texts, told, strict=False) for x in pair))
            out.write(texts[-1])
            step += 1000
        out.write(next(x for x in lines if b"ApplicationEnd" in x))


def _read(log: Path) -> None:
    from headgate.gateway.files.evidence_files import find
    from headgate.gateway.spark.event_logs import event_log

    place = find(str(log))
    files = event_log(place) if place else None
    assert files is not None and len(files.read().runs) == 218


def _decode(log: Path) -> None:
    decoder = msgspec.json.Decoder()
    with log.open("rb") as lines:
        for line in lines:
            decoder.decode(line)


def _memory(log: Path) -> Row:
    """Read in a process of its own: its peak is the answer."""
    start = time.perf_counter()
    subprocess.run([sys.executable, __file__, str(log)], check=True)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads((log.parent / "peak.json").read_text())
    assert peak.ru_maxrss > 0
    return Row(
        subject=f"resident memory for an event log of {log.stat().st_size / (1 << 30):.1f} GiB"
        f" (read in {took:.0f} s)",
        ours=told["peak"] / 1024,
        unit="MiB",
        goal="under 300 MB",
        met=told["peak"] * 1024 < 300e6,
    )


def replayed(log: Path, folder: Path) -> float:
    """Return the seconds that a History Server needs to answer for an application it never saw."""
    folder.mkdir()
    (folder / _APPLICATION).symlink_to(log)
    with _history_server(folder) as address:
        _until_listed(address)
        start = time.perf_counter()
        _get(f"{address}/applications/{_APPLICATION}/jobs?status=running")
        return time.perf_counter() - start


@contextmanager
def _history_server(folder: Path) -> Iterator[str]:
    import pyspark

    home = Path(pyspark.__file__).parent
    port = _free_port()
    options = {
        "spark.history.fs.logDirectory": folder.as_uri(),
        "spark.history.ui.port": str(port),
        "spark.history.fs.update.interval": "1s",
    }
    env = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "3g",
        "SPARK_HISTORY_OPTS": " ".join(f"-D{k}={v}" for k, v in options.items()),
    }
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.history.HistoryServer"]
    with (folder.parent / "history.log").open("w") as said:
        server = subprocess.Popen(command, env=env, stdout=said, stderr=said)
        try:
            yield f"http://127.0.0.1:{port}/api/v1"
        finally:
            server.terminate()
            server.wait(30)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _until_listed(address: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            if json.loads(_get(f"{address}/applications")):
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise SystemExit("the History Server did not list the application")


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:
        found: bytes = answer.read()
        return found


if __name__ == "__main__":
    path = Path(sys.argv[1])
    _read(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (path.parent / "peak.json").write_text(json.dumps({"peak": peak}))
