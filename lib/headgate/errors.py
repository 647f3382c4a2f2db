"""Every error this package raises on purpose.

HeadgateError                        exit 2 on the command line unless said otherwise
├── ParseError                       the input text is not what the parser reads
│   └── SelectorError                a landscape selector: at which position, what was expected
├── EvidenceError                    a path or a name that isn't readable evidence
│   └── QueryChoiceError             it holds several queries, or none that was asked for
├── RegistryError                    headgate.toml is wrong
├── ConfigError                      a setting is none that its client takes
├── SetupError                       something that the set-up brings is missing here
├── CaptureError                     a module:function did not yield a streaming query
├── PlanFileError                    a plan's file is damaged or was changed by hand
├── ScenarioError                    no scenario has that name, or it does not take that option
├── RenameError                      --rename is not KIND:OLD=NEW, or names nothing that is there
├── SchemaError                      a topic's schema cannot be read, or there is none
├── NotFoundError                    no pipeline, version, plan or run has that name
├── RefusedError                     a safety check said no; nothing was changed     exit 3
│   └── StalePlanError               the world moved after the plan was built
├── UnreachableError                 Kafka, the store or Spark did not answer        exit 4
├── StepError                        a step could not be applied or verified         exit 5
│   └── RunCancelledError            somebody cancelled the run between two steps
└── StoreError                       a stored record is missing or contradicts another one
"""

from __future__ import annotations

from collections.abc import Sequence


class HeadgateError(Exception):
    """Base class: a page or the command line shows its message and nothing else."""

    exit_code = 2


class ParseError(HeadgateError):
    """The input text is not what this parser reads."""

    def __init__(self, message: str, *, source: str, line: int) -> None:
        super().__init__(f"{source}:{line}: {message}")
        self.source = source
        self.line = line


class SelectorError(ParseError):
    """A selector is wrong; `position` counts characters from 1, `expression` is the whole text."""

    def __init__(self, message: str, *, expression: str, position: int) -> None:
        shown = expression if len(expression) <= 80 else f"{expression[:79]}…"
        HeadgateError.__init__(self, f"selector `{shown}`, position {position}: {message}")
        self.source, self.line = "selector", 1
        self.expression, self.position = expression, position


class EvidenceError(HeadgateError):
    """A path or a name that isn't readable evidence; the message lists what was tried."""


class QueryChoiceError(EvidenceError):
    """Which query is meant is open: `sentence` says why, `listed` has a line for each query.

    `of_plans` where the lines name plans, which may say nothing of whose they are.
    """

    def __init__(
        self, sentence: str, listed: Sequence[str] = (), *, of_plans: bool = False
    ) -> None:
        super().__init__("\n".join((f"{sentence}:" if listed else sentence, *listed)))
        self.sentence = sentence
        self.listed = tuple(listed)
        self.of_plans = of_plans


class RegistryError(HeadgateError):
    """`headgate.toml` is wrong: which line, and what was expected there."""

    def __init__(self, message: str, *, source: str, line: int) -> None:
        super().__init__(f"{source}:{line}: {message}")
        self.source = source
        self.line = line


class SetupError(HeadgateError):
    """Something that the set-up brings is missing, or another stack already runs here."""


class ConfigError(HeadgateError):
    """A setting that is passed on is none that its client takes: which one, and why."""


class CaptureError(HeadgateError):
    """A `module:function` could not be turned into an unstarted streaming query."""


class PlanFileError(HeadgateError):
    """A plan's file is damaged, of another release, or was changed after it was made."""


class ScenarioError(HeadgateError):
    """No scenario has that name, or it does not take an option that was given."""


class RenameError(HeadgateError):
    """A rename is not `KIND:OLD=NEW`, or one of its sides is nothing that a version has."""


class SchemaError(HeadgateError):
    """A topic's schema cannot be read, lacks what it imports, or is not there at all."""


class NotFoundError(HeadgateError):
    """No pipeline, version, plan or run has the name that was given."""


class RefusedError(HeadgateError):
    """A safety check said no before the first effect; nothing was changed."""

    exit_code = 3


class StalePlanError(RefusedError):
    """A precondition of the plan no longer holds."""


class UnreachableError(HeadgateError):
    """Kafka, the store, Spark or a remote file system did not answer."""

    exit_code = 4


class StepError(HeadgateError):
    """A step could not be applied or verified; the journal says how far the run got."""

    exit_code = 5


class RunCancelledError(StepError):
    """Somebody cancelled the run; it stopped at a safe place and can be resumed or undone."""


class StoreError(HeadgateError):
    """A stored record is missing, broken or contradicts another one."""
