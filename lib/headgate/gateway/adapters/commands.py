"""What plans and runs ask the registered commands of a pipeline, and start by them."""

from __future__ import annotations

from pathlib import Path

from headgate.errors import RefusedError, StepError
from headgate.gateway.process.shell_commands import Ended, end_marked, marked, run_command
from headgate.model.commands import Ask, HttpCall, Shell, WatchControl
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.reprocess.ports.processes import Status
from headgate.text.secrets import mask_text

STATUS_SECONDS = 30.0
COMMAND_SECONDS = 300.0
# A person who has gone home comes back the next morning.
PERSON_SECONDS = 24 * 3600.0
_CODES = {0: Status.RUNS, 3: Status.STOPPED, 4: Status.PAUSED}
_LOOK = 1.0
# In the text for a person: what a shell and a call find in their environment.
CHECKPOINT = "${HEADGATE_CHECKPOINT}"


class CommandInspector:
    """The registry's pipelines and their status commands."""

    registry: Registry
    home: Path

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

            return HttpCalls(self._given(registered.name), self._beside).status(call)
        if isinstance(call, Shell):
            command = call.command
        given = self._given(registered.name)
        ended = self._shell(command, log="status", seconds=STATUS_SECONDS, given=given)
        return _CODES.get(-1 if ended.code is None else ended.code, Status.UNKNOWN)

    def registered(self, pipeline: str) -> Pipeline | None:
        """Return the pipeline as the registry has it."""
        return self.registry.pipeline(pipeline)

    @property
    def _beside(self) -> Path:
        return Path(self.registry.path).parent if self.registry.path else Path.cwd()

    def _given(self, pipeline: str, message: str = "") -> dict[str, str]:
        """Return what a command finds in its environment, and a call as `${NAME}`."""
        run = getattr(self, "_run", "")
        registered = self.registered(pipeline)
        return {
            "HEADGATE_CHECKPOINT": (registered.checkpoint if registered else None) or "",
            "HEADGATE_PIPELINE": pipeline,
            "HEADGATE_RUN": run,
            "HEADGATE_MESSAGE": message,
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
        place = self.home / "logs" / f"{log}.log"
        return run_command(
            command, folder=self._beside, log=place, seconds=seconds, mark=mark, env=given
        )


class CommandApplier(CommandInspector):
    """Starting, stopping, fencing and the rest."""

    _run: str

    def note(self, message: str) -> None:
        """Tell people how the step gets on."""
        raise NotImplementedError

    def ask(self, word: str, request: str) -> str | None:
        """Ask a person; who confirmed it, None as long as nobody did."""
        raise NotImplementedError

    def pause(self, seconds: float) -> None:
        """Wait; see `reprocess.ports.inspector.Applier`."""
        raise NotImplementedError

    def command(self, pipeline: str, word: str, message: str = "") -> None:
        """Run the registered command; StepError unless it succeeds in time.

        What an earlier try of this run left of the same shell command is ended first. A person is
        waited for, for a day; RefusedError then.
        """
        registered = self.registered(pipeline)
        commands = registered.commands if registered else Commands()
        command = getattr(commands, word)
        if command is None:
            raise StepError(f"{pipeline} has no {word} command")
        self.note(f"{word}: `{command}`")
        given = self._given(pipeline, message)
        match commands.calls.get(word):
            case HttpCall() as call:
                self._http(pipeline, word, call, given)
            case Ask() as person:
                text = person.text.replace(CHECKPOINT, given["HEADGATE_CHECKPOINT"])
                self.manual_step(word, text)
            case Shell() as call:
                self._run_shell(pipeline, word, call.command, given)
            case WatchControl() as call if registered is not None:
                self._control(registered, call)
            case _:
                self._run_shell(pipeline, word, command, given)

    def has_left(self, pipeline: str, word: str) -> bool:
        """Return whether something that this run's command started still lives."""
        return bool(marked(self._mark(pipeline, word)))

    def _run_shell(self, pipeline: str, word: str, command: str, given: dict[str, str]) -> None:
        mark = self._mark(pipeline, word)
        # What a try before a crash left half-way must not go on beside this one.
        end_marked(mark)
        log = f"run-{self._run}-{word}"
        ended = self._shell(command, log=log, seconds=COMMAND_SECONDS, mark=mark, given=given)
        if ended.code != 0:
            how = "did not end in time" if ended.code is None else f"exited {ended.code}"
            said = f": {mask_text(ended.output)}" if ended.output else ""
            raise StepError(f"the {word} command of {pipeline} {how}{said}")

    def _http(self, pipeline: str, word: str, call: HttpCall, given: dict[str, str]) -> None:
        from headgate.gateway.http.declared_calls import HttpCalls

        try:
            said = HttpCalls(given, self._beside).perform(call, self.pause)
        except StepError as error:
            raise StepError(f"the {word} call of {pipeline}: {error}") from None
        if said:
            self.note(f"{word}: {said}")

    def manual_step(self, word: str, request: str) -> None:
        """Ask, and wait until somebody confirms it; see `reprocess.ports.processes`."""
        who, waited = self.ask(word, request), 0.0
        if who is None:
            self.note(f"{request}. Then confirm it here, or with: headgate confirm {self._run}")
        while who is None:
            if waited >= PERSON_SECONDS:
                raise RefusedError(f"nobody confirmed within a day: {request}")
            self.pause(_LOOK)
            waited, who = waited + _LOOK, self.ask(word, request)
        self.note(f"{who} confirmed: {request}")

    def _control(self, pipeline: Pipeline, call: WatchControl) -> None:
        """Ask the watched driver; see `world_control`."""
        raise NotImplementedError

    def _mark(self, pipeline: str, word: str) -> str:
        return f"{self._run}:{pipeline}:{word}"
