"""Version files: what is written comes back, what is no version file gets one sentence."""

import json
import types
import typing
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import ParseError
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Engine, Evidence, Progress, Source, Version
from headgate.parse.evidence.version_file import dump, fingerprint, load

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def of(kind):
    """A strategy for every field of the model, where hypothesis alone leaves defaults."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return JSON
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*[of(a) for a in args])
    if origin is tuple:
        return st.lists(of(args[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(of(args[0]), of(args[1]), max_size=2)
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{f.name: of(hints[f.name]) for f in fields(kind)})
    if kind is int:
        return st.integers(-(2**63), 2**63 - 1)
    return st.text(max_size=5) if kind is str else st.from_type(kind)


@pytest.mark.slow
@given(of(Version))
@settings(max_examples=60, deadline=None)
def test_what_is_written_comes_back(version):
    data = dump(version)
    assert load(data, source="v") == version
    assert dump(load(data, source="v")) == data
    assert fingerprint(load(data, source="v")) == fingerprint(version)


def version(**details):
    details = {"format": "kafka", "options": {"a": "1", "b": "2"}} | details
    node = Node("source-1", NodeKind.SOURCE, "kafka", "orders", 0, details)
    sources = (Source(position=0, format="kafka", topics=("orders",)),)
    return Version(engine=Engine.SPARK, topology=Topology((node,)), sources=sources)


def test_the_file_says_first_what_it_is():
    data = dump(version())
    assert list(json.loads(data)) == ["schema", "kind", "version"]
    assert json.loads(data)["schema"] == 1
    assert data.count(b"\n") > 20


def test_the_order_of_keys_does_not_matter():
    other = version(options={"b": "2", "a": "1"})
    assert dump(other) == dump(version())
    assert fingerprint(other) == fingerprint(version())


@pytest.mark.parametrize(
    "moved",
    [
        {"evidence": (Evidence(kind="explain", path="x"),)},
        {"captured_at": "2026-01-01T00:00:00Z"},
        {"progress": Progress(last_commit_batch=3)},
        {"query_id": "q"},
        {"warnings": ("cut",)},
        {"sources": (replace(version().sources[0], offsets={"orders": {"0": 3}}),)},
        {"topology": version(start_offsets={"orders": {"0": 3}}).topology},
    ],
    ids=str,
)
def test_what_moves_by_itself_makes_no_other_version(moved):
    assert fingerprint(replace(version(), **moved)) == fingerprint(version())


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "b"},
        {"settings": {"spark.sql.shuffle.partitions": "3"}},
        {"sources": None},
        {"stateful": ()},
        {"topology": version(format="file").topology},
    ],
    ids=str,
)
def test_what_was_changed_makes_another_version(changed):
    assert fingerprint(replace(version(), **changed)) != fingerprint(version())


def test_keys_of_a_later_release_are_left_out():
    data = json.loads(dump(version()))
    data["version"]["tomorrow"] = 1
    assert load(json.dumps(data).encode(), source="v") == version()


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"", 1, "damaged version file"),
        (b'{\n"schema":', 2, "truncated"),
        (b'{"schema": 1,\n "kind": x}', 2, "damaged version file"),
        (b"\xff\xfe", 1, "damaged version file"),
        (b"[" * 100_000, 1, "damaged version file"),
        (b"[]", 1, "damaged version file"),
        (b"{}", 1, "not a version file"),
        (b'{"schema": 1, "kind": "plan"}', 1, "not a version file"),
        (b'{"schema": 2, "kind": "headgate-version"}', 1, "schema 2 needs a newer Headgate"),
        (b'{"schema": 1, "kind": "headgate-version"}', 1, "missing required field `version`"),
        (dump(version()).replace(b'"spark"', b'"flink"'), 1, "$.version.engine"),
        (dump(version()).replace(b'"topology": {', b'"topology": {"edges": 3, '), 1, "damaged"),
    ],
    ids=range(12),
)
def test_a_file_that_cannot_be_read_gets_one_sentence(data, line, said):
    with pytest.raises(ParseError) as caught:
        load(data, source="v.json")
    assert str(caught.value).startswith(f"v.json:{line}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
