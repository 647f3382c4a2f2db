"""What plans and runs ask the rules: a verdict needs evidence, which is read above this layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from headgate.errors import RefusedError
from headgate.plan.verdict import Verdict

Judge: TypeAlias = Callable[[str, str, str | None, Sequence[str]], Verdict]


class VerdictWorld:
    """Asks `judge`, which whoever opens the world brings along."""

    judge: Judge | None = None

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> Verdict:
        """Judge a new version on top of what the pipeline has left by now."""
        if self.judge is None:
            raise RefusedError(f"nothing here can judge {after}: plan it anew")
        return self.judge(pipeline, after, before, fail_on)
