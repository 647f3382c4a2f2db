"""Checkpoints on real remote file systems: read as the local one, and refused in one sentence."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, HeadgateError, UnreachableError
from headgate.gateway.checkpoint.files import read_checkpoint_files
from headgate.gateway.files.evidence_files import find, opened
from headgate.model.registered_pipelines import Registry
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_batches import read_batches
from headgate.usecases.evidence.read_version import read_version

CHECKPOINT = Path(__file__).parents[2] / "golden/checkpoints/rocksdb/checkpoint"
SOON = 12


@pytest.fixture(params=["s3", "azure", "google", "hdfs"])
def store(request):
    return request.getfixturevalue(request.param)


def context(settings):
    return Context(Registry(file_systems=settings), "sqlite:///none.db", Path())


def read(address, settings):
    return read_version([address], context=context(settings))


def refused(kind, address, settings):
    """Return the sentence of an error, which has to come soon."""
    begun = time.monotonic()
    with pytest.raises(kind) as error:
        read(address, settings)
    assert time.monotonic() - begun < SOON
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 450
    return str(error.value)


@pytest.mark.parametrize("name", ["s3", "azure", "google"])
def test_a_remote_checkpoint_is_read_as_the_local_one(name, request):
    store = request.getfixturevalue(name)
    place = find(store.address, store.settings)
    files, listing, failures = read_checkpoint_files(place)
    local = read_checkpoint_files(find(str(CHECKPOINT)))
    assert failures == []
    assert read_checkpoint(files, listing, source="ck") == read_checkpoint(*local[:2], source="ck")


def test_a_version_is_made_of_it(store):
    version = read(store.address, store.settings)
    assert version.query_id == read_version([str(CHECKPOINT)]).query_id
    assert [e.path for e in version.evidence] == [store.address]
    assert version.stateful[0].stores[0].partitions == 2


def test_its_batches_are_listed(store):
    found = read_batches(store.address, context=context(store.settings))
    assert [(b.number, b.committed) for b in found.batches] == [(0, True), (1, True)]


def test_a_file_is_read_piece_by_piece(store):
    place = find(f"{store.address}/metadata", store.settings)
    with opened(place) as stream:
        whole = b"".join(iter(lambda: stream.read(7), b""))
    assert whole == (CHECKPOINT / "metadata").read_bytes()


def test_nothing_there_is_said(store):
    said = refused(EvidenceError, f"{store.address}-none", store.settings)
    assert (
        said == f"{store.address}-none not found, or access denied: check address and credentials"
    )


def test_a_server_that_does_not_listen_is_unreachable(store):
    ours = {
        family: {**values, "endpoint": "http://127.0.0.1:1"}
        for family, values in store.settings.items()
    }
    address = store.address.replace(f":{store.port}", ":1")
    said = refused(UnreachableError, address, ours)
    assert said.startswith(f"{address} could not be read: ")
    assert UnreachableError.exit_code == 4


def test_a_server_that_says_nothing_is_given_up(store, silent):
    ours = {
        family: {**values, "endpoint": f"http://127.0.0.1:{silent}", "timeout": "2"}
        for family, values in store.settings.items()
    }
    address = store.address.replace(f":{store.port}", f":{silent}")
    assert refused(UnreachableError, address, ours).endswith("no answer within 2 s")


def test_a_plan_and_an_output_are_evidence_there_too(s3):
    plan = read("s3://bucket/plan.txt", s3.settings)
    assert [s.format for s in plan.sources] == ["json"] or plan.topology.nodes
    out = read("s3://bucket/out", s3.settings)
    assert (out.sink.format, out.sink.partition_by) == ("json", ("k",))


def test_another_bucket_is_not_there(s3):
    said = refused(EvidenceError, "s3://another/ck", s3.settings)
    assert said == "s3://another/ck not found, or access denied: check address and credentials"


@pytest.mark.parametrize("wrong", [{"secret_key": "x"}, {"access_key": "x"}])
def test_wrong_keys_are_refused(s3, wrong):
    said = refused(EvidenceError, s3.address, {"s3": {**s3.settings["s3"], **wrong}})
    assert said.startswith(f"no permission to read {s3.address}: access denied")
    assert "secret" not in said.replace("SECRET", "")


def test_half_of_the_keys_is_said(s3):
    values = {k: v for k, v in s3.settings["s3"].items() if k != "secret_key"}
    said = refused(EvidenceError, s3.address, {"s3": values})
    assert "set both access_key and secret_key" in said


def test_keys_and_endpoint_come_from_the_environment_too(s3, monkeypatch):
    values = s3.settings["s3"]
    monkeypatch.setenv("AWS_ENDPOINT_URL", values["endpoint"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", values["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", values["secret_key"])
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert read(s3.address, {}).query_id


def test_a_wrong_key_of_azure_is_refused(azure):
    values = {**azure.settings["abfs"], "account_key": "QUJD"}
    said = refused(EvidenceError, azure.address, {"abfs": values})
    assert "access denied" in said


def test_azure_without_a_key_says_what_to_set(azure):
    values = {"endpoint": azure.settings["abfs"]["endpoint"], "timeout": "5"}
    with pytest.raises(HeadgateError) as error:
        read(azure.address, {"abfs": values})
    assert error.value.exit_code in (2, 4)
    assert "AZURE_STORAGE_ACCOUNT_KEY" in str(error.value) or "no answer" in str(error.value)


def test_what_another_may_not_read_in_hdfs_is_refused(hdfs):
    guest = {"hdfs": {**hdfs.settings["hdfs"], "user": "guest"}}
    said = refused(EvidenceError, hdfs.address.replace("/ck", "/locked"), guest)
    assert "this permission: set HADOOP_USER_NAME" in said


def test_one_file_that_may_not_be_read_leaves_the_rest(hdfs):
    guest = {"hdfs": {**hdfs.settings["hdfs"], "user": "guest"}}
    version = read(hdfs.address, guest)
    assert version.sources[0].offsets == {"logOffset": 0}
    assert any("no permission" in w and f"{hdfs.address}/offsets/1" in w for w in version.warnings)


def test_a_host_that_nobody_knows(hdfs):
    said = refused(UnreachableError, "hdfs://no-such-host.invalid:8020/ck", hdfs.settings)
    assert "no-such-host.invalid" in said


def test_no_setting_is_kept_in_a_version(s3):
    from headgate.parse.evidence.version_file import dump

    version = replace(read(s3.address, s3.settings), captured_at=None)
    assert b"secret" not in dump(version).replace(b"secret_key", b"")
