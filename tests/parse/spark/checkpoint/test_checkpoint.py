"""A checkpoint's files: what they say, and what a broken one costs."""

import json
import struct

import pytest

from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.checkpoint.checkpoint import (
    batches,
    is_checkpoint,
    read_checkpoint,
    read_offsets,
)
from headgate.parse.spark.checkpoint.state_schema import read_families

CONF = {"spark.sql.shuffle.partitions": "3", "spark.sql.streaming.stateStore.providerClass": "a.B"}
HEAD = json.dumps({"batchWatermarkMs": 5, "batchTimestampMs": 9, "conf": CONF})
KEY = json.dumps({"type": "struct", "fields": [{"name": "k", "type": "string", "nullable": True}]})
VALUE = json.dumps({"type": "struct", "fields": [{"name": "c", "type": "long", "nullable": False}]})
FILES = {
    "metadata": b'{"id":"q1"}',
    "offsets/3": f'v1\n{HEAD}\n{{"a":{{"0":3}}}}\n-'.encode(),
    "offsets/4": f'v1\n{HEAD}\n{{"a":{{"0":7}}}}\n-'.encode(),
    "commits/3": b'v1\n{"nextBatchWatermarkMs":77}',
    "sources/0/0": b'v1\n{"a":{"0":1}}',
    "sources/1/0": b'v1\n{"path":"file:///x","timestamp":1,"batchId":0}',
    "state/0/_metadata/metadata": (
        b'v1\n{"operatorInfo":{"operatorId":0,"operatorName":"stateStoreSave"},"stateStoreInfo":'
        b'[{"storeName":"default","numColsPrefixKey":0,"numPartitions":3}]}'
    ),
}


def utf(text):
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def chunked(*parts):
    return struct.pack(">i", len(parts)) + b"".join(map(utf, parts))


SCHEMAS = {
    "v1": utf("v1") + utf(KEY) + utf(VALUE),
    "v2": utf("v2") + chunked(KEY[:9], KEY[9:]) + chunked(VALUE),
}
V3 = (
    utf("v3")
    + struct.pack(">i", 1)
    + utf("count")
    + struct.pack(">h", 0)
    + chunked(KEY)
    + struct.pack(">h", 0)
    + chunked(VALUE)
    + chunked("{}")
    + chunked("{}")
)


def read(**changes):
    files = {**FILES, "state/0/0/_metadata/schema": SCHEMAS["v2"], **changes}
    files = {k: v for k, v in files.items() if v is not None}
    return read_checkpoint(files, source="ck")


def test_everything_that_a_checkpoint_says():
    found = read()
    assert found.warnings == ()
    assert (found.query_id, found.log_version, found.pinned) == ("q1", 1, CONF)
    first, second = found.sources
    assert (first.offsets, first.start, first.advanced) == ({"a": {"0": 3}}, {"a": {"0": 1}}, True)
    assert (second.offsets, second.start, second.advanced) == (None, None, False)
    (operator,) = found.operators
    (store,) = operator.stores
    assert (operator.name, store.store, store.partitions) == ("stateStoreSave", "default", 3)
    assert (store.provider, store.proven) == ("B", True)
    assert store.key_schema == Schema((Field("k", "string", True),))
    progress = found.progress
    assert (progress.last_offset_batch, progress.last_commit_batch) == (4, 3)
    assert (progress.watermark_ms, progress.first_retained_batch) == (77, 3)
    assert progress.last_batch_empty is False


def test_offsets_by_name():
    text = f'v2\n{HEAD}\nb:{{"logOffset":1}}\na:{{"logOffset":0}}'
    found = read(**{"offsets/3": None, "offsets/4": None, "offsets/0": text.encode()})
    assert [(s.name, s.offsets) for s in found.sources] == [
        ("b", {"logOffset": 1}),
        ("a", {"logOffset": 0}),
    ]
    assert found.log_version == 2


@pytest.mark.parametrize("data", SCHEMAS.values(), ids=SCHEMAS)
def test_schema_files(data):
    (family,) = read_families(data)
    assert family.name == "default"
    assert family.value == Schema((Field("c", "long", False),))


def test_a_store_with_column_families():
    (family,) = read_families(V3)
    assert family.name == "count"
    found = read(**{"state/0/_stateSchema/default/0_abc": V3, "state/0/0/_metadata/schema": None})
    assert [s.store for s in found.operators[0].stores] == ["count"]


BREAKABLE = sorted({*FILES, "state/0/0/_metadata/schema"} - {"offsets/3"})


@pytest.mark.parametrize("path", BREAKABLE)
@pytest.mark.parametrize("data", [b"", b"v1\n{", b"\xff\xfe\0"])
def test_a_broken_file_costs_a_warning_with_its_name(path, data):
    found = read(**{path: data})
    assert any(f"ck/{path} can't be read" in w for w in found.warnings)
    assert path == "metadata" or found.query_id == "q1"
    assert len(found.operators) == 1


def test_a_missing_file_costs_a_warning():
    assert read(metadata=None).warnings == ("ck/metadata is missing",)
    assert read_checkpoint({}, source="ck").operators is None


def test_batch_numbers_are_numbers():
    names = ["3", "30", ".3.crc", "9.compact", "4.tmp", "metadata", "-1", "10"]
    assert batches(names) == [3, 10, 30]


def test_the_newest_readable_offsets_count():
    found = read(**{"offsets/4": b"v1\n{"})
    assert found.sources[0].offsets == {"a": {"0": 3}}
    assert "ck/offsets/4" in found.warnings[0]


def test_a_query_that_has_run_without_state_has_none():
    no_state = {k: None for k in FILES if k.startswith("state/")}
    found = read(**no_state, **{"state/0/0/_metadata/schema": None})
    assert found.operators == ()


def test_what_is_a_checkpoint():
    assert is_checkpoint(["metadata", "offsets"])
    assert is_checkpoint(["offsets", "commits", "x"])
    assert is_checkpoint(["metadata", "state"])
    assert not is_checkpoint(["metadata", "sources"])
    assert not is_checkpoint(["state", "x"])
    assert not is_checkpoint(["offsets"])


def test_an_offset_log_of_another_version_is_none():
    with pytest.raises(ValueError, match="version"):
        read_offsets(b"v9\n{}\n{}")


@pytest.mark.parametrize("line", ["[1]", '"x"', '{"conf":[1]}'])
def test_an_offset_log_whose_metadata_is_none_is_passed_over(line):
    found = read(**{"offsets/4": f"v1\n{line}\n-\n-".encode()})
    assert found.pinned["spark.sql.shuffle.partitions"] == "3"
    assert "ck/offsets/4 can't be read" in found.warnings[0]


@pytest.mark.parametrize("line", ['{"operatorInfo":[1]}', '{"operatorInfo":{"operatorName":[1]}}'])
def test_operator_metadata_of_another_shape_is_a_warning(line):
    found = read(**{"state/0/_metadata/metadata": f"v1\n{line}".encode()})
    assert found.operators[0].name is None
    assert "operatorInfo" in found.warnings[0]


def test_stores_that_are_no_list_are_none():
    found = read(**{"state/0/_metadata/metadata": b'v1\n{"stateStoreInfo":5}'})
    # This one is known by its schema file.
    assert [store.store for store in found.operators[0].stores] == ["default"]
