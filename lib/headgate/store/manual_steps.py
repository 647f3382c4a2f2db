"""Manual steps that runs wait for, and who confirmed them."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.errors import RefusedError
from headgate.store.audit import write_audit
from headgate.store.database import Database
from headgate.store.journal import entries_in, write_entry
from headgate.store.rows import Event, JournalEntry, Question


class Questions:
    """Requests and confirmations are entries of the run's journal.

    A confirmation holds for one try of one step: a resumed run requests it once more.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, run: str, position: int, attempt: int, word: str, request: str) -> Question:
        """Return the question, which is written down the first time that it is asked."""
        with self._database.writing() as connection:
            for found in _read(entries_in(connection, run)):
                if (found.position, found.attempt, found.word) == (position, attempt, word):
                    return found
            data = {"attempt": attempt, "word": word, "request": request}
            write_entry(connection, run, position, Event.ASKED, data)
            return _read(entries_in(connection, run))[-1]

    def open(self, run: str) -> Question | None:
        """Return what the run waits for, None where it waits for nobody."""
        with self._database.reading() as connection:
            return _open(_read(entries_in(connection, run)))

    def confirm(self, run: str, *, by: str, pipeline: str | None) -> Question:
        """Record that `by` did what was asked, with its audit row in the same transaction.

        RefusedError where the run waits for nobody.
        """
        with self._database.writing() as connection:
            found = _open(_read(entries_in(connection, run)))
            if found is None:
                raise RefusedError(
                    f"run {run} isn't waiting for a manual step: there is nothing to confirm. "
                    f"`headgate runs {run}` shows its steps"
                )
            said = {"attempt": found.attempt, "word": found.word, "by": by}
            write_entry(connection, run, found.position, Event.CONFIRMED, said)
            write_audit(
                connection,
                by=by,
                action="confirm",
                run=run,
                pipeline=pipeline,
                details={"step": found.position, "request": found.request},
            )
            return found


def _open(questions: Sequence[Question]) -> Question | None:
    return next((q for q in reversed(questions) if q.by is None), None)


def _read(entries: Sequence[JournalEntry]) -> list[Question]:
    answers = {_key(e): e for e in entries if e.event is Event.CONFIRMED}
    return [_question(e, answers.get(_key(e))) for e in entries if e.event is Event.ASKED]


def _key(entry: JournalEntry) -> tuple[int, int, str]:
    return entry.position, int(entry.data["attempt"]), str(entry.data["word"])


def _question(entry: JournalEntry, answer: JournalEntry | None) -> Question:
    return Question(
        run=entry.run,
        position=entry.position,
        attempt=int(entry.data["attempt"]),
        word=str(entry.data["word"]),
        request=str(entry.data["request"]),
        asked_at=entry.at,
        by=str(answer.data["by"]) if answer else None,
    )
