"""Remember the Python functions that a query hands to Spark, by the name that its plan shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import GroupedData
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.udf import UserDefinedFunction
from pyspark.sql.udtf import UserDefinedTableFunction

from headgate.spark_jobs.function_bodies import digest


@dataclass
class UsedFunctions:
    """Kinds and functions by name, in the order of their making; `sinks` by their writers."""

    by_name: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    sinks: list[tuple[Any, str, Any]] = field(default_factory=list)

    def in_plan(self, names: list[str]) -> list[dict[str, str]]:
        """Return kind, name and hash of the functions behind these names of a plan."""
        return [
            {"kind": kind, "name": _plan_name(name, kind, function), "hash": digest(function)}
            for name in dict.fromkeys(names)
            for kind, function in self.by_name.get(name, ())
        ]

    def of_sink(self, writer: Any) -> list[dict[str, str]]:
        """Return the function that a writer's foreach or foreachBatch was given."""
        found = [(kind, f) for owner, kind, f in self.sinks if owner is writer][-1:]
        return [{"kind": kind, "name": _name(f), "hash": digest(f)} for kind, f in found]


def watch_functions() -> UsedFunctions:
    """Watch every way in which PySpark takes a function, from now on in this process."""
    used = UsedFunctions()

    def note(name: str, function: Any, kind: str = "udf") -> None:
        if not _is_pysparks(function):
            used.by_name.setdefault(name, []).append((kind, function))

    _after_init(UserDefinedFunction, lambda udf: note(udf._name, udf.func))
    _after_init(UserDefinedTableFunction, lambda udtf: note(udtf._name, udtf.func, "udtf"))
    for method in ("foreach", "foreachBatch"):
        _before_sink(method, used)
    for method in ("transformWithState", "transformWithStateInPandas"):
        _before_processor(method, note)
    return used


def _after_init(owner: Any, note: Callable[[Any], None]) -> None:
    init = owner.__init__

    def watched(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        note(self)

    owner.__init__ = watched


def _before_sink(method: str, used: UsedFunctions) -> None:
    wrapped = getattr(DataStreamWriter, method)

    def watched(self: Any, function: Any) -> Any:
        used.sinks.append((self, method, function))
        return wrapped(self, function)

    setattr(DataStreamWriter, method, watched)


def _before_processor(method: str, note: Callable[[str, Any, str], None]) -> None:
    """Note the processor under the name of PySpark's own wrapper, which is what the plan shows."""
    wrapped = getattr(GroupedData, method)

    def watched(self: Any, statefulProcessor: Any, *args: Any, **kwargs: Any) -> Any:
        with_state = bool(kwargs.get("initialState"))
        name = "transformWithStateWithInitStateUDF" if with_state else "transformWithStateUDF"
        note(name, statefulProcessor, "stateful_processor")
        return wrapped(self, statefulProcessor, *args, **kwargs)

    setattr(GroupedData, method, watched)


def _plan_name(name: str, kind: str, function: Any) -> str:
    """Return what a plan calls a function; a processor stands there as PySpark's own wrapper."""
    return name if kind in ("udf", "udtf") else _name(function)


def _is_pysparks(function: Any) -> bool:
    """True for the wrappers that PySpark puts around a processor."""
    return str(getattr(function, "__module__", "")).startswith("pyspark.")


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
