"""A rehearsal of a checkpoint in a real store: copied down, and nothing there changes."""

import sys
from pathlib import Path

import pytest

from headgate.model.registered_pipelines import Registry
from headgate.model.rehearsal import EngineOutcome
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_spark import Options, rehearse

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "scripts"))
from rehearse_corpus import prepare  # noqa: E402

CASE = ROOT / "tests" / "cases" / "rehearsal" / "agg_add_column"


def objects(settings):
    """Return what the store itself says of every object: its size and when it was written."""
    from pyarrow import fs

    place = settings["s3"]["endpoint"].removeprefix("http://")
    bucket = fs.S3FileSystem(
        access_key="someone", secret_key="secret", endpoint_override=place, scheme="http"
    )
    found = bucket.get_file_info(fs.FileSelector("bucket/rehearsed", recursive=True))
    return {f.path: (f.size, f.mtime_ns) for f in found if f.is_file}


@pytest.mark.long
def test_a_checkpoint_in_a_store_is_rehearsed_on_a_copy(s3, tmp_path, monkeypatch):
    folder = prepare(CASE, tmp_path)
    monkeypatch.chdir(folder)
    names = [f.relative_to(folder) for f in (folder / "checkpoint").rglob("*") if f.is_file()]
    for name in names:
        s3.more["put"](f"rehearsed/{name}", (folder / name).read_bytes())
    before = objects(s3.settings)
    assert len(before) == len(names) > 5
    found = rehearse(
        "s3a://bucket/rehearsed/checkpoint",
        "after:rehearsed",
        before="before:rehearsed",
        context=Context(Registry(file_systems=s3.settings), "sqlite:///none.db", tmp_path),
        options=Options(conf={"spark.sql.shuffle.partitions": "2"}, scratch=tmp_path),
    )
    engine = found.engine
    assert engine.outcome is EngineOutcome.REFUSES
    assert engine.error_class == "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
    # The entry that the attempt left in the copy does the old version no harm.
    assert engine.rollback.outcome is EngineOutcome.RESUMES
    assert engine.checkpoint.is_unchanged
    assert engine.checkpoint.location == "s3a://bucket/rehearsed/checkpoint"
    assert engine.checkpoint.files == len(names)
    assert objects(s3.settings) == before
    assert not list(tmp_path.glob("headgate-rehearsal-*"))
