"""Records of two topics are looked for in each other: values, fields, types, ranges."""

import json

import pytest

from headgate.errors import RefusedError
from headgate.gateway.kafka import compare_records as module
from headgate.gateway.kafka.compare_records import RowMatch, compare_records
from headgate.reprocess.ports.kafka import TopicWindow

pytestmark = pytest.mark.kafka


@pytest.fixture
def compare(broker, topic, produce):
    """Write both sides to topics, and compare their inner ranges with all of the other one."""

    def run(
        a, b, *, keys=("id",), inner_a=None, inner_b=None, tolerance=0.0, ignore=(), newest=False
    ):
        names = [topic("a"), topic("b")]
        windows = []
        for name, values, inner in zip(names, (a, b), (inner_a, inner_b), strict=True):
            produce(name, [v if isinstance(v, tuple) else _json(v) for v in values], partition=0)
            whole = (0, len(values))
            windows.append(TopicWindow(name, {(name, 0): inner or whole}, {(name, 0): whole}))
        match = RowMatch(tuple(keys), tolerance, frozenset(ignore), newest)
        return compare_records(broker, {}, windows[0], windows[1], match)

    return run


def _json(value):
    return value if isinstance(value, str) else json.dumps(value)


def counts(found):
    return found.missing, found.extra, found.different


def test_each_value_of_a_key_is_looked_for_in_a_longer_range_of_the_other_topic(compare):
    a = [{"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 1}]
    b = [{"id": 0, "n": 9}, {"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 1}, {"id": 3}]
    # Before and after the common part each side may have what the other one has not.
    found = compare(a, b, inner_b=(1, 4))
    assert found.equal and counts(found) == (0, 0, 0)
    assert (found.rows_a, found.rows_b) == (2, 2)
    assert counts(compare(a, b)) == (0, 2, 0)
    # A value in the middle is missed as well, not only a key's newest.
    (sample,) = compare(a, [b[2], b[3]], inner_b=(0, 2)).samples
    assert (sample.kind, dict(sample.key)) == ("different", {"id": "1"})
    assert (sample.a, sample.b) == ({"n": 1}, {"n": 2})
    # One that was delivered twice is no other value.
    assert compare([*a, a[0]], a).equal


def test_of_updates_only_a_keys_newest_one_counts(compare):
    """Both versions add 5 of one partition and 3 of another one, each in its own order."""
    a = [{"id": 1, "n": 5}, {"id": 1, "n": 8}]
    b = [{"id": 1, "n": 3}, {"id": 1, "n": 8}]
    assert counts(compare(a, b)) == (0, 0, 1)
    assert compare(a, b, newest=True).equal
    # One is ahead, and the comparison looked at the range before.
    ahead = [*b, {"id": 1, "n": 9}]
    assert compare(a, ahead, inner_a=(0, 1), inner_b=(0, 1), newest=True).equal
    assert counts(compare(a, [*b[:1], {"id": 1, "n": 7}], newest=True)) == (0, 0, 1)
    assert counts(compare(a, [*b, {"id": 2, "n": 8}], newest=True)) == (0, 1, 0)


def test_what_only_one_side_has_is_missing_or_extra(compare):
    found = compare([{"id": 1, "n": 1}], [{"id": 2, "n": 1}])
    assert counts(found) == (1, 1, 0) and not found.equal
    assert {s.kind for s in found.samples} == {"missing", "extra"}


def test_numbers_differ_by_the_tolerance_at_most_also_within_values(compare):
    a, b = [{"id": 1, "n": {"m": [1.0]}}], [{"id": 1, "n": {"m": [1.05]}}]
    assert counts(compare(a, b)) == (0, 0, 1)
    assert compare(a, b, tolerance=0.1).equal
    assert compare([{"id": 1, "n": 1}], [{"id": 1, "n": 1.0}]).equal
    assert not compare([{"id": 1, "n": True}], [{"id": 1, "n": 1}]).equal
    assert compare([{"id": 1, "by": "a"}], [{"id": 1, "by": "b"}], ignore=["by"]).equal


def test_fields_that_are_missing_or_have_another_type_are_named_with_their_path(compare):
    a = [{"id": 1, "n": 1, "to": {"city": "x", "zip": 1}, "old": None}]
    b = [{"id": 1, "n": "1", "to": {"city": "x"}, "old": 3, "new": 1}]
    found = compare(a, b)
    types = {c.name: (c.type_a, c.type_b) for c in found.columns}
    assert types == {
        "n": ("number", "string"),
        "to": ("object", "object"),
        "to.city": ("string", "string"),
        "to.zip": ("number", None),
        "old": ("number", "number"),
        "new": (None, "number"),
    }
    assert {c.name: c.different for c in found.columns}["n"] == 1


def test_records_that_are_no_json_objects_are_compared_whole_by_their_keys(compare):
    a = [("k", "12"), ("k", "text"), ("l", None)]
    assert compare(a, a, keys=["key"]).equal
    found = compare(a, [("k", "13"), ("k", "text"), ("l", None)], keys=["key"])
    assert counts(found) == (0, 0, 1)
    with pytest.raises(RefusedError, match="has no field id"):
        compare(a, a)


def test_a_window_with_too_many_results_is_refused(compare, monkeypatch):
    monkeypatch.setattr(module, "MOST_RECORDS", 1)
    rows = [{"id": 1}, {"id": 2}]
    with pytest.raises(RefusedError, match="shorter --compare-for"):
        compare(rows, rows)
    assert compare(rows[:1], rows, inner_b=(0, 1)).equal
