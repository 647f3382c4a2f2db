"""Build many small values without a pause for each few hundred of them."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uncollected(work: Callable[P, R]) -> Callable[P, R]:
    """Return `work` without the search for cycles among objects while it runs.

    A plan of thousands of operators becomes hundreds of thousands of values that all stay and hold
    no cycles: the collector would go through all of them again and again and free nothing. Where
    two threads are at work, the first to end lets it run again: that costs time, no more.
    """

    @functools.wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return work(*args, **kwargs)
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            gc.enable()

    return run
