"""Which pipelines a chain has, in which order, and what is chosen for each."""

from __future__ import annotations

import pytest

from headgate.errors import ScenarioError
from headgate.model.kafka_streams import StreamsApplication, StreamsStore
from headgate.model.registered_pipelines import Pipeline
from headgate.model.restore_points import LoggedBatch, Turn, is_before, skipped_after
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.reprocess.scenarios.chain.choices import Choice, default_of, read_choices
from headgate.reprocess.scenarios.chain.moves import Candidate, newest_within
from headgate.reprocess.scenarios.shared.pipeline_links import Links, Member, order
from headgate.reprocess.steps.offsets.skip_replaced import Replaced, skipped_to, unread_before
from headgate.spark_jobs.data.bound_kafka import BoundsFile

SPARK, STREAMS, GROUP = Engine.SPARK, Engine.KAFKA_STREAMS, Engine.CONSUMER_GROUP
COUNTS = StatefulOperator(kind=OperatorKind.AGGREGATE)


def member(name, reads="", writes="", engine=GROUP, version=None):
    return Member(
        pipeline=Pipeline(name=name, engine=engine),
        version=version,
        reads=frozenset(reads.split()),
        writes=frozenset(writes.split()),
    )


def links(*members):
    return Links(members={m.name: m for m in members})


SHOP = links(
    member("late", "c d"),
    member("second", "b", "c"),
    member("other", "b", "d"),
    member("first", "a", "b"),
    member("stranger", "x", "y"),
)


def names(found):
    return [m.name for m in found.members]


def test_a_pipeline_comes_after_all_that_it_reads_from():
    found = order(SHOP, "first", ())
    assert names(found) == ["first", "second", "other", "late"]
    assert (found.left_out, found.cycle) == ({}, ())


def test_what_only_an_excluded_one_leads_to_is_left_out_and_named():
    found = order(SHOP, "first", ["second"])
    assert names(found) == ["first", "second", "other", "late"]
    narrow = links(*(m for m in SHOP.members.values() if m.name != "other"))
    found = order(narrow, "first", ["second"])
    assert names(found) == ["first", "second"]
    assert found.left_out == {"late": "second"}


@pytest.mark.parametrize("back", ["a", "b"])
def test_a_cycle_has_no_order(back):
    """A link to the first one, or to one after it."""
    found = order(
        links(
            member("first", "a", "b"),
            member("loop", "b c", "c d"),
            member("end", "d", back),
            member("after", "d", "e"),
        ),
        "first",
        (),
    )
    # What is only downstream of a cycle isn't part of it.
    assert set(found.cycle) == {"loop", "end"} | ({"first"} if back == "a" else set())


def test_a_topic_of_its_own_is_no_cycle():
    found = order(links(member("first", "a", "b"), member("own", "b c", "c")), "first", ())
    assert names(found) == ["first", "own"] and not found.cycle


def query(*operators):
    return member("q", engine=SPARK, version=Version(engine=SPARK, stateful=operators))


def application(*stores):
    facts = StreamsApplication(described=True, stores=stores)
    return member("s", engine=STREAMS, version=Version(engine=STREAMS, streams=facts))


STORE = StreamsStore(name="counts", changelog="counts-changelog")
UNKNOWN = member("u", engine=SPARK)


@pytest.mark.parametrize(
    ("what", "at_time", "in_the_middle", "from_earliest"),
    [
        (member("g"), Choice.SKIP, Choice.SKIP, Choice.SKIP),
        (query(), Choice.SKIP, Choice.REWIND, Choice.SKIP),
        (query(COUNTS), Choice.REWIND, Choice.REWIND, Choice.RESET),
        (UNKNOWN, Choice.REWIND, Choice.REWIND, Choice.RESET),
        (application(), Choice.SKIP, Choice.SKIP, Choice.SKIP),
        (application(STORE), None, None, Choice.RESET),
    ],
)
def test_what_gives_correct_results(what, at_time, in_the_middle, from_earliest):
    assert default_of(what, to_earliest=False, leads_on=False) is at_time
    assert default_of(what, to_earliest=False, leads_on=True) is in_the_middle
    assert default_of(what, to_earliest=True, leads_on=True) is from_earliest


def test_choices_are_read_with_their_names():
    found = read_choices(["a=b=skip", "c = rewind"], ["d"])
    assert found == {"a=b": Choice.SKIP, "c": Choice.REWIND, "d": Choice.NOTHING}


@pytest.mark.parametrize(
    ("rows", "excluded", "said"),
    [
        (["billing"], [], "expected PIPELINE=CHOICE .*, found 'billing'"),
        (["billing=drop"], [], "found 'billing=drop'"),
        (["a=skip", "a=rewind"], [], "only one choice for a"),
        (["a=skip"], ["a"], "only one choice for a"),
    ],
)
def test_wrong_choices_are_named(rows, excluded, said):
    with pytest.raises(ScenarioError, match=said):
        read_choices(rows, excluded)


def test_a_partition_with_older_unread_records_keeps_its_offset():
    replaced = {("b", p): Replaced("b", p, 10, 20) for p in range(4)}
    at = {("b", 0): 15, ("b", 1): 10, ("b", 2): 9}
    assert skipped_to(replaced, at) == {("b", 0): 20, ("b", 1): 20}
    assert unread_before(replaced, at) == (("b", 2),)


def batch(number, *ends):
    return Candidate(batch=LoggedBatch(number=number, offsets={"b": dict(enumerate(ends))}))


def test_a_batch_ends_before_the_limit_in_each_partition():
    found = [batch(1, 3), batch(2, 5, 2), batch(3, 6, 9)]
    assert newest_within(found, {("b", 0): 5, ("b", 1): 2}).batch.number == 2
    assert newest_within(found, {("b", 0): 5, ("b", 1): 1}).batch.number == 1
    assert newest_within(found, {("b", 0): 2}) is None
    assert newest_within(found, {}).batch.number == 3


def test_a_run_ends_at_the_earlier_of_both_offsets(tmp_path):
    bounds = BoundsFile(tmp_path / "bounds.json", {"b": {"0": 4, "1": 9}})
    assert bounds.limited({"b": {"0": 7, "1": 7, "2": 7}, "c": {"0": 3}}) == {
        "b": {"0": 4, "1": 7, "2": 7},
        "c": {"0": 3},
    }


FIRST, SECOND, LEFT = Turn(id="r1", batch=5), Turn(id="r2", batch=3), Turn(id="r3", batch=8)


@pytest.mark.parametrize(
    ("point", "number", "now", "is_there"),
    [
        ((), 9, (), True),
        ((), 5, (FIRST,), True),
        ((), 6, (FIRST,), False),
        ((FIRST,), 6, (FIRST,), True),
        ((FIRST,), 4, (FIRST, SECOND), False),
        ((FIRST,), 3, (FIRST, SECOND), True),
        ((FIRST,), 2, (), False),
        ((LEFT,), 2, (FIRST,), False),
    ],
)
def test_a_batch_belongs_to_a_history(point, number, now, is_there):
    assert is_before(point, number, now) is is_there


SKIP = Turn(id="r4", batch=7, skips=True)


@pytest.mark.parametrize(
    ("now", "point", "number", "is_skipped"),
    [
        ((FIRST,), None, 2, False),
        ((FIRST, SKIP), None, 6, True),
        ((FIRST, SKIP), None, 7, False),
        ((FIRST, SKIP, LEFT), None, 6, True),
        ((FIRST, SKIP), (FIRST,), 7, True),
        ((FIRST, SKIP), (FIRST, SKIP), 7, False),
        ((SKIP, LEFT), (SKIP,), 8, False),
    ],
)
def test_records_that_were_skipped_after_a_batch(now, point, number, is_skipped):
    """A point that ends at the batch of the skip, but was made before it, has not skipped them."""
    assert skipped_after(now, point, number) is is_skipped
