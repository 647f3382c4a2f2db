"""What a scenario is: what it asks, for which engines it exists, and how its plan is built.

The command line, the page and the table in the docs are made from these declarations alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.model.registry import Pipeline
from headgate.model.version import Engine, Version
from headgate.plan.plan import Plan
from headgate.plan.world import World


class Kind(StrEnum):
    """What an answer is made of; a FLAG is asked as yes or no, a MANY is a list of texts."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    MANY = "many"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One question of a scenario.

    `name` is that of the command line, without dashes before it. `ask` is the wizard's question,
    `help` one line for both. Of the options with the same `one_of` at most one is given; where
    they are `required`, exactly one.
    A question with `after` makes sense only once one of those options is answered: the wizard
    asks it only then.
    `metavar` is the form of the value, as in `TIME`; `engines` are those that it makes sense for.
    The rows of a FILE are given as the values of the option `rows_of`: a plan holds what the file
    said, and is not another one when the file is.
    """

    name: str
    ask: str
    help: str
    kind: Kind = Kind.TEXT
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    one_of: str | None = None
    rows_of: str | None = None
    after: tuple[str, ...] = ()
    required: bool = False
    engines: frozenset[Engine] = frozenset(Engine)


class Answer(StrEnum):
    """Whether a scenario exists for an engine."""

    SUPPORTED = "supported"
    NEEDS = "needs"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Support:
    """A cell of the table: `why` is what is needed, or why it is refused; empty if supported."""

    answer: Answer
    why: str = ""


SUPPORTED = Support(Answer.SUPPORTED)
# What a run that leads a query to a new place for its checkpoint can't do without.
REMOTE = (
    "a start command that hands on ${HEADGATE_CHECKPOINT} where the checkpoint is on a remote file"
    " system (object store, HDFS): there the query is led to a new place"
)
LOCAL = "a checkpoint that is a folder of this machine, local or mounted"


def needs(what: str) -> Support:
    """Return the cell of a scenario that works once `what` is there."""
    return Support(Answer.NEEDS, what)


def refused(why: str) -> Support:
    """Return the cell of a scenario that can't be done to this engine."""
    return Support(Answer.REFUSED, why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a plan is built from: the question, the pipeline, and the world that may be asked.

    `version` is the newest stored one, where there is one: it knows the sink and the options of
    the sources. `options` holds the answers that were given, by name, read and checked. `others`
    are the stored versions of other pipelines, by name, where it is a Kafka Streams application:
    what they own or read is not deleted.
    """

    scenario: str
    pipeline: Pipeline
    world: World
    version: Version | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Version] = field(default_factory=dict)

    def refuse(self, *reasons: str) -> Plan:
        """Return a plan without steps that says why there are none."""
        return Plan(scenario=self.scenario, pipeline=self.pipeline.name, refusals=reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario. `title` is a few words, `what` one sentence for whoever chooses.

    `build` returns the plan, appliable or not; it has no effects. A plan whose options are empty
    gets those that were asked; a builder that resolves one (two days ago) returns the plan with
    the resolved ones, because the plan is built anew from them before its run begins.
    """

    name: str
    title: str
    what: str
    support: Mapping[Engine, Support]
    build: Callable[[Asked], Plan]
    options: tuple[Option, ...] = ()

    def option(self, name: str) -> Option | None:
        """Return the option of that name, or None."""
        return next((o for o in self.options if o.name == name), None)

    def asks(self, engine: Engine) -> tuple[Option, ...]:
        """Return what is asked for a pipeline of this engine."""
        return tuple(o for o in self.options if engine in o.engines)
