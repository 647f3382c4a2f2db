"""Send a watched driver the request to stop its query, through the folder or topic it reports."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.errors import HeadgateError, StepError
from headgate.gateway.adapters.driver_status import TOPIC, DriverStatusReader, judge_life
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.http.secret_values import named_value
from headgate.model.commands import WatchControl
from headgate.model.registered_pipelines import Pipeline
from headgate.parse.spark.watch.driver_messages import FOLDER, STOP, ControlRequest
from headgate.reprocess.ports.processes import Status

if TYPE_CHECKING:
    # Reads event logs, too, which takes long to import; whoever asks a driver has read its life.
    from headgate.parse.spark.watch.read import Life

# Until the driver says that it heard; then until the query's end, a long batch included.
HEAR_SECONDS, END_SECONDS = 30.0, 180.0
_LOOK = 0.5
# A driver reads its topic from the end on, and may find the end only after a request was written.
_AGAIN = 5.0


class DriverRequests:
    """The control channel of `headgate.watch`."""

    def __init__(self, context: RunContext, drivers: DriverStatusReader) -> None:
        self._context = context
        self._drivers = drivers

    def stop(self, pipeline: Pipeline, call: WatchControl) -> None:
        """Request the driver to stop the query and wait for its end.

        StepError if no driver hears it, or one refuses. What it says isn't evidence: whether the
        query stopped is checked afterwards, as for any other command.
        """
        life = self._reported_life(pipeline)
        if life is None or judge_life(life, time.time()).status is Status.STOPPED:
            self._context.note(f"headgate.watch reports no running query of {pipeline.name}")
            return
        request = _request(life, call, self._context.folder)
        with self._sent(pipeline, request) as again:
            silent = (
                f"the Spark driver of {pipeline.name} did not respond to the stop request within "
                f"{HEAR_SECONDS:.0f} s. Check that the driver calls headgate.watch with "
                "control=True, then resume the run"
            )
            heard = partial(_heard, nonce=request.nonce)
            self._until(pipeline, life, HEAR_SECONDS, silent, heard, again)
            self._context.note(
                "the Spark driver received the stop request and stops the query after the "
                "current batch"
            )
            late = (
                f"the Spark driver of {pipeline.name} received the stop request, but the query "
                f"did not stop within {END_SECONDS:.0f} s. Check in the Spark UI whether the "
                "current batch still runs. When the query has stopped, resume the run"
            )
            self._until(pipeline, life, END_SECONDS, late, _over)

    def _reported_life(self, pipeline: Pipeline) -> Life | None:
        try:
            return self._drivers.life(pipeline)
        except HeadgateError as error:
            raise StepError(
                f"the headgate.watch records of {pipeline.name} could not be read: {error}"
            ) from None

    def _until(
        self,
        pipeline: Pipeline,
        life: Life,
        seconds: float,
        late: str,
        done: Callable[[Life], bool],
        again: Callable[[], None] = lambda: None,
    ) -> None:
        waited = 0.0
        while True:
            now = self._reported_life(pipeline)
            if now is not None and now.run_id == life.run_id and (done(now) or _over(now)):
                return
            if waited >= seconds:
                raise StepError(late)
            self._context.pause(_LOOK)
            waited += _LOOK
            if waited % _AGAIN == 0:
                again()

    @contextmanager
    def _sent(self, pipeline: Pipeline, request: ControlRequest) -> Iterator[Callable[[], None]]:
        """Yield what sends the request once more: a driver acts on it once."""
        place = pipeline.watch or ""
        if place.startswith(TOPIC):
            topic = place.removeprefix(TOPIC)
            self._to_topic(topic, request)
            yield lambda: self._to_topic(topic, request)
            return
        if "://" in place:
            raise StepError(
                f"Headgate can't send a stop request to {place}. Set `watch` in "
                "headgate.toml to a local folder or a topic"
            )
        path = _to_folder(Path(place), request)
        try:
            yield lambda: None
        finally:
            path.unlink(missing_ok=True)

    def _to_topic(self, topic: str, request: ControlRequest) -> None:
        # Kafka's client is not imported for a folder.
        from headgate.gateway.spark.driver_messages import send

        send(self._context.registry, topic, request)


def _request(life: Life, call: WatchControl, folder: Path) -> ControlRequest:
    holds = HEAR_SECONDS + END_SECONDS
    expires = datetime.fromtimestamp(time.time() + holds, UTC)
    request = ControlRequest(
        do=STOP,
        query=life.query_id,
        run=life.run_id,
        nonce=secrets.token_hex(16),
        expires=expires.isoformat(timespec="seconds"),
    )
    return request.signed(named_value(call.token[2:-1], folder)) if call.token else request


def _to_folder(folder: Path, request: ControlRequest) -> Path:
    """Write the request in one step: a driver must not see half of it."""
    try:
        (folder / FOLDER).mkdir(exist_ok=True)
        path = folder / FOLDER / f"{request.nonce}.json"
        draft = path.with_suffix(".draft")
        draft.write_bytes(request.line())
        draft.rename(path)
    except OSError as error:
        raise StepError(
            f"the stop request could not be written to {folder / FOLDER}: {error.strerror}"
        ) from None
    return path


def _heard(life: Life, nonce: str) -> bool:
    answer = life.answers.get(nonce)
    if answer is None or answer.startswith("stopping"):
        return answer is not None
    kind, _, why = answer.partition(": ")
    did = "refused the stop request" if kind == "refused" else "could not stop the query"
    raise StepError(f"the Spark driver {did}: {why or kind}")


def _over(life: Life) -> bool:
    return judge_life(life, time.time()).status is Status.STOPPED
