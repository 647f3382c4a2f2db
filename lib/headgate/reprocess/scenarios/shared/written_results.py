"""What a plan says about the target of its results, for every kind of target."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.reprocess.output_effects import OutputEffects
from headgate.reprocess.steps.base.step import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The steps that write the results, and what the plan says of their target.

    `blockers` are those that only the columns of the results show.
    """

    steps: tuple[Step, ...]
    resources: tuple[str, ...]
    outputs: OutputEffects
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
