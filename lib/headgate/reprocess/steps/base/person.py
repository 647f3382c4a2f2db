"""Ask a person within a step, and wait until somebody says that it is done."""

from __future__ import annotations

from headgate.errors import RefusedError, StepError
from headgate.reprocess.ports.inspector import Effects


def ask_and_wait(effects: Effects, word: str, request: str) -> None:
    """Return once somebody confirmed `request`; `word` is the command that they stand in for.

    StepError where nobody did for a day: what was done so far stays, and a resume asks again.
    """
    try:
        effects.ask_person(word, request[:1].upper() + request[1:])
    except RefusedError as error:
        # A refusal would take back what is done, perhaps below a pipeline that runs by now.
        raise StepError(str(error)) from None
