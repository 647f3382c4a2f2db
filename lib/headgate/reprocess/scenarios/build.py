"""Build the plan of a scenario: it only reads, and changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from headgate.errors import EvidenceError, NotFoundError, RefusedError, ScenarioError
from headgate.model.version import Version
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import (
    Answer,
    LastPositions,
    PlanRequest,
    PointsOf,
    Scenario,
    ScheduleOf,
    VersionOf,
    no_points,
    no_positions,
    no_schedule,
    no_version,
)
from headgate.reprocess.scenario_inputs import read_answers
from headgate.reprocess.scenarios.shared import common
from headgate.reprocess.scenarios.shared.chain_offer import OFFERS, with_chain_offer
from headgate.reprocess.scenarios.shared.output_statements import EXTERNAL, with_statements
from headgate.reprocess.scenarios.shared.shared_commands import STOPPED_TOO, with_shared_stops
from headgate.text.numbers import as_records, instead


class _Scenarios(Mapping[str, Scenario]):
    """Scenarios by name, each in the module of its name, which is imported on first use."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getitem__(self, name: str) -> Scenario:
        if name not in self._names:
            raise KeyError(name)
        return _declared(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


SCENARIOS = _Scenarios(
    "from-scratch",
    "from-point",
    "new-checkpoint",
    "repartition",
    "rewind",
    "offline-upgrade",
    "repair",
    "skip-records",
    "decommission",
    "pause",
    "bounded",
    "dead-letters",
    "historical-range",
    "late-batch",
    "ab",
    "online-upgrade",
    "incremental",
    "chain",
)

RISKS = (STOPPED_TOO, EXTERNAL)
"""Risks that the plan of any scenario can have."""

# The key of a run's impact under which stands what was approved.
APPROVED = "approved"


def build_plan(  # noqa: PLR0913 - what plans are built from
    scenario: str,
    pipeline: str,
    inspector: Inspector,
    options: Mapping[str, Any] | None = None,
    *,
    version: Version | None = None,
    others: Mapping[str, Version] | None = None,
    known: LastPositions = no_positions,
    points: PointsOf = no_points,
    schedule: ScheduleOf = no_schedule,
    versions: VersionOf = no_version,
    again: bool = False,
) -> Plan:
    """Return the plan of `scenario` for a registered pipeline, with or without blockers.

    `version` is the newest stored one, where there is one, `others` those of other Kafka Streams
    applications, `known` where its group was last, `points` restore points, `schedule` the
    schedule and `versions` the newest stored version, each by pipeline. `again`: the options are
    those of a plan that is rebuilt for its run.
    ScenarioError for a scenario that there is none of and for options that it does not take,
    NotFoundError for a pipeline that is not registered, UnreachableError where a system does not
    answer.
    """
    registered = inspector.processes.registered(pipeline)
    declared = _scenario(scenario)
    if registered is None:
        names = instead(pipeline, [p.name for p in inspector.processes.pipelines()])
        raise NotFoundError(f"no pipeline {pipeline} is registered in headgate.toml{names}")
    request = PlanRequest(
        scenario=scenario,
        pipeline=registered,
        inspector=inspector,
        version=version,
        others=others or {},
        known=known,
        points=points,
        schedule=schedule,
        versions=versions,
        again=again,
    )
    support = declared.support[registered.engine]
    if support.answer is Answer.REFUSED:
        return request.block(support.why)
    request = replace(request, options=read_answers(declared, options or {}, registered.engine))
    try:
        plan = declared.build(request)
    except RefusedError as error:
        # A remote checkpoint, a group that may not be seen: still a plan, shown with its reason.
        plan = request.block(str(error))
    except EvidenceError as error:
        if type(error) is not EvidenceError:
            raise
        # What reads a checkpoint doesn't know whose it is.
        raise EvidenceError(_with_name(str(error), pipeline)) from error
    plan = plan if plan.options else replace(plan, options=dict(request.options))
    plan = with_statements(request, plan)
    if scenario in OFFERS:
        plan = with_chain_offer(request, plan)
    plan = with_shared_stops(plan, inspector)
    # Whatever is done: what is registered twice can be stopped under one name and run on.
    general = common.shared_checkpoint(registered, inspector) if plan.steps else []
    general += common.groups_without_cluster(plan.steps, inspector)
    general += common.uncreatable_topics(plan.steps, inspector)
    more = tuple(reason for reason in general if reason not in plan.blockers)
    blockers = (_with_name(said, pipeline) for said in (*plan.blockers, *more))
    risks = (_with_name(said, pipeline) for said in plan.risks)
    return replace(plan, blockers=tuple(blockers), risks=tuple(risks))


def _with_name(said: str, pipeline: str) -> str:
    """Return the sentence with the pipeline's name in the command that repairs it."""
    repair = "`headgate plan repair`"
    return said.replace(repair, f"{repair[:-1]} {shlex.quote(pipeline)}`")


def _scenario(name: str) -> Scenario:
    # Kafka's options have a command of their own: nobody is asked for them one by one.
    found = _declared("application-reset") if name == RESET else SCENARIOS.get(name)
    if found is None:
        raise ScenarioError(f"{name} isn't a scenario. Scenarios: {', '.join(SCENARIOS)}")
    return found


def _declared(name: str) -> Scenario:
    folder = name.replace("-", "_")
    module = import_module(f"headgate.reprocess.scenarios.{folder}.scenario")
    scenario: Scenario = module.SCENARIO
    return scenario


def drift(before: Plan, now: Plan) -> tuple[str, ...]:
    """Return what changed between a plan and the same plan built now; empty if nothing did.

    The impact may grow, because a live pipeline continues: to twice what was approved, or by
    100,000 records. More than that was not approved, however often the plan is rebuilt between the
    approval and the run.
    """
    found = [
        said
        for name, value in now.preconditions.items()
        for said in _differences(f"{name}:", before.preconditions.get(name), value)
    ]
    found += [
        f"{n}: was {_short(value)}, is now missing"
        for n, value in before.preconditions.items()
        if n not in now.preconditions
    ]
    if not found and before.hash != now.hash:
        found = ["a new plan would have different steps or values"]
    approved, counted = approved_counts(before), _counts(now)
    grown = ((w, approved[w], counted.get(w)) for w in approved)
    return (*found, *(f"{as_records(n)} would now be {w}, but only {a} were approved"
                      for w, a, n in grown
                      if n is not None and n > max(2 * a, a + 100_000)))  # fmt: skip


def _differences(location: str, before: object, now: object) -> Iterator[str]:
    """Yield what is another value now; of a table only the entries that are."""
    if before == now:
        return
    if not (isinstance(before, dict) and isinstance(now, dict)):
        yield f"{location} was {_short(before)}, is now {_short(now)}"
        return
    for key in sorted({**before, **now}):
        yield from _differences(f"{location} {key}", before.get(key), now.get(key))


def approved_counts(plan: Plan) -> dict[str, int]:
    """Return how many records were approved to be `reprocessed` and `skipped`.

    A plan that was rebuilt for its run keeps the numbers of the one that was approved.
    """
    return dict(plan.impact.get(APPROVED) or _counts(plan))


def _counts(plan: Plan) -> dict[str, int]:
    total = plan.impact.get("total")
    if total is None:
        return {}
    return {"reprocessed": total, "skipped": sum(plan.impact.get("skipped", {}).values())}


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 200 else text[:200] + "..."
