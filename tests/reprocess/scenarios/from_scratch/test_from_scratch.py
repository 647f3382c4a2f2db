"""What a plan says of a world, without the world: blockers, risks, impact, hash."""

import re
from dataclasses import dataclass, field, replace

import pytest

from headgate.errors import EvidenceError, NotFoundError, PlanFileError, ScenarioError
from headgate.gateway.checkpoint.folders import read_checkpoint
from headgate.model.cluster import Group, GroupOffset, GroupType, Member, Partition, Topic
from headgate.model.open_state import OpenState, OpenStore
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import SnapshotSize
from headgate.model.version import Engine, Sink, Source, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind, SourcePosition
from headgate.reprocess.deleted_records import deleted_records
from headgate.reprocess.impact import UNKNOWN_INPUT
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.ports.kafka import TopicShape
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.reprocess.steps import all_steps, load_step
from support.flat_ports import FlatPorts

NONE = Commands()
BOTH = Commands(stop="stop it", start="start it")


@dataclass
class PaperInspector(FlatPorts):
    """The port with answers written down; nothing here stands for Kafka's behaviour."""

    pipeline: Pipeline
    known: dict = field(default_factory=dict)
    members: Group | None = None
    found: Checkpoint | None = None
    says: Status = Status.UNKNOWN
    cluster: bool = True
    others: tuple = ()
    position: QueryPosition | None = None
    held: OpenState = OpenState()

    def query_position(self, location):
        return self.position

    def open_state(self, location, batch):
        return self.held

    def has_cluster(self):
        return self.cluster

    def cluster_id(self):
        return "c-1"

    def topics(self, names):
        return {n: self.known[n] for n in names if n in self.known}

    def group(self, group_id):
        return self.members or Group(id=group_id, state="dead", members=())

    def read(self, location):
        return self.found

    def pipelines(self):
        return (self.pipeline, *self.others)

    def snapshot_size(self, location):
        return SnapshotSize(files=3, bytes=5 << 20, copied=0)

    def place(self, location):
        return location

    def status(self, pipeline):
        return self.says

    def registered(self, pipeline):
        return self.pipeline if pipeline == self.pipeline.name else None


def topic(name="orders", begin=0, end=10, **more):
    parts = tuple(Partition(number=n, begin=begin, end=end) for n in (0, 1))
    return Topic(name=name, id=f"id-{name}", partitions=parts, **more)


def group(**more):
    offsets = (GroupOffset(topic="orders", partition=0, offset=7),)
    base = Group(id="g", type=GroupType.CONSUMER, state="empty", members=(), offsets=offsets)
    return replace(base, **more)


def of_group(commands=NONE, **inspector):
    pipeline = Pipeline(name="q", engine=Engine.CONSUMER_GROUP, group="g", commands=commands)
    return PaperInspector(
        pipeline, **{"known": {"orders": topic()}, "members": group(), **inspector}
    )


def of_spark(commands=BOTH, **inspector):
    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint="/ck", commands=commands)
    found = Checkpoint(
        location="/ck", query_id="q-1", last_offset_batch=3, offsets={"orders": {0: 7, 1: 2}}
    )
    return PaperInspector(pipeline, **{"known": {"orders": topic()}, "found": found, **inspector})


def plan_of(inspector, version=None):
    return build_plan("from-scratch", "q", inspector, version=version)


REFUSED = [
    (of_group(members=group(members=(Member(id="m", client_id="app"),))), "1 member"),
    (
        of_group(members=group(state="unknown", members=None)),
        "can't verify that group g has no members",
    ),
    (
        of_group(members=Group(id="g", state="dead", members=())),
        "doesn't exist, or Headgate can't see its type",
    ),
    (of_group(members=group(type=GroupType.STREAMS)), "type streams"),
    (of_group(members=group(type=GroupType.SHARE)), "type share"),
    (of_group(known={}), "topic orders does not exist"),
    (
        of_group(known={"orders": topic(begin=None)}),
        r"not read the earliest and latest offset of orders\[0\]",
    ),
    (of_group(members=group(offsets=())), "no committed offset"),
    (of_spark(found=None), "checkpoint /ck not found"),
    (of_spark(known={}), "topic orders does not exist"),
    (of_spark(commands=Commands()), "nor a status command"),
    (of_spark(commands=Commands(status="s"), says=Status.RUNS), "its status is running"),
    (of_spark(commands=Commands(status="s")), "its status is unknown"),
    (
        of_spark(others=(Pipeline(name="twin", engine=Engine.SPARK, checkpoint="/ck"),)),
        "twin and q are registered with the same checkpoint /ck",
    ),
    (
        of_spark(found=Checkpoint(location="/ck", query_id="q", fixed="it is a mount")),
        "it is a mount",
    ),
]


@pytest.mark.parametrize(("inspector", "reason"), REFUSED, ids=[r for _, r in REFUSED])
def test_refused_with_the_reason(inspector, reason):
    plan = plan_of(inspector)
    assert not plan.can_apply
    assert re.search(reason, "; ".join(plan.blockers))


def test_a_remote_checkpoint_is_refused_in_a_plan():
    class RemoteInspector(PaperInspector):
        def read(self, location):
            return read_checkpoint(location)

    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint="s3a://b/ck", commands=BOTH)
    plan = plan_of(RemoteInspector(pipeline))
    assert not plan.can_apply and "remote file system" in plan.blockers[0]


ALLOWED = [
    of_group(),
    of_group(commands=BOTH, members=group(members=(Member(id="m"),), state="stable")),
    of_spark(),
    of_spark(commands=Commands(status="s"), says=Status.STOPPED),
]


@pytest.mark.parametrize("inspector", ALLOWED)
def test_appliable(inspector):
    plan = plan_of(inspector)
    assert plan.blockers == () and plan.can_apply
    assert all(step.undoable for step in plan.steps)


def test_where_no_start_is_registered_a_person_is_asked():
    plan = plan_of(of_spark(commands=Commands(stop="s")))
    assert [s.action for s in plan.steps][-1] == "manual_step"
    plan = plan_of(of_group())
    assert [s.action for s in plan.steps] == ["stop_pipeline", "record_offsets", "reset_offsets"]


def test_the_impact_is_what_is_read_again():
    assert plan_of(of_group()).impact["records"] == {"orders": 7}
    spark = plan_of(of_spark(known={"orders": topic(begin=1)})).impact
    assert (spark["records"], spark["total"]) == ({"orders": 7}, 7)


LOGGED = QueryPosition(
    batch=3,
    sources=(
        SourcePosition(name="0", kind=SourceKind.KAFKA, offsets={"orders": {0: 7, 1: 2}}),
        SourcePosition(name="1", kind=SourceKind.FILES, entry=4, files=8),
    ),
)
RATE = replace(LOGGED, sources=(SourcePosition(name="0", kind=SourceKind.OTHER),))
NO_OFFSETS = Checkpoint(location="/ck", query_id="q-1", last_offset_batch=3)


class BrokenLogs(PaperInspector):
    def query_position(self, location):
        raise EvidenceError("sources/0/4 is missing")


@pytest.mark.parametrize(
    ("inspector", "what"),
    [
        (of_spark(), []),
        (of_spark(position=LOGGED), ["up to 8 files"]),
        (of_spark(position=LOGGED, cluster=False), ["topic orders", "up to 8 files"]),
        (of_spark(position=RATE), ["1 source other than Kafka and files"]),
        (of_spark(position=replace(RATE, batch=None)), []),
        (of_spark(found=NO_OFFSETS), [UNKNOWN_INPUT]),
        (BrokenLogs(of_spark().pipeline, found=NO_OFFSETS), [UNKNOWN_INPUT]),
    ],
)
def test_input_whose_records_are_not_counted(inspector, what):
    assert plan_of(inspector).impact["uncounted"] == what


EARLIEST = Source(
    position=0, format="kafka", topics=("orders",), options={"startingOffsets": "earliest"}
)
UNTOLD = Source(position=1, format="kafka", topics=("bills",))
RISKS = [
    (of_group(known={"orders": topic(begin=5)}), None, "first 10 offsets of orders are past"),
    (of_group(known={"orders": topic(cleanup_policy="compact")}), None, "compacted"),
    (of_group(known={"orders": topic(retention_ms=3_600_000)}), None, "keeps records for 1 h"),
    (of_group(), None, "reprocesses records"),
    (of_spark(), None, "If it is latest (Spark's default)"),
    (of_spark(), None, "A file sink would silently drop results"),
    (of_spark(), Version(engine=Engine.SPARK, sink=Sink(format="kafka", target="out")), "to out"),
    (of_spark(), Version(engine=Engine.SPARK, sink=Sink(format="console")), "to its console sink"),
    (
        of_spark(),
        Version(engine=Engine.SPARK, sources=(EARLIEST,)),
        "first batch contains all records to process (now 20)",
    ),
    (
        of_spark(),
        Version(engine=Engine.SPARK, sources=(EARLIEST, UNTOLD)),
        "startingOffsets of source bills is unknown",
    ),
]


@pytest.mark.parametrize(("inspector", "version", "risk"), RISKS, ids=[r for *_, r in RISKS])
def test_named_risks(inspector, version, risk):
    assert any(risk in named for named in plan_of(inspector, version).risks)


@pytest.mark.parametrize("begin", [0, 5])
def test_state_is_lost_only_if_its_input_is_not_all_there(begin):
    version = Version(engine=Engine.SPARK, sources=(EARLIEST,), output_mode="update")
    store = OpenStore(operator=0, name="stateStoreSave", store="default", rows=3)
    position = QueryPosition(batch=4, operators=("stateStoreSave",))
    held = OpenState(batch=4, stores=(store,))
    inspector = of_spark(known={"orders": topic(begin=begin)}, position=position, held=held)
    plan = plan_of(inspector, version)
    lost = [r for r in plan.risks if r.startswith("Loss") and "at or after the earliest" in r]
    assert [("3 groups" in text) for text in lost] == ([True] if begin else [])
    assert ("open_state" in plan.impact) == bool(begin)


def test_a_query_is_reset_without_a_configured_cluster_but_its_topics_are_not_judged():
    plan = plan_of(of_spark(known={}, cluster=False))
    assert plan.can_apply and "cluster_id" not in plan.preconditions
    said = "can't check whether Kafka has deleted records of orders"
    assert any(said in risk for risk in plan.risks)


def test_a_plan_that_empties_topics_records_their_cluster_though_only_files_are_read():
    files = Checkpoint(location="/ck", query_id="q-1", last_offset_batch=3, offsets={})
    inspector = of_spark(found=files, known={"bills": topic("bills")})
    shape = TopicShape(name="bills", id="id-bills", partitions=2, replication=1)
    inspector.shapes = lambda names: {"bills": shape}
    inspector.topic_consumers = lambda names: {}
    version = Version(engine=Engine.SPARK, sink=Sink(format="kafka", target="bills"))
    kept = build_plan("from-scratch", "q", inspector, {}, version=version)
    emptied = build_plan("from-scratch", "q", inspector, {"outputs": "empty"}, version=version)
    assert "cluster_id" not in kept.preconditions
    assert emptied.preconditions["cluster_id"] == "c-1"


def test_a_query_that_would_begin_at_the_end_is_refused():
    source = Source(position=0, format="kafka", options={"startingOffsets": " LATEST"})
    plan = plan_of(of_spark(), Version(engine=Engine.SPARK, sources=(source,)))
    assert "startingOffsets=latest" in plan.blockers[0]


@pytest.mark.parametrize(
    "options",
    [
        {"startingOffsets": '{"orders":{"0":7,"1":9}}'},
        {"startingOffsets": "earliest", "startingTimestamp": "1790000000000"},
    ],
)
def test_a_query_that_would_begin_in_the_middle_is_a_risk(options):
    source = Source(position=0, format="kafka", topics=("orders",), options=options)
    version = Version(engine=Engine.SPARK, sources=(source,), output_mode="update")
    store = OpenStore(operator=0, name="stateStoreSave", store="default", rows=3)
    position = QueryPosition(batch=4, operators=("stateStoreSave",))
    held = OpenState(batch=4, stores=(store,))
    inspector = of_spark(position=position, held=held)
    inspector.first_at = lambda parts, at: dict.fromkeys(parts, 5)
    plan = plan_of(inspector, version)
    assert any("the query starts there, and doesn't reprocess" in risk for risk in plan.risks)
    assert not any("is unknown. If it is latest" in risk for risk in plan.risks)
    assert any("at or after the starting offset" in risk for risk in plan.risks)


FIRST_AT = {("orders", 0): 4, ("orders", 1): None}


@pytest.mark.parametrize(
    ("options", "records", "to_read"),
    [
        ({"startingOffsets": '{"orders":{"0":5,"1":-2}}'}, 2 + 1, 5 + 9),
        ({"startingOffsets": '{"orders":{"0":0,"1":-1}}'}, 6, 9),
        ({"startingOffsets": '{"orders":{"0":5}}'}, None, None),
        ({"startingOffsets": '{"bills":{"0":5}}'}, None, None),
        ({"startingTimestamp": "170", "startingOffsets": "earliest"}, None, None),
        ({"startingTimestamp": "170", "startingOffsetsByTimestampStrategy": "latest"}, 3, 6),
        ({"startingOffsetsByTimestamp": '{"orders":{"0":170,"1":160}}'}, 3 + 1, 6 + 9),
        ({"startingOffsetsByTimestamp": '{"orders":{"0":170}}'}, None, None),
    ],
)
def test_records_count_from_the_starting_offsets(options, records, to_read):
    source = Source(position=0, format="kafka", topics=("orders",), options=options)
    inspector = of_spark(known={"orders": topic(begin=1)})
    times = {170: FIRST_AT, 160: {("orders", 1): 0}}
    inspector.first_at = lambda parts, at: {p: times[at][p] for p in parts}
    plan = plan_of(inspector, Version(engine=Engine.SPARK, sources=(source,)))
    if records is None:
        assert plan.impact["uncounted"] == ["topic orders"] and not plan.impact["records"]
        assert any("starts to read topic orders" in risk for risk in plan.risks)
    else:
        assert plan.impact["total"] == records and not plan.impact["uncounted"]
        assert plan.impact["to_read"] == {"orders": to_read}


def test_a_starting_offset_after_the_earliest_offset_loses_nothing_to_retention():
    options = {"startingOffsets": '{"orders":{"0":5,"1":6}}'}
    source = Source(position=0, format="kafka", topics=("orders",), options=options)
    inspector = of_spark(known={"orders": topic(begin=1)})
    plan = plan_of(inspector, Version(engine=Engine.SPARK, sources=(source,)))
    assert not any("past retention" in risk for risk in plan.risks)


def of_two_topics(**source):
    offsets = {"orders": {0: 7, 1: 2}, "old": {0: 3, 1: 3}}
    found = Checkpoint(location="/ck", query_id="q-1", last_offset_batch=3, offsets=offsets)
    options = {"startingOffsets": "earliest"}
    read = Source(position=0, format="kafka", options=options, **source)
    return of_spark(found=found), Version(engine=Engine.SPARK, sources=(read,))


@pytest.mark.parametrize(
    ("source", "risk"),
    [
        ({"topics": ("orders",)}, False),
        ({"pattern": "ord.*"}, False),
        ({"pattern": ".*"}, True),
    ],
)
def test_a_deleted_topic_that_the_query_no_longer_reads_is_no_blocker(source, risk):
    inspector, version = of_two_topics(**source)
    plan = plan_of(inspector, version)
    assert plan.can_apply and plan.impact["records"] == {"orders": 9}
    assert any("topic old was deleted" in named for named in plan.risks) == risk


@pytest.mark.parametrize("source", [{"topics": ("orders", "old")}, {}])
def test_a_deleted_topic_that_the_query_reads_is_a_blocker(source):
    inspector, version = of_two_topics(**source)
    (blocker,) = plan_of(inspector, version).blockers
    assert blocker.startswith("topic old does not exist")


def test_a_repair_does_not_take_an_unread_log_for_a_sound_one():
    plan = build_plan("repair", "q", of_group(known={"orders": topic(end=None)}))
    assert plan.blockers[0] == (
        "Headgate could not read the earliest and latest offset of orders[0]: check that the "
        "partition has a leader"
    )


def test_a_file_sink_that_would_drop_all_of_it_silently_is_refused():
    version = Version(engine=Engine.SPARK, sink=Sink(format="parquet", target="/out"))
    (reason,) = plan_of(of_spark(), version).blockers
    assert "/out skips batch numbers" in reason and "--outputs=empty" in reason


def test_a_hudi_table_gets_advice_that_a_plan_of_it_accepts():
    version = Version(engine=Engine.SPARK, sink=Sink(format="hudi", target="/out"))
    (reason,) = plan_of(of_spark(), version).blockers
    assert "from-point with --to-earliest --new-output --output-path FOLDER" in reason
    assert "--outputs" not in reason


def test_a_plan_survives_its_file_and_every_step_is_read_back():
    for inspector in (of_group(commands=BOTH), of_spark(), of_spark(commands=Commands(stop="s"))):
        plan = plan_of(inspector)
        again = load_plan(dump_plan(plan), source="x")
        assert again == plan and again.hash == plan.hash
    assert len({kind.action for kind in all_steps()}) == len(all_steps())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}'])
def test_a_file_that_is_no_plan(text):
    with pytest.raises(PlanFileError, match="x"):
        load_plan(text, source="x")


def test_a_step_of_another_release():
    with pytest.raises(PlanFileError, match="release doesn't know"):
        load_step("teleport", {})
    with pytest.raises(PlanFileError, match="group"):
        load_step("record_offsets", {"group": 3})


MOVES = [
    (
        of_group(members=group(type=GroupType.CLASSIC)),
        ("group: type was consumer, is now classic",),
    ),
    (
        of_group(known={"orders": replace(topic(), id="other")}),
        ("topics: orders id was id-orders, is now other",),
    ),
    (
        of_group(commands=BOTH),
        (
            "commands: start was nothing, is now start it",
            "commands: stop was nothing, is now stop it",
        ),
    ),
]


@pytest.mark.parametrize(("inspector", "said"), MOVES, ids=[w[0].split(":")[0] for _, w in MOVES])
def test_what_moved_is_named_and_nothing_else(inspector, said):
    before, now = plan_of(of_group()), plan_of(inspector)
    assert before.hash != now.hash
    assert drift(before, now) == said


def test_offsets_move_by_themselves_within_what_was_approved():
    before = plan_of(of_group())
    grown = (GroupOffset(topic="orders", partition=0, offset=9),)
    assert drift(before, plan_of(of_group(members=group(offsets=grown)))) == ()
    many = (GroupOffset(topic="orders", partition=0, offset=900_000),)
    inspector = of_group(members=group(offsets=many), known={"orders": topic(end=1_000_000)})
    assert plan_of(inspector).hash == before.hash
    assert "would now be reprocessed" in drift(before, plan_of(inspector))[0]


def test_a_query_without_offsets_in_its_steps_starts_later_if_kafka_deletes_records():
    before, now = plan_of(of_spark()), plan_of(of_spark(known={"orders": topic(begin=6)}))
    assert drift(before, now) == ()
    found = deleted_records(before, now, of_spark(known={"orders": topic(begin=6)}))
    assert found.differences == (
        "Kafka deleted up to 12 records of orders that the plan starts with: orders[0] was to "
        "start at offset 0, but the earliest offset is now 6; orders[1] was to start at offset 0, "
        "but the earliest offset is now 6",
    )


def test_errors_of_the_command_line():
    with pytest.raises(ScenarioError, match="isn't a scenario"):
        build_plan("teleport", "q", of_group())
    with pytest.raises(ScenarioError, match="option"):
        build_plan("from-scratch", "q", of_group(), {"batch": 3})
    with pytest.raises(NotFoundError, match="nobody"):
        build_plan("from-scratch", "nobody", of_group())
