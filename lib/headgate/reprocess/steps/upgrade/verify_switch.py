"""Verify that the new version commits a batch after the switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.steps.upgrade.stage_checkpoint import SWITCHED, read_record
from headgate.reprocess.steps.upgrade.verify_version import VerifyVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySwitch(VerifyVersion):
    """Verify that the new version commits a batch in the checkpoint that it was switched to."""

    action: ClassVar[str] = "verify_switch"

    def _last(self, applier: Applier, location: str) -> int | None:
        found = read_record(applier, SWITCHED)
        return found["batch"] if found else None
