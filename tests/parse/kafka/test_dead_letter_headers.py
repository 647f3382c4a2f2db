"""What the headers of dead letters say, by convention."""

import pytest

from headgate.model.dead_letters import Convention, DeadLetter, Selection, decide
from headgate.parse.kafka.dead_letters import read_dead_letter
from support import dead_letter_topics as dead

OWN = tuple(dead.OWN)


@pytest.mark.parametrize(
    ("kind", "convention", "reason"),
    [
        (dead.connect, Convention.CONNECT, dead.CLASS),
        (dead.streams, Convention.STREAMS, "java.lang.IllegalStateException"),
        (dead.spring, Convention.SPRING, "shop.BadOrder"),
        (dead.smallrye, Convention.SMALLRYE, "shop.BadOrder"),
    ],
)
def test_each_convention_tells_place_and_reason_and_leaves_the_record_s_own(
    kind, convention, reason
):
    found = read_dead_letter(tuple(kind("orders", 1, 4711)))
    assert (found.convention, found.reason) == (convention, reason)
    assert (found.topic, found.partition, found.offset) == ("orders", 1, 4711)
    assert found.headers == OWN and found.message


def test_spring_s_retry_topics_use_other_names():
    renamed = [
        (
            k.replace("kafka_dlt-original-", "kafka_original-").replace(
                "kafka_dlt-exception-", "kafka_exception-"
            ),
            v,
        )
        for k, v in dead.spring("orders", 0, 2**33)
    ]
    found = read_dead_letter((*renamed, ("retry_topic-attempts", b"\0\0\0\4")))
    assert (found.topic, found.partition, found.offset) == ("orders", 0, 2**33)
    assert (found.reason, found.timestamp) == ("shop.BadOrder", 1_000)
    assert found.headers == OWN


def test_a_reason_with_a_message_is_its_class():
    found = read_dead_letter((("__streams.errors.exception", b"a.b.C$D: no\nmore"),))
    assert found.reason == "a.b.C$D"


def test_a_backed_up_record_says_where_it_was():
    found = read_dead_letter((*OWN, ("headgate.backup.from", b"orders 3 17")))
    assert (found.topic, found.partition, found.offset) == ("orders", 3, 17)
    assert found.convention is Convention.HEADGATE and found.headers == OWN


def test_of_two_conventions_the_last_one_counts():
    found = read_dead_letter(tuple(dead.streams("later", 0, 1, own=dead.connect("first", 0, 1))))
    assert found.topic == "later"
    assert found.headers == tuple(dead.connect("first", 0, 1))


def test_redrives_are_counted_and_their_headers_left_out():
    own = (
        ("headgate.redrive.attempts", b"2"),
        ("headgate.redrive.key", b"orders-0-5"),
        ("headgate.redrive.again", b"true"),
        *OWN,
    )
    found = read_dead_letter(tuple(dead.connect("orders", 0, 9, own=own)))
    assert (found.attempts, found.key, found.headers) == (2, "orders-0-5", OWN)


@pytest.mark.parametrize("headers", [(), OWN, (("__connect.errors.offset", b"\xff"),)])
def test_what_says_nothing_is_unknown(headers):
    found = read_dead_letter(headers)
    assert (found.topic, found.offset, found.reason) == (None, None, "unknown")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "to_redrive"),
        ({"done": True}, "already_redriven"),
        ({"done": True, "again": True}, "to_redrive"),
        ({"max_attempts": 2}, "at_max_attempts"),
        ({"reasons": ("badorder",)}, "to_redrive"),
        ({"reasons": ("Other",)}, "not_selected"),
        ({"sources": ("clicks",)}, "not_selected"),
        ({"partitions": (1, 2)}, "not_selected"),
        ({"since": 101}, "not_selected"),
        ({"since": 100, "until": 101}, "to_redrive"),
        ({"until": 100}, "not_selected"),
        ({"targets": {"clicks": 1}}, "without_target"),
        ({"targets": {"clicks": 1}, "to": "clicks"}, "to_redrive"),
    ],
)
def test_decisions(changes, said):
    letter = DeadLetter(topic="orders", reason="shop.BadOrder", attempts=2)
    done = changes.pop("done", False)
    assert decide(letter, 0, 100, Selection(topic="dead", **changes), done=done) == said


def test_a_record_that_failed_nowhere_known_needs_a_target():
    assert decide(DeadLetter(), 0, None, Selection(topic="dead"), done=False) == "without_target"
    chosen = Selection(topic="dead", to="retry")
    assert decide(DeadLetter(), 0, None, chosen, done=False) == "to_redrive"
