"""When the plan of a range may call its result exact."""

from types import SimpleNamespace

import pytest

from headgate.model.cluster import Partition, Topic
from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenarios.historical_range.scenario import _exactness

PARTS = tuple(Partition(number=n, begin=b, end=e) for n, b, e in ((0, 5, 90), (1, 3, 8), (2, 4, 4)))
TOPICS = {"t": Topic(name="t", id="1", partitions=PARTS)}
FOUND = EventTimes(slices=(), column="at", is_exact=True, result_time=None, columns=())


@pytest.mark.parametrize(
    ("scanned", "said"),
    [
        ({"0": (5, 90), "1": (3, 8), "2": (4, 4)}, "exact: all records"),
        ({"0": (0, 90), "1": (0, 8)}, "exact: all records"),
        ({"0": (5, 60), "1": (3, 8)}, "exact up to the measured offsets"),
        ({"0": (6, 90), "1": (3, 8)}, "has only the records of --scan"),
        ({"0": (5, 90)}, "has only the records of --scan"),
        ({"0": (5, 90), "1": (3, 3)}, "has only the records of --scan"),
    ],
)
def test_only_what_was_measured_whole_is_exact(scanned, said):
    request = SimpleNamespace(options={})
    assert said in _exactness(request, TOPICS, {"t": scanned}, FOUND)
