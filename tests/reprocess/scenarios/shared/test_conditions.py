"""The conditions of every scenario: each is met, missing or unknown for one pipeline."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.topology import Topology
from headgate.model.version import Engine, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.conditions import Facts, State
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import Answer
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.store import open_store
from headgate.usecases.context import Context
from headgate.usecases.reprocess.scenario_conditions import answered, pipeline_facts
from support.console_seed import write_checkpoint

ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.RocksDBStateStoreProvider"
}
KAFKA = SourcePosition(name="0", kind=SourceKind.KAFKA)
POSITION = QueryPosition(batch=7, sources=(KAFKA,), operators=("stateStoreSave",), pinned=ROCKSDB)
EVERY = Commands(**dict.fromkeys(("stop", "start", "status", "deploy", "rollback"), "true"))
LOCAL = Facts(
    pipeline=Pipeline(
        name="q", engine=Engine.SPARK, checkpoint="/ck", commands=EVERY, entry_point="m:f"
    ),
    version=Version(engine=Engine.SPARK, topology=Topology(), engine_version="4.2.0"),
    checkpoint=Checkpoint(location="/ck", query_id="id", last_commit_batch=7),
    position=POSITION,
)
REMOTE = replace(
    LOCAL,
    pipeline=replace(LOCAL.pipeline, checkpoint="s3://b/ck"),
    checkpoint=None,
    position=None,
    remote=True,
    unread="`s3://b/ck` is on a remote file system, which Headgate reads only for a plan.",
)


def states(name: str, facts: Facts) -> dict[str, State]:
    return {a.said: a.state for a in answered(SCENARIOS[name], facts)}


def with_start(facts: Facts, start: str) -> Facts:
    commands = replace(EVERY, start=start)
    return replace(facts, pipeline=replace(facts.pipeline, commands=commands))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_local_query_that_has_all_of_it_lacks_nothing(name):
    found = answered(SCENARIOS[name], LOCAL)
    needs = SCENARIOS[name].support[LOCAL.pipeline.engine].conditions
    assert bool(found) == bool(needs) and {a.state for a in found} <= {State.MET}, found
    assert "remote" not in " ".join(a.said for a in found)


@pytest.mark.parametrize(
    ("name", "facts", "said", "state"),
    [
        (
            "from-scratch",
            REMOTE,
            "but the registered start command doesn't contain this variable.",
            State.MISSING,
        ),
        ("from-scratch", with_start(REMOTE, "x ${HEADGATE_CHECKPOINT}"), "passes", State.MET),
        ("from-scratch", REMOTE, "only the plan checks whether it exists.", State.UNKNOWN),
        ("repair", REMOTE, "is remote", State.MISSING),
        (
            "decommission",
            replace(LOCAL, checkpoint=None),
            "No checkpoint found in `/ck`",
            State.MISSING,
        ),
        (
            "decommission",
            replace(LOCAL, checkpoint=None, unread="It can't be read."),
            "can't be read",
            State.UNKNOWN,
        ),
        (
            "new-checkpoint",
            replace(LOCAL, checkpoint=None, position=None),
            "No checkpoint found, so the sources are unknown.",
            State.UNKNOWN,
        ),
        (
            "rewind",
            replace(LOCAL, checkpoint=None, position=None),
            "No checkpoint found, so no batch has completed.",
            State.MISSING,
        ),
        (
            "repartition",
            replace(LOCAL, checkpoint=None, position=None),
            "No checkpoint found, so the query's state is unknown.",
            State.UNKNOWN,
        ),
        (
            "repartition",
            replace(LOCAL, position=replace(POSITION, batch=None)),
            "No batch has completed, so the query's state is unknown.",
            State.UNKNOWN,
        ),
        (
            "from-point",
            replace(
                LOCAL,
                position=replace(
                    POSITION, sources=(KAFKA, replace(KAFKA, name="1", kind=SourceKind.OTHER))
                ),
            ),
            "The query has sources other than Kafka or files: source 1.",
            State.MISSING,
        ),
        (
            "skip-records",
            replace(
                LOCAL,
                position=replace(POSITION, sources=(replace(KAFKA, kind=SourceKind.FILES),)),
            ),
            "The query has sources other than Kafka: source 0.",
            State.MISSING,
        ),
        (
            "rewind",
            replace(LOCAL, checkpoint=replace(LOCAL.checkpoint, last_commit_batch=None)),
            "No batch has completed.",
            State.MISSING,
        ),
        (
            "repartition",
            replace(LOCAL, position=replace(POSITION, pinned={})),
            "The state store provider is",
            State.MISSING,
        ),
        (
            "repartition",
            replace(LOCAL, position=replace(POSITION, operators=("globalLimit",))),
            "The query has a limit().",
            State.MISSING,
        ),
        (
            "repartition",
            replace(LOCAL, version=replace(LOCAL.version, engine_version="3.5.1")),
            "The query runs on Spark 3.5.1.",
            State.MISSING,
        ),
        (
            "repartition",
            replace(LOCAL, version=None),
            "the pipeline has no stored version",
            State.UNKNOWN,
        ),
        (
            "repartition",
            replace(LOCAL, version=replace(LOCAL.version, engine_version=None)),
            "the pipeline's newest version doesn't record the release",
            State.UNKNOWN,
        ),
        (
            "offline-upgrade",
            replace(LOCAL, pipeline=replace(LOCAL.pipeline, commands=Commands(deploy="x"))),
            "headgate.toml has no `rollback`",
            State.MISSING,
        ),
        (
            "pause",
            replace(LOCAL, pipeline=replace(LOCAL.pipeline, commands=Commands(pause="x"))),
            "headgate.toml has no `stop`",
            State.MISSING,
        ),
        (
            "skip-records",
            replace(LOCAL, pipeline=replace(LOCAL.pipeline, commands=Commands())),
            "Only the plan shows whether these commands are needed.",
            State.UNKNOWN,
        ),
        (
            "skip-records",
            replace(LOCAL, pipeline=replace(LOCAL.pipeline, commands=replace(EVERY, status=None))),
            "Only the plan shows whether this command is needed.",
            State.UNKNOWN,
        ),
    ],
)
def test_what_lacks_is_named_with_its_state(name, facts, said, state):
    (found,) = [(s, st) for s, st in states(name, facts).items() if said in s]
    assert found[1] is state


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("engine", Engine)
def test_what_needs_something_has_conditions_and_nothing_else_does(name, engine):
    support = SCENARIOS[name].support[engine]
    assert bool(support.conditions) is (support.answer is Answer.NEEDS)
    assert all(c.need in support.why for c in support.conditions)


def test_the_facts_of_a_registered_pipeline_are_its_own(tmp_path):
    write_checkpoint(tmp_path / "ck", batches=3)
    there = Pipeline(name="q", engine=Engine.SPARK, checkpoint=str(tmp_path / "ck"))
    away = replace(there, name="r", checkpoint="s3://nowhere/ck")
    group = Pipeline(name="g", engine=Engine.CONSUMER_GROUP, group="g")
    none = replace(there, name="n", checkpoint=str(tmp_path / "none"))
    registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(there, away, group, none))
    context = Context(registry, f"sqlite:///{tmp_path / 'store.db'}", tmp_path)
    with closing(open_store(context.store_url)):
        found = {p.name: pipeline_facts(context, p) for p in registry.pipelines}
    assert found["q"].checkpoint.last_commit_batch == 2
    assert found["q"].position is None and "sources/0/0 is missing" in found["q"].unread
    assert State.MET in states("repair", found["q"]).values()
    assert State.UNKNOWN in states("new-checkpoint", found["q"]).values()
    assert found["r"].remote and "s3://nowhere/ck" in found["r"].unread
    assert found["g"].checkpoint is None and found["g"].unread is None
    assert found["n"].checkpoint is None and found["n"].unread is None
    assert "No checkpoint found" in " ".join(states("repair", found["n"]))
