"""When the plan of a range may call its result exact."""

import pytest

from headgate.reprocess.ports.spark_jobs import EventTimes
from headgate.reprocess.scenarios.historical_range.risks import exactness
from headgate.reprocess.scenarios.shared.processing_mode import ProcessingMode

WHOLE = {"t": {"0": (5, 90), "1": (3, 8), "2": (4, 4)}}
LATE = {"t": {"0": (20, 60), "1": (5, 8), "2": (4, 4)}}
BATCH = ProcessingMode(stream=None, why="")
STREAM = ProcessingMode(stream={}, why="")
FOUND = EventTimes(slices=(), column="at", is_exact=True, result_time=None, columns=())


@pytest.mark.parametrize(
    ("scanned", "said"),
    [
        ({"0": (5, 90), "1": (3, 8), "2": (4, 4)}, "exact: Headgate measured"),
        ({"0": (0, 90), "1": (0, 8)}, "exact: Headgate measured"),
        ({"0": (5, 60), "1": (3, 8)}, "exact up to the measured offsets"),
        ({"0": (6, 90), "1": (3, 8)}, "only records at the offsets of --scan"),
        ({"0": (5, 90)}, "only records at the offsets of --scan"),
        ({"0": (5, 90), "1": (3, 3)}, "only records at the offsets of --scan"),
    ],
)
def test_only_what_was_measured_whole_is_exact(scanned, said):
    assert said in exactness(None, {"t": scanned}, WHOLE, FOUND, BATCH)


@pytest.mark.parametrize(
    ("scanned", "said"),
    [
        (
            {"0": (20, 60), "1": (5, 8)},
            "exact if no record is more than 3d late, compared with",
        ),
        (
            {"0": (5, 90), "1": (3, 8)},
            "exact if no record is more than 3d late, compared with",
        ),
        (
            {"0": (20, 50), "1": (5, 8)},
            "exact up to the measured offsets if no record is more than 3d",
        ),
        ({"0": (30, 60), "1": (5, 8)}, "only records at the offsets of --scan"),
        ({"0": (20, 60)}, "only records at the offsets of --scan"),
    ],
)
def test_a_lateness_is_kept_only_by_a_scan_that_covers_it(scanned, said):
    assert said in exactness("3d", {"t": scanned}, LATE, FOUND, BATCH)


def test_what_a_stream_drops_its_input_has():
    said = exactness(None, WHOLE, WHOLE, FOUND, STREAM)
    assert said.startswith("the input is complete: Headgate measured the event times of all ")
    assert said.endswith("that Kafka still has. The deleted ones are from before the range")
