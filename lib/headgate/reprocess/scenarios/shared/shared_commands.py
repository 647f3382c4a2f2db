"""Other pipelines that a plan's stop commands stop, too: queries of one program, for example."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.model.commands import HttpCall, Shell
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.plan import LOCK_OF_STOP, Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.base.step import pipeline_of
from headgate.text.numbers import name_list
from headgate.text.risk import Risk

# A command that names one of these can do something else for each pipeline.
_OF_ONE = ("HEADGATE_PIPELINE", "HEADGATE_CHECKPOINT")


def with_shared_stops(plan: Plan, inspector: Inspector) -> Plan:
    """Return the plan with a risk, and a resource, for each stop command that others share.

    The resource lets only one run at a time use the command.
    """
    found = list(_shared(plan, inspector))
    if not found:
        return plan
    own = {name for name, _ in found}
    rest = [(name, [p for p in others if p.name not in own]) for name, others in found]
    risks = [_risk(name, others) for name, others in rest if others]
    locks = [
        LOCK_OF_STOP + ", ".join(sorted([name, *(p.name for p in others)]))
        for name, others in found
    ]
    return replace(
        plan,
        risks=tuple(dict.fromkeys([*plan.risks, *risks])),
        resources=tuple(dict.fromkeys([*plan.resources, *locks])),
    )


STOPPED_TOO = Risk(
    "{other_pipelines} {have} the same stop command as {pipeline}, so the run also stops "
    "{other_pipelines}.{again} After the run, check that {other_pipelines} {are} running. If "
    'the command reads HEADGATE_PIPELINE and stops only {pipeline}, add "$HEADGATE_PIPELINE" '
    "to the command in headgate.toml",
    have="have",
    again=" Spark reprocesses an interrupted batch of OTHER_PIPELINES.",
    are="are",
)


def _risk(name: str, others: list[Pipeline]) -> str:
    also = name_list(p.name for p in others)
    again = _interrupted([p.name for p in others if p.engine is Engine.SPARK])
    return STOPPED_TOO(
        other_pipelines=also,
        have="has" if len(others) == 1 else "have",
        pipeline=name,
        again=again,
        are="is" if len(others) == 1 else "are",
    )


def _interrupted(queries: list[str]) -> str:
    return f" Spark reprocesses an interrupted batch of {name_list(queries)}." if queries else ""


def _shared(plan: Plan, inspector: Inspector) -> Iterator[tuple[str, list[Pipeline]]]:
    """Yield each pipeline that the plan stops, and the others with the same stop command."""
    names = {pipeline_of(s, plan.pipeline) for s in plan.steps if s.stops} - {None}
    if not names:
        return
    known = {p.name: p for p in inspector.processes.pipelines()}
    for name in sorted(n for n in names if n in known):
        command = _program_stop(known[name])
        others = [
            p
            for p in known.values()
            if command is not None and p.name != name and _program_stop(p) == command
        ]
        if others:
            yield name, others


def _program_stop(pipeline: Pipeline) -> str | None:
    """Return the stop command if it can only be that of one program; None if it may not be.

    A manual step and a request to a driver name the one pipeline that they stop.
    """
    call = pipeline.commands.calls.get("stop")
    if isinstance(call, Shell):
        command: str | None = call.command
    elif call is None or isinstance(call, HttpCall):
        command = pipeline.commands.stop
    else:
        return None
    said = f"{command} {call}"
    return None if any(name in said for name in _OF_ONE) else command
