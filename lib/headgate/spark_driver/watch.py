"""`headgate.watch(spark, to)`: report all that a session's queries do to a folder or a topic."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from headgate.spark_driver.bounded_queue import Bounded
from headgate.spark_driver.destinations import Destination
from headgate.spark_driver.driver_messages import Control
from headgate.spark_driver.message_inbox import FolderInbox, Inbox, TopicInbox
from headgate.spark_driver.records import Kind, Record
from headgate.spark_driver.sender import Sender
from headgate.spark_driver.session import Session, open_session
from headgate.text.secrets import mask_text

LOG = logging.getLogger("headgate.watch")
TOPIC = "kafka:"
TOKEN = "HEADGATE_WATCH_TOKEN"
_AT_EXIT = 2.0
_AT_CLOSE = 6.0
# Spark tells of an end after `stop()` has returned, on a busy driver seconds later.
_ENDS = 10.0
# The same for a client's program that ends: a server that is gone must not keep it for longer.
_ENDS_AT_EXIT = 5.0
_REGISTERING = 20.0
_AGAIN = "To watch the queries, call headgate.watch again, or restart the driver"
_open: dict[tuple[str, str], Watch] = {}
_lock = threading.Lock()


class Watch:
    """What `watch` returns. `problem` is one sentence where nothing is watched, else None."""

    def __init__(self, to: str) -> None:
        self.to = to
        self.problem: str | None = None
        self._session: Session | None = None
        self._listener: Any = None
        self._sender: Sender | None = None
        self._control: Control | None = None
        self._said: set[str] = set()
        self._running: set[str] = set()

    def close(self, seconds: float = _AT_CLOSE) -> None:
        """Take the listener off and write what is left, within that time; twice is once.

        Waits, 10 s at most, until Spark has reported the end of queries that were stopped.
        """
        _forget(self)
        control, self._control = self._control, None
        if control is not None:
            control.close(seconds / 2)
        session, self._session = self._session, None
        if session is not None:
            self._within(_ENDS, "could not wait for the queries to end", self._await_ends, session)
            off = "the query listener could not be removed"
            self._within(seconds / 2, off, session.remove, self._listener)
        self._end("the watch was closed", seconds / 2)

    def _part(self, seconds: float) -> None:
        """Write what is left, as the program ends.

        A classic session is not asked any more: its JVM may be gone already. The server of a
        Connect session reports the end of a query that was stopped later than `stop()` returns.
        """
        session = self._session
        if session is None or session.is_classic:
            self._end("the driver program ended", seconds, over=session is not None)
            return
        if self._running:
            what = "could not wait for the queries to end"
            self._tried(what, self._within, _ENDS_AT_EXIT, what, self._await_ends, session)
        self._end("the Spark Connect client program ended", seconds)

    def _await_ends(self, session: Session) -> None:
        deadline = time.monotonic() + _ENDS
        while self._running - {a.run for a in session.active()} and time.monotonic() < deadline:
            time.sleep(0.02)

    def _within(self, seconds: float, what: str, call: Callable[..., Any], *given: Any) -> None:
        """Call from a thread that is abandoned after that time: a session may never answer."""
        thread = threading.Thread(target=self._tried, args=(what, call, *given), daemon=True)
        thread.start()
        thread.join(seconds)

    def _heard(self, records: Bounded, record: Record) -> None:
        if record.kind is Kind.TERMINATED:
            records.put(record)
            self._running.discard(record.run)
            return
        self._running.add(record.run)
        records.put(record)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(
        self,
        session: Session,
        destination: Callable[[], Destination],
        most: int,
        inbox: Callable[[], Inbox] | None,
        token: str | None,
    ) -> None:
        from headgate.spark_driver.query_listener import Listener

        records = Bounded(most)
        self._session = session
        self._sender = Sender(session, destination, records, self._trouble)
        self._listener = Listener(partial(self._heard, records), self._trouble)
        self._register(session)
        if self.problem is None:
            self._sender.start()
            if inbox is not None:
                self._control = Control(session, inbox, records.put, self._trouble, token)
                self._control.start()

    def _register(self, session: Session) -> None:
        """Add the listener, from a daemon thread: what PySpark starts inherits that.

        A Connect session hears its events in a thread that would else keep the program from ending.
        """
        failed: list[Exception] = []

        def add() -> None:
            try:
                session.add(self._listener)
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=add, daemon=True)
        thread.start()
        thread.join(_REGISTERING)
        if failed or thread.is_alive():
            why = f": {_reason(failed[0])}" if failed else f" within {_REGISTERING:.0f} s"
            said = f"Spark did not register the query listener{why}".rstrip(".")
            self._fail(f"{said}. {_AGAIN}")

    def _fail(self, problem: str) -> None:
        self.problem = mask_text(problem)
        LOG.warning("headgate.watch is off, but the queries continue: %s", self.problem)

    def _trouble(self, what: str, error: Exception) -> None:
        """Say each kind of trouble once: a broken disk must not fill the driver's log."""
        kind = f"{what}: {type(error).__name__}"
        if kind not in self._said:
            self._said.add(kind)
            said = mask_text(_reason(error))
            LOG.warning("headgate.watch: %s (%s); the queries continue", what, said)

    def _tried(self, what: str, call: Callable[..., Any], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:
            self._trouble(what, error)

    def _end(self, parting: str, seconds: float, *, over: bool = False) -> None:
        sender, self._sender = self._sender, None
        if sender is not None and self.problem is None:
            self._tried(
                "the watch could not be closed", lambda: sender.close(parting, seconds, over=over)
            )


def watch(  # noqa: PLR0913 - users set each of these by name, in their own program
    spark: Any,
    to: str | Path,
    *,
    bootstrap_servers: str | None = None,
    kafka: Mapping[str, str] | None = None,
    most_waiting: int = 1000,
    part_bytes: int = 16 << 20,
    most_bytes: int = 512 << 20,
    every: float = 20.0,
    control: bool = False,
    token: str | None = None,
) -> Watch:
    """Report every query of the session to `to`. Never raises, and never slows a query.

    `to` is a folder, a URI that `pyarrow.fs` knows, or `kafka:TOPIC`. A topic needs
    `bootstrap_servers`; `kafka` can have more librdkafka settings. At most `most_waiting` records
    wait while `to` can't be written: then the oldest records are dropped, and the next record has
    their number. A folder keeps at most `most_bytes`, in files of `part_bytes`. A store that can't
    append gets a file each `every` seconds. A second call for the same session and location returns
    the same watch.

    With `control`, Headgate can request through the same folder or topic to stop a query between
    two batches. Requests must be signed with `token`, or with the environment variable
    HEADGATE_WATCH_TOKEN. Without a token, everyone who can write to the location can stop queries.
    """
    target = str(to)
    made = Watch(target)
    try:
        session = open_session(spark)
        with _lock:
            known = _open.setdefault((session.key, target), made)
        if known is not made:
            return known
        destination = _destination(
            *(target, bootstrap_servers, kafka or {}, made._trouble),
            part_bytes=part_bytes,
            most_bytes=most_bytes,
            every=every,
        )
        inbox = _inbox(target, bootstrap_servers, kafka or {}) if control else None
        secret = token or os.environ.get(TOKEN) or None
        made._begin(session, destination, most_waiting, inbox, secret)
    except Exception as error:
        made._fail(_reason(error))
    if made.problem is not None:
        _forget(made)
    return made


def _destination(
    to: str,
    bootstrap: str | None,
    kafka: Mapping[str, str],
    trouble: Callable[[str, Exception], None],
    *,
    part_bytes: int,
    most_bytes: int,
    every: float,
) -> Callable[[], Destination]:
    """Return what opens the destination; the sender opens it, so that no program waits for it."""
    if to.startswith(TOPIC):
        topic = to.removeprefix(TOPIC)
        servers = bootstrap or kafka.get("bootstrap.servers")
        if not topic or not servers:
            raise ValueError(
                f"to write to a topic, pass {TOPIC}TOPIC and bootstrap_servers (found {to}, with "
                f"bootstrap_servers {servers or 'not set'})"
            )
        from headgate.spark_driver.write_topic import Topic

        return lambda: Topic(topic, servers, kafka, trouble)
    if "://" in to and not to.startswith("file:"):
        from headgate.spark_driver.write_object_store import Objects

        return lambda: Objects(to, every=every, most_bytes=most_bytes)
    from headgate.spark_driver.write_folder import Folder

    # Absolute now: the program may change its working directory.
    folder = Path(to.removeprefix("file://").removeprefix("file:")).absolute()
    return lambda: Folder(folder, part_bytes=part_bytes, most_bytes=most_bytes)


def _inbox(to: str, bootstrap: str | None, kafka: Mapping[str, str]) -> Callable[[], Inbox]:
    """Return what opens the inbox of requests; a store that can't be watched cheaply has none."""
    if to.startswith(TOPIC):
        servers = bootstrap or kafka.get("bootstrap.servers") or ""
        return lambda: TopicInbox(to.removeprefix(TOPIC), servers, kafka)
    if "://" in to and not to.startswith("file:"):
        raise ValueError(f"control=True needs a local folder or a topic, not {to}")
    folder = Path(to.removeprefix("file://").removeprefix("file:")).absolute()
    return lambda: FolderInbox(folder)


def _forget(watch: Watch) -> None:
    with _lock:
        for key in [k for k, v in _open.items() if v is watch]:
            del _open[key]


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return text or type(error).__name__


@atexit.register
def _at_exit() -> None:
    """Write what is left of every watch."""
    with _lock:
        watches = list(_open.values())
    for each in watches:
        each._part(_AT_EXIT / len(watches))
