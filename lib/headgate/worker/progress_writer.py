"""Write how far a step is, seldom enough that telling it costs nothing."""

from __future__ import annotations

import logging
import time

from headgate.errors import HeadgateError
from headgate.store import Store

LOG = logging.getLogger("headgate.worker")
_EVERY_SECONDS = 0.5


class ProgressWriter:
    """Takes every count of one step and writes the first, the last, and some in between."""

    def __init__(self, store: Store, run: str, position: int) -> None:
        self._store = store
        self._run = run
        self._position = position
        self._written: dict[str, float] = {}

    def write(self, done: int, total: int | None, unit: str) -> None:
        """Write the count unless one was written just now; a store that can't take it is fine."""
        at = time.monotonic()
        is_last = total is not None and done >= total
        if not is_last and at - self._written.get(unit, float("-inf")) < _EVERY_SECONDS:
            return
        self._written[unit] = at
        try:
            self._store.progress.record(self._run, self._position, unit, done, total)
        except HeadgateError as error:
            # A step must not fail because nobody could be told how far it is.
            LOG.warning("run %s: how far it is could not be written: %s", self._run, error)
