"""Have Spark compare two outputs, in a process beside us."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.errors import OutputError, RunCancelledError, UnreachableError
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.kafka.java_client_config import java_config
from headgate.gateway.spark.data_job import LOCAL, DataJob, data_job_ended, run_data_job
from headgate.model.output_comparison import ComparedColumn, OutputComparison, SampleRow

_PROGRAM = "headgate.spark_jobs.data.compare_outputs"
_KAFKA, _JDBC = "kafka:", "jdbc:"
_KAFKA_TIMEOUT_MS = 30_000


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
    master: str = LOCAL
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputServers:
    """Kafka's address and librdkafka's settings, and the databases by name."""

    bootstrap: str | None = None
    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    jdbc: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


def compare_outputs(
    wish: CompareRequest,
    servers: OutputServers,
    *,
    say: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> OutputComparison:
    """Return what differs.

    OutputError says what can't be read or compared, UnreachableError which server did not respond,
    RunCancelledError that `cancelled` said so.
    """
    job = _job(wish, servers)
    with tempfile.TemporaryDirectory(prefix="headgate-compare-") as folder:
        try:
            code, found = run_data_job(job, Path(folder), say=say, cancelled=cancelled)
        except RunCancelledError:
            raise RunCancelledError(
                "the comparison was cancelled. Start the comparison again to get a result"
            ) from None
        if found is None:
            raise UnreachableError(data_job_ended(job, code, Path(folder)))
    if "error" in found:
        kind = UnreachableError if found["kind"] == UnreachableError.__name__ else OutputError
        raise kind(found["error"])
    return _read(found, wish)


def _job(wish: CompareRequest, servers: OutputServers) -> DataJob:
    addresses = [_absolute(wish.a), _absolute(wish.b)]
    arguments = ["--keys", ",".join(wish.keys), "--tolerance", repr(float(wish.tolerance))]
    if wish.ignore:
        arguments += ["--ignore", ",".join(wish.ignore)]
    if wish.newest:
        arguments.append("--newest")
    return DataJob(
        module=_PROGRAM,
        arguments=[*arguments, "--", *addresses],
        what=f"the comparison of {wish.a} and {wish.b}",
        parts=frozenset(filter(None, map(_part, addresses))),
        connections=_connections(addresses, servers),
        master=wish.master,
        conf=wish.conf,
    )


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


def _part(address: str) -> str | None:
    """Return the jars that an address needs; a remote path may be a Delta table."""
    if address.startswith(_KAFKA):
        return "kafka"
    if address.startswith(_JDBC):
        return "jdbc"
    is_delta = is_remote(address) or (Path(address) / "_delta_log").is_dir()
    return "delta" if is_delta else None


def _connections(addresses: Sequence[str], servers: OutputServers) -> dict[str, Any]:
    """Return only what these addresses need."""
    found: dict[str, Any] = {}
    if servers.bootstrap and any(a.startswith(_KAFKA) for a in addresses):
        found["kafka"] = java_config(servers.bootstrap, servers.kafka, timeout_ms=_KAFKA_TIMEOUT_MS)
    named = [a.removeprefix(_JDBC).partition(".")[0] for a in addresses if a.startswith(_JDBC)]
    found["jdbc"] = {name: dict(servers.jdbc[name]) for name in named if name in servers.jdbc}
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
