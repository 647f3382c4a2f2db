"""One run's view of the store's journal, as the executor wants it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from headgate.errors import HeadgateError
from headgate.reprocess.execution.execute import Record
from headgate.reprocess.plan import Plan
from headgate.store import Store
from headgate.store.rows import Event
from headgate.store.step_records import step_records

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
            LOG.warning("run %s: could not record its progress: %s", self._run, error)


class DocumentWriter:
    """Takes what the programs of one step report, and writes it."""

    def __init__(self, store: Store, run: str, position: int, attempt: int) -> None:
        self._store = store
        self._key = (run, position, attempt)

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Write it; a store that can't take it is fine, since a step must not fail for that."""
        try:
            self._store.step_documents.put(*self._key, name, document)
        except HeadgateError as error:
            LOG.warning(
                "run %s: the document %s of step %d couldn't be stored, and the run continues: %s",
                self._key[0], name, self._key[1] + 1, error,
            )  # fmt: skip


def of_undo(error: str, undo_of: str | None) -> str:
    """Return the error of a run; an undo is made again with `headgate undo`, not planned again."""
    if undo_of is None:
        return error
    return error.replace("`headgate plan` again", f"`headgate undo {undo_of}` again")


class RunJournal:
    """Writes what happens to the steps of `run`; see `plan.execute.Journal`.

    If the run undoes another one, a step's end marks the step that it reverted in the same
    transaction.
    """

    def __init__(self, store: Store, run: str, plan: Plan, *, undo_of: str | None) -> None:
        self._journal = store.journal
        self._run = run
        self._undo_of = undo_of
        self._undoes = plan.undoes

    def record(self, position: int) -> Record:
        """Return what is known of the step."""
        found = step_records(self._journal.entries(self._run)).get(position)
        return found.as_record() if found else Record()

    def begin(self, position: int, was: dict[str, Any]) -> None:
        """Record that the effect is about to happen."""
        self._journal.add(self._run, position, Event.BEGUN, {"was": was})

    def done(self, position: int) -> None:
        """Record that the effect happened and was verified."""
        entries = [(self._run, position, Event.DONE)]
        if self._undo_of is not None and (back := self._undoes[position]) is not None:
            entries.append((self._undo_of, back, Event.UNDONE))
        self._journal.add_all(entries, doer=self._run)

    def failed(self, position: int, error: str, code: int) -> None:
        """Record that the step gave up; `code` is the exit code of its error."""
        said = {"error": of_undo(error, self._undo_of), "code": code}
        self._journal.add(self._run, position, Event.FAILED, said)

    def returning(self, position: int) -> None:
        """Record that the effect is about to be rolled back."""
        self._journal.add(self._run, position, Event.RETURNING)

    def undone(self, position: int) -> None:
        """Record that the effect was rolled back."""
        self._journal.add(self._run, position, Event.UNDONE)

    def close_undone(self) -> None:
        """Mark the rest of the run that was undone: steps that left nothing to restore."""
        if self._undo_of is None:
            return
        records = step_records(self._journal.entries(self._undo_of))
        rest = [p for p, r in records.items() if r.begun and r.state.may_have_effect]
        self._journal.add_all([(self._undo_of, p, Event.UNDONE) for p in rest], doer=self._run)
