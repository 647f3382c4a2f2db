"""What speaks against an offset is true at the ends of a log, and of a commit that moved again."""

import pytest

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.transactions import Transaction
from headgate.reprocess.steps.offsets.await_transactions import AwaitTransactions
from headgate.reprocess.steps.offsets.partition_offsets import Commit, Move
from headgate.reprocess.steps.offsets.reset_offsets import RestoreOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind, find, stale_reasons
from support.flat_ports import FlatPorts

PART = ("orders", 0)


class World(FlatPorts):
    """A topic with one partition, a group with a commit, and an open transaction."""

    def __init__(self, begin=0, end=10):
        log = Partition(number=0, begin=begin, end=end)
        self.there = {"orders": Topic(name="orders", id="1", partitions=(log,))}

    def topics(self, names):
        return {name: self.there[name] for name in names if name in self.there}

    def group(self, name):
        at = GroupOffset(topic="orders", partition=0, offset=5, leader_epoch=3)
        return Group(id=name, type=GroupType.CLASSIC, state="empty", offsets=(at,))

    def open_transactions(self, _parts):
        return (
            Transaction(id=None, state="ongoing", topics=frozenset({"orders"}), producer=7),
            Transaction(id="other-1", state="ongoing", topics=frozenset({"orders"})),
        )


def found(target, committed, **log):
    here = World(**log)
    return find(target, here, here.there, [PART], {PART: committed})


@pytest.mark.parametrize(("by", "end"), [(-5, "earliest"), (5, "latest")])
def test_a_shift_that_moves_nothing_says_so(by, end):
    at = 0 if by < 0 else 10
    said = f"the offset of orders[0] doesn't move: it is already the {end} offset"
    assert found(Target(place=TargetKind.SHIFT, by=by), at).risks == [said]


def test_a_partition_without_records_has_one_valid_offset():
    (said,) = found(Target(place=TargetKind.OFFSET, offset=3), None, begin=7, end=7).blockers
    assert said.endswith("the partition has no records, so the only valid offset is 7")


def test_only_the_first_of_many_reasons_are_named_and_each_once():
    assert stale_reasons(["a", "a", "b."]) == "a; b. Run `headgate plan` again"
    other = "a. Use `headgate plan from-scratch`"
    assert stale_reasons([other]) == other, "one command"
    assert stale_reasons(list("abcdefg")).startswith("a; b; c; d; e; and 2 more. Run")


def test_a_commit_at_the_same_offset_is_not_called_another_offset():
    move = Move(topic="orders", partition=0, was=None, to=Commit(offset=5))
    step = RestoreOffsets(group="g", group_type="classic", topics={}, moves=(move,))
    with pytest.raises(StepError, match="offset 5 has another leader epoch or metadata"):
        step.verify(World(), {})


@pytest.mark.parametrize(
    ("to", "said"),
    [
        (("5",), "restore the offsets of group g on 1 partition of orders"),
        ((None,), "delete the offsets of group g on 1 partition of orders: the group had none"),
        ((5, None), "1 of these partitions had no offset before the run, so Headgate deletes its"),
        ((5, None, None), "2 of these partitions had no offset before the run"),
    ],
)
def test_a_partition_without_an_earlier_offset_is_not_restored(to, said):
    commits = [None if at is None else Commit(offset=int(at)) for at in to]
    moves = tuple(
        Move(topic="orders", partition=n, was=Commit(offset=7), to=at)
        for n, at in enumerate(commits)
    )
    step = RestoreOffsets(group="g", group_type="classic", topics={"orders": {}}, moves=moves)
    assert said in step.describe()


def test_a_transaction_of_another_application_is_not_called_this_ones():
    step = AwaitTransactions(application="app", topics={"orders": {"partitions": 1}})
    with pytest.raises(RefusedError) as raised:
        step.verify(World(), {})
    assert str(raised.value).startswith(
        "pending transactions of application app or on its topics: other-1 (ongoing; orders), "
        "producer 7 without a known transactional.id (ongoing; orders). Their producers"
    )


@pytest.mark.parametrize(
    ("topic", "facts", "said"),
    [
        ("orders", {"id": "0", "partitions": 1}, "topic orders was recreated since the run, so"),
        (
            "orders",
            {"id": "1", "partitions": 3},
            "had 3 partitions before the run, but now has 1, so",
        ),
        ("gone", {"id": "1", "partitions": 1}, "topic gone no longer exists, so"),
    ],
)
def test_an_undo_says_what_of_a_topic_changed(topic, facts, said):
    step = RestoreOffsets(group="g", group_type="classic", topics={topic: facts}, moves=())
    found = step.blockers(World())[0]
    assert said in found
