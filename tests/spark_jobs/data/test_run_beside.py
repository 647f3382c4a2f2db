"""The batches of a new version at each start; no-data batches are the running version's."""

import json

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data.run_beside import Segment, next_segment


def end(offset):
    return {"t": {"0": offset}}


@pytest.fixture
def copy(tmp_path):
    """Return a copy of a checkpoint, by the ends of its batches from 5 on; `commits` of them."""

    def made(*offsets, commits=None):
        for log in ("offsets", "commits"):
            (tmp_path / log).mkdir()
        about = json.dumps({"batchWatermarkMs": 3, "conf": {}})
        for number, offset in enumerate(offsets, 5):
            text = f"v1\n{about}\n{json.dumps(end(offset))}"
            (tmp_path / "offsets" / str(number)).write_text(text)
            if commits is None or number - 5 < commits:
                commit = 'v1\n{"nextBatchWatermarkMs":9}'
                (tmp_path / "commits" / str(number)).write_text(commit)
        return tmp_path

    return made


def ends(*offsets):
    return [end(offset) for offset in offsets]


def test_batches_after_the_last_no_data_batch_run_without_no_data_batches(copy):
    found = next_segment(copy(10), 5, ends(10, 20, 20, 30, 40))
    assert found == Segment(ends(20, 20), has_no_data=True)


def test_batches_with_data_only_run_without_no_data_batches(copy):
    found = next_segment(copy(10, 20, 20), 5, ends(10, 20, 20, 30, 40))
    assert found == Segment(ends(30, 40), has_no_data=False)


def test_a_no_data_batch_after_a_start_is_logged(copy):
    folder = copy(10)
    found = next_segment(folder, 5, ends(10, 10, 20))
    assert found == Segment(ends(20), has_no_data=False)
    version, about, position = (folder / "offsets" / "6").read_text().split("\n")
    assert (version, json.loads(position)) == ("v1", end(10))
    assert json.loads(about)["batchWatermarkMs"] == 9


def test_an_interrupted_batch_runs_as_it_was_logged(copy):
    folder = copy(10, 20, commits=1)
    # The no-data batch that follows needs no entry: Spark runs it after a batch of its own.
    assert next_segment(folder, 5, ends(10, 20, 20)) == Segment(ends(20), has_no_data=True)
    assert next_segment(folder, 5, ends(10, 20)) == Segment(ends(20), has_no_data=False)
    assert not (folder / "offsets" / "7").exists()


def test_nothing_is_left_after_the_last_batch(copy):
    folder = copy(10, 20)
    assert next_segment(folder, 5, ends(10, 20)) is None
    with pytest.raises(CaptureError, match="ends at batch 6, but the run needs batch 7"):
        next_segment(folder, 7, ends(10, 20))
