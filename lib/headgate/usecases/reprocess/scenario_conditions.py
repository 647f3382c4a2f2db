"""Find out which conditions of a scenario a pipeline meets, without building the plan."""

from __future__ import annotations

from contextlib import closing, suppress

from headgate.errors import HeadgateError
from headgate.gateway.adapters.live import LiveInspector
from headgate.gateway.files.addresses import is_remote
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.reprocess.conditions import Answered, Facts
from headgate.reprocess.scenario import Scenario
from headgate.store import open_store
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_evidence import read_evidence


def pipeline_facts(context: Context, pipeline: Pipeline) -> Facts:
    """Return the facts about a pipeline from the registry, the store and a local checkpoint.

    A remote checkpoint isn't read, because this takes as long as a plan.
    """
    with closing(open_store(context.store_url)) as store:
        version = store.versions.newest(pipeline.name)
    if version is None:
        with suppress(HeadgateError):  # The plan says why it can't be read.
            version = read_evidence(context, pipeline.name)
    location = pipeline.checkpoint
    if pipeline.engine is not Engine.SPARK or location is None:
        return Facts(pipeline=pipeline, version=version)
    if is_remote(location):
        unread = f"`{location}` is on a remote file system: the plan checks this condition."
        return Facts(pipeline=pipeline, version=version, remote=True, unread=unread)
    found, position, problem = None, None, None
    try:
        with closing(LiveInspector(context.registry, context.home)) as inspector:
            found = inspector.checkpoints.read(location)
            position = inspector.checkpoints.query_position(location) if found else None
    except HeadgateError as error:
        problem = f"Parts of the checkpoint can't be read: {error}."
    return Facts(
        pipeline=pipeline, version=version, checkpoint=found, position=position, unread=problem
    )


def answered(scenario: Scenario, facts: Facts) -> tuple[Answered, ...]:
    """Return the state of each condition that applies to the pipeline, in their order."""
    asked = (c.ask(facts) for c in scenario.support[facts.pipeline.engine].conditions)
    return tuple(found for found in asked if found is not None)
