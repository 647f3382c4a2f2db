"""What plans and runs ask the rules: a verdict needs evidence, which is read above this layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from headgate.errors import RefusedError
from headgate.plan.verdict import Sight, Trace, Verdict

Judge: TypeAlias = Callable[[str, str, str | None, Sequence[str]], Verdict]
Look: TypeAlias = Callable[[str, str, str, Trace], Sight]


class VerdictWorld:
    """Asks `judge` and `look`, which whoever opens the world brings along."""

    judge: Judge | None = None
    look: Look | None = None

    def verdict(
        self, pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> Verdict:
        """Judge a new version on top of what the pipeline has left by now."""
        if self.judge is None:
            raise RefusedError(f"nothing here can judge {after}: plan it anew")
        return self.judge(pipeline, after, before, fail_on)

    def sight(self, pipeline: str, after: str, version: str, trace: Trace) -> Sight:
        """Compare what runs with the version that was judged."""
        if self.look is None:
            raise RefusedError(f"nothing here can read {after}: plan it anew")
        return self.look(pipeline, after, version, trace)
