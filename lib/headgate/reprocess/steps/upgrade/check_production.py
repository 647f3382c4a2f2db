"""Check before the switch that nobody changed the running version since it was copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from headgate.errors import RefusedError
from headgate.reprocess.ports.evidence import new_codes, said_findings
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.document import StepBase
from headgate.reprocess.steps.base.step import PriorState, check_topics
from headgate.reprocess.steps.checkpoint.swap import check_query
from headgate.reprocess.steps.upgrade.stage_checkpoint import (
    STAGED,
    batch_ends,
    read_record,
)

_AGAIN = "Run `headgate plan` again"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckProduction(StepBase):
    """Check that the running version, its checkpoint and its output topic have not changed.

    `running` and `version` are the fingerprints of the running and of the new version when the plan
    was made, `approved` the findings that it showed. `sink` has `id` and `partitions` of the output
    topic.
    """

    action: ClassVar[str] = "check_production"
    symbol: ClassVar[str] = "~"
    undoable: ClassVar[bool] = True
    pipeline: str
    checkpoint: str
    query_id: str
    sink_topic: str
    sink: dict[str, Any]
    after: str
    before: str | None
    fail_on: tuple[str, ...]
    running: str
    version: str
    approved: tuple[str, ...]

    def describe(self) -> str:
        return (
            f"check that {self.pipeline} was not upgraded, reset or rewound since its checkpoint "
            "was copied"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the checkpoint or the output topic is another one."""
        check_query(inspector, self.checkpoint, self.query_id)
        check_topics(inspector, {self.sink_topic: self.sink})

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Refuse where production was reset, rewound or upgraded, or the new version changed."""
        self._check_offsets(applier)
        now = applier.evidence.verdict(self.pipeline, self.after, self.before, self.fail_on)
        if now.before != self.running:
            raise RefusedError(
                f"conflict: the running version of {self.pipeline} changed after its checkpoint "
                f"was copied. {_AGAIN}"
            )
        if now.after != self.version:
            raise RefusedError(
                f"conflict: the new version {self.after} has changed since the plan was made. "
                f"{_AGAIN}"
            )
        more = (*now.closed, *new_codes(now, self.approved))
        if more:
            raise RefusedError(
                f"the new version {self.after} has findings that were not approved: "
                f"{said_findings(dict.fromkeys(more))} {_AGAIN}"
            )
        applier.note(
            f"{self.pipeline} was not upgraded, reset or rewound since its checkpoint was copied"
        )

    def _check_offsets(self, applier: Applier) -> None:
        """Refuse where the batch at which the copy began is no longer the same one."""
        staged = read_record(applier, STAGED)
        batches = applier.checkpoints.batches(self.checkpoint)
        if staged is None:
            raise RefusedError(
                "the run's folder has no file with the copied batches, so Headgate can't check "
                f"{self.pipeline}. {_AGAIN}"
            )
        if not batches:
            raise RefusedError(
                f"conflict: checkpoint {self.checkpoint} no longer has the copied batches. {_AGAIN}"
            )
        number = staged["batch"]
        upto = [b for b in batches if b.number <= number]
        is_reset = batches[-1].number < number
        if not is_reset and upto and upto[-1].number == number:
            is_reset = batch_ends(upto)[-1] != staged["offsets"]
        if is_reset:
            raise RefusedError(
                f"conflict: {self.pipeline} was reset or rewound after its checkpoint was "
                f"copied. Batch {number} no longer exists with the copied offsets. {_AGAIN}"
            )

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Nothing was changed."""
