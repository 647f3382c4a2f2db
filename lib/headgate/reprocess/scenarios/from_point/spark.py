"""From an offset or time for a Spark query: a new checkpoint at these offsets, without state."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.scenario import Option, PlanRequest
from headgate.reprocess.scenarios.shared.new_output import OPTIONS as NEW_OUTPUT
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.text.numbers import instead

_SPARK = frozenset({Engine.SPARK})


def build(request: PlanRequest, target: Target, only: Mapping[str, list[int]]) -> Plan:
    """Return the plan; `only` limits what moves, the rest begins where the last batch ended."""
    # Imported here: other engines' plans need of this module only what it asks.
    from headgate.reprocess.scenarios.shared.source_mapping import (
        deleted_risks,
        deleted_topics,
        matched_takes,
    )
    from headgate.reprocess.scenarios.shared.start_from_offsets import (
        StartRequest,
        found_query,
        start_from_offsets,
    )

    found = found_query(request)
    if isinstance(found, Plan):
        return found
    checkpoint, position = found
    deleted = deleted_topics(request.inspector, position, request.version)
    takes, blockers, risks = matched_takes(position, request.version, deleted)
    if target.place is TargetKind.CURRENT:
        blockers.append(
            "--to-current isn't available for Spark. To start at the current offsets "
            "with empty state, use new-checkpoint"
        )
    wish = StartRequest(
        target=target,
        takes=takes,
        only=only,
        new_output=request.options.get("new-output", False),
        blockers=(*blockers, *_unknown(position, only)),
        risks=(*risks, *deleted_risks(deleted)),
    )
    return start_from_offsets(request, checkpoint, position, wish)


def _unknown(position: QueryPosition, only: Mapping[str, list[int]]) -> list[str]:
    known = {topic for source in position.sources for topic in source.offsets}
    return [
        f"the query doesn't read topic {topic}. Remove the topic from the offsets, from --topic, "
        "or from `topics` in headgate.toml"
        for topic in sorted(only.keys() - known)
    ]


def offsets_of_pipeline(name: str, inspector: Inspector) -> list[str]:
    """Return where another registered query is, as rows of `TOPIC,PARTITION,OFFSET`."""
    position = _position_of(name, inspector)
    found: dict[tuple[str, int], int] = {}
    for source in position.sources:
        for topic, parts in source.offsets.items():
            for number, offset in parts.items():
                # Where two of its sources read one topic, the earlier one: nothing is skipped.
                at = found.get((topic, number), offset)
                found[topic, number] = min(at, offset)
    if not found:
        raise ScenarioError(
            f"--from-pipeline: the checkpoint of {name} has no Kafka offsets. Pass a pipeline "
            "that reads Kafka topics"
        )
    return [f"{topic},{number},{at}" for (topic, number), at in sorted(found.items())]


def _position_of(name: str, inspector: Inspector) -> QueryPosition:
    """Return where the other query is; ScenarioError if nothing says it."""
    other = inspector.processes.registered(name)
    if other is None:
        names = instead(name, [p.name for p in inspector.processes.pipelines()])
        raise ScenarioError(
            f"--from-pipeline: no pipeline {name} is registered in headgate.toml{names}"
        )
    if other.checkpoint is None:
        raise ScenarioError(
            f"--from-pipeline: headgate.toml sets no `checkpoint` for {name}. Pass another pipeline"
        )
    position = inspector.checkpoints.query_position(other.checkpoint)
    if position is None:
        raise ScenarioError(
            f"--from-pipeline: checkpoint {other.checkpoint} of {name} not found. Check "
            "`checkpoint` in headgate.toml"
        )
    return position


OPTIONS = (
    Option(
        name="from-pipeline",
        ask="Offsets of another query",
        help=(
            "Start at the offsets where the last committed batch of this other Spark pipeline "
            "ended."
        ),
        metavar="PIPELINE",
        one_of="point",
        required=True,
        engines=_SPARK,
    ),
    *NEW_OUTPUT,
)
