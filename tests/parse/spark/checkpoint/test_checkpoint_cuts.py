"""Every file of a checkpoint, cut off or overwritten anywhere: nothing is lost without a word."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.gateway.checkpoint.files import read_checkpoint_files, read_log_files
from headgate.gateway.files.evidence_files import find
from headgate.parse.spark.checkpoint.batches import read_batch_logs
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[3] / "golden/checkpoints"
NAMES = sorted(p.parent.name for p in GOLDEN.glob("*/spark.json"))
# A number stays one when it is cut: only the source knows its own offsets.
OPAQUE = {"stateless_rate"}


@cache
def pieces(name):
    files, listing, _ = read_checkpoint_files(find(str(GOLDEN / name / "checkpoint")))
    return files, tuple(listing), read_checkpoint(files, listing, source="ck")


@cache
def logs(name):
    return read_log_files(find(str(GOLDEN / name / "checkpoint")), None)[0]


@st.composite
def damaged(draw, of):
    name = draw(st.sampled_from(NAMES))
    files = of(name)[0] if of is pieces else of(name)
    path = draw(st.sampled_from(sorted(files)))
    data = files[path]
    at = draw(st.integers(0, len(data)))
    junk = draw(st.one_of(st.just(b""), st.binary(max_size=12)))
    keep = draw(st.booleans()) and junk != b""
    return name, path, data[:at] + junk + (data[at + len(junk) :] if keep else b"")


@given(damaged(of=pieces))
@settings(max_examples=400, deadline=None)
def test_any_damage_is_told_and_harms_that_file_alone(case):
    name, path, data = case
    files, listing, whole = pieces(name)
    found = read_checkpoint({**files, path: data}, listing, source="ck")
    if path != "metadata":
        assert found.query_id == whole.query_id
    if not path.startswith("offsets/"):
        assert [s.offsets for s in found.sources] == [s.offsets for s in whole.sources]
        assert found.pinned == whole.pinned
    if not path.startswith("state/"):
        assert [o.name for o in found.operators] == [o.name for o in whole.operators]
    said = {s.store: s for o in found.operators for s in o.stores}
    assert said or not any(o.stores for o in whole.operators)


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=400, deadline=None)
def test_a_file_that_is_cut_off_is_named(name, data):
    files, listing, whole = pieces(name)
    path = data.draw(st.sampled_from(sorted(files)))
    at = data.draw(st.integers(0, len(files[path]) - 1))
    found = read_checkpoint({**files, path: files[path][:at]}, listing, source="ck")
    if name in OPAQUE or files[path][at:].strip() == b"":
        return
    # Version 2 of the log names its sources, and their number may change. So a file that ends with
    # another line is whole: then nothing is said of what moved since.
    sources = tuple(replace(s, advanced=None) for s in whole.sources)
    was = sources if sources == found.sources else whole.sources
    same = (found.query_id, found.sources, found.operators, found.pinned, found.progress) == (
        whole.query_id,
        was,
        whole.operators,
        whole.pinned,
        whole.progress,
    )
    assert same or any(path in w or "ck/offsets/" in w for w in found.warnings), found.warnings


@given(damaged(of=logs))
@settings(max_examples=300, deadline=None)
def test_damage_of_one_batch_leaves_the_others(case):
    name, path, data = case
    whole = {b.number: b for b in read_batch_logs(logs(name), source="ck").batches}
    number = int(path.rpartition("/")[2])
    found = read_batch_logs({**logs(name), path: data}, source="ck")
    assert [b.number for b in found.batches] == list(whole)
    for batch in found.batches:
        assert batch.committed
        if batch.number not in (number, number + 1):
            assert batch == whole[batch.number]


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            "offsets/0",
            "commits/0",
            "state/0/_metadata/metadata",
            "sources/0/0",
            "metadata",
            "state/0/0/_metadata/schema",
            "state/0/_stateSchema/default/0_a",
        ]
    ),
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_no_crash(data, path):
    read_checkpoint({path: data, "metadata": b"{}"}, source="ck")
    read_batch_logs({path: data}, source="ck")
