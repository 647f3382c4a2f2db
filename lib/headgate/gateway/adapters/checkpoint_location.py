"""What plans and runs ask and do where a checkpoint is on a remote file system."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.errors import StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint import create as new_checkpoint
from headgate.gateway.checkpoint import remote_copy
from headgate.gateway.checkpoint.remote_view import seen
from headgate.gateway.files.addresses import is_remote
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.reprocess.checkpoint.source_offsets import Beginning


class RemoteCheckpointAdapter:
    """New checkpoints beside old ones, and which of them is the pipeline's."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def is_free(self, location: str) -> bool:
        """Return whether a location of a remote file system is empty."""
        return remote_copy.is_free(location, self._context.registry.file_systems)

    def listing_hash(self, location: str) -> str | None:
        """Return a hash over names, sizes and times of all files there; None: there are none."""
        return remote_copy.listing_hash(location, self._context.registry.file_systems)

    def copy(
        self,
        location: str,
        to: str,
        *,
        expected: str,
        batch: int | None = None,
        query_id: str | None = None,
    ) -> None:
        """Copy a checkpoint to another location; see `reprocess.ports.checkpoint_location`."""
        self._writable(to)
        order = remote_copy.Order(
            source=location,
            target=to,
            run=self._context.run,
            expected=expected,
            batch=batch,
            query_id=query_id,
        )

        def on_progress(done: int, total: int) -> None:
            self._context.progress(done, total, "bytes")
            self._context.pause(0)

        remote_copy.copy_remote_checkpoint(order, self._context.registry.file_systems, on_progress)

    def create(self, to: str, like: str, query_id: str, beginnings: Sequence[Beginning]) -> None:
        """Write a checkpoint whose sources begin there; see the port."""
        self._writable(to)
        with seen(like, self._context.registry.file_systems) as old:
            files = new_checkpoint.content(old, query_id, beginnings)
            remote_copy.write_remote_checkpoint(
                to,
                files,
                {"source": like, "run": self._context.run},
                self._context.registry.file_systems,
            )

    def issue(self, location: str) -> str | None:
        """Return why a copy is not complete and untouched; None: it is."""
        return remote_copy.copy_issue(location, self._context.registry.file_systems)

    def delete(self, location: str, source: str | None) -> str | None:
        """Remove a checkpoint that no query has used; return why it was kept."""
        self._writable(location)
        return remote_copy.delete_remote_checkpoint(
            location, source, self._context.registry.file_systems
        )

    def switch(self, pipeline: str, location: str) -> None:
        """Record that this location is now the pipeline's checkpoint."""
        found = self._context.registry.pipeline(pipeline)
        declared = (found.declared or found.checkpoint) if found else None
        if declared is None:
            raise StepError(
                f"headgate.toml no longer has `checkpoint` for pipeline {pipeline}. Add "
                "`checkpoint` again, then resume the run"
            )
        self._context.switch_checkpoint(pipeline, declared, location)
        self._context.registry = self._context.registry.led(
            {**_locations(self._context.registry), pipeline: (declared, location)}
        )

    def _writable(self, location: str) -> None:
        if not is_created_location(location, self._context.registry):
            raise StepError(
                f"Headgate didn't change {location}. On a remote file system, a run changes only "
                "copies that no pipeline uses as its checkpoint. The name of a copy is a "
                "registered `checkpoint` plus a number, for example s3://b/orders.2. Run `headgate "
                "plan` again"
            )


def is_created_location(location: str, registry: Registry) -> bool:
    """Whether only a run makes such a location: a numbered neighbour of a registered checkpoint.

    No pipeline's own checkpoint is one, whatever it was switched to.
    """
    known = {_bare(p.declared or p.checkpoint or "") for p in registry.pipelines}
    base, _, number = _bare(location).rpartition(".")
    is_ours = is_remote(location) and base in known and number.isdecimal()
    return is_ours and not any(_bare(location) in _own(p) for p in registry.pipelines)


def _locations(registry: Registry) -> dict[str, tuple[str, str]]:
    return {p.name: (p.declared, p.checkpoint or "") for p in registry.pipelines if p.declared}


def _own(pipeline: Pipeline) -> set[str]:
    return {_bare(place) for place in (pipeline.declared, pipeline.checkpoint) if place}


def _bare(location: str) -> str:
    return location.rstrip("/")
