"""Checkpoints that real Spark 4.2 left, of every layout; expectations are Spark's or by hand.

`golden/checkpoints/NAME/spark.json` holds what Spark itself said: its data source
`state-metadata`, and the progress of the batches.
"""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from headgate.gateway.checkpoint.files import read_checkpoint_files
from headgate.gateway.files.evidence_files import find
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.usecases.evidence.read_batches import read_batches
from headgate.usecases.evidence.read_version import read_version

GOLDEN = Path(__file__).parents[3] / "golden/checkpoints"
NAMES = sorted(p.parent.name for p in GOLDEN.glob("*/spark.json"))
HDFS, ROCKSDB = "HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider"
WITH_GAPS = {"asynchronous"}


def checkpoint(name):
    place = find(str(GOLDEN / name / "checkpoint"))
    files, listing, failures = read_checkpoint_files(place)
    assert failures == []
    return read_checkpoint(files, listing, source="ck")


def said(name):
    return json.loads((GOLDEN / name / "spark.json").read_text())


def batches(name):
    return read_batches(str(GOLDEN / name / "checkpoint")).batches


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_unread(name):
    found = checkpoint(name)
    assert [w for w in found.warnings if not (name in WITH_GAPS and " lacks " in w)] == []
    assert found.query_id is not None
    assert read_batches(str(GOLDEN / name / "checkpoint")).warnings == ()


@pytest.mark.parametrize("name", [n for n in NAMES if isinstance(said(n)["state"], list)])
def test_operators_are_what_sparks_own_reader_says(name):
    spark = {
        (s["operatorId"], s["operatorName"], s["stateStoreName"], s["numPartitions"])
        for s in said(name)["state"]
    }
    found = checkpoint(name)
    assert {(o.operator_id, o.name) for o in found.operators} == {s[:2] for s in spark}
    partitions = {(s.operator_id, s.partitions) for o in found.operators for s in o.stores}
    assert partitions == {(s[0], s[3]) for s in spark}
    for number, _, store, _ in spark:
        stores = next(o.stores for o in found.operators if o.operator_id == number)
        # A store with column families stands under their names, which Spark's reader lacks.
        assert store in {s.store for s in stores} or len(stores) > 1
        assert all(s.key_schema and s.value_schema for s in stores)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("continuous", "asynchronous")])
def test_batches_read_what_their_progress_says(name):
    found = {b.number: b for b in batches(name)}
    reports = [p for p in said(name)["progress"] if p["rows"]]
    assert reports
    for report in reports:
        batch = found[report["batch"]]
        assert batch.committed
        spark = {json.dumps(end, sort_keys=True) for _, end in report["sources"]}
        ours = {json.dumps(s.end, sort_keys=True) for s in batch.sources}
        assert ours == spark


PROVIDERS = {
    "files_to_files": (HDFS, None, 1),
    "join": (HDFS, None, 1),
    "rocksdb": (ROCKSDB, False, 1),
    "rocksdb_changelog": (ROCKSDB, True, 1),
    "rocksdb_ids": (ROCKSDB, True, 2),
    "join_families": (ROCKSDB, False, 1),
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_the_files_of_the_state_tell(name):
    stores = [s for o in checkpoint(name).operators for s in o.stores]
    assert {(s.provider, s.changelog, s.checkpoint_format) for s in stores} == {PROVIDERS[name]}


@pytest.mark.parametrize("name", PROVIDERS)
def test_files_tell_the_provider_where_the_log_does_not(name):
    place = find(str(GOLDEN / name / "checkpoint"))
    files, listing, _ = read_checkpoint_files(place)
    silent = {p: d.replace(b"stateStore.providerClass", b"x") for p, d in files.items()}
    found = read_checkpoint(silent, listing, source="ck")
    assert {s.provider for o in found.operators for s in o.stores} == {PROVIDERS[name][0]}


def test_a_join_has_four_stores_and_in_format_3_column_families():
    (join,) = checkpoint("join").operators
    assert {s.store for s in join.stores} == {
        f"{side}-{store}"
        for side in ("left", "right")
        for store in ("keyToNumValues", "keyWithIndexToValue")
    }
    (families,) = checkpoint("join_families").operators
    assert families.name == "symmetricHashJoin"
    assert {s.store for s in families.stores} == {s.store for s in join.stores}


def test_named_sources_keep_their_names_and_where_they_went_on():
    found = checkpoint("named_sources")
    assert found.log_version == 2
    assert {s.name for s in found.sources} == {"first", "second"}
    last = batches("named_sources")[-1]
    assert {s.name: (s.start, s.end, s.is_empty) for s in last.sources} == {
        "first": ({"logOffset": 1}, {"logOffset": 2}, False),
        "second": ({"logOffset": 0}, {"logOffset": 0}, True),
    }


def test_a_file_source_is_known_by_its_own_log():
    assert [s.format for s in checkpoint("files_to_files").sources] == ["file"]
    assert [s.start for s in checkpoint("files_to_files").sources] == [None]


def test_a_variable_that_came_later_stands_in_the_newest_of_two_schema_files():
    files = sorted((GOLDEN / "variables/checkpoint/state/0/_stateSchema/default").iterdir())
    assert [f.name.partition("_")[0] for f in files] == ["0", "1"]
    (operator,) = checkpoint("variables").operators
    stores = {s.store: s for s in operator.stores}
    assert {"count", "recent", "by_key", "more"} <= stores.keys()
    assert stores["more"].value_schema.describe() == "m: string"
    assert operator.properties["timeMode"] == "ProcessingTime"


def test_kafkas_first_offsets_are_kept_beside_the_newest():
    (source,) = checkpoint("kafka_source").sources
    assert source.start == {"orders": {"0": 0, "1": 0}}
    assert source.offsets == {"orders": {"0": 3, "1": 3}}
    first, last = batches("kafka_source")
    assert first.sources[0].start is None
    assert first.sources[0].end == {"orders": {"0": 2, "1": 2}}
    assert last.sources[0].start == first.sources[0].end


def test_a_rate_source_says_when_it_began():
    (source,) = checkpoint("stateless_rate").sources
    assert isinstance(source.start, int)
    assert checkpoint("stateless_rate").operators == ()


def test_an_epoch_of_a_continuous_query_has_the_time_of_its_file():
    found = batches("continuous")
    assert [b.number for b in found] == [0, 1]
    assert all(b.committed and b.at is not None and b.watermark_ms is None for b in found)
    assert found[0].sources[0].end["0"]["value"] == -1


def test_watermarks_go_from_a_commit_to_the_next_batch():
    found = batches("files_to_files")
    assert [b.number for b in found] == list(range(7))
    assert found[0].watermark_ms == 0
    for before, after in pairwise(found):
        assert after.watermark_ms == before.next_watermark_ms
        assert after.at > before.at


def test_a_version_of_a_checkpoint_alone_has_its_stores_in_the_graph():
    version = read_version([str(GOLDEN / "rocksdb_ids/checkpoint")])
    (store,) = [n for n in version.topology.nodes if n.kind == "state_store"]
    assert store.details["provider"] == ROCKSDB
    assert store.details["partitions"] == 2
    assert (store.details["changelog"], store.details["checkpoint_format"]) == (True, 2)
