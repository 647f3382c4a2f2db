"""What a chain plans for Spark queries downstream, with checkpoints on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import LoggedBatch
from headgate.model.version import (
    Engine,
    OperatorKind,
    Source,
    StatefulOperator,
    Version,
    Watermark,
)
from headgate.reprocess.plan import Plan
from headgate.reprocess.ports.checkpoints import Checkpoint
from headgate.reprocess.scenario import PlanRequest
from headgate.reprocess.scenarios.chain import downstream, first, reset
from headgate.reprocess.scenarios.chain.choices import Choice
from headgate.reprocess.scenarios.chain.downstream import _reprocessed, move_downstream
from headgate.reprocess.scenarios.chain.join import (
    _NOT_HERE,
    _own_options,
    _sentences,
    _steps,
    _without_options,
)
from headgate.reprocess.scenarios.chain.moves import Candidate, Cut, Move, rewinds
from headgate.reprocess.scenarios.shared import consumer_group_offsets, start_from_offsets
from headgate.reprocess.scenarios.shared.common import CONSUMERS_GET_DUPLICATES as AGAIN
from headgate.reprocess.scenarios.shared.common import catch_up_risks
from headgate.reprocess.scenarios.shared.kafka_streams_reset_checks import LOCAL_STATE_STAYS
from headgate.reprocess.scenarios.shared.pipeline_links import Member
from headgate.reprocess.steps.checkpoint.record_output import RecordOutput
from headgate.reprocess.steps.offsets.target import OFFSETS_KEPT
from support.flat_ports import FlatPorts

COMMANDS = Commands(start="true", stop="true", status="exit 3")
QUERY = Pipeline(name="q", engine=Engine.SPARK, checkpoint="/ck", commands=COMMANDS)
MEMBER = Member(
    pipeline=QUERY,
    version=Version(engine=Engine.SPARK, stateful=()),
    reads=frozenset("b"),
    writes=frozenset(),
)
CUTS = {"b": Cut(at=1000, writer="first", is_exact=True)}


class Paper(FlatPorts):
    """The query has read b[0] to 8; each partition's replaced records begin at `begin`."""

    def __init__(self, partitions, begin=5):
        self.partitions, self.begin = partitions, begin

    def has_cluster(self):
        return True

    def pipelines(self):
        return (QUERY,)

    def registered(self, name):
        return replace(QUERY, name=name)

    def place(self, location):
        return location

    def read(self, location):
        return Checkpoint(location=location, query_id="q-1", offsets={"b": {0: 8}})

    def topics(self, names):
        parts = tuple(Partition(number=n, begin=0, end=9) for n in range(self.partitions))
        return {n: Topic(name=n, id=f"id-{n}", partitions=parts) for n in names}

    def first_at(self, parts, at):
        return dict.fromkeys(parts, self.begin)


def moved(paper, choice=Choice.SKIP, cuts=CUTS):
    return move_downstream(
        PlanRequest(scenario="chain", pipeline=QUERY, inspector=paper), MEMBER, cuts, choice
    )


def test_a_partition_that_no_batch_has_blocks_the_skip():
    assert moved(Paper(1)).blockers == ()
    assert moved(Paper(2, begin=None)).blockers == (), "nothing of it is replaced"
    (blocker,) = moved(Paper(2)).blockers
    assert blocker.startswith(f"the last batch of {MEMBER.name} has no offset for b[1], so Spark")
    step = next(s for s in moved(Paper(1)).plan.steps if s.action == "skip_replaced_input")
    assert step.topics == {"b": {"id": "id-b", "partitions": 1}}


def test_a_query_writes_at_other_times_than_those_of_its_input():
    cut = Cut(at=1000, writer="first", is_exact=False)
    approximate = moved(Paper(1), cuts={"b": cut})
    assert approximate.blockers == ()
    assert any("skips 1 unread record of b" in risk for risk in approximate.risks)
    (blocker,) = moved(Paper(1), cuts={"b": replace(cut, is_target=True)}).blockers
    assert "Spark writes b, so their timestamps say when they were written" in blocker
    assert moved(Paper(1)).risks == ()


def test_a_query_that_keeps_its_state_drops_rewritten_records_as_late():
    counts = Version(
        engine=Engine.SPARK,
        stateful=(StatefulOperator(kind=OperatorKind.AGGREGATE),),
        watermarks=(Watermark(column="s0.time", delay="1 minute"),),
    )
    late = "the query keeps its watermark, so Spark drops rewritten records"
    for version, is_said in ((counts, True), (replace(counts, watermarks=()), False)):
        member = replace(MEMBER, version=version)
        request = PlanRequest(scenario="chain", pipeline=QUERY, inspector=Paper(1))
        move = move_downstream(request, member, CUTS, Choice.SKIP)
        assert any(r.startswith(late) for r in move.risks) == is_said


def test_a_query_that_catches_up_counts_only_the_records_before_the_replaced_ones(monkeypatch):

    def planned(*_, reads_all=True):
        more = catch_up_risks(None, {("b", 0): 9}) if reads_all else ()
        return Plan(scenario="rewind", pipeline="q", risks=("the sink is a topic", *more))

    chosen = Candidate(batch=LoggedBatch(number=1, offsets={"b": {0: 2}}))
    monkeypatch.setattr(downstream, "candidates", lambda *_: [chosen])
    monkeypatch.setattr(downstream, "rewind_plan", planned)
    move = moved(Paper(1), Choice.REWIND)
    assert move.plan.risks == ("the sink is a topic",)
    (said,) = [r for r in move.risks if "maxOffsetsPerTrigger" in r]
    assert "all records to process (now 3)" in said


@pytest.mark.parametrize("reworded", [False, True])
def test_a_chain_leaves_out_what_is_no_risk_of_it_whatever_its_words_are(reworded, monkeypatch):
    """It says itself what becomes of skipped records and of its own consumers."""
    risks = (consumer_group_offsets.SKIPPED, start_from_offsets.SKIPPED, OFFSETS_KEPT, AGAIN)
    for risk in risks if reworded else ():
        monkeypatch.setattr(risk, "text", f"Reworded: {risk.text}!")
    gaps = {"records": 1, "spans": "b[0]", "partitions": "b[0]", "topic": "c", "consumers": "g"}
    said = [risk(pipeline="q", **gaps) for risk in risks]
    others = (AGAIN(topic="x", consumers="g"), "another risk")
    plan = Plan(scenario="from-point", pipeline="q", risks=(*said, *others))
    monkeypatch.setattr(downstream, "built", lambda *_: plan)
    monkeypatch.setattr(reset, "built", lambda *_: plan)
    monkeypatch.setattr(downstream, "commits_of", lambda *_: {})
    monkeypatch.setattr(Paper, "group", lambda *_: None, raising=False)
    group = replace(MEMBER, pipeline=replace(QUERY, engine=Engine.CONSUMER_GROUP, group="q"))
    request = PlanRequest(scenario="chain", pipeline=QUERY, inspector=Paper(1))
    skip = move_downstream(request, group, CUTS, Choice.SKIP)
    assert skip.plan.risks == (said[1], said[3], *others), "a group has no batches"
    empty = move_downstream(request, MEMBER, CUTS, Choice.RESET)
    assert empty.plan.risks == (*said[2:], *others)
    told = list(_sentences([empty], "risks", {"c"}))
    assert [text for text in told if "consumers" in text] == [f"q: {others[0]}"]


def test_skipped_records_are_not_counted_as_reprocessed():
    """From batch end 2 to where the query is (8), but replaced records begin at 5; c isn't cut."""
    batch = LoggedBatch(number=1, offsets={"b": {0: 2, 1: 2}, "c": {0: 1}})
    now = Checkpoint(
        location="/ck", query_id="q-1", offsets={"b": {0: 8, 1: 3}, "c": {0: 4}}
    )  # fmt: skip
    limits = {("b", 0): 5, ("b", 1): 5}
    impact = {"records": {"b": 7, "c": 3}, "batches": 2}
    found = _reprocessed(impact, Candidate(batch=batch), now, limits)
    assert found == {"records": {"b": 3 + 1, "c": 3}, "batches": 2}
    assert _reprocessed({}, Candidate(batch=batch), now, limits) == {}


def test_each_rewound_query_keeps_the_offsets_of_its_output():
    moves = tuple(
        Move(
            member=MEMBER, choice=Choice.REWIND,
            plan=Plan(scenario="rewind", pipeline=name, steps=(
                RecordOutput(topic=name, batch=1, since=1000),
            )),
        )
        for name in ("c", "d")
    )  # fmt: skip
    steps = [s.details() for s in _steps(moves)]
    assert {s["topic"]: s["file"] for s in steps} == {"d": "output.json", "c": "output-2.json"}


def test_a_blocker_names_no_option_that_a_chain_does_not_have():
    text = "q: the sink is unknown. Pass --sink or --sink-path"
    assert _own_options(text) == (
        f"{text}. But `headgate plan chain` doesn't have --sink, --sink-path. Either plan this "
        "pipeline separately, or change what the chain does to it with --choose PIPELINE=CHOICE"
    )
    fine = "q: choose skip with --choose, or use --to-earliest"
    assert _own_options(fine) == fine


def test_a_risk_gives_no_advice_that_only_another_scenario_has_an_option_for():
    risk = "the records of t are permanently lost. If an undo should restore them, pass --back-up"
    assert _without_options(risk) == "the records of t are permanently lost"
    for fine in ("pass --choose q=skip", "A. If they differ, use new-checkpoint with --source 1=0"):
        assert _without_options(fine) == fine
    assert LOCAL_STATE_STAYS.text.endswith(_NOT_HERE)


def test_a_query_that_read_nothing_of_the_replaced_records_keeps_its_state():
    chosen = Candidate(batch=LoggedBatch(number=4, offsets={}))
    assert rewinds(chosen, is_last=True, is_behind=False) == (
        "The query keeps the state of its last batch 4. It skips the replaced records."
    )
    assert rewinds(chosen, is_last=False, is_behind=True).startswith(
        "The query restores the state of batch 4. It processes the remaining records"
    )


def test_a_remote_checkpoint_can_t_skip_and_the_blocker_says_what_can():
    class Remote(Paper):
        def read(self, location):
            return replace(super().read(location), remote=True, fixed="on a remote file system")

    inspector = Remote(1)
    request = PlanRequest(scenario="chain", pipeline=QUERY, inspector=inspector)
    move = move_downstream(request, MEMBER, CUTS, Choice.SKIP)
    (blocker,) = [b for b in (*move.blockers, *move.plan.blockers) if "remote" in b]
    assert blocker.endswith("Pass --choose q=reset or --choose q=nothing")


@pytest.mark.parametrize(
    ("options", "is_whole"),
    [
        ({"startingOffsets": "earliest"}, True),
        ({"startingOffsets": "Earliest"}, True),
        ({"startingOffsets": "latest"}, False),
        ({"startingOffsets": "earliest", "startingTimestamp": "1700000000000"}, False),
        ({}, False),
    ],
)
def test_a_rebuild_reads_all_of_the_input_only_from_its_earliest_offsets(options, is_whole):
    """Spark's own precedence: a timestamp wins over startingOffsets, whose words have no case."""
    source = Source(position=0, format="kafka", topics=("b",), options=options)
    version = Version(engine=Engine.SPARK, stateful=(), sources=(source,))
    request = PlanRequest(scenario="chain", pipeline=QUERY, inspector=Paper(1))
    whys = list(first._not_rewritten(request, replace(MEMBER, version=version, reads=frozenset())))
    assert any("startingOffsets" in why for why in whys) is not is_whole
