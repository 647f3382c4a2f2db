"""The numbers of topics' partitions, which only ever grow, as plans see and change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class PartitionWorld(Protocol):
    """What a plan may ask of them; every answer is read anew."""

    def unraisable(self, wanted: Mapping[str, int]) -> Mapping[str, str]:
        """Return by topic why the broker would not give it so many partitions; it tries nothing.

        A topic that it would give them is left out.
        """


class PartitionEffects(PartitionWorld, Protocol):
    """What a step may do to them; StepError where it does not work."""

    def raise_partitions(self, name: str, to: int) -> None:
        """Give the topic so many partitions in all, each with a leader; fine if it has."""
