"""Checkpoints on remote file systems, which are never changed but made anew at another place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headgate.reprocess.ports.source_offsets import Beginning


class RemoteCheckpointInspector(Protocol):
    """What a plan may ask of them; no answer is cached."""

    def is_free(self, location: str) -> bool:
        """Return whether nothing stands at a place of a remote file system."""

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
        """Copy a checkpoint to another place, perhaps only to the end of a batch; manifest last.

        What an earlier try has copied stays. RefusedError where the listing of the source is not
        the `expected` one, before or after. `query_id` is put in place of the query's own.
        """

    def create(self, to: str, like: str, query_id: str, beginnings: Sequence[Beginning]) -> None:
        """Write a checkpoint without batches and state, whose sources begin there; manifest last.

        `like` is the old one, which gives the files that were read.
        """

    def issue(self, location: str) -> str | None:
        """Return why a place is not whole and untouched, as its manifest says; None: it is."""

    def delete(self, location: str, source: str | None) -> str | None:
        """Remove a place that no query has used; return why it was kept, None: it is gone."""

    def switch(self, pipeline: str, location: str) -> None:
        """Record that the pipeline's checkpoint is there from now on; its commands are told so."""
