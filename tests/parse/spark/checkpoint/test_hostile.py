"""Whatever a file holds: a version or one of our errors, soon."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.errors import HeadgateError
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.parse.spark.checkpoint.state_schema import read_families
from support.spark_golden import FOLDERS

pytestmark = pytest.mark.slow

SEEDS = [
    (folder / name).read_bytes()
    for folder in FOLDERS[:8]
    for name in ("explain.txt", "formatted.txt", "logical.json", "capture.json", "progress.json")
    if (folder / name).exists()
]
SCRAPS = st.sampled_from(
    [
        b"(",
        b")",
        b"[",
        b"]",
        b",",
        b"#1",
        b" AS ",
        b"\n",
        b"== Physical Plan ==\n",
        b"+- ",
        b":- ",
        b"CASE WHEN ",
        b"cast(",
        b"{",
        b"}",
        b"null",
        b'"',
        b"\x00",
        b"\xff",
        b"(1) X\n",
        b"~",
        b"!",
    ]
)
EDITS = st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 300), SCRAPS), max_size=8)
CALM = settings(
    deadline=2000, max_examples=150, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def read(data):
    try:
        piece = recognise(data, path="x")
        return piece and assemble(Gathered(pieces=[piece]))
    except HeadgateError:
        return None


def edited(data, edits):
    for at, cut, scrap in edits:
        at %= len(data) + 1
        data = data[:at] + scrap + data[at + cut :]
    return data


@CALM
@given(st.sampled_from(SEEDS), EDITS)
def test_damaged_evidence(seed, edits):
    read(edited(seed, edits))


@CALM
@given(st.text(max_size=400))
def test_any_text_under_a_heading(text):
    read(f"== Physical Plan ==\n{text}".encode("utf-8", "replace"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["class", "num-children", "output", "sources", "sink", "error", "id"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@CALM
@given(JSON)
def test_any_json(found):
    read(json.dumps(found).encode())


@CALM
@given(st.binary(max_size=200))
def test_any_bytes_as_a_schema(data):
    with contextlib.suppress(ValueError, KeyError, TypeError):
        read_families(b"\0\2v3" + data)


NAMES = st.sampled_from(
    [
        "metadata",
        "offsets/0",
        "offsets/1",
        "commits/0",
        "sources/0/0",
        "state/0/_metadata/metadata",
        "state/0/_metadata/v2/0",
        "state/0/0/_metadata/schema",
        "state/x/y",
        "state/0/_stateSchema/d/0_a",
    ]
)


@CALM
@given(st.dictionaries(NAMES, st.binary(max_size=60) | st.just(b"v1\n{}\n{}")))
def test_any_checkpoint(files):
    read_checkpoint(files, source="x")


@pytest.mark.parametrize("depth", [5_000])
def test_deep_json(depth):
    read(b"[" * depth + b"]" * depth)
