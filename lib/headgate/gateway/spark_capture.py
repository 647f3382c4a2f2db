"""Run the capture of a `module:function` in a process of its own, and end it when it hangs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from headgate.errors import CaptureError, SetupError, UnreachableError
from headgate.gateway.clean_environment import clean_environment
from headgate.gateway.jars import ENVIRONMENT as JARS
from headgate.gateway.jars import spark_jars

TIMEOUT_S = 180.0

_ENTRY_POINT = re.compile(r"[\w.]+:\w+")
_PIECES = ("explain.txt", "formatted.txt", "logical.json", "capture.json", "conf.json")
_PROGRAM = "headgate.jobs.capture_query"


def is_entry_point(text: str, folder: Path) -> bool:
    """True where text is a `module:function` and no existing path of the folder.

    `kafka:TOPIC` is the topic of a watch: Kafka's own Python package is nobody's pipeline.
    """
    is_named = bool(_ENTRY_POINT.fullmatch(text)) and not text.startswith("kafka:")
    return is_named and not (folder / text).exists()


def capture_query(
    entry_point: str,
    into: Path,
    *,
    importable: Sequence[Path],
    query: str | None = None,
    timeout_s: float = TIMEOUT_S,
) -> tuple[Path, ...]:
    """Call `function(spark)` and return the pieces of evidence, written into the folder `into`.

    The first of the `importable` folders is the working directory. `query` chooses one of several
    queries that the function starts. No source is reached and nothing starts. CaptureError says in
    one sentence what the function did wrong, UnreachableError that Spark did not start, or did not
    end in time.
    """
    into.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", "-m", _PROGRAM, entry_point, "--into", str(into)]
    jars = _jars()
    command += ["--jars", jars] + (["--query", query] if query else [])
    code = _run(command, importable, timeout_s, entry_point)
    scratch = into / ".scratch"
    outcome = scratch / "outcome.json"
    if not outcome.is_file():
        raise UnreachableError(_no_outcome(entry_point, code, scratch / "spark.log"))
    error = json.loads(outcome.read_text(encoding="utf-8"))["error"]
    if error is not None:
        raise CaptureError(error if jars else f"{error}{_jars_hint(error)}")
    return tuple(into / name for name in _PIECES)


def _jars() -> str:
    try:
        return ",".join(map(str, spark_jars()))
    except SetupError:
        return ""  # not every query needs them


def _jars_hint(error: str) -> str:
    if "data source: kafka" not in error:
        return ""
    return f"; its jars are not here: run `make setup`, or set {JARS}"


def _run(command: list[str], importable: Sequence[Path], timeout_s: float, entry_point: str) -> int:
    """Run in a process group of its own; whatever is left of it afterwards is killed."""
    process = subprocess.Popen(
        command,
        cwd=importable[0],
        env=_environment(importable),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        reason = f"the capture of {entry_point} did not end within {timeout_s:g} s"
        raise UnreachableError(reason) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(importable: Sequence[Path]) -> dict[str, str]:
    kept, withheld = clean_environment(os.environ)
    path = [*(str(f.absolute()) for f in importable), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HEADGATE_WITHHELD": ",".join(withheld),
    }


def _no_outcome(entry_point: str, code: int, log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    how = f"signal {-code}" if code < 0 else f"exit {code}"
    last = f": {lines[-1][:300]}" if lines else ""
    return f"the capture of {entry_point} ended early ({how}){last}"
