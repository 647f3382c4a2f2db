"""What plans and runs ask the registered commands of a pipeline, and start by them."""

from __future__ import annotations

from pathlib import Path

from headgate.errors import StepError
from headgate.gateway.processes import Ended, end_marked, marked, run_command
from headgate.model.registry import Pipeline, Registry
from headgate.plan.world import Status

STATUS_SECONDS = 30.0
COMMAND_SECONDS = 300.0
_RUNS, _STOPPED = 0, 3


class CommandWorld:
    """The registry's pipelines and their status commands."""

    registry: Registry
    home: Path

    def status(self, pipeline: str) -> Status:
        """Ask the pipeline's status command: 0 runs, 3 does not, anything else is unknown."""
        registered = self.registered(pipeline)
        command = registered.commands.status if registered else None
        if command is None:
            return Status.UNKNOWN
        ended = self._shell(command, log="status", seconds=STATUS_SECONDS)
        return {_RUNS: Status.RUNS, _STOPPED: Status.STOPPED}.get(
            -1 if ended.code is None else ended.code, Status.UNKNOWN
        )

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it."""
        return self.registry.pipeline(pipeline)

    def _shell(self, command: str, *, log: str, seconds: float, mark: str = "") -> Ended:
        folder = Path(self.registry.path).parent if self.registry.path else Path.cwd()
        place = self.home / "logs" / f"{log}.log"
        return run_command(command, folder=folder, log=place, seconds=seconds, mark=mark)


class CommandEffects(CommandWorld):
    """Starting and stopping."""

    _run: str

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""
        raise NotImplementedError

    def command(self, pipeline: str, word: str) -> None:
        """Run the registered command; StepError unless it exits 0 in time.

        What an earlier try of this run left of the same command is ended first.
        """
        registered = self.registered(pipeline)
        command = getattr(registered.commands, word) if registered else None
        if command is None:
            raise StepError(f"{pipeline} has no {word} command")
        self.note(f"{word}: `{command}`")
        mark = self._mark(pipeline, word)
        # What a try before a crash left half-way must not go on beside this one.
        end_marked(mark)
        log = f"run-{self._run}-{word}"
        ended = self._shell(command, log=log, seconds=COMMAND_SECONDS, mark=mark)
        if ended.code != 0:
            how = "did not end in time" if ended.code is None else f"exited {ended.code}"
            said = f": {ended.output}" if ended.output else ""
            raise StepError(f"the {word} command of {pipeline} {how}{said}")

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""
        return bool(marked(self._mark(pipeline, word)))

    def _mark(self, pipeline: str, word: str) -> str:
        return f"{self._run}:{pipeline}:{word}"
