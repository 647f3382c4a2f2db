"""What plans and runs ask and do where a new checkpoint takes the place of an old one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.checkpoint import create as new_checkpoint
from headgate.gateway.checkpoint.folders import remove_tree
from headgate.gateway.checkpoint.remote_view import seen
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.ports.source_offsets import Beginning, QueryPosition

_DRAFT = re.compile(r"\..+\.(new|rescaled|export)-[^/]+")


class CarryWorld:
    """Where the sources of a query are."""

    registry: Registry

    def query_position(self, location: str) -> QueryPosition | None:
        """Return where the sources are after the newest committed batch; None: no checkpoint."""
        with seen(location, self.registry.file_systems) as folder:
            return new_checkpoint.read_position(folder)


class CarryEffects(CarryWorld):
    """Drafts of new checkpoints, beside the place that they are for."""

    def make_checkpoint(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> None:
        """Write a checkpoint that begins there; see `plan.world.Effects`."""
        new_checkpoint.make_checkpoint(draft_path(draft), Path(like), query_id, beginnings)

    def made_otherwise(
        self, draft: str, like: str, query_id: str, beginnings: Sequence[Beginning]
    ) -> str | None:
        """Return what of the draft, read back from disk, is not as it was to be written."""
        return new_checkpoint.differs(Path(draft), Path(like), query_id, beginnings)

    def drop_draft(self, draft: str) -> None:
        """Remove a draft; fine if it is gone."""
        remove_tree(draft_path(draft))


def draft_path(path: str) -> Path:
    """Return the path; only what has a draft's name is written or removed, whatever a plan says."""
    if not _DRAFT.fullmatch(Path(path).name):
        raise StepError(f"{path} is no draft of a checkpoint: not touched")
    return Path(path)
