"""Whether Kafka still has the records after a restore point, in the words of the list."""

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.model.restore_points import RestorePoint
from headgate.usecases.restore_points.list_points import held_in_kafka


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        (8, 10, "Kafka has deleted the records of orders[0] from offset 5 to 7"),
        (0, 3, "the latest offset of orders[0] is 3, lower than 5 at this restore point"),
    ],
)
def test_a_partition_is_written_as_everywhere(begin, end, said):
    point = RestorePoint(id="p", pipeline="q", made_at="", source="g", offsets={"orders": {0: 5}})
    topic = Topic(name="orders", partitions=(Partition(number=0, begin=begin, end=end),))
    has_all, why = held_in_kafka(point, {"orders": topic})
    assert has_all is False and why.startswith(said)
