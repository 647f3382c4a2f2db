"""Every error this package raises on purpose.

HeadgateError                        exit 2 on the command line unless said otherwise
├── ParseError                       the input text has another format than the parser reads
│   └── SelectorError                a landscape selector: at which position, what was expected
├── EvidenceError                    a path or a name that isn't readable evidence
│   └── QueryChoiceError             it has several queries, or not the requested one
├── RegistryError                    headgate.toml is wrong
├── ConfigError                      a client doesn't accept a setting
├── SetupError                       something that the setup installs is missing
├── CaptureError                     a module:function did not yield a streaming query
│   ├── JarError                     a jar can't be read, or lacks the named class or method
│   └── BuildError                   the function failed, or did not return, in a twin run
│       └── LimitError               it needed more memory or disk space than a twin run may use
├── PlanFileError                    a plan's file is damaged or was changed by hand
├── ScenarioError                    no scenario has that name, or it doesn't have the option
├── RenameError                      --rename is not KIND:OLD=NEW, or names nothing that is there
├── SchemaError                      a topic's schema cannot be read, or there is none
├── OutputError                      an output can't be read, or not be compared by these columns
├── NotFoundError                    no pipeline, version, plan or run has that name
├── RefusedError                     a safety check failed; nothing was changed      exit 3
│   └── StalePlanError               something changed after the plan was built
├── UnreachableError                 Kafka, the store or Spark did not answer        exit 4
├── StepError                        a step could not be applied or verified         exit 5
│   ├── DifferenceError              the results of two versions differ            exit 1
│   └── RunCancelledError            the run was cancelled between two steps
└── StoreError                       a stored record is missing or contradicts another one

Each class declares `next_step`: one sentence that says what to do if the message doesn't say it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

_IMPERATIVE = (
    r"(?:add|apply|ask|build|capture|change|check|choose"
    r"|combine|correct|create|declare|delete|fix|free|give|install|keep|leave|let|make|move|name"
    r"|omit|pass|put|raise|register|reload|remove|restart|restore|resume|review|save|say|see|select"
    r"|set|start|stop|take|try|undo|update|upload|use|wait|write"
    r"|(?:plan|run)(?= (?:`|again|it|the|this)))\b"
)
_STEP = re.compile(rf"[.:;] (?={_IMPERATIVE})", re.IGNORECASE)
_ADVICE = re.compile(
    rf"`headgate |--[a-z]|did you mean|(?:^|[:;.,] |\b(?:or|and|then) ){_IMPERATIVE}",
    re.IGNORECASE,
)
"""A message with a command, an option or an imperative says by itself what to do."""


class HeadgateError(Exception):
    """Base class: pages, worker and command line show its message, then its next step."""

    exit_code = 2
    # None here: what to do depends on the kind of error, so each class says its own.
    next_step: ClassVar[str | None] = None


def next_step_of(error: object) -> str | None:
    """Return the sentence that says what to do; None if the message says it, or nothing does."""
    if not isinstance(error, HeadgateError) or _ADVICE.search(str(error)):
        return None
    return error.next_step


def with_next_step(error: Exception) -> str:
    """Return the message and the next step, after a list on a line of its own."""
    message, step = str(error), next_step_of(error)
    if step is None:
        return message
    return f"{message}\n{step}" if "\n" in message else f"{message.rstrip('.')}. {step}"


def cause_and_step(message: str) -> tuple[str, str]:
    """Return what happened and what to do, each as a sentence; "" if the message has no step."""
    found = [(m.start(), m.end()) for m in _STEP.finditer(message)]
    if found:
        start, end = found[-1]
        return f"{message[:start]}.", f"{message[end].upper()}{message[end + 1 :].rstrip('.')}."
    return message, ""


class ParseError(HeadgateError):
    """The input text is not what this parser reads."""

    next_step = "Check that the file is complete and unchanged, or create the file again."

    def __init__(self, message: str, *, source: str, line: int) -> None:
        super().__init__(f"{source}:{line}: {message}")
        self.source = source
        self.line = line


class SelectorError(ParseError):
    """A selector is wrong; `position` counts characters from 1, `expression` is the whole text."""

    next_step = "Run `headgate landscape --help` to see examples of selectors."

    def __init__(self, message: str, *, expression: str, position: int) -> None:
        shown = expression if len(expression) <= 80 else f"{expression[:79]}…"
        HeadgateError.__init__(self, f"selector `{shown}`, position {position}: {message}")
        self.source, self.line = "selector", 1
        self.expression, self.position = expression, position


class EvidenceError(HeadgateError):
    """A path or a name that isn't readable evidence; the message lists what was tried."""

    next_step = "Check the path or name, and Headgate's read permission."


class QueryChoiceError(EvidenceError):
    """Which query is meant is open: `sentence` says why, `listed` has a line for each query.

    `of_plans` where the lines name plans, which may say nothing of whose they are.
    """

    next_step = "Choose a query with --query."

    def __init__(
        self, sentence: str, listed: Sequence[str] = (), *, of_plans: bool = False
    ) -> None:
        super().__init__("\n".join((f"{sentence}:" if listed else sentence, *listed)))
        self.sentence = sentence
        self.listed = tuple(listed)
        self.of_plans = of_plans


class RegistryError(HeadgateError):
    """`headgate.toml` is wrong: which line, and what was expected there."""

    # The message has the file, the line, and what is expected there.
    next_step = None

    def __init__(self, message: str, *, source: str, line: int) -> None:
        super().__init__(f"{source}:{line}: {message}")
        self.source = source
        self.line = line


class SetupError(HeadgateError):
    """Something that the set-up brings is missing, or another stack already runs here."""

    next_step = "Run `headgate doctor` to see what is missing."


class ConfigError(HeadgateError):
    """A setting that is passed on is none that its client takes: which one, and why."""

    next_step = "Correct the setting in headgate.toml."


class CaptureError(HeadgateError):
    """A `module:function` could not be turned into an unstarted streaming query."""

    next_step = (
        "Check MODULE:FUNCTION, and run the function without Headgate to see the full error."
    )


class JarError(CaptureError):
    """A jar can't be read, or lacks the class or method that was named."""

    next_step = (
        "Check --jar and CLASS#method (in headgate.toml: `jar` and `entry_point`), then build the "
        "jar again."
    )


class BuildError(CaptureError):
    """A version's own function failed, or did not return, so a twin run can't decide anything."""

    next_step = (
        "A twin run has no access to servers and tables: the function must build the query or "
        "topology without them. If the function only needs more time, allow a longer timeout "
        "(--timeout)."
    )


class LimitError(BuildError):
    """A version needed more memory or disk space than a twin run may use, so it was ended."""

    next_step = (
        "In `headgate rehearse`, use fewer rows (--rows), or the real state (Spark: --checkpoint, "
        "Kafka Streams: --state-dir)."
    )


class PlanFileError(HeadgateError):
    """A plan's file is damaged, of another release, or was changed after it was made."""

    next_step = "Run `headgate plan` again, and apply the new plan file."


class ScenarioError(HeadgateError):
    """No scenario has that name, or it does not take an option that was given."""

    next_step = (
        "Run `headgate plan --help` to list the scenarios. For the options of a scenario, run "
        "`headgate plan SCENARIO --help`."
    )


class RenameError(HeadgateError):
    """A rename is not `KIND:OLD=NEW`, or one of its sides is nothing that a version has."""

    next_step = (
        "Write KIND:OLD=NEW: OLD is a name in the old version, NEW a name in the new version."
    )


class SchemaError(HeadgateError):
    """A topic's schema cannot be read, lacks what it imports, or is not there at all."""

    # Every message about a subject of a schema registry says by itself what to do.
    next_step = "Check the path and the content of the schema file."


class OutputError(HeadgateError):
    """An output can't be read, or two outputs can't be compared by the columns that were given."""

    next_step = "Check the address, the data format and Headgate's read permission."


class NotFoundError(HeadgateError):
    """No pipeline, version, plan or run has the name that was given."""

    next_step = "Check the name: `headgate landscape` lists pipelines, `headgate runs` lists runs."


class RefusedError(HeadgateError):
    """A safety check said no before the first effect; nothing was changed."""

    # Each check names its own cause and remedy; one sentence for all would be wrong.
    next_step: ClassVar[str | None] = None
    exit_code = 3


class StalePlanError(RefusedError):
    """A precondition of the plan no longer holds."""

    next_step = "Run `headgate plan` again, and apply the new plan."


class UnreachableError(HeadgateError):
    """Kafka, the store, Spark or a remote file system did not answer."""

    next_step = (
        "Check that the address is correct and the service is running, or run `headgate doctor`."
    )
    exit_code = 4


class StepError(HeadgateError):
    """A step could not be applied or verified; the journal says how far the run got."""

    # Planning, restore points and HTTP calls raise it, too: only a run can be resumed or undone.
    next_step = "Fix the cause, then try again."
    exit_code = 5


class DifferenceError(StepError):
    """The results of two versions differ by more than the tolerance: the check failed."""

    next_step = "Run `headgate report RUN` to see the differences."
    exit_code = 1


class RunCancelledError(StepError):
    """Somebody cancelled the run; it stopped at a safe point and can be resumed or undone."""

    next_step = (
        "Run `headgate resume RUN` to continue the run, or `headgate undo RUN` to roll back."
    )


class StoreError(HeadgateError):
    """A stored record is missing, broken or contradicts another one."""

    next_step = "Run `headgate doctor` to check the store."
