"""Hear that the process is asked to end, without a lock that the main thread may hold."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable


def when_asked_to_end(act: Callable[[], object], *signals: signal.Signals) -> None:
    """Call `act` in a thread of its own for each of the signals; only the main thread may call it.

    A handler runs in the main thread, between two steps of whatever that does. Within `Event.wait`
    it holds the event's lock: a handler that sets this event waits for itself forever. Only
    `SimpleQueue.put` may be called there (https://docs.python.org/3/library/queue.html).
    """
    asked: queue.SimpleQueue[int] = queue.SimpleQueue()

    def hear() -> None:
        while True:
            asked.get()
            act()

    threading.Thread(target=hear, name="stop-signals", daemon=True).start()
    for number in signals:
        signal.signal(number, lambda heard, _frame: asked.put(heard))
