"""The state of a query's stateful operators at the end of a batch: rows and event times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStore:
    """One store of an operator: its `rows` and their first and last event time in milliseconds.

    The times are None if the state has no event-time column. `unmatched` are rows of a
    stream-stream join that have no partner yet, None in other operators. `windowed` says that the
    keys are time windows.
    """

    operator: int
    name: str
    store: str
    rows: int
    first_ms: int | None = None
    last_ms: int | None = None
    unmatched: int | None = None
    windowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenState:
    """All stores at the end of `batch`; `unknown` is the reason if they could not be read."""

    batch: int | None = None
    stores: tuple[OpenStore, ...] = ()
    unknown: str | None = None
