"""What a plan and its undo do to the results that a pipeline has written, as statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEffects:
    """Whole sentences: `run` is of the plan, `undo` of its undo.

    `remains` says that the pipeline can write results during the run that no undo removes. A
    builder gives what only it knows; `output_statements` adds what is declared of the scenario.
    """

    run: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    remains: bool = False

    def __bool__(self) -> bool:
        """Whether anything is stated."""
        return bool(self.run or self.undo)

    def joined(self, other: OutputEffects) -> OutputEffects:
        """Return both, each sentence once."""
        return OutputEffects(
            run=tuple(dict.fromkeys([*self.run, *other.run])),
            undo=tuple(dict.fromkeys([*self.undo, *other.undo])),
            remains=self.remains or other.remains,
        )

    def document(self) -> dict[str, Any]:
        """Return them as a plan's JSON has them."""
        return {"run": list(self.run), "undo": list(self.undo), "remains": self.remains}


def read_effects(document: Mapping[str, Any] | None) -> OutputEffects:
    """Return what `document` wrote; nothing of a plan from before plans stated it."""
    if document is None:
        return OutputEffects()
    return OutputEffects(
        run=tuple(document["run"]),
        undo=tuple(document["undo"]),
        remains=bool(document["remains"]),
    )


class Fact(StrEnum):
    """A condition of a statement; its value is how the docs name it."""

    REPROCESSES = "records are reprocessed"
    SKIPS = "records are skipped"
    STATE_GONE = "state is deleted"
    STATE_KEPT = "state is kept"
    STATE_RESTORED = "the undo restores the state"
    CUT = "an input isn't reprocessed from its first record"
    NEW_OUTPUTS = "results go to new outputs"
    EMPTIED = "outputs are emptied"
    BACKED_UP = "output records are backed up"
    FILES_BACK = "the undo moves new files of the sink to backup"
    BY_BATCH = "the sink drops batch numbers that it has already recorded"
    DELTA = "the sink is a Delta table"
    RAISED = "partitions are added"
    RESUMED = "the pipeline resumes"
    RESTARTED = "the pipeline is stopped, not paused"
    ABORTED = "a transaction is aborted"
    RECREATED = "a topic was recreated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a run or its undo does, if all of `when` and none of `unless` is true of the plan.

    `{name}` is the pipeline, `{to}` where it writes, `{point}` the time or offset it begins at.
    """

    run: str = ""
    undo: str = ""
    when: frozenset[Fact] = frozenset()
    unless: frozenset[Fact] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """All statements of a scenario for one engine; `remains` as in `OutputEffects`."""

    statements: tuple[Statement, ...]
    remains: bool = True


def says(*when: Fact, run: str = "", undo: str = "", unless: tuple[Fact, ...] = ()) -> Statement:
    """Return a statement that is true if all these facts are."""
    return Statement(run=run, undo=undo, when=frozenset(when), unless=frozenset(unless))
