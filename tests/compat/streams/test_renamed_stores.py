"""A store under another name is one node of the merged graph, where nothing else could be meant."""

import pytest

from compat.streams.applications import upgrade
from headgate.compat.report import ChangeKind


def changed(report):
    return [c.what for c in report.changes if c.kind is ChangeKind.CHANGED]


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        ("unnamed_count_named", "KSTREAM-AGGREGATE-STATE-STORE-0000000001", "counts"),
        ("unnamed_table_shifts", "in2-STATE-STORE-0000000001", "in2-STATE-STORE-0000000002"),
    ],
)
def test_a_store_under_another_name_is_one_node(name, was, now, tmp_path):
    report = upgrade(tmp_path, name)
    assert f"{was} -> {now}" in changed(report)
    told = {c.what for c in report.changes if c.kind in {ChangeKind.ADDED, ChangeKind.REMOVED}}
    assert not [w for w in told if w.startswith("state store")]


def test_stores_that_exchange_names_are_two_renames(tmp_path):
    report = upgrade(tmp_path, "unnamed_counts_of_two_inputs_swapped")
    renamed = [w for w in changed(report) if "STATE-STORE" in w]
    assert len(renamed) == 2
    assert {" -> ".join(reversed(w.split(" -> "))) for w in renamed} == set(renamed)


def test_a_store_that_went_and_one_that_came_stay_two_nodes(tmp_path):
    report = upgrade(tmp_path, "twin_added")
    assert not [w for w in changed(report) if "STATE-STORE" in w]
    assert [c for c in report.changes if c.kind is ChangeKind.ADDED and "state store" in c.what]
