"""Checkpoints that somebody changed: the traces tell what Spark then did.

Each case is a measured restart of `tests/cases/spark`; its checkpoint is kept as it was before the
change, which is made here again, and the outcome is the measured one.
"""

import json
import shutil
from pathlib import Path

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[2] / "cases" / "spark"


def drop(*names):
    def change(checkpoint):
        for name in names:
            path = checkpoint / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return change


def keep(batch):
    """Keep one batch of both logs."""

    def change(checkpoint):
        for log in ("offsets", "commits"):
            for path in (checkpoint / log).iterdir():
                if path.name != str(batch):
                    path.unlink()

    return change


def empty_logs(checkpoint):
    for path in (*(checkpoint / "offsets").iterdir(), *(checkpoint / "commits").iterdir()):
        path.unlink()
    _state(checkpoint, 5)


def offset(batch, now):
    """Set the offset of the last line, Kafka's partition 0 of one topic."""

    def change(checkpoint):
        path = checkpoint / "offsets" / str(batch)
        *head, last = path.read_text().splitlines()
        (topic,) = json.loads(last)
        path.write_text("\n".join([*head, json.dumps({topic: {"0": now}})]))

    return change


def partitions(number):
    def change(checkpoint):
        for path in (checkpoint / "offsets").iterdir():
            said = '"spark.sql.shuffle.partitions":"2"'
            assert said in path.read_text()
            path.write_text(path.read_text().replace(said, said.replace("2", str(number))))

    return change


def _state(checkpoint, newest, *gone, kind="delta"):
    """Name the files that a state store of one partition has at version `newest`."""
    for version in set(range(1, newest + 1)) - set(gone):
        (checkpoint / "state" / "0" / "0" / f"{version}.{kind}").write_bytes(b"")


def state(newest, *gone, snapshot=None):
    def change(checkpoint):
        _state(checkpoint, newest, *gone)
        if snapshot:
            (checkpoint / "state" / "0" / "0" / f"{snapshot}.snapshot").write_bytes(b"")

    return change


def torn(name, text):
    return lambda checkpoint: (checkpoint / name).write_text(text)


CONCURRENT = "CONCURRENT_STREAM_LOG_UPDATE"
NOT_EMPTY = "STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
NO_STATE = "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"
NO_METADATA = "STREAMING_CHECKPOINT_MISSING_METADATA_FILE"
UNLOADED = "CANNOT_LOAD_STATE_STORE"
LAST_TWO = ("offsets/3", "offsets/4", "commits/3", "commits/4")

# case, change, outcome, class
SURGERY = [
    ("ck_delete_offsets_keep_commits", drop("offsets/3", "offsets/4"), "refuses", CONCURRENT),
    ("ck_delete_sources_dir", drop("sources"), "refuses", "IllegalStateException"),
    ("ck_delete_state_dir", drop("state"), "refuses", NO_STATE),
    ("ck_delete_state_dir", drop("metadata"), "refuses", NO_METADATA),
    ("ck_edit_offsets_back", offset(4, 2), "silently_wrong", None),
    ("ck_edit_offsets_back_stateless", offset(4, 2), "silently_wrong", None),
    ("ck_edit_offsets_forward", offset(4, 8), "silently_wrong", None),
    ("ck_edit_shuffle_partitions", partitions(3), "refuses", UNLOADED),
    ("ck_edit_shuffle_partitions", partitions(1), "silently_wrong", None),
    ("ck_rewind_all_keep_state", empty_logs, "refuses", NOT_EMPTY),
    ("ck_rewind_oldest_retained", keep(12), "refuses", "IllegalStateException"),
    ("ck_delete_state_dir", state(5, 3), "refuses", UNLOADED),
    ("ck_delete_state_dir", state(4), "refuses", UNLOADED),
    ("ck_delete_state_dir", torn("offsets/4", ""), "refuses", "IllegalStateException"),
    ("ck_delete_state_dir", torn("commits/4", ""), "refuses", "IllegalStateException"),
    # What resumes exactly, and what is no trace of anything.
    ("ck_delete_state_dir", state(5), "resumes", None),
    ("ck_delete_state_dir", state(5, 1, 2, snapshot=2), "resumes", None),
    ("ck_delete_state_dir", state(9), "resumes", None),
    ("ck_delete_last_commit", drop("commits/4"), "resumes", None),
    # It resumes as well where Kafka has all that is read again, which only Kafka knows.
    ("ck_delete_two_commits", drop("commits/3", "commits/4"), "unknown", None),
    ("ck_rewind_3_kafka", drop(*LAST_TWO), "unknown", None),
    ("ck_rewind_3_file", drop(*LAST_TWO), "resumes", None),
]


def judged(case, change, folder):
    """Return the report of a case whose checkpoint was changed."""
    before = shutil.copytree(CASES / case / "before", folder / "before")
    change(before / "checkpoint")
    return compare(read_version([str(before)]), read_version([str(CASES / case / "after")]))


@pytest.mark.parametrize(("case", "change", "outcome", "error"), SURGERY)
def test_a_changed_checkpoint_gets_the_measured_outcome(case, change, outcome, error, tmp_path):
    report = judged(case, change, tmp_path)
    assert report.outcome.word == outcome
    if error:
        assert error in {f.error_class for f in report.findings}


@pytest.mark.parametrize(("batches", "outcome"), [((0, 1, 2), "silently_wrong"), ((0,), "resumes")])
def test_a_rewind_below_a_file_sinks_log_loses_data(batches, outcome, tmp_path):
    before = shutil.copytree(CASES / "sink_file_rewind" / "before", tmp_path / "before")
    drop("offsets/1", "offsets/2", "commits/1", "commits/2")(before / "checkpoint")
    log = tmp_path / "out" / "_spark_metadata"
    log.mkdir(parents=True)
    for batch in batches:
        (log / str(batch)).write_text("v1\n")
    evidence = [str(before), str(log)]
    after = read_version([str(CASES / "sink_file_rewind" / "after")])
    assert compare(read_version(evidence), after).outcome.word == outcome


@pytest.mark.parametrize(
    ("change", "spark", "outcome"),
    [
        (drop("metadata"), "4.0.2", "resumes"),
        (drop("metadata"), "3.5.8", "resumes"),
        (empty_logs, "4.0.2", "resumes"),
        (drop("state"), "4.0.2", UNLOADED),
        (drop("state"), "3.5.8", "FileNotFoundException"),
    ],
)
def test_older_versions_of_spark_let_more_pass(change, spark, outcome, tmp_path):
    before = shutil.copytree(CASES / "ck_delete_state_dir" / "before", tmp_path / "before")
    change(before / "checkpoint")
    after = read_version([str(CASES / "ck_delete_state_dir" / "after")])
    report = compare(read_version([str(before)]), after, spark_version=spark)
    classes = {f.error_class for f in report.findings if f.rule.startswith("CKP")}
    assert outcome == report.outcome.word or outcome in classes
