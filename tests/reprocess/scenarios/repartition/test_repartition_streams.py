"""What inputs of a Kafka Streams application may get more partitions, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from headgate.model.cluster import GroupType, Member, Partition, Topic
from headgate.model.kafka_streams import GroupSubtopology, GroupTopic, StreamsSource
from headgate.model.registered_pipelines import Commands, Pipeline
from headgate.model.version import Engine, Source, Version
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.repartition.downstream_topics import own_numbers, reach
from support.paper_cluster import APP, PaperCluster, actions, group, step

GOLDEN = Path(__file__).parents[3] / "golden" / "streams"
COMMANDS = Commands(stop="stop", start="start", status="status", clean="clean")


def described(name, release="4.3.1"):
    """A version whose topology Kafka Streams described."""
    file = GOLDEN / release / f"{name}.txt"
    return assemble(Gathered(pieces=[recognise(file.read_bytes(), path=file.name)]))


@dataclass
class GrowingCluster(PaperCluster):
    """Its topics have 2 partitions unless `counts` says otherwise; the broker may say `no`."""

    counts: dict = field(default_factory=dict)
    no: dict = field(default_factory=dict)
    commands: Commands = COMMANDS

    def topics(self, names):
        return {
            n: Topic(
                name=n,
                id=f"id-{n}",
                partitions=tuple(
                    Partition(number=k, begin=0, end=self.ends)
                    for k in range(self.counts.get(n, 2))
                ),
            )
            for n in names
            if n in self.names
        }

    def shapes(self, names):
        found = super().shapes(names)
        return {n: replace(s, partitions=self.counts.get(n, 2)) for n, s in found.items()}

    def unraisable(self, wanted):
        return {n: self.no[n] for n in wanted if n in self.no}


def cluster(version, **more):
    """The topics that a version reads, writes and keeps, all of 2 partitions."""
    facts = version.streams
    kept = {s.changelog for s in facts.stores if s.changelog} | {
        r.topic for r in facts.repartitions
    }
    read = {t for s in facts.sources for t in s.topics}
    written = {s.topic for s in facts.sinks if s.topic}
    names = tuple(sorted({*read, *written, *(f"shop-{name}" for name in kept)}))
    known = {APP: group(**dict.fromkeys(sorted(read), 4))}
    return GrowingCluster(**{"names": names, "known": known, **more})


def repartitioned(version, inspector=None, to="4", others=None, **options):
    return build_plan(
        "repartition",
        APP,
        inspector or cluster(version),
        {"partitions": to, **options},
        version=version,
        others=others,
    )


def test_state_behind_a_repartition_topic_is_made_anew():
    version = described("aggregate_named")
    plan = repartitioned(version)
    assert plan.blockers == ()
    assert actions(plan) == [
        *("stop_pipeline", "await_transactions", "record_offsets", "record_topics"),
        *("add_partitions", "reset_offsets", "delete_topics", "clear_local_state"),
        *("start_pipeline", "verify_partitions"),
    ]
    raised = step(plan, "add_partitions")
    assert (raised["topics"], raised["to"]) == ({"in": {"id": "id-in", "partitions": 2}}, 4)
    moved = step(plan, "reset_offsets")
    assert moved["topics"]["in"]["partitions"] == 4
    assert [m["to"] for m in moved["offsets"]] == [0, 0, 0, 0]
    anew = step(plan, "verify_partitions")["topics"]
    assert anew.keys() == step(plan, "delete_topics")["topics"].keys() and len(anew) == 2
    assert {"topic:in", "group:shop"} <= set(plan.resources)
    assert plan.impact["total"] == 4
    final = [s.action for s in plan.steps if not s.undoable]
    assert final == ["add_partitions", "delete_topics"]
    assert any("the added partitions of in can't be undone" in risk for risk in plan.risks)
    assert not any("--back-up" in risk for risk in plan.risks)
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash


def test_without_state_only_what_is_added_gets_an_offset():
    """`auto.offset.reset` may be `latest`: what comes before the start would be skipped."""
    version = described("stateless")
    plan = repartitioned(version)
    assert plan.blockers == ()
    assert actions(plan) == [
        *("stop_pipeline", "await_transactions", "record_offsets", "record_topics"),
        *("add_partitions", "reset_offsets", "start_pipeline", "verify_partitions"),
    ]
    offsets = step(plan, "reset_offsets")["offsets"]
    assert [(m["partition"], m["from"], m["to"]) for m in offsets] == [(2, None, 0), (3, None, 0)]
    assert plan.impact["total"] == 0
    assert any(
        "old and new records of a key may be in different partitions of in." in risk
        for risk in plan.risks
    )
    assert not any("state" in risk or "a second time" in risk for risk in plan.risks)
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash


SAFE = {
    "aggregate_grouped_as", "aggregate_named", "aggregate_repartitioned", "in_a_row",
    "optimised_repartitions", "repartition", "repartition_named", "stream_join_rekeyed", "to_table",
}  # fmt: skip
STATELESS = {
    "dynamic_sink", "merge", "several_topics", "split", "split_named", "stateless",
    "stateless_named", "stream_global_join", "stream_global_left_join",
}  # fmt: skip
GLOBAL = {"global_store", "global_table", "pattern_source"}
ALL = sorted(file.stem for file in (GOLDEN / "4.3.1").glob("*.txt"))


@pytest.mark.parametrize("name", sorted(set(ALL) - GLOBAL))
def test_a_key_s_state_is_never_split(name):
    """Kafka Streams keeps state where a key's records are read: in two places once it has moved."""
    version = described(name)
    plan = repartitioned(version)
    split = [r for r in plan.blockers if "Two tasks would then each hold part" in r]
    assert bool(split) is (name not in SAFE | STATELESS)
    assert ("delete_topics" in actions(plan)) is (name not in STATELESS)
    assert plan.can_apply is not bool(split), plan.blockers


def test_what_is_keyed_as_it_lies_can_be_left_out():
    """One side of this join goes over a repartition topic, the other does not."""
    version = described("stream_join_named")
    (why,) = repartitioned(version).blockers
    assert (
        "by the keys of in2, one store per partition" in why
        and "copy in2 with the producers' partitioner" in why
    )
    assert "Add a repartition() before the state" in why and "a new topic with 4 partitions" in why
    plan = repartitioned(version, input_topics=["in"])
    assert plan.blockers == ()
    assert list(step(plan, "add_partitions")["topics"]) == ["in"]
    assert {m["topic"] for m in step(plan, "reset_offsets")["offsets"]} == {"in", "in2"}


WORKS = {"state": "stable", "members": (Member(id="one"),)}


def at_work(version, counts, **state):
    """Its topics, some with another number than 2, and the application at work on them."""
    inspector = cluster(version, counts={f"shop-{name}": n for name, n in counts.items()})
    inspector.known = {APP: group(**{"in": 4}, **(state or WORKS))}
    return inspector


OWN = {"by-value-repartition": 6, "counts-changelog": 6}


def test_behind_a_number_that_the_code_fixes_the_state_stays():
    """It works with a number that the inputs don't give; the topology's text has none of that."""
    version = described("aggregate_named")
    plan = repartitioned(version, at_work(version, OWN))
    assert plan.blockers == ()
    assert actions(plan) == [
        *("stop_pipeline", "await_transactions", "record_offsets", "record_topics"),
        *("add_partitions", "reset_offsets", "start_pipeline", "verify_partitions"),
    ]
    assert [m["partition"] for m in step(plan, "reset_offsets")["offsets"]] == [2, 3]
    (said,) = [r for r in plan.risks if "assumes that the code sets" in r]
    assert "shop-by-value-repartition (6 partitions), shop-counts-changelog (6 partitions)" in said
    assert "fails to start. Then plan this scenario again: the new plan rebuilds" in said
    assert not any("can't move to other" in risk for risk in plan.risks)
    (why,) = repartitioned(version, at_work(version, OWN), outputs="empty").blockers
    assert "number of partitions of shop-by-value-repartition, shop-counts-changelog" in why
    (why,) = repartitioned(version, at_work(version, OWN), to="2").blockers
    assert (
        "in already has 2 partitions. The internal topics have the same number except shop-by"
        in why
    )


@pytest.mark.parametrize("number", [1, 6])
def test_one_that_does_not_work_may_not_because_of_that_number(number):
    """Somebody may have given its input more partitions: then all behind has to be made anew."""
    version = described("aggregate_named")
    other = dict.fromkeys(OWN, number)
    plan = repartitioned(version, at_work(version, other, state="empty"))
    assert plan.can_apply and "delete_topics" in actions(plan)
    (said,) = [r for r in plan.risks if "isn't running" in r]
    assert f"partitions than their inputs: shop-by-value-repartition ({number} part" in said
    assert "Start the application, then plan again" in said


def test_a_number_that_nothing_tells_is_named():
    """As many as the inputs give: the code may have fixed just that."""
    version = described("aggregate_named")
    (said,) = [r for r in repartitioned(version).risks if "doesn't know whether the code sets" in r]
    assert "the number of partitions of shop-by-value-repartition (Repartitioned.with" in said
    assert "the application recreates such a topic with its current number" in said


def test_of_two_numbers_one_is_fixed_and_the_other_not():
    version = described("in_a_row")
    first = "KSTREAM-AGGREGATE-STATE-STORE-0000000002"
    plan = repartitioned(version, at_work(version, {"again-repartition": 3, "last-changelog": 3}))
    assert plan.can_apply and "delete_topics" in actions(plan)
    assert any(
        "that its code sets: shop-again-repartition (3 partitions), "
        "shop-last-changelog (3 partitions)" in risk
        for risk in plan.risks
    )
    (said,) = [r for r in plan.risks if "doesn't know whether the code sets" in r]
    assert f"shop-{first}-repartition (" in said and "again" not in said
    inspector = at_work(version, {"again-repartition": 3, "last-changelog": 3})
    inspector.counts |= {"in": 4, f"shop-{first}-repartition": 4, f"shop-{first}-changelog": 4}
    (why,) = repartitioned(version, inspector).blockers
    assert "topics have the same number except shop-again-repartition, shop-last-changelog (" in why


def test_what_may_have_its_number_from_another_topic_proves_nothing():
    """Of a join, or behind a pattern, it follows from topics beside those that lead to it."""
    join = described("stream_join_named").streams
    now = {"in": 2, "in2": 6, "pair-left-repartition": 6}
    assert own_numbers(join, now) == {}
    count = described("aggregate_named").streams
    now = {"in": 2, "by-value-repartition": 6}
    assert own_numbers(count, now) == {"by-value-repartition": 6}
    assert own_numbers(count, {**now, "in": 6}) == own_numbers(count, {"in": 2}) == {}
    assert own_numbers(count, {"by-value-repartition": 6}) == {}
    wider = (*count.sources, StreamsSource(processor="p", pattern="in.*", subtopology=0))
    assert own_numbers(replace(count, sources=wider), now) == {}
    assert own_numbers(replace(count, topologies=("one", "two")), now) == {}


def test_a_description_of_the_first_releases_is_as_good():
    assert reach(described("count_named", "1.0.2").streams, ["in"]).stores == {"in": ("counts",)}
    assert reach(described("aggregate_repartitioned", "1.0.2").streams, ["in"]).stores == {}


def test_global_tables_and_strangers_are_not_known():
    for name in ("global_store", "global_table"):
        assert reach(described(name).streams, ["in"]).unknown == ("in",)
    assert reach(described("pattern_source").streams, ["in-7", "other"]).unknown == ("other",)


@pytest.mark.parametrize(
    ("name", "more", "options", "sentence"),
    [
        ("stateless", {}, {"to": "2"}, "nothing to do: in already has 2 partitions"),
        ("stateless", {}, {"to": "1"}, "in has 2 partitions, and Kafka can't reduce them to 1"),
        ("stateless", {}, {"outputs": "empty"}, "because shop keeps no state downstream of in"),
        (
            "stateless",
            {},
            {"local_state_cleared": ["a"]},
            "--local-state-cleared: omit this option",
        ),
        ("stateless", {}, {"input_topics": ["out"]}, "out isn't an input of shop. Its inputs: in"),
        ("stateless", {"no": {"in": "in can't: policy"}}, {}, "in can't: policy"),
        ("merge", {"names": ("in", "out")}, {}, "topic in2 does not exist"),
        (
            "aggregate_named",
            {},
            {"internal_topics": ["shop-by-value-repartition"]},
            "topics would keep the old number of partitions. shop fails to start",
        ),
    ],
)
def test_what_can_t_be_done_is_refused_before_anything(name, more, options, sentence):
    version = described(name)
    plan = repartitioned(version, cluster(version, **more), **options)
    assert not plan.can_apply
    assert any(sentence in reason for reason in plan.blockers), plan.blockers


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (None, "Add a file with the output of Topology#describe() to `evidence`"),
        (Version(engine=Engine.KAFKA_STREAMS), "run `headgate capture FILE --pipeline"),
        (
            "other",
            "application.id other, but `group` in headgate.toml is shop",
        ),
    ],
)
def test_without_a_topology_nothing_is_promised(version, sentence):
    if version == "other":
        version = described("stateless")
        version = replace(version, streams=replace(version.streams, application_id="other"))
    plan = repartitioned(version, GrowingCluster())
    assert (plan.steps, len(plan.blockers)) == ((), 1) and sentence in plan.blockers[0]


def test_a_version_that_is_not_the_one_that_runs_is_told_by_what_that_keeps():
    version = described("aggregate_named")
    left = "shop-old-repartition"
    inspector = cluster(version)
    inspector.names = (*inspector.names, left)
    inspector.known = {APP: group(**{"in": 4, "shop_old_repartition": 1})}
    plan = repartitioned(version, inspector)
    assert plan.can_apply
    assert any(f"lacks these internal topics of the application: {left}" in r for r in plan.risks)
    kept = GroupSubtopology(
        id="0", sources=("in",), changelogs=(GroupTopic(name="shop-x-changelog"),)
    )
    inspector.known = {APP: replace(group(**{"in": 4}), subtopologies=(kept,))}
    assert any(
        "that the stored version lacks: shop-x-changelog" in r
        for r in repartitioned(version, inspector).blockers
    )


def test_an_input_that_somebody_raised_already_needs_no_step_for_that():
    version = described("aggregate_named")
    inspector = cluster(version, counts={"in": 4})
    plan = repartitioned(version, inspector)
    assert plan.blockers == () and "add_partitions" not in actions(plan)
    assert [s.action for s in plan.steps if not s.undoable] == ["delete_topics"]
    assert any(
        "the deletion of internal topics can't be undone: if they had the old number" in risk
        for risk in plan.risks
    )
    inspector.counts |= dict.fromkeys(inspector.names, 4)
    (why,) = repartitioned(version, inspector).blockers
    assert "in already has 4 partitions. The internal topics have the same number" in why


def test_an_input_that_was_raised_under_its_state_is_not_taken_for_one_that_always_had_them():
    version = described("count_by_key")
    inspector = cluster(version, counts={"in": 4})
    assert any("Two tasks" in reason for reason in repartitioned(version, inspector).blockers)
    inspector.counts |= dict.fromkeys(inspector.names, 4)
    (why,) = repartitioned(version, inspector).blockers
    assert "nothing to do" in why


def test_whoever_else_reads_the_input_is_named():
    version = described("aggregate_named")
    other = Pipeline(name="other", engine=Engine.KAFKA_STREAMS, group="other")
    inspector = cluster(version, others=(other,))
    inspector.known |= {
        "other": group("other", **{"in": 1}),
        "live": group("live", kind=GroupType.STREAMS, **{"in": 1}),
        "billing": group("billing", **{"in": 1}),
        "idle": group("idle", out=1),
    }
    query = Version(
        engine=Engine.SPARK, sources=(Source(position=0, format="kafka", topics=("in",)),)
    )
    plan = repartitioned(version, inspector, others={"query": query})
    assert any("in is also read by live, other. A Kafka Streams" in r for r in plan.risks)
    assert any(
        "in is also read by billing, query. For these consumers, keys move" in r for r in plan.risks
    )
    assert not any("idle" in risk for risk in plan.risks if risk.startswith("in is also read"))


def test_its_outputs_are_emptied_on_request_and_nothing_is_backed_up_for_no_way_back():
    version = described("aggregate_named")
    plan = repartitioned(version, outputs="empty")
    assert plan.blockers == ()
    assert actions(plan)[-3:] == ["delete_records", "start_pipeline", "verify_partitions"]
    assert not any("--back-up" in risk for risk in plan.risks)


def test_what_nothing_here_starts_is_not_awaited():
    version = described("aggregate_named")
    plan = repartitioned(version, cluster(version, commands=Commands(status="status")))
    assert plan.can_apply and actions(plan)[-1] == "clear_local_state"
