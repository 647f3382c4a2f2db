"""Checkpoints on remote file systems: never changed, but recreated at another location."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headgate.reprocess.checkpoint.source_offsets import Beginning


class RemoteCheckpointInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def is_free(self, location: str) -> bool:
        """Return whether a location of a remote file system is free."""

    def listing_hash(self, location: str) -> str | None:
        """Return a hash over names, sizes and times of all files there; None: there are none."""


class RemoteCheckpointApplier(RemoteCheckpointInspector, Protocol):
    """What a step may do to them; RefusedError where the file system doesn't let it."""

    def copy(
        self,
        location: str,
        to: str,
        *,
        expected: str,
        batch: int | None = None,
        query_id: str | None = None,
    ) -> None:
        """Copy a checkpoint, whole or up to the end of a batch, to another location; manifest last.

        What an earlier try has copied stays. RefusedError if the listing of the source isn't the
        `expected` one, before or after. `query_id` replaces the query's own.
        """

    def create(self, to: str, like: str, query_id: str, beginnings: Sequence[Beginning]) -> None:
        """Write a checkpoint without batches and state, whose sources begin there; manifest last.

        `like` is the old one, which gives the files that were read.
        """

    def issue(self, location: str) -> str | None:
        """Return why a copy isn't whole and untouched, as its manifest says; None if it is."""

    def delete(self, location: str, source: str | None) -> str | None:
        """Remove a copy that no query has used; return why it was kept, None if it is gone."""

    def switch(self, pipeline: str, location: str) -> None:
        """Record that the pipeline's checkpoint is now there, and pass that to its commands."""
