"""Checkpoint or progress: whose offsets say where a query stands."""

import json
from pathlib import Path

import pytest

from headgate.model.version import Progress
from headgate.parse.spark.query.newest_offsets import with_report
from headgate.parse.spark.session.capture_json import read_reports
from headgate.usecases.evidence.read_version import read_version

CHECKPOINT = Path(__file__).parents[3] / "golden/checkpoints/kafka_source/checkpoint"
QUERY = json.loads((CHECKPOINT / "metadata").read_text())["id"]
AT = "2030-01-01T00:00:00.000Z"


def report(batch, offset, query=QUERY):
    source = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {"0": offset, "1": offset}},
    }
    return {
        "id": query, "runId": "r", "batchId": batch, "timestamp": AT, "sources": [source],
        "sink": {"description": "noop"},
    }  # fmt: skip


def read(tmp_path, *reports):
    (tmp_path / "progress.json").write_text(json.dumps(list(reports)))
    return read_version([str(CHECKPOINT), str(tmp_path / "progress.json")])


@pytest.mark.parametrize(
    ("batch", "offset", "told_by"), [(0, 3, "checkpoint"), (1, 3, "checkpoint"), (2, 9, "progress")]
)
def test_the_later_batch_counts(tmp_path, batch, offset, told_by):
    version = read(tmp_path, report(batch, 9))
    assert version.sources[0].offsets == {"orders": {"0": offset, "1": offset}}
    assert version.progress.offsets_from == told_by
    assert (version.progress.offsets_at == AT) is (told_by == "progress")
    assert version.progress.last_commit_batch == 1


def test_progress_alone_says_from_when_it_is(tmp_path):
    (tmp_path / "progress.json").write_text(json.dumps(report(7, 9)))
    progress = read_version([str(tmp_path / "progress.json")]).progress
    assert progress == Progress(offsets_batch=7, offsets_at=AT, offsets_from="progress")


def test_a_checkpoint_says_when_its_batch_was_planned():
    progress = read_version([str(CHECKPOINT)]).progress
    assert (progress.offsets_batch, progress.offsets_from) == (1, "checkpoint")
    planned = json.loads((CHECKPOINT / "offsets/1").read_text().splitlines()[1])
    milliseconds = planned["batchTimestampMs"]
    assert progress.offsets_at.endswith(f".{milliseconds % 1000:03d}Z")


def test_a_watchs_report_moves_a_version_on():
    version = read_version([str(CHECKPOINT)])
    (later,) = read_reports([report(5, 8)])
    moved = with_report(version, later)
    assert moved.sources[0].offsets == {"orders": {"0": 8, "1": 8}}
    assert (moved.progress.offsets_batch, moved.progress.offsets_from) == (5, "progress")
    assert moved.progress.last_commit_batch == 1


@pytest.mark.parametrize("other", [report(1, 8), report(9, 8, query="another")])
def test_an_older_or_foreign_report_changes_nothing(other):
    version = read_version([str(CHECKPOINT)])
    assert with_report(version, read_reports([other])[0]) == version


@pytest.mark.parametrize("piece", ["progress.json", "explain.txt", "capture.json"])
def test_a_sink_has_one_name_whatever_tells_of_it(piece):
    run = Path(__file__).parents[3] / "golden/spark/4.2.0/sink_noop/run"
    plan = [str(run / "explain.txt")] if piece == "capture.json" else []
    assert read_version([str(run / piece), *plan]).sink.format == "noop"
