"""What plans and runs ask the registered commands of a pipeline, and start by them."""

from __future__ import annotations

from collections.abc import Callable

from headgate.errors import RefusedError, StepError
from headgate.gateway.adapters.driver_messages import DriverRequests
from headgate.gateway.adapters.driver_status import DriverStatusReader
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.process.shell_commands import Ended, end_marked, marked, run_command
from headgate.model.commands import Ask, HttpCall, Shell, WatchControl
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.reprocess.ports.processes import DriverStatus, ReportedRun, Status
from headgate.text.secrets import mask_text

STATUS_SECONDS = 30.0
COMMAND_SECONDS = 300.0
# A person who has gone home comes back the next morning.
PERSON_SECONDS = 24 * 3600.0
_CODES = {0: Status.RUNS, 3: Status.STOPPED, 4: Status.PAUSED}
_LOOK = 1.0
# In the text for a person: what a shell and a call find in their environment.
CHECKPOINT, OUTPUT = "${HEADGATE_CHECKPOINT}", "${HEADGATE_OUTPUT_TOPIC}"


class ProcessAdapter:
    """The registry's pipelines: their status, their commands and their drivers."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.drivers = DriverStatusReader(context)

    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return every registered pipeline."""
        return self._context.registry.pipelines

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it."""
        return self._context.registry.pipeline(pipeline)

    def status(self, pipeline: str) -> Status:
        """Ask the pipeline's status command: 0 runs, 3 does not, 4 is paused, else unknown."""
        registered = self.registered(pipeline)
        command = registered.commands.status if registered else None
        if registered is None or command is None:
            return Status.UNKNOWN
        call = registered.commands.calls.get("status")
        if isinstance(call, HttpCall):
            # Imported here: most pipelines have shell commands, and `requests` takes a while.
            from headgate.gateway.http.declared_calls import HttpCalls

            return HttpCalls(self._given(registered.name), self._context.folder).status(call)
        if isinstance(call, Shell):
            command = call.command
        given = self._given(registered.name)
        ended = self._shell(command, log="status", seconds=STATUS_SECONDS, given=given)
        return _CODES.get(-1 if ended.code is None else ended.code, Status.UNKNOWN)

    def driver_status(self, pipeline: str) -> DriverStatus:
        """Return what the driver reports, the watch's word first; it never fails."""
        return self.drivers.driver_status(pipeline)

    def reported_runs(self, pipeline: str) -> tuple[ReportedRun, ...]:
        """Return all runs that the pipeline's watch reports; none where it can't be read."""
        return self.drivers.reported_runs(pipeline)

    def command(self, pipeline: str, word: str, message: str = "", output: str = "") -> None:
        """Run the registered command; StepError unless it succeeds in time.

        What an earlier try of this run left of the same shell command is ended first. A person is
        waited for, for a day; RefusedError then.
        """
        registered = self.registered(pipeline)
        commands = registered.commands if registered else Commands()
        command = getattr(commands, word)
        if command is None:
            raise StepError(
                f"pipeline {pipeline} has no {word} command in headgate.toml. Add `{word}` under "
                "[pipeline.commands], then resume the run"
            )
        self._context.note(f"{word}: `{command}`")
        given = self._given(pipeline, message, output)
        match commands.calls.get(word):
            case HttpCall() as call:
                self._http(pipeline, word, call, given)
            case Ask() as person:
                text = person.text.replace(CHECKPOINT, given["HEADGATE_CHECKPOINT"])
                self.manual_step(word, text.replace(OUTPUT, output))
            case Shell() as call:
                self._run_shell(pipeline, word, call.command, given)
            case WatchControl() as call if registered is not None:
                DriverRequests(self._context, self.drivers).stop(registered, call)
            case _:
                self._run_shell(pipeline, word, command, given)

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""
        return bool(marked(self._mark(pipeline, word)))

    def manual_step(
        self, word: str, request: str, meanwhile: Callable[[], None] | None = None
    ) -> None:
        """Ask, and wait until somebody confirms it; see `reprocess.ports.processes`."""
        who, waited = self._context.ask(word, request), 0.0
        if who is None:
            self._context.note(
                f"{request}. Then confirm the step on the Runs page of the console, or run: "
                f"headgate confirm {self._context.run}"
            )
        while who is None:
            if waited >= PERSON_SECONDS:
                raise RefusedError(
                    f"nobody confirmed the manual step within a day: {request}. Resume the run, "
                    "then confirm the step with `headgate confirm RUN`. If the run was rolled "
                    "back, run `headgate plan` again"
                )
            self._context.pause(_LOOK)
            if meanwhile is not None:
                meanwhile()
            waited, who = waited + _LOOK, self._context.ask(word, request)
        self._context.note(f"{who} confirmed: {request}")

    def _run_shell(self, pipeline: str, word: str, command: str, given: dict[str, str]) -> None:
        mark = self._mark(pipeline, word)
        # What a try before a crash left half-way must not go on beside this one.
        end_marked(mark)
        log = f"run-{self._context.run}-{word}"
        ended = self._shell(command, log=log, seconds=COMMAND_SECONDS, mark=mark, given=given)
        if ended.code != 0:
            late = f"did not end within {COMMAND_SECONDS:.0f} s"
            how = late if ended.code is None else f"exited with code {ended.code}"
            said = f": {mask_text(ended.output)}" if ended.output else ""
            raise StepError(f"the {word} command of {pipeline} {how}{said}")

    def _http(self, pipeline: str, word: str, call: HttpCall, given: dict[str, str]) -> None:
        from headgate.gateway.http.declared_calls import HttpCalls

        try:
            said = HttpCalls(given, self._context.folder).perform(call, self._context.pause)
        except StepError as error:
            raise StepError(f"the {word} HTTP call of {pipeline} failed: {error}") from None
        if said:
            self._context.note(f"{word}: {said}")

    def _given(self, pipeline: str, message: str = "", output: str = "") -> dict[str, str]:
        """Return what a command finds in its environment, and a call as `${NAME}`."""
        registered = self.registered(pipeline)
        return {
            "HEADGATE_CHECKPOINT": (registered.checkpoint if registered else None) or "",
            "HEADGATE_PIPELINE": pipeline,
            "HEADGATE_RUN": self._context.run,
            "HEADGATE_MESSAGE": message,
            "HEADGATE_OUTPUT_TOPIC": output,
        }

    def _shell(
        self,
        command: str,
        *,
        log: str,
        seconds: float,
        mark: str = "",
        given: dict[str, str] | None = None,
    ) -> Ended:
        place = self._context.home / "logs" / f"{log}.log"
        return run_command(
            command, folder=self._context.folder, log=place, seconds=seconds, mark=mark, env=given
        )

    def _mark(self, pipeline: str, word: str) -> str:
        return f"{self._context.run}:{pipeline}:{word}"
