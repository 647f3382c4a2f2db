"""Show how far a run's steps are: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from headgate.store.rows import StepProgress
from headgate.views.words.progress import count_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_EVERY_SECONDS = 5.0


class CountLines:
    """Shows the newest counts; into a file or a pipe only some of them, and always the last."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._said: dict[tuple[int, str], tuple[str, float]] = {}

    def show(self, counts: Iterable[StepProgress]) -> None:
        """Show those that changed."""
        for count in counts:
            before, at = self._said.get((count.position, count.unit), ("", float("-inf")))
            is_last = count.total is not None and count.done >= count.total
            is_due = self._console.is_terminal or time.monotonic() - at >= _EVERY_SECONDS
            words = count_words(count)
            if words != before and (is_last or is_due):
                self._said[count.position, count.unit] = words, time.monotonic()
                self._say(words, is_last=is_last)

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _say(self, words: str, *, is_last: bool) -> None:
        if is_last or not self._console.is_terminal:
            self.end()
            self._console.print(f"          {words}", markup=False, soft_wrap=True)
        elif self._status is None:
            self._status = self._console.status(words)
            self._status.start()
        else:
            self._status.update(words)
