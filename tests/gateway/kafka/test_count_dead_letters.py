"""Which timestamps redriven records get, as the plan counts them; no broker is needed."""

from headgate.gateway.kafka.inspect_dead_letters import _Counting
from headgate.gateway.kafka.read_records import Record
from headgate.gateway.kafka.redrive_ledger import Marks
from headgate.model.dead_letters import Selection
from support import dead_letter_topics as dead

NOW, OLD = 1_790_000_000_000, 1_600_000_000_000


def summary(*headers):
    counting = _Counting(Selection(topic="dead"), Marks())
    for offset, given in enumerate(headers):
        counting.take(Record("dead", 0, offset, b"k", b"v", NOW, tuple(given)))
    return counting.summary(len(headers), is_sample=False, arrived=0)


def test_spring_s_letters_are_redriven_with_the_time_at_which_the_record_failed():
    found = summary(
        dead.spring("orders", 0, 1, at=OLD + 5),
        dead.spring("orders", 0, 2, at=OLD),
        dead.connect("bills", 0, 1),
    )
    assert found.written == {"orders": OLD, "bills": NOW}
    assert (found.oldest, found.newest) == (NOW, NOW), "the topic's own timestamps"


def test_a_timestamp_of_zero_becomes_the_current_time():
    assert summary(dead.spring("orders", 0, 1, at=0)).written == {}
