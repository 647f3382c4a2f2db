"""Have Spark compare two outputs, in a process beside us."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.errors import OutputError, RunCancelledError, UnreachableError
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.kafka.java_client_config import java_config
from headgate.gateway.process.child_process import Child
from headgate.gateway.process.jars import spark_jars
from headgate.gateway.spark.run_job import BUSY, ended_early
from headgate.gateway.spark.submit_job import Submission
from headgate.model.output_comparison import ComparedColumn, OutputComparison, SampleRow
from headgate.model.registered_pipelines import Registry

_KAFKA, _JDBC = "kafka:", "jdbc:"
_KAFKA_TIMEOUT_MS = 30_000
_TIMEOUT_S, _POLL_S = 6 * 3600.0, 0.2
_SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "64",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What is compared: two addresses, the key columns, and what counts as the same.

    `tolerance` is absolute and for numbers. `newest` keeps a topic's newest record of each key.
    """

    a: str
    b: str
    keys: Sequence[str]
    tolerance: float = 0.0
    ignore: Sequence[str] = ()
    newest: bool = False


def compare_outputs(
    wish: CompareRequest,
    registry: Registry,
    *,
    say: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> OutputComparison:
    """Return what differs, found on the registry's master, Kafka cluster and databases.

    SetupError says which jars are missing, OutputError what can't be read or compared,
    UnreachableError which server did not respond, RunCancelledError that `cancelled` said so.
    """
    addresses = [_absolute(wish.a), _absolute(wish.b)]
    what = f"the comparison of {wish.a} and {wish.b}"
    end = time.monotonic() + _TIMEOUT_S

    def wait(child: Child) -> None:
        if cancelled():
            raise RunCancelledError(
                "the comparison was cancelled. Start the comparison again to get a result"
            )
        if time.monotonic() >= end:
            raise UnreachableError(f"{what} did not end within {_TIMEOUT_S:g} s{BUSY}")
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(_POLL_S)

    with tempfile.TemporaryDirectory(prefix="headgate-compare-") as folder:
        submission = _submission(wish, addresses, registry, Path(folder))
        code, found = submission.run(lambda report: say(report["note"]), wait)
        if found is None:
            raise UnreachableError(ended_early(what, code, submission.log))
    facts = found["facts"]
    if found["outcome"] == "done":
        return _read(facts, wish)
    if "kind" not in facts:
        raise UnreachableError(f"{what} failed: {found['error']}")
    kind = UnreachableError if facts["kind"] == UnreachableError.__name__ else OutputError
    raise kind(found["error"])


def _submission(
    wish: CompareRequest, addresses: Sequence[str], registry: Registry, folder: Path
) -> Submission:
    """Return the program, all of whose files are in an empty folder."""
    arguments = ["--keys", ",".join(wish.keys), "--tolerance", repr(float(wish.tolerance))]
    if wish.ignore:
        arguments += ["--ignore", ",".join(wish.ignore)]
    if wish.newest:
        arguments.append("--newest")
    own = {
        "spark.driver.memory": f"{_memory()}m",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    return Submission(
        program="compare_outputs",
        arguments=(*arguments, "--", *addresses),
        spark=registry.spark,
        config=_SETTINGS | own,
        delta=any(map(_may_be_delta, addresses)),
        connections=_connections(addresses, registry),
        folder=folder,
        report=folder,
        mark=f"compare:{folder}",
        temporary=folder,
    )


def _memory() -> int:
    """Return how many MiB the JVM may take: a fourth of the machine, 1 to 8 GiB."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError):
        whole = 0
    return min(max(whole // 4, 1024), 8 << 10)


def _absolute(address: str) -> str:
    """Return a local path as an absolute one: the program runs in a folder of its own.

    OutputError if it isn't there, before Spark is started.
    """
    if address.startswith((_KAFKA, _JDBC)) or is_remote(address):
        return address
    path = Path(address.removeprefix("file://")).absolute()
    if not path.exists():
        raise OutputError(f"{address} not found. Check the path")
    return str(path)


def _may_be_delta(address: str) -> bool:
    """Whether a path is a Delta table; a remote one isn't checked."""
    return is_remote(address) or (Path(address) / "_delta_log").is_dir()


def _connections(addresses: Sequence[str], registry: Registry) -> dict[str, Any]:
    """Return only what these addresses need; SetupError if Kafka's jars are missing."""
    found: dict[str, Any] = {}
    if registry.bootstrap_servers and any(a.startswith(_KAFKA) for a in addresses):
        spark_jars()
        given = (registry.bootstrap_servers, registry.kafka)
        found["kafka"] = java_config(*given, timeout_ms=_KAFKA_TIMEOUT_MS)
    named = [a.removeprefix(_JDBC).partition(".")[0] for a in addresses if a.startswith(_JDBC)]
    found["jdbc"] = {name: registry.jdbc[name] for name in named if name in registry.jdbc}
    return found


def _read(found: Mapping[str, Any], wish: CompareRequest) -> OutputComparison:
    columns = (
        ComparedColumn(c["name"], c["different"], c["type_a"], c["type_b"])
        for c in found["columns"]
    )
    samples = (
        SampleRow(s["kind"], s["key"], tuple(s["columns"]), s["a"], s["b"])
        for s in found["samples"]
    )
    plain = ("equal", "missing", "extra", "different", "tolerance", "has_duplicates")
    return OutputComparison(
        a=wish.a,
        b=wish.b,
        rows_a=found["rows"]["a"],
        rows_b=found["rows"]["b"],
        columns=tuple(columns),
        samples=tuple(samples),
        keys=tuple(found["keys"]),
        ignored=tuple(found["ignored"]),
        notes=tuple(found["notes"]),
        **{name: found[name] for name in plain},
    )
