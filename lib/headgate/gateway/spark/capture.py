"""Run the capture of a `module:function` in a process of its own, and end it when it hangs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import CaptureError, HeadgateError, UnreachableError
from headgate.gateway.spark.run_job import (
    Checkout,
    Clock,
    ended_early,
    jars_hint,
    joined_jars,
    run_program,
)

TIMEOUT_S = 180.0
_ENDLESS = (
    ", so Headgate ended the process. Check whether the function waits for a server, and "
    "check this machine's load"
)

_ENTRY_POINT = re.compile(r"[\w.]+:\w+")
PIECES = ("explain.txt", "formatted.txt", "logical.json", "capture.json", "conf.json")
_PROGRAM = "headgate.spark_jobs.capture_query"


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """A function to call, the folder for its pieces, and which of several queries is meant."""

    entry_point: str
    into: Path
    query: str | None = None


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
    wanted = CaptureRequest(entry_point, into, query)
    (error,) = capture_queries([wanted], Checkout(tuple(importable)), timeout_s=timeout_s)
    if error is not None:
        raise error
    return tuple(into / name for name in PIECES)


def capture_queries(
    requests: Sequence[CaptureRequest],
    checkout: Checkout,
    *,
    timeout_s: float = TIMEOUT_S,
    start_s: float = 0.0,
) -> list[HeadgateError | None]:
    """Do as `capture_query` for several functions in one Spark; return the error of each.

    Each may take `timeout_s`, the first one `start_s` longer, because Spark starts. If one of them
    hangs or ends the process, the others get another one.
    """
    errors: dict[int, HeadgateError | None] = {}
    while rest := [n for n in range(len(requests)) if n not in errors]:
        ended = _run([requests[n] for n in rest], checkout, timeout_s, start_s)
        for number in rest:
            if _outcome(requests[number]).is_file():
                errors[number] = _said(requests[number])
            else:
                errors[number] = ended
                break
    return [errors[n] for n in range(len(requests))]


def _run(
    requests: Sequence[CaptureRequest], checkout: Checkout, timeout_s: float, start_s: float
) -> UnreachableError:
    """Run the program; return how it ended, for the first request that it left no outcome of."""
    file = _write_request(requests)
    try:
        code = run_program(
            [_PROGRAM, str(file)],
            importable=checkout.importable,
            timeout_s=Clock(timeout_s, lambda: _ended(requests), start_s),
            what="the capture",
            environment=checkout.environment(),
            python=checkout.interpreter,
        )
    except UnreachableError:
        said = f"{_current(requests)} did not end within {timeout_s:g} s{_ENDLESS}"
        return UnreachableError(said)
    return UnreachableError(ended_early(_current(requests), code, file.parent / "spark.log"))


def _ended(requests: Sequence[CaptureRequest]) -> int:
    return sum(_outcome(r).is_file() for r in requests)


def _current(requests: Sequence[CaptureRequest]) -> str:
    """Name the work that the program was at: it calls one function after the other."""
    open_ = (r.entry_point for r in requests if not _outcome(r).is_file())
    return f"the capture of {next(open_, requests[-1].entry_point)}"


def _write_request(requests: Sequence[CaptureRequest]) -> Path:
    """Write what the program shall capture; return the file."""
    for request in requests:
        request.into.mkdir(parents=True, exist_ok=True)
    scratch = requests[0].into / ".scratch"
    scratch.mkdir(exist_ok=True)
    captures = [
        {"entry_point": r.entry_point, "into": str(r.into), "query": r.query} for r in requests
    ]
    file = scratch / "request.json"
    file.write_text(
        json.dumps({"scratch": str(scratch), "jars": joined_jars(), "captures": captures})
    )
    return file


def _outcome(request: CaptureRequest) -> Path:
    return request.into / ".scratch" / "outcome.json"


def _said(request: CaptureRequest) -> CaptureError | None:
    error = json.loads(_outcome(request).read_text(encoding="utf-8"))["error"]
    if error is None:
        return None
    return CaptureError(error if joined_jars() else f"{error}{jars_hint(error)}")
