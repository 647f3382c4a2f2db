"""Wait for a change of the cluster state, and count how long that took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Applier
from headgate.reprocess.ports.processes import Status


def ask_and_wait(
    applier: Applier, word: str, request: str, meanwhile: Callable[[], None] | None = None
) -> None:
    """Return once somebody confirmed `request`; `word` is the command that they replace.

    `meanwhile` is called about once a second; its own RefusedError is raised as it is.

    StepError if nobody did for a day: what was done so far stays, and a resume asks again.
    """
    found: list[RefusedError] = []

    def look() -> None:
        try:
            if meanwhile is not None:
                meanwhile()
        except RefusedError as error:
            found.append(error)
            raise

    try:
        applier.processes.manual_step(word, request[:1].upper() + request[1:], look)
    except RefusedError as error:
        if found:
            raise
        # A refusal would roll back what is done, perhaps below a pipeline that runs by now.
        raise StepError(str(error)) from None


@dataclass(slots=True, kw_only=True)
class Wait:
    """How long somebody has waited, in seconds, looking every `poll` seconds.

    `seconds` are those between the looks: a look, such as a status command, takes time, too.
    `ended` is for how long at a stretch, up to now, a pipeline was seen to have ended.
    """

    applier: Applier
    poll: float = 0.5
    seconds: float = 0.0
    ended: float = 0.0
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Return for how long somebody has waited, with the time that the looks took."""
        return max(self.seconds, time.monotonic() - self.begun)

    def look(self, pipeline: str) -> bool:
        """Return whether the status is `stopped`; it may be so for a moment during a start."""
        has_ended = self.applier.processes.status(pipeline) is Status.STOPPED
        self.saw(has_ended=has_ended)
        return has_ended

    def saw(self, *, has_ended: bool) -> None:
        """Count for how long the pipeline has ended."""
        self.ended = self.ended + self.poll if has_ended else 0.0

    def pause(self) -> None:
        """Let time pass until the next look; a run that is cancelled ends here."""
        self.applier.pause(self.poll)
        self.seconds += self.poll
