"""A checkpoint is copied to a new place on real servers, cut there, read back, and removed."""

from pathlib import Path

import pytest

from headgate.errors import RefusedError, StepError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.copy import copy_checkpoint
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.gateway.checkpoint.history import HISTORY
from headgate.gateway.checkpoint.rewind_copy import copy_to_batch
from headgate.gateway.files.evidence_files import find
from headgate.gateway.files.remote_write import open_changes
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine

CHECKPOINT = Path(__file__).parents[3] / "tests/golden/checkpoints/rocksdb/checkpoint"
STORES = ("s3", "azure", "google", "hdfs")


def effects_of(store, home, run="run", settings=None):
    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint=store.address)
    registry = Registry(pipelines=(pipeline,), file_systems=settings or store.settings)
    return LiveApplier(RunContext(registry=registry, home=home, run=run))


def brought(location, settings, folder):
    """Return what stands there, as a folder of this machine."""
    place = find(location, settings)
    copy_checkpoint(place, folder)
    return folder


@pytest.fixture(params=[*STORES[:-1], pytest.param(STORES[-1], marks=pytest.mark.long)])
def store(request):
    return request.getfixturevalue(request.param)


def test_a_whole_copy_is_the_same_and_goes_when_it_was_not_used(store, tmp_path):
    applier = effects_of(store, tmp_path)
    old, new = store.address, f"{store.address}.2"
    assert applier.remote_checkpoints.is_free(new)
    before = applier.remote_checkpoints.listing_hash(old)
    applier.remote_checkpoints.copy(old, new, expected=before)
    assert applier.remote_checkpoints.issue(new) is None and not applier.remote_checkpoints.is_free(
        new
    )
    was = brought(old, store.settings, tmp_path / "old")
    assert tree_hash(brought(new, store.settings, tmp_path / "new")) == tree_hash(was)
    assert applier.remote_checkpoints.listing_hash(old) == before
    assert applier.checkpoints.read(new).head == applier.checkpoints.read(old).head
    with pytest.raises(RefusedError, match="changed during the copy"):
        applier.remote_checkpoints.copy(old, f"{old}.3", expected="another listing")
    assert applier.remote_checkpoints.delete(new, old) is None
    assert (
        applier.remote_checkpoints.is_free(new)
        and applier.remote_checkpoints.listing_hash(old) == before
    )


def test_a_copy_to_the_end_of_a_batch_is_the_one_that_is_cut_here(store, tmp_path):
    applier = effects_of(store, tmp_path)
    old, new = store.address, f"{store.address}.4"
    batch = applier.checkpoints.batches(old)[-2].number
    rewind = applier.checkpoints.rewind(old, batch)
    assert rewind.files == len([p for p in CHECKPOINT.rglob("*") if p.is_file()])
    applier.remote_checkpoints.copy(
        old, new, expected=applier.remote_checkpoints.listing_hash(old), batch=batch, query_id="a"
    )
    assert applier.checkpoints.read(new).head == (batch, batch)
    assert applier.checkpoints.read(new).query_id == "a"
    here = brought(old, store.settings, tmp_path / "old")
    copy_to_batch(here, tmp_path / "cut", batch, query_id="a")
    # A remote checkpoint records no rewinds: its location stands for them.
    (tmp_path / "cut" / HISTORY).unlink()
    assert tree_hash(brought(new, store.settings, tmp_path / "new")) == tree_hash(tmp_path / "cut")
    # What a query has written there since is not removed.
    changes, path = open_changes(new, store.settings)
    changes.write(f"{path}/offsets/99", b"v1")
    assert "files in the copy changed" in applier.remote_checkpoints.delete(new, old)
    assert applier.remote_checkpoints.listing_hash(new) is not None


def test_a_checkpoint_that_is_not_there_is_none(store, tmp_path):
    applier = effects_of(store, tmp_path)
    gone = f"{store.address}-gone"
    assert (
        applier.checkpoints.read(gone) is None and applier.checkpoints.query_position(gone) is None
    )
    assert applier.remote_checkpoints.listing_hash(gone) is None


def test_a_store_that_takes_no_writes_says_so_in_a_sentence(s3, tmp_path):
    wrong = {"s3": {**s3.settings["s3"], "secret_key": "wrong"}}
    applier = effects_of(s3, tmp_path, settings=wrong)
    with pytest.raises(RefusedError, match="access denied"):
        applier.remote_checkpoints.copy(s3.address, f"{s3.address}.5", expected="x")


@pytest.mark.long
def test_a_folder_that_only_its_owner_may_write_to_says_so(hdfs, tmp_path):
    somebody = {"hdfs": {**hdfs.settings["hdfs"], "user": "somebody"}}
    applier = effects_of(hdfs, tmp_path, settings=somebody)
    target = f"{hdfs.address}.6"
    with pytest.raises(RefusedError, match="access denied"):
        applier.remote_checkpoints.create(target, f"{hdfs.address}-gone", "a", ())
    assert effects_of(hdfs, tmp_path).remote_checkpoints.is_free(target)


def test_nothing_but_a_numbered_neighbour_is_touched(s3, tmp_path):
    with pytest.raises(StepError, match="a run changes only copies that no pipeline uses"):
        effects_of(s3, tmp_path).remote_checkpoints.delete("s3a://bucket/out", None)
