"""Give a call that may hang an end: foreign libraries wait longer than a person does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises; TimeoutError after `seconds`.

    A call that is given up continues in a thread that ends with the process: nothing can stop it.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="remote files", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return done[0]
