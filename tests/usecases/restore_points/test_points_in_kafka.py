"""Whether Kafka still has the records after a restore point, in the words of the list."""

from dataclasses import replace

import pytest

from headgate.cli.commands.restore_points import _say as show
from headgate.cli.commands.restore_points import kafka_text
from headgate.model.cluster import Partition, Topic
from headgate.model.restore_points import RestorePoint
from headgate.ui.reprocess.point_choice import disk_use, frame
from headgate.usecases.restore_points.list_points import PointList, PointRow, held_in_kafka

ROW = PointRow(
    id="p",
    time="2026-11-27T10:00:00Z",
    made_at="2026-11-27T10:00:00Z",
    batch=None,
    query_id=None,
    watermark=None,
    location=None,
    offsets={"orders": {0: 5}},
    files=0,
    bytes=0,
    seconds=0.0,
)


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


def test_points_that_are_only_offsets_say_nothing_of_spark(capsys):
    found = PointList(
        pipeline="q",
        points=(ROW,),
        held_bytes=0,
        bytes=0,
        max_bytes=10,
        every_seconds=None,
        keep_seconds=1.0,
    )
    show(found, {})
    said = capsys.readouterr().out
    assert "1 restore point, only with offsets (they use no disk space)" in said
    assert "Spark" not in said and disk_use(found) == "only offsets (they use no disk space)"


def test_a_row_says_what_was_verified_and_why_kafka_lacks_records():
    of_spark = replace(ROW, location="/p", batch=3, verified_at="2026-11-27T12:03:00Z")
    rows = (
        of_spark,
        replace(of_spark, rows=7),
        replace(of_spark, verified_at=None, offsets={}),
        replace(of_spark, problem="a file is missing", in_kafka=False, kafka="topic t is gone"),
    )
    shown = frame(rows)
    assert list(shown["Verified"]) == [
        "2026-11-27 12:03:00 (only files, not state)",
        "2026-11-27 12:03:00",
        "Not verified",
        "Damaged: a file is missing",
    ]
    assert list(shown["Records still in Kafka"]) == [
        "Unknown",
        "Unknown",
        "No Kafka offsets",
        "No: topic t is gone",
    ]
    assert kafka_text(rows[2]) == "no Kafka offsets"
