"""Why Spark stopped: the error that matters, out of its chain of causes.

PySpark reports STREAM_FAILED, and a failed task is wrapped in its job's failure; the condition that
the engine refused by is on one of the causes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_WRAPPERS = frozenset({"STREAM_FAILED", "TASK_WRITE_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR"})
_WRAPPING = frozenset(
    {
        "org.apache.spark.SparkException",
        "java.util.concurrent.ExecutionException",
        "java.lang.reflect.InvocationTargetException",
        "java.lang.reflect.UndeclaredThrowableException",
        "org.apache.spark.util.SparkFatalException",
    }
)
# What lies around the query and not in it: another place or another moment might do.
_AROUND = (
    "java.net.",
    "java.nio.channels.",
    "java.nio.file.AccessDenied",
    "java.util.concurrent.TimeoutException",
    "javax.net.ssl.",
    "javax.security.",
    "java.lang.OutOfMemoryError",
    "java.lang.ClassNotFoundException",
    "java.lang.NoClassDefFoundError",
    "org.apache.hadoop.security.AccessControlException",
    "org.apache.hadoop.net.ConnectTimeoutException",
    "org.apache.kafka.common.errors.TimeoutException",
    "org.apache.kafka.common.errors.DisconnectException",
    "org.apache.kafka.common.errors.NetworkException",
    "org.apache.kafka.common.errors.SaslAuthenticationException",
    "org.apache.kafka.common.errors.SslAuthenticationException",
    "org.apache.kafka.common.config.ConfigException",
    "software.amazon.",
    "com.amazonaws.",
)
_AROUND_TEXT = ("No space left on device", "Disk quota exceeded", "UnsupportedFileSystemException")
_AROUND_ENDS = ("AuthorizationException",)
_TRACEBACK = "Traceback (most recent call last)"
_FRAME = '  File "'
_ERROR = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?")
_LONGEST = 2000
PYTHON_FAILED = "a Python function failed: "


@dataclass(frozen=True, slots=True)
class StopCause:
    """The error; `is_around` if it says something of this environment rather than of the query."""

    error_class: str
    condition: str | None
    message: str
    is_around: bool


def stop_cause(error: Any) -> StopCause:
    """Return what a Java throwable, or a Python exception of PySpark or py4j, is about."""
    thrown = java_error(error)
    if thrown is None:
        kind = type(error)
        return StopCause(kind.__name__, None, _line(str(error)), False)
    chain = causes(thrown)
    around = any(_is_around(t) for t in chain)
    for candidate in chain:
        condition = condition_of(candidate)
        if condition and condition not in _WRAPPERS:
            main = condition.partition(".")[0]
            return StopCause(main, condition, _message(candidate), around)
    last = next((t for t in chain if not _is_wrapping(t)), chain[-1])
    return StopCause(_name(last), None, _message(last), around)


def java_error(error: Any) -> Any:
    """Return the Java throwable behind a Python exception, None where there is none."""
    if hasattr(error, "getClass"):
        return error
    return getattr(error, "_origin", None) or getattr(error, "java_exception", None)


def causes(thrown: Any) -> list[Any]:
    """Return a throwable and its causes, outermost first."""
    chain: list[Any] = []
    while thrown is not None and len(chain) < 20:
        chain.append(thrown)
        thrown = thrown.getCause()
    return chain


def condition_of(thrown: Any) -> str | None:
    """Return Spark's error condition with its sub-condition, None where it has none."""
    for ask in ("getCondition", "getErrorClass"):
        try:
            return str(getattr(thrown, ask)() or "") or None
        except Exception:  # no Spark error, or one of before conditions
            continue
    return None


def _is_wrapping(thrown: Any) -> bool:
    name = _name(thrown)
    is_bare = name in _WRAPPING or name.endswith("StreamingQueryException")
    return is_bare and thrown.getCause() is not None


def _is_around(thrown: Any) -> bool:
    name, text = _name(thrown), str(thrown.getMessage() or "")
    return (
        name.startswith(_AROUND)
        or name.endswith(_AROUND_ENDS)
        or any(t in text for t in _AROUND_TEXT)
    )


def _name(thrown: Any) -> str:
    return str(thrown.getClass().getName())


def _message(thrown: Any) -> str:
    text = str(thrown.getMessage() or "")
    if _TRACEBACK in text:
        return f"{PYTHON_FAILED}{_last_error(text)}"
    return _line(text.partition("\n\nJVM stacktrace")[0]) or _name(thrown)


def _last_error(text: str) -> str:
    """Return the error at the end of a Python worker's traceback, ours without its class."""
    lines = text.rpartition(_TRACEBACK)[2].splitlines()
    frames = [n for n, line in enumerate(lines) if line.startswith(_FRAME)]
    # An error's text may have several lines; the first one follows the last frame.
    after = lines[frames[-1] :] if frames else []
    last = next((x for x in after if _ERROR.fullmatch(x)), None)
    last = last or next((x for x in reversed(lines) if _ERROR.fullmatch(x)), text)
    name, _, said = last.partition(": ")
    return _line(said if name.endswith("EffectError") else last)


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
