"""Import and call somebody's function, and say in one sentence where it failed."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.spark_jobs.block_start import EndlessWaitError
from headgate.spark_jobs.own_process import LIBRARIES, check_tree, not_importable
from headgate.spark_jobs.record_query import refusal

# Names of the environment that were left out, set by whoever starts this process.
WITHHELD = "HEADGATE_WITHHELD"

_WITHHELD_BY_CAPTURE = (
    "a capture runs without credentials, so this environment variable isn't set: read it with "
    "os.environ.get and a default"
)
_NO_INPUT = "EOF when reading a line"  # what input() says at the end of standard input
_NO_TABLE = "TABLE_OR_VIEW_NOT_FOUND"


def called(
    load: Callable[[], Callable[[Any], Any]],
    spark: Any,
    entry_point: str,
    withheld: str = _WITHHELD_BY_CAPTURE,
) -> Any:
    """Return what the function returned, None if it only waits for its queries by now.

    CaptureError names the line in the function's own code, and the error there; `withheld` is
    what it adds if the environment lacks what was left out of it.
    """
    module = entry_point.partition(":")[0]
    sys.argv = [module]
    try:
        returned = _returned(load(), spark)
        check_tree()
        return returned
    except CaptureError as error:
        raise CaptureError(f"{entry_point}{_error_line(error)}: {error}") from error
    except SystemExit as error:
        raise CaptureError(
            f"{entry_point} called exit({error.code}): end the function with return instead"
        ) from error
    except ModuleNotFoundError as error:
        if error.name and (module + ".").startswith(error.name + "."):
            raise not_importable(error.name) from error
        raise _failed(entry_point, error, withheld) from error
    except Exception as error:
        raise _failed(entry_point, error, withheld) from error


def _returned(function: Callable[[Any], Any], spark: Any) -> Any:
    try:
        return function(spark)
    except EndlessWaitError:
        return None


def _failed(entry_point: str, error: Exception, why: str) -> CaptureError:
    reason = f"{type(error).__name__}: {refusal(error)}"
    if _NO_TABLE in reason:
        reason += (
            "; captures, rehearsals and twin runs have no access to a catalog: in the function, "
            "read the table as files with a declared schema"
        )
    if isinstance(error, EOFError) and _NO_INPUT in reason:
        reason += (
            "; Headgate calls the function without standard input: pass the value as a parameter "
            "with a default"
        )
    withheld = os.environ.get(WITHHELD, "").split(",")
    if isinstance(error, KeyError) and error.args and error.args[0] in withheld:
        reason += f"; {why}"
    return CaptureError(f"{entry_point} failed{_error_line(error)}: {reason}")


def _error_line(error: BaseException) -> str:
    """Return ` at file:line` of the innermost frame that isn't a library's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" at {_short(error.filename)}:{error.lineno}"
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((*LIBRARIES, "<frozen"))
    ]
    return f" at {_short(own[-1].filename)}:{own[-1].lineno}" if own else ""


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
