"""The state of queries, as plans see it and steps rebuild it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from headgate.model.open_state import OpenState
from headgate.model.restore_points import StoreRows


class StateInspector(Protocol):
    """What a plan may ask of it; no answer is cached."""

    def open_state(self, location: str, batch: int) -> OpenState:
        """Return what the stores hold at the end of `batch`, or why that can't be read."""


class StateApplier(StateInspector, Protocol):
    """What a step may do with it; StepError where it does not work."""

    def repartition(self, checkpoint: str, draft: str, partitions: int) -> tuple[StoreRows, ...]:
        """Make `draft` a copy whose state has so many partitions, and one batch further.

        Its rows were compared with the old ones, one by one. RefusedError is Spark's own error.
        """

    def export(self, checkpoint: str, draft: str) -> Mapping[str, Any]:
        """Write the state at the last committed batch to `draft` as Parquet; return its manifest.

        RefusedError is Spark's own refusal.
        """

    def read(self, location: str, batch: int) -> tuple[StoreRows, ...]:
        """Load every store at the end of `batch` with Spark's state reader; nothing is changed."""
