"""Run the capture of a `module:function` in a process of its own, and end it when it hangs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from headgate.errors import CaptureError, UnreachableError
from headgate.gateway.spark.run_job import (
    ended_early,
    jars_hint,
    joined_jars,
    program_environment,
    run_program,
)

TIMEOUT_S = 180.0

_ENTRY_POINT = re.compile(r"[\w.]+:\w+")
PIECES = ("explain.txt", "formatted.txt", "logical.json", "capture.json", "conf.json")
_PROGRAM = "headgate.spark_jobs.capture_query"


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
    jars = joined_jars()
    command = [_PROGRAM, entry_point, "--into", str(into), "--jars", jars]
    what = f"the capture of {entry_point}"
    code = run_program(
        command + (["--query", query] if query else []),
        importable=importable,
        timeout_s=timeout_s,
        what=what,
        environment=program_environment(importable),
    )
    scratch = into / ".scratch"
    outcome = scratch / "outcome.json"
    if not outcome.is_file():
        raise UnreachableError(ended_early(what, code, scratch / "spark.log"))
    error = json.loads(outcome.read_text(encoding="utf-8"))["error"]
    if error is not None:
        raise CaptureError(error if jars else f"{error}{jars_hint(error)}")
    return tuple(into / name for name in PIECES)
