"""Stop a query between two batches at Headgate's request, if the program allows that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from headgate.parse.spark.watch.driver_messages import ControlRequest
from headgate.spark_driver.message_inbox import Inbox
from headgate.spark_driver.records import Kind, Record, now
from headgate.spark_driver.session import Active, Session

LOOK_SECONDS = 0.5
# A batch that takes longer is not waited for: its offsets are logged, it is done again.
BATCH_SECONDS = 120.0
_POLL = 0.02
_MOST_SEEN = 10_000
Trouble = Callable[[str, Exception], None]


class Control:
    """The thread that reads requests; it answers by records, and only of runs of its session.

    A request is acted on once, even if it arrives twice. `token` None takes unsigned ones: then
    whoever may write to the watch's folder or topic may stop a query.
    """

    def __init__(
        self,
        session: Session,
        inbox: Callable[[], Inbox],
        take: Callable[[Record], None],
        trouble: Trouble,
        token: str | None,
    ) -> None:
        self._session = session
        self._make_inbox = inbox
        self._take = take
        self._trouble = trouble
        self._token = token
        self._seen: dict[str, None] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="headgate-control", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Listen no more."""
        self._closing.set()
        self._thread.join(seconds)

    def _serve(self) -> None:
        inbox: Inbox | None = None
        while not self._closing.wait(LOOK_SECONDS):
            try:
                inbox = inbox or self._make_inbox()
                for request in inbox.requests():
                    self._heard(request)
            except Exception as error:
                self._trouble("stop requests could not be read", error)
        if inbox is not None:
            inbox.close()

    def _heard(self, request: ControlRequest) -> None:
        if request.nonce in self._seen:
            return
        while len(self._seen) >= _MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._seen[request.nonce] = None
        mine = any(a.query == request.query and a.run == request.run for a in self._active())
        if not mine:
            return  # Another driver's, or of a run that has ended: there is nothing to say.
        if problem := request.problem(self._token, time.time()):
            self._answer(request, "refused", problem)
            return
        self._answer(request, "stopping")
        # Apart: while one batch is waited for, another query may be asked to stop.
        threading.Thread(target=self._stop, args=(request,), daemon=True).start()

    def _active(self) -> list[Active]:
        return self._session.active()

    def _stop(self, request: ControlRequest) -> None:
        try:
            deadline = time.monotonic() + BATCH_SECONDS
            query, run = request.query, request.run
            while time.monotonic() < deadline and self._session.in_batch(query, run):
                time.sleep(_POLL)
            self._session.stop(query, run)
        except Exception as error:
            self._trouble("a query could not be stopped", error)
            self._answer(request, "failed", type(error).__name__)

    def _answer(self, request: ControlRequest, answer: str, reason: str | None = None) -> None:
        body = {"nonce": request.nonce, "answer": answer, "reason": reason}
        self._take(Record(Kind.CONTROL, request.query, request.run, now(), body))
