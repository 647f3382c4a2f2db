"""What a session reports of itself and of its queries, classic or Spark Connect."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from headgate.spark_driver.classic_query import facts, plan_text

_TOLD_SETTINGS = ("spark.sql.",)
_NO_PLAN_YET = ("No physical plan.", "N/A")


@dataclass(frozen=True, slots=True)
class Active:
    """A query that runs: Spark's ids, its name or None."""

    query: str
    run: str
    name: str | None


class Session(Protocol):
    """What the sender asks; every call may raise whatever PySpark raises."""

    key: str
    is_classic: bool

    def about(self) -> dict[str, Any]:
        """Return what a STARTED record says beside the query's own."""

    def active(self) -> list[Active]:
        """Return the queries that run."""

    def plan(self, query: str) -> str | None:
        """Return the extended explain text of the last batch, None before there is one."""

    def facts(self, query: str) -> dict[str, Any] | None:
        """Return sources, sink and logical plan as the session knows them; None where it can't."""

    def in_batch(self, query: str, run: str) -> bool:
        """Return whether that run of the query is in the middle of a batch."""

    def stop(self, query: str, run: str) -> None:
        """Stop that run of the query; another run of it continues."""

    def add(self, listener: Any) -> None:
        """Register a listener."""

    def remove(self, listener: Any) -> None:
        """Take a listener off."""


def open_session(spark: Any) -> Session:
    """Return the session behind a `SparkSession`; TypeError where it is none."""
    if hasattr(spark, "_jsparkSession"):
        return ClassicSession(spark)
    if hasattr(spark, "client") and hasattr(spark, "streams"):
        return ConnectSession(spark)
    raise TypeError(f"expected a SparkSession, found {type(spark).__name__}")


class _AnySession:
    """What both kinds answer alike, through PySpark's public interface."""

    kind = ""

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def about(self) -> dict[str, Any]:
        """Return version, application, settings and process."""
        conf = self._spark.conf
        return {
            "session": self.kind,
            "spark": str(self._spark.version),
            "application": conf.get("spark.app.id", None),
            "applicationName": conf.get("spark.app.name", None),
            "settings": _settings(conf),
            "driver": this_process(),
        }

    def active(self) -> list[Active]:
        """Return the queries that run."""
        return [Active(str(q.id), str(q.runId), q.name) for q in self._spark.streams.active]

    def in_batch(self, query: str, run: str) -> bool:
        """Return whether that run of the query is in the middle of a batch."""
        found = self._run(query, run)
        return found is not None and bool(found.status["isTriggerActive"])

    def stop(self, query: str, run: str) -> None:
        """Stop that run of the query."""
        if (found := self._run(query, run)) is not None:
            found.stop()

    def _run(self, query: str, run: str) -> Any:
        found = self._spark.streams.get(query)
        return found if found is not None and str(found.runId) == run else None

    def remove(self, listener: Any) -> None:
        """Take a listener off."""
        self._spark.streams.removeListener(listener)


class ClassicSession(_AnySession):
    """A session whose JVM this process holds: plans come from the running query itself."""

    kind, is_classic = "classic", True

    def __init__(self, spark: Any) -> None:
        super().__init__(spark)
        self.key = str(spark._jsparkSession.sessionUUID())

    def add(self, listener: Any) -> None:
        """Register a listener."""
        self._spark.streams.addListener(listener)

    def plan(self, query: str) -> str | None:
        """Return the plan of the last batch, with no field cut."""
        found = self._spark.streams.get(query)
        return _there(plan_text(found._jsq)) if found is not None else None

    def facts(self, query: str) -> dict[str, Any] | None:
        """Return what a capture would say of the running query."""
        found = self._spark.streams.get(query)
        return facts(found._jsq, str(self._spark.version)) if found is not None else None


class ConnectSession(_AnySession):
    """A session on a Connect server: all it gives of a plan is the explain text."""

    kind, is_classic = "connect", False

    def __init__(self, spark: Any) -> None:
        super().__init__(spark)
        self.key = f"connect-{spark.session_id}"

    def add(self, listener: Any) -> None:
        """Register a listener; only a thread without a fellow of ours may call this."""
        self._spark.streams.addListener(listener)

    def plan(self, query: str) -> str | None:
        """Return the plan of the last batch."""
        found = self._spark.streams.get(query)
        if found is None:
            return None
        from pyspark.sql.connect.proto import StreamingQueryCommand

        # `query.explain` asks the same, and prints the answer into the user's output.
        command = StreamingQueryCommand()
        command.explain.extended = True
        return _there(str(found._execute_streaming_query_cmd(command).explain.result))

    def facts(self, query: str) -> dict[str, Any] | None:
        """Return None: a Connect client sees neither options nor the logical plan."""
        return None


def _there(text: str) -> str | None:
    return None if text.startswith(_NO_PLAN_YET) else text


def _settings(conf: Any) -> dict[str, str]:
    """Return the session's own SQL settings; PySpark before 4.0 can't list them."""
    found = getattr(conf, "getAll", None) or {}
    return {str(k): str(v) for k, v in sorted(found.items()) if k.startswith(_TOLD_SETTINGS)}


def this_process() -> dict[str, Any]:
    """Return what shows on this very machine whether the process still lives.

    `begun` is its start in clock ticks after boot, `boot` the kernel's boot id, `space` its pid
    namespace (Linux); what the machine does not say is left out.
    """
    told: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid()}
    try:
        stat = Path("/proc/self/stat").read_text()
        told["begun"] = int(stat.rpartition(")")[2].split()[19])
        told["boot"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        told["space"] = str(Path("/proc/self/ns/pid").readlink())
    except (OSError, ValueError, IndexError):
        pass
    return told
