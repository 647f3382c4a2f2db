"""Verify that the state of a query has none of the records that are replaced."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import RefusedError
from headgate.reprocess.checkpoint.offset_cut import ends_in
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.offsets.skip_replaced import Replaced
from headgate.reprocess.steps.offsets.target import TopicPart


def check_none_read(
    applier: Applier, pipeline: str, location: str, replaced: Mapping[TopicPart, Replaced]
) -> None:
    """Refuse where the newest batch of the offset log, committed or not, ends after `begin`.

    A query that wasn't stopped yet when the plan was made may have read on. Spark executes an
    uncommitted batch again, whatever end offsets a run has.
    """
    files = applier.checkpoints.files(location)
    last = max(files.logged, default=None) if files else None
    log = files.offsets(last) if files and last is not None else None
    if log is None:
        raise RefusedError(
            f"the last batch of checkpoint {location} can't be read. Run `headgate plan repair` "
            "first"
        )
    for (topic, number), part in sorted(replaced.items()):
        past = [end for end in ends_in(log, topic, number) if end > part.begin]
        if past:
            raise RefusedError(
                f"batch {last} of {pipeline} ends at offset {max(past)} of {topic}[{number}], "
                f"but the run replaces records from offset {part.begin} on: the pipeline read more "
                "records after the plan was made. Run `headgate plan` again"
            )
