"""Ranges of offsets: what is accepted, and what Spark is told."""

import argparse
import json

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.late_records import read_late
from headgate.spark_jobs.data.offset_ranges import read_ranges

TEXT = '{"orders": {"0": [5, 9], "1": [0, 0]}, "pay": {"0": [1, 2]}}'


def test_spark_is_told_where_each_partition_begins_and_ends():
    ranges = read_ranges(TEXT)
    assert ranges.records == 5
    assert json.loads(ranges.starting()) == {"orders": {"0": 5, "1": 0}, "pay": {"0": 1}}
    assert json.loads(ranges.assigned()) == {"orders": [0, 1], "pay": [0]}
    assert json.loads(ranges.only(["pay"]).ending()) == {"pay": {"0": 2}}


def test_a_topic_without_offsets_is_named():
    with pytest.raises(CaptureError, match="reads topic refunds, but no offsets"):
        read_ranges(TEXT).only(["orders", "refunds"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        '{"t": []}',
        '{"t": {"0": 5}}',
        '{"t": {"0": [5]}}',
        '{"t": {"x": [1, 2]}}',
        '{"t": {"0": [9, 5]}}',
        '{"t": {"0": [-1, 5]}}',
    ],
)
def test_what_is_no_range_is_an_error_with_the_form(text):
    with pytest.raises(CaptureError, match=r'--offsets: expected \{"TOPIC"'):
        read_ranges(text)


@pytest.mark.parametrize("option", ["late_offsets", "known_offsets"])
def test_an_error_names_the_option_that_had_the_ranges(option):
    given = {"input": "t", "late_files": None, "duplicates": "offsets"}
    ranges = {"late_offsets": TEXT, "known_offsets": TEXT, option: "[]"}
    with pytest.raises(CaptureError, match=f"^--{option.replace('_', '-')}: expected"):
        read_late(argparse.Namespace(**given, **ranges))


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file or directory"), (b"\xff", "it isn't UTF-8 text")]
)
def test_a_file_that_can_not_be_read_is_one_sentence(tmp_path, content, said):
    file = tmp_path / "ranges.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CaptureError, match=f"^--offsets: can't read {file}: {said}$"):
        read_ranges(f"@{file}")
