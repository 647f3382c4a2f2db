"""What a reset of a Kafka Streams application does and refuses; a cluster on paper answers."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from headgate.model.cluster import Group, GroupType, Member
from headgate.model.kafka_streams import (
    GroupSubtopology,
    GroupTopic,
    StreamsSource,
)
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.restore_points import RestorePoint
from headgate.model.version import Engine, Source, Version
from headgate.reprocess.execution.execute import Record, StepState
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import Plan, dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.reprocess.scenarios.shared.internal_topics import Claim, ClusterOwners, judge
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move
from headgate.reprocess.steps.offsets.skip_records import SkipRecords
from support.paper_cluster import (
    APP,
    FACTS,
    LOOPING,
    TOPICS,
    PaperCluster,
    PaperRun,
    actions,
    group,
    reset,
    scratch,
    step,
    version,
)


def test_from_scratch_moves_deletes_and_clears():
    commands = Commands(stop="stop", start="start", status="status", clean="clean")
    plan = scratch(PaperCluster(commands=commands))
    assert plan.blockers == ()
    assert actions(plan) == [
        *("stop_pipeline", "await_transactions", "record_offsets", "reset_offsets"),
        *("delete_topics", "clear_local_state", "start_pipeline"),
    ]
    assert step(plan, "reset_offsets")["offsets"] == (
        {"topic": "in", "partition": 0, "from": 4, "to": 0},
    )
    assert list(step(plan, "delete_topics")["topics"]) == [
        "shop-counts-changelog",
        "shop-g-repartition",
    ]
    assert step(plan, "clear_local_state")["command"] == "clean"
    assert not any("local state" in risk for risk in plan.risks)
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash


def test_what_moves_by_itself_makes_it_no_other_plan():
    before = scratch()
    inspector = PaperCluster(ends=12)
    inspector.known = {APP: group(**{"in": 9, "shop_g_repartition": 8})}
    assert drift(before, scratch(inspector)) == ()
    inspector.names = (*TOPICS, "shop-new-changelog")
    blocker = scratch(inspector).blockers[0]
    assert blocker.startswith("no evidence that shop-new-changelog belongs to shop")
    # The topology is known, and lacks the topic: to register it again would change nothing.
    assert "evidence` in headgate.toml" not in blocker and "--keep-internal" in blocker


def test_a_topic_that_it_writes_and_reads_is_skipped():
    plan = scratch(facts=LOOPING)
    moves = [s.details() for s in plan.steps if s.action == "reset_offsets"]
    assert [(list(m["topics"]), m["target"]["place"]) for m in moves] == [
        (["in"], "beginning"),
        (["loop"], "end"),
    ]
    named = reset(facts=LOOPING, input_topics=["in,loop"])
    assert any("records that it has itself written to loop" in risk for risk in named.risks)


def test_an_undo_brings_back_state_that_was_backed_up():
    assert any("permanently lost" in risk for risk in scratch().risks)
    plan = scratch(back_up_internal=True)
    assert not any("permanently lost" in risk for risk in plan.risks)
    assert actions(plan)[3:] == [
        *(
            "back_up_records",
            "back_up_unread_records",
            "reset_offsets",
            "delete_topics",
            "delete_topics",
        ),
        "clear_local_state",
    ]
    first, second = (s.details() for s in plan.steps if s.action == "delete_topics")
    assert (list(first["topics"]), first["backed_up"]) == (["shop-counts-changelog"], True)
    assert (list(second["topics"]), second["backed_up"]) == (["shop-g-repartition"], False)
    unread = next(s for s in plan.steps if s.action == "back_up_unread_records")
    was = unread.bind(PaperRun())
    assert was["spans"] == [{"topic": "shop-g-repartition", "partition": 0, "begin": 3, "end": 10}]
    records, backup = unread.undo(was)
    assert (records.action, backup.action) == ("restore_records", "delete_backup_topics")
    # The application itself gets nothing twice, and only what it had not read comes back.
    run = PaperRun()
    run.topic_consumers = lambda names: {n: dict.fromkeys([APP, "other"], False) for n in names}
    assert "duplicates of the restored records: other" in records.risks(run)[-1]
    shape = {"partitions": 1, "replication": 1, "configs": {}}
    topics = {"shapes": [{"name": "shop-g-repartition", "id": "i", **shape}], "backup": {}}
    (topic,) = plan.steps[-2].undo(topics)
    (said,) = (risk for risk in topic.risks(run) if "not read before the run" in risk)
    assert "of shop-g-repartition, the undo restores only the records that group shop had" in said
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash


def test_without_a_word_on_local_state_it_counts_double():
    assert any("counts reprocessed records twice" in risk for risk in scratch().risks)
    said = scratch(local_state_cleared=["a", "b"])
    assert any(risk.startswith("UNVERIFIED") and "a, b" in risk for risk in said.risks)
    assert "not verified" in said.steps[-1].describe()
    no_stores = replace(FACTS, stores=(), repartitions=())
    inspector = PaperCluster(names=("in", "out"))
    inspector.known = {APP: group(**{"in": 4})}
    assert "clear_local_state" not in actions(scratch(inspector, facts=no_stores))


def test_outputs_are_emptied_on_request():
    plan = scratch(outputs="empty", back_up_outputs=True)
    assert plan.blockers == ()
    assert actions(plan)[-2:] == ["back_up_records", "delete_records"]
    assert list(plan.steps[-1].details()["topics"]) == ["out"]
    assert not any("written to the output topic out a second time" in risk for risk in plan.risks)
    assert any("written to the output topic out a second time" in risk for risk in scratch().risks)


def test_a_person_is_not_asked_for_a_folder_that_nothing_names():
    plan = scratch(facts=replace(FACTS, sinks=()), outputs="new")
    assert "the outputs of shop are unknown" in plan.blockers[0]
    assert "configure shop to write to new outputs, and start it" in plan.steps[-1].describe()


def test_without_input_topics_offsets_stay_and_that_is_a_risk():
    plan = reset(facts=FACTS)
    assert plan.can_apply and "reset_offsets" not in actions(plan)
    (risk,) = [risk for risk in plan.risks if "no input topic is selected: offsets of" in risk]
    assert "The results lack the records before these offsets" in risk
    kept = reset(facts=FACTS, keep_internal=True)
    (risk,) = [risk for risk in kept.risks if "no input topic is selected" in risk]
    assert "The results lack" not in risk
    assert not any("a second time" in risk for risk in plan.risks)


def test_changelogs_that_stay_are_named_apart_from_repartition_topics():
    plan = reset(facts=FACTS, input_topics=["in"], keep_internal=True)
    stores, between = [risk for risk in plan.risks if risk.startswith("the run keeps")]
    assert stores.startswith("the run keeps these changelogs: shop-counts-changelog. Their state")
    assert between.startswith("the run keeps these internal topics: shop-g-repartition. shop also")


def test_a_start_at_the_latest_offsets_writes_nothing_a_second_time():
    plan = reset(facts=FACTS, input_topics=["in"], to_latest=True)
    assert not any("to the output topic out a second time" in risk for risk in plan.risks)
    again = reset(facts=FACTS, input_topics=["in"])
    assert any("to the output topic out a second time" in risk for risk in again.risks)


def test_a_transaction_on_what_goes_is_named_before_anything_is_asked_for():
    (some, *_) = [n for n in TOPICS if n.endswith("-changelog")]
    inspector = PaperCluster(locked=frozenset({some, "in"}))
    plan = reset(inspector, facts=FACTS, input_topics=["in"])
    (risk,) = [r for r in plan.risks if "a transaction is open" in r]
    assert some in risk and "on in" not in risk
    assert not any("transaction" in r for r in reset(facts=FACTS, input_topics=["in"]).risks)


def test_a_forgotten_input_is_a_risk():
    two = replace(FACTS, sources=(StreamsSource(processor="s", topics=("in", "in2")),))
    inspector = PaperCluster(names=(*TOPICS, "in2"))
    plan = reset(inspector, facts=two, input_topics=["in"])
    assert any("has input topics that aren't selected: in2" in risk for risk in plan.risks)


def test_a_topic_that_only_the_group_knows_is_no_input():
    inspector = PaperCluster(names=(*TOPICS, "old"))
    inspector.known = {APP: group(**{"in": 9, "old": 4})}
    for plan, advice in (
        (scratch(inspector), "capture it again"),
        (
            reset(inspector, facts=FACTS, input_topics=["in"]),
            "pass its current topology with --topology",
        ),
    ):
        (risk,) = [r for r in plan.risks if "committed offsets of old" in r]
        assert "the topology doesn't have these topics" in risk and risk.endswith(advice)
        assert not any("aren't selected" in r for r in plan.risks)


@pytest.mark.parametrize("pattern", [r"\Qin\E.*", r"in\p{IsLatin}*"])
def test_the_output_is_not_reset_with_a_pattern_of_java(pattern):
    plan = scratch(facts=replace(FACTS, sources=(StreamsSource(processor="s", pattern=pattern),)))
    assert list(step(plan, "reset_offsets")["topics"]) == ["in"]
    unclear = [r for r in plan.risks if "shop reads the topics that match" in r]
    assert bool(unclear) is ("IsLatin" in pattern)
    # Only `headgate reset` has --input-topics.
    assert all("add it to `topics` in headgate.toml" in r for r in unclear)


@pytest.mark.parametrize(
    ("now", "options", "sentence"),
    [
        (None, {}, "group shop not found: no application has this id"),
        (group(state="dead"), {}, "group shop not found"),
        (
            group(state="stable", members=(Member(id="m", client_id="c"),)),
            {},
            "has 1 member (c)",
        ),
        (group(state="unknown", members=None), {}, "has no members: the brokers report no state"),
        (
            group(state="stable", members=(Member(id="m", instance_id="static"),)),
            {},
            "--force removes members that a killed process left",
        ),
        (
            group(kind=GroupType.STREAMS, state="stable", members=(Member(id="m"),)),
            {"force": True},
            "Kafka can't remove members of a group of type streams",
        ),
        (group(kind=GroupType.SHARE), {}, "is of type share"),
        (
            group(kind=GroupType.UNKNOWN, state="unknown", members=None),
            {},
            "has no members: the brokers report no state",
        ),
    ],
)
def test_nobody_may_be_in_the_group_and_it_must_be_there(now, options, sentence):
    inspector = PaperCluster(known={APP: now} if now else {})
    plan = reset(inspector, facts=FACTS, input_topics=["in"], **options)
    assert not plan.can_apply
    assert any(sentence in blocker for blocker in plan.blockers)


def test_force_is_a_step_and_no_preview_evicts():
    live = group(state="stable", members=(Member(id="m"),), **{"in": 4})
    plan = reset(PaperCluster(known={APP: live}), facts=FACTS, input_topics=["in"], force=True)
    assert plan.can_apply and actions(plan)[0] == "remove_members"


OWN = {"shop-counts-changelog": "the topology from --topology contains the topic"}
OTHER = Pipeline(name="other", engine=Engine.KAFKA_STREAMS, group="shop-2")
SPARK = Version(
    engine=Engine.SPARK,
    sources=(Source(position=0, format="kafka", topics=("shop-counts-changelog",)),),
)
STREAMS = Group(
    id=APP,
    type=GroupType.STREAMS,
    state="stable",
    subtopologies=(GroupSubtopology(id="0", changelogs=(GroupTopic(name="shop-x-y-changelog"),)),),
)


@pytest.mark.parametrize(
    ("topic", "named", "around", "claim", "why"),
    [
        (
            "shop-counts-changelog",
            OWN,
            {},
            Claim.OWNED,
            "the topology from --topology contains the topic",
        ),
        ("shop-counts-changelog", {}, {}, Claim.UNPROVEN, "only the prefix of the topic"),
        (
            "shop-g-repartition",
            {},
            {"groups": {APP: group(shop_g_repartition=1)}},
            Claim.OWNED,
            "has committed offsets of this repartition topic",
        ),
        (
            "shop-counts-changelog",
            OWN,
            {"groups": {"debug": group("debug", shop_counts_changelog=1)}},
            Claim.CONTESTED,
            "group debug has committed offsets for the topic",
        ),
        (
            "shop-counts-changelog",
            OWN,
            {"versions": {"copy": SPARK}},
            Claim.CONTESTED,
            "pipeline copy reads the topic",
        ),
        (
            "shop-2-counts-changelog",
            {},
            {"groups": {"shop-2": group("shop-2", **{"in": 1})}},
            Claim.FOREIGN,
            "starts with shop-2-, the prefix of application shop-2",
        ),
        (
            "shop-2-counts-changelog",
            {},
            {"pipelines": (OTHER,)},
            Claim.FOREIGN,
            "starts with shop-2-, the prefix of application shop-2",
        ),
        (
            "shop-2-counts-changelog",
            {"shop-2-counts-changelog": "the application's topology has the store 2-counts"},
            {"pipelines": (OTHER,)},
            Claim.CONTESTED,
            "; the application's topology has the store 2-counts",
        ),
        (
            "shop-2-counts-changelog",
            {},
            {"pipelines": (OTHER,), "versions": {"other": version()}},
            Claim.FOREIGN,
            "application shop-2: the application's topology has the store counts",
        ),
    ],
)
def test_a_claim_needs_a_proof(topic, named, around, claim, why):
    seen = ClusterOwners(topics=frozenset({topic}), **{"groups": {}, **around})
    found = judge(APP, named, seen)[topic]
    assert found.claim is claim
    assert why in found.why


def test_an_application_with_a_shorter_id_may_own_a_topic():
    seen = ClusterOwners(topics=frozenset({"shop-x-changelog"}), groups={APP: STREAMS})
    (found,) = judge("shop-x", {}, replace(seen, topics=frozenset({"shop-x-y-changelog"}))).values()
    assert (found.claim, found.why[:37]) == (Claim.FOREIGN, "the topic belongs to application shop")
    (found,) = judge(APP, {}, seen).values()
    assert (found.claim, found.why) == (
        Claim.UNPROVEN,
        "only the prefix of the topic's name suggests that the application owns it",
    )


def test_what_is_contested_is_refused_always_but_may_be_kept():
    inspector = PaperCluster()
    inspector.known["debug"] = group("debug", shop_counts_changelog=1)
    for options in ({}, {"internal_topics": ["shop-counts-changelog"]}):
        plan = reset(inspector, facts=FACTS, input_topics=["in"], **options)
        assert any("shop-counts-changelog can't be deleted" in r for r in plan.blockers)
    kept = reset(inspector, facts=FACTS, input_topics=["in"], keep_internal=True)
    assert kept.can_apply and "delete_topics" not in actions(kept)


def test_what_is_kept_is_called_its_own_only_where_that_is_proven():
    plan = reset(input_topics=["in"], keep_internal=True)
    assert [risk for risk in plan.risks if risk.startswith("the run keeps")] == [
        "the run keeps these internal topics: shop-g-repartition. shop also processes the unread "
        "records in these topics, so the input records that they come from may count twice",
        "the run keeps these topics, because no evidence shows that shop owns them: "
        "shop-counts-changelog. If shop owns these topics, reprocessed records count twice",
    ]
    both = reset(input_topics=["in"], keep_internal=True, internal_topics=["shop-g-repartition"])
    assert any(
        r.endswith("--keep-internal keeps all internal topics: pass only one of these options")
        for r in both.blockers
    )


def test_what_is_no_internal_topic_is_never_deleted():
    inspector = PaperCluster(names=(*TOPICS, "precious", "another-x-changelog"))
    for name in ("precious", "another-x-changelog"):
        plan = reset(inspector, facts=FACTS, internal_topics=[name])
        assert any(
            f"{name} isn't an internal topic of shop" in blocker for blocker in plan.blockers
        )


def test_a_reset_is_built_anew_from_its_options_alone():
    plan = reset(facts=None, input_topics=["in"], **{
        "topology-internal": ["shop-counts-changelog", "shop-g-repartition"],
        "topology-source": ["in"], "topology-sink": ["out"], "topology-store": ["counts"],
        "topology": ["described.txt"], "bootstrap-server": "b:1",
    })  # fmt: skip
    assert plan.can_apply
    read = load_plan(dump_plan(plan), source="plan")
    again = build_plan("reset", APP, PaperCluster(), read.options)
    assert again.hash == plan.hash
    assert plan.command == (
        "headgate reset --application-id=shop --bootstrap-server=b:1 --input-topics=in"
        " --topology=described.txt --execute"
    )
    assert json.loads(dump_plan(plan))["impact"]["internal_topics"].keys() == {
        "shop-counts-changelog",
        "shop-g-repartition",
    }


def since(at="2026-01-01T00:00:00Z", **options):
    """A plan back to a time at which the input has its 8th record."""
    inspector = PaperCluster(known={APP: group(**{"in": 9, "shop_g_repartition": 3})})
    options = {"to-datetime": at, **options}
    return build_plan("from-point", APP, inspector, options, version=version())


def test_from_a_point_windows_and_counts_of_before_are_said_to_come_out_too_small():
    said = " ".join(since().outputs.run)
    assert "that began before 2026-01-01T00:00:00Z are too small" in said
    assert "overwrite correct results in out and stay wrong" in said
    assert "Until shop has caught up" in said and "written to out a second time" in said
    whole = " ".join(scratch().outputs.run)
    assert "that began before" not in whole and "Until shop has caught up" in whole
    new = " ".join(scratch(outputs="new").outputs.run)
    assert "Results are written to new outputs" in new and "too small" not in new


def test_its_undo_says_what_stays_and_what_becomes_of_the_state():
    said = " ".join(since().outputs.undo)
    assert "correct what was written to out after the run started" in said
    assert "the newest value of a key in out stays wrong until the key's next record" in said
    assert "The state isn't restored. Counts and windows restart from zero" in said
    backed_up = " ".join(since(**{"back-up-internal": True}).outputs.undo)
    assert "State and offsets are restored" in backed_up and "restart from zero" not in backed_up
    kept = since(**{"keep-internal": True}).outputs
    assert "reprocessed records count twice" in " ".join(kept.run)
    assert "so records processed since the run count twice" in " ".join(kept.undo)
    assert since().outputs.remains


def test_an_application_without_state_only_writes_again():
    plain = replace(FACTS, stores=(), repartitions=())
    inspector = PaperCluster(names=("in", "out"), known={APP: group(**{"in": 4})})
    said = scratch(inspector, facts=plain).outputs
    assert not any("zero" in text or "state" in text.lower() for text in (*said.run, *said.undo))
    assert any("written to out a second time" in text for text in said.run)


def test_state_without_offsets_that_move_is_too_small_and_nothing_is_written_again():
    said = " ".join(reset(facts=FACTS).outputs.run)
    assert (
        "are too small, because earlier records are missing" in said
        and "written to out a second time" not in said
    )


def test_what_is_stated_is_in_the_file_of_the_plan():
    plan = since()
    assert plan.document()["outputs"] == {
        "run": list(plan.outputs.run), "undo": list(plan.outputs.undo), "remains": True,
    }  # fmt: skip
    assert load_plan(dump_plan(plan), source="plan") == plan


def test_an_undo_watches_the_topics_of_every_step_that_moved_offsets():
    taken = {name: {"id": f"id-{name}", "partitions": 1} for name in ("in", "loop")}
    steps = tuple(
        SkipRecords(
            group=APP, group_type="classic", topics={name: facts}, partition=0,
            first=2, next=4,
        )
        for name, facts in taken.items()
    )  # fmt: skip
    was = [
        {
            "moves": [
                asdict(Move(topic=name, partition=0, was=Commit(offset=2), to=Commit(offset=4)))
            ]
        }
        for name in taken
    ]
    records = {
        at: Record(begun=True, state=StepState.DONE, was=bound) for at, bound in enumerate(was)
    }
    past = Past(run="r-0", plan=Plan(scenario="x", pipeline=APP, steps=steps), records=records)
    assert build_undo(past, PaperCluster()).preconditions["topics"] == taken


def test_it_goes_back_to_the_offsets_of_a_restore_point():
    """Only its inputs': a reset deletes the internal topics, so that they have no offset."""
    offsets = {"in": {0: 2}, "shop-g-repartition": {0: 3}, "shop-counts-changelog": {0: 5}}
    at = "2026-11-25T19:05:00.000+00:00"
    point = RestorePoint(id="p-1", pipeline=APP, made_at=at, source=APP, offsets=offsets)

    def planned(options):
        known = {"version": version(), "points": {APP: (point,)}.get}
        return build_plan("from-point", APP, PaperCluster(), options, **known)

    plan = planned({"restore-point": "p-1"})
    assert plan.can_apply, plan.blockers
    assert plan.options == {"restore-point": "p-1"}
    assert plan.impact["records"] == {"in": 2}
    assert step(plan, "reset_offsets")["offsets"] == (
        {"topic": "in", "partition": 0, "from": 4, "to": 2},
    )
    assert {"shop-counts-changelog", "shop-g-repartition"} == {
        *step(plan, "delete_topics")["topics"]
    }
    assert [r for r in plan.risks if "Kafka Streams keeps no old state" in r] == [
        f"restore point p-1 ({at}) has only offsets, because Kafka Streams keeps no old state. "
        "State stores start empty, and results lack all records from before these offsets"
    ]
    assert planned(plan.options).hash == plan.hash
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash
    assert planned({"restore-point": "p-2"}).blockers == (
        "shop has no restore point p-2; restore points: p-1",
    )
