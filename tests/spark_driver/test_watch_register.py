"""A listener that Spark doesn't take: the watch is off, and says what to do."""

from __future__ import annotations

import logging
import threading

from headgate.spark_driver import watch as driver


class Session:
    """A session that takes no listener: it raises, or never returns."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def add(self, _listener: object) -> None:
        """Raise, or wait until the test's process ends."""
        if self._error is not None:
            raise self._error
        threading.Event().wait()


def problem(monkeypatch, error: Exception | None) -> str | None:
    monkeypatch.setattr(driver, "_REGISTERING", 0.05)
    watch = driver.Watch("/watch")
    watch._register(Session(error))
    return watch.problem


def test_a_session_that_does_not_answer(monkeypatch):
    assert problem(monkeypatch, None) == (
        "Spark did not register the query listener within 0 s. To watch the queries, call "
        "headgate.watch again, or restart the driver"
    )


def test_a_session_that_refuses(monkeypatch):
    assert problem(monkeypatch, RuntimeError("no listeners here.")) == (
        "Spark did not register the query listener: no listeners here. To watch the queries, call "
        "headgate.watch again, or restart the driver"
    )


def test_trouble_in_a_driver_log_names_the_watch(caplog):
    watch = driver.Watch("/watch")
    with caplog.at_level(logging.WARNING, logger="headgate.watch"):
        for _ in range(2):
            watch._trouble("reports about the queries could not be written", OSError("disk full"))
    assert [r.getMessage() for r in caplog.records] == [
        "headgate.watch: reports about the queries could not be written (disk full); the "
        "queries continue"
    ]
