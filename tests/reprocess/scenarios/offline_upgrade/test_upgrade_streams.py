"""The gate of a Kafka Streams application, by the verdict on recorded upgrades."""

from functools import partial
from pathlib import Path

import pytest

from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.usecases.compare.judge_upgrade import judge_upgrade
from headgate.usecases.context import Context
from support.flat_ports import FlatPorts

CASES = Path(__file__).parents[3] / "cases" / "kafka_streams"
COMMANDS = Commands(stop="stop", start="start", deploy="deploy", rollback="rollback")
REPARTITION = "app-by-city-repartition"


class PaperInspector(FlatPorts):
    """A cluster that is written down; the verdict on it is the rules' own."""

    def __init__(self, folder: Path, kind: GroupType = GroupType.CLASSIC) -> None:
        self.pipeline = Pipeline(
            name="s", engine=Engine.KAFKA_STREAMS, group="app", commands=COMMANDS
        )
        registry = Registry(path=str(folder / "headgate.toml"), pipelines=(self.pipeline,))
        context = Context(registry, f"sqlite:///{folder / 'headgate.db'}", folder)
        self.verdict = partial(judge_upgrade, context)
        self.kind = kind

    def registered(self, _name):
        return self.pipeline

    def status(self, _name):
        return Status.UNKNOWN

    def cluster_id(self):
        return "c-1"

    def topic_names(self):
        return frozenset({"orders", REPARTITION, "app-counts-changelog", "app-2-x-changelog"})

    def groups(self):
        return {"app": self.group("app")}

    def pipelines(self):
        return (self.pipeline,)

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=9),)
        return {n: Topic(name=n, id=f"id-{n}", partitions=parts) for n in names}

    def group(self, group_id):
        offsets = [GroupOffset(topic=t, partition=0, offset=5) for t in ("orders", REPARTITION)]
        return Group(id=group_id, state="empty", type=self.kind, offsets=tuple(offsets), members=())


def upgrade_of(inspector, case, **options):
    given = {"before": str(CASES / case / "before"), "after": str(CASES / case / "after")}
    return build_plan("offline-upgrade", "s", inspector, {**given, **options})


def test_a_compatible_version_is_let_through_with_its_offsets_kept(tmp_path):
    plan = upgrade_of(PaperInspector(tmp_path), "U01_filter_condition", **{"fail-on": "refuses"})
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == [
        "stop_pipeline",
        "recheck_version",
        "record_offsets",
        "record_topics",
        "back_up_offsets",
        "deploy_version",
        "start_version",
        "verify_version",
        "compare_version",
    ]
    kept = next(s for s in plan.steps if s.action == "back_up_offsets")
    # What it passes on to itself comes again from the inputs: put back, it would count once more.
    assert set(kept.topics) == {"orders"}
    recorded = next(s for s in plan.steps if s.action == "record_topics")
    # What the group itself reads is its own; what only has such a name is nobody's by that.
    assert recorded.topics == (REPARTITION,)
    assert any("local state and changelog topics are not backed up" in r for r in plan.risks)
    assert load_plan(dump_plan(plan), source="the file").hash == plan.hash


def test_an_inserted_operator_that_shifts_a_store_closes_the_gate(tmp_path):
    plan = upgrade_of(PaperInspector(tmp_path), "U02b_insert_filter_unnamed_groupby")
    assert not plan.steps
    assert any("(wrong results)" in reason for reason in plan.blockers)


def test_nothing_known_of_what_runs_is_said(tmp_path):
    from headgate.errors import EvidenceError

    after = str(CASES / "U01_filter_condition" / "after")
    with pytest.raises(EvidenceError, match="pass the evidence of that version with --before"):
        build_plan("offline-upgrade", "s", PaperInspector(tmp_path), {"after": after})


def test_a_description_alone_is_of_the_registered_application(tmp_path):
    case = CASES / "U01_filter_condition"
    pipeline = Pipeline(name="s", engine=Engine.KAFKA_STREAMS, group="ks_u01x12pz_app")
    registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,))
    context = Context(registry, f"sqlite:///{tmp_path / 'headgate.db'}", tmp_path)
    whole, told = (
        judge_upgrade(context, "s", str(after), str(case / "before"), ("unknown",))
        for after in (case / "after", case / "after" / "describe.txt")
    )
    assert "EVD005" not in {f.rule for f in told.findings}
    assert not [w for w in told.warnings if "application id" in w]
    assert {f.rule for f in whole.findings} <= {f.rule for f in told.findings}
