"""Waiting for what is on its way: in one way, and longer than any machine needs."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

# In seconds. A build machine may be twenty times slower than usual; pytest gives a test four times
# that.
PATIENCE = 300.0


def until(
    true: Callable[[], Any],
    what: str | Callable[[], Any] = "",
    *,
    every: float = 0.1,
    seconds: float = PATIENCE,
) -> Any:
    """Return what `true` gives as soon as that is true; AssertionError if it never is.

    The error says `what` is wrong then; a function, such as one that reads a log, is called only
    then. Without it, it quotes the line that waits.
    """
    deadline = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > deadline:
            said = (what() if callable(what) else what) or traceback.extract_stack()[-2].line
            raise AssertionError(f"waited {seconds:g} s in vain: {said}")
        time.sleep(every)
    return found
