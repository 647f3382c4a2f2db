"""A plan: the ordered steps of a scenario with every value resolved, as a frozen value."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypedDict

import msgspec

from headgate.errors import PlanFileError
from headgate.model.sinks import normal_path
from headgate.reprocess.output_effects import OutputEffects, read_effects
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.base.step import Step
from headgate.text.json_text import read_json


def as_arguments(options: Mapping[str, Any]) -> str:
    """Return the options as they are written on a command line, each with a space before it."""
    return "".join(f" {part}" for part in _arguments(options))


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in sorted(options.items()):
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, (list, tuple)) else [value]:
            # With `=` a value that begins with a dash, as of a shift, is no option.
            yield flag if one is True else f"{flag}={shlex.quote(str(one))}"


SCHEMA = 1
UNDO = "undo"
RESET = "reset"
# Of plans that were read; one of 5,000 partitions takes a few megabytes.
_KEPT = 4
# What reading a damaged document raises, of its fields and of those of its steps.
_DAMAGES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
LOCK_OF_STOP = "the shared stop command of:"
"""A resource that begins so is only a lock: the run uses it, but changes nothing of it."""


def changed(resources: Iterable[str]) -> tuple[str, ...]:
    """Return the resources that a run changes, without those that are only locks."""
    return tuple(name for name in resources if not name.startswith(LOCK_OF_STOP))


def folder_resource(folder: str) -> str:
    """Return the resource of an output folder: one for `/a`, `/a/` and `file:/a`."""
    return f"folder:{normal_path(folder)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would be done, why it may not be, and what it costs.

    `preconditions` must still hold when the run begins. `impact` holds `records` (to be read
    again, by topic) and their `total`, and what was measured (`reprocess.impact`). `resources` are
    what no other run may touch meanwhile. `options` are what the scenario was asked with: from them
    the plan can be rebuilt. Of an undo, `undoes` has the position, in the run that is undone, of
    each step; None for a step that takes nothing back. `outputs` states what the run and its undo
    do to what was written.
    """

    scenario: str
    pipeline: str | None
    steps: tuple[Step, ...] = ()
    preconditions: dict[str, Any] = field(default_factory=dict)
    impact: dict[str, Any] = field(default_factory=dict)
    risks: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    resources: tuple[str, ...] = ()
    undoes: tuple[int | None, ...] = ()
    outputs: OutputEffects = OutputEffects()

    @property
    def can_apply(self) -> bool:
        """Whether a run may begin: nothing refuses it and there is something to do."""
        return not self.blockers and bool(self.steps)

    def moves(self, step: Step | None = None) -> list[Mapping[str, Any]]:
        """Return where its steps, or one of them, move offsets: `topic`, `partition`, `to`.

        `offsets` of a step that processes records are ranges, and none of these.
        """
        return [
            move
            for one in (self.steps if step is None else (step,))
            for move in one.details().get("offsets") or ()
            if isinstance(move, Mapping) and {"topic", "partition", "to"} <= move.keys()
        ]

    @property
    def hash(self) -> str:
        """SHA-256 over what is approved: scenario, pipeline, steps' intent, preconditions."""
        approved = {
            "scenario": self.scenario,
            "pipeline": self.pipeline,
            "steps": [step.intent() for step in self.steps],
            "preconditions": self.preconditions,
        }
        return _sha(approved)

    @property
    def id(self) -> str:
        """A short name that follows the hash."""
        return self._id(self.hash)

    def _id(self, sha: str) -> str:
        return f"{self.scenario}-{sha[:12]}"

    @property
    def command(self) -> str:
        """The command line that does the same."""
        if self.scenario == UNDO:
            return f"headgate undo {self.options['run']}"
        if self.scenario == RESET:
            # What was read from evidence is read again from it.
            given = {k: v for k, v in self.options.items() if not k.startswith("topology-")}
            name = shlex.quote(self.pipeline or "")
            return f"headgate reset --application-id={name}{as_arguments(given)} --execute"
        file = shlex.quote(f"{self.scenario}-{self.pipeline}.json".replace("/", "-"))
        name = f"{self.scenario} {shlex.quote(self.pipeline or '')}{as_arguments(self.options)}"
        return f"headgate plan {name} -o {file} && headgate apply {file}"

    def document(self) -> dict[str, Any]:
        """Return the plan as the contract's JSON, with what is needed to read it back."""
        sha = self.hash
        body = {
            "schema": SCHEMA,
            "id": self._id(sha),
            "hash": sha,
            "scenario": self.scenario,
            "pipeline": self.pipeline,
            "can_apply": self.can_apply,
            "blockers": list(self.blockers),
            "risks": list(self.risks),
            "preconditions": self.preconditions,
            "impact": self.impact,
            "outputs": self.outputs.document(),
            "command": self.command,
            "options": self.options,
            "resources": list(self.resources),
            "undoes": list(self.undoes),
            "steps": [step_document(step) for step in self.steps],
        }
        return {**body, "seal": _sha(body)}


def step_document(step: Step) -> dict[str, Any]:
    """Return one step as the contract's JSON."""
    return {
        "action": step.action,
        "symbol": step.symbol,
        "describe": step.describe(),
        "undoable": step.undoable,
        "details": step.details(),
    }


def dump_plan(plan: Plan) -> str:
    """Return the text of a plan's file."""
    # Python's own encoder takes ten times as long for a thousand partitions.
    return msgspec.json.format(msgspec.json.encode(plan.document()), indent=2).decode() + "\n"


def load_plan(text: str, *, source: str) -> Plan:
    """Return the plan that `dump_plan` wrote; PlanFileError where it is damaged or was changed."""
    try:
        return _loaded(text)
    except PlanFileError as error:
        raise PlanFileError(f"{source}: {error}") from None


# A run's plan is asked for at each of its steps, and stays as it is.
@lru_cache(maxsize=_KEPT)
def _loaded(text: str) -> Plan:
    try:
        document = read_json(text)
    except ValueError as error:
        raise PlanFileError(f"the plan file isn't JSON: {error}") from None
    if not isinstance(document, dict) or not {"scenario", "steps", "hash"} <= document.keys():
        raise PlanFileError("expected a plan file that `headgate plan` wrote")
    if document.get("schema") != SCHEMA:
        raise PlanFileError(
            f"the plan file has schema version {document.get('schema')!r}, but this release of "
            f"Headgate reads version {SCHEMA}. Run `headgate plan` again"
        )
    try:
        plan = _from(document)
        is_sealed = plan.hash == document["hash"]
        rest = {k: v for k, v in document.items() if k != "seal"}
        is_sealed = is_sealed and _sha(rest) == document.get("seal")
    except _DAMAGES as error:
        raise PlanFileError(
            f"the plan is damaged: {_reason(error)}. Run `headgate plan` again"
        ) from None
    if not is_sealed:
        raise PlanFileError("the plan was changed after it was made. Run `headgate plan` again")
    return plan


def _reason(error: Exception) -> str:
    said = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
    return said or type(error).__name__


class _Step(TypedDict):
    action: str
    details: dict[str, Any]


class _Document(TypedDict):
    """What a plan's file must hold; it may hold more."""

    scenario: str
    pipeline: str | None
    steps: list[_Step]
    preconditions: dict[str, Any]
    impact: dict[str, Any]
    risks: list[str]
    blockers: list[str]
    options: dict[str, Any]
    resources: list[str]
    undoes: list[int | None]


def _from(document: Mapping[str, Any]) -> Plan:
    """Return the plan; one of `_DAMAGES` if the document holds none."""
    msgspec.convert(document, _Document)
    options = document["options"]
    if document["scenario"] == UNDO:
        if not isinstance(options.get("run"), str):
            raise ValueError("`run` is missing in the options of the undo")
    elif document["pipeline"] is None:
        raise ValueError("`pipeline` is missing")
    return Plan(
        scenario=document["scenario"],
        pipeline=document["pipeline"],
        steps=tuple(load_step(s["action"], s["details"]) for s in document["steps"]),
        preconditions=dict(document["preconditions"]),
        impact=dict(document["impact"]),
        risks=tuple(document["risks"]),
        blockers=tuple(document["blockers"]),
        options=dict(document["options"]),
        resources=tuple(document["resources"]),
        undoes=tuple(document["undoes"]),
        outputs=read_effects(document.get("outputs")),
    )


def _sha(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
