"""What a scenario is: what it asks, for which engines it exists, and how its plan is built.

The command line, the page and the table in the docs are made only from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from headgate.model.activity import Position
from headgate.model.cluster import Topic
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import RestorePoint
from headgate.model.schedules import StoredSchedule
from headgate.model.version import Engine, Version
from headgate.reprocess.conditions import Condition
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.text.risk import Risk


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

    `name` is that of the command line, without dashes before it. `ask` is its label on the page: a
    noun, or what a FLAG does, and no question. `help` is one line for both. Of the options with the
    same `one_of` at most one is given; where they are `required`, exactly one.
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
    """A cell of the table: `why` is what is needed, or why it is blocked; empty if supported.

    `conditions` are what is needed, one by one; `note` is a consequence, and not a condition.
    """

    answer: Answer
    why: str = ""
    conditions: tuple[Condition, ...] = ()
    note: str = ""


SUPPORTED = Support(Answer.SUPPORTED)


def needs(*conditions: Condition, note: str = "") -> Support:
    """Return the cell of a scenario that works once these conditions are met."""
    why = "; ".join(c.need for c in conditions) + (f". {note}" if note else "")
    return Support(Answer.NEEDS, why, conditions, note)


def refused(why: str) -> Support:
    """Return the cell of a scenario that can't be done to this engine."""
    return Support(Answer.REFUSED, why)


LastPositions = Callable[[Mapping[str, Topic]], Mapping[tuple[str, int], Position]]


def no_positions(_topics: Mapping[str, Topic]) -> Mapping[tuple[str, int], Position]:
    """Return none: where no store is, nothing knows where a group was."""
    return {}


PointsOf = Callable[[str], tuple[RestorePoint, ...]]


def no_points(_pipeline: str) -> tuple[RestorePoint, ...]:
    """Return none: where no store is, nothing knows of restore points."""
    return ()


ScheduleOf = Callable[[str], StoredSchedule | None]


def no_schedule(_pipeline: str) -> StoredSchedule | None:
    """Return None: where no store is, nothing knows of schedules."""
    return None


VersionOf = Callable[[str], Version | None]


def no_version(_pipeline: str) -> None:
    """Return none: where no store is, nothing knows of versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is built from: the question, the pipeline, and what inspects the cluster.

    `version` is the newest stored one, if any: it knows the sink and the options of the sources.
    `options` holds the answers that were given, by name, read and checked. `others` are the stored
    versions of other pipelines, by name, for a Kafka Streams application: what they own or read is
    not deleted. `known` returns where a group was last, by partition, as far as the topics still
    hold that. `points` returns the restore points of any pipeline by its name, oldest first,
    `schedule` its schedule, `versions` its newest stored version. `again`: the options are those of
    a plan that is rebuilt for its run.
    """

    scenario: str
    pipeline: Pipeline
    inspector: Inspector
    version: Version | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Version] = field(default_factory=dict)
    known: LastPositions = no_positions
    points: PointsOf = no_points
    schedule: ScheduleOf = no_schedule
    versions: VersionOf = no_version
    again: bool = False

    @property
    def has_new_outputs(self) -> bool:
        """Whether results go to new outputs, so that nothing comes twice to consumers of the old.

        A person makes the pipeline write there.
        """
        return self.options.get("outputs") == "new" or bool(self.options.get("new-output"))

    def block(self, *reasons: str) -> Plan:
        """Return a plan without steps that says why there are none."""
        return Plan(scenario=self.scenario, pipeline=self.pipeline.name, blockers=reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario. `title` is a few words, `what` one sentence for whoever chooses.

    `short` is a sentence that fits a line of a terminal beside the name (55 characters).

    `steps` are the actions of all steps that its plans can have, and `risks` returns all risks:
    both for the docs, and tests compare them with plans. `risks` is a function, because it imports
    the modules of all engines.

    `build` returns the plan, with or without blockers; it changes nothing. A plan whose options are
    empty gets those that were asked; a builder that resolves one (two days ago) returns the plan
    with the resolved ones, because the plan is built again from them before its run begins.
    """

    name: str
    title: str
    short: str
    what: str
    support: Mapping[Engine, Support]
    build: Callable[[PlanRequest], Plan]
    steps: tuple[str, ...]
    risks: Callable[[], tuple[Risk, ...]]
    options: tuple[Option, ...] = ()

    def option(self, name: str) -> Option | None:
        """Return the option of that name, or None."""
        return next((o for o in self.options if o.name == name), None)

    def asks(self, engine: Engine) -> tuple[Option, ...]:
        """Return the options of a pipeline with this engine."""
        return tuple(o for o in self.options if engine in o.engines)
