"""Descriptions as older releases print them, against the code that made them (OldApplication.java).

1.0.2 writes `Sub-topologies:` and global stores at the end, 2.8.2 as later releases do; 3.9.1
prints every topology of TestApplication.java as 4.3.1 does, to the letter.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.model.topology import NodeKind
from headgate.usecases.evidence.read_version import read_version

FOLDER = Path(__file__).parents[2] / "golden" / "streams"
COUNTED = "KSTREAM-AGGREGATE-STATE-STORE-0000000002"
JOINED = ["join_window"] * 2
# NAME: operators, stores by release where they differ, repartitions, sub-topologies.
EXPECTED = {
    "aggregate_repartitioned": (
        ["key_select", "filter", "aggregate", "to_stream", "map"], {COUNTED},
        [f"{COUNTED}-repartition"], 2),
    "count_named": (["aggregate"], {"counts"}, [], 1),
    "stream_join": (
        [*JOINED, "stream_join", "stream_join", "stream_join_merge"],
        {"KSTREAM-JOINTHIS-0000000004-store", "KSTREAM-JOINOTHER-0000000005-store"}, [], 1),
    "stream_outer_join": (
        [*JOINED, "stream_outer_join", "stream_outer_join", "stream_join_merge"],
        {"KSTREAM-OUTERTHIS-0000000004-store", "KSTREAM-OUTEROTHER-0000000005-store"}, [], 1),
    "table_outer_join": (
        ["table_source", "table_source", "table_table_join", "table_table_join",
         "table_table_join_merge", "to_stream"],
        {"in-STATE-STORE-0000000000", "in2-STATE-STORE-0000000003"}, [], 1),
    "global_join": (["global_table_join", "table_source"], {"everywhere"}, [], 2),
    "branch_transform": (["transform", "branch", "branch", "branch", "foreach"], set(), [], 1),
    "two_topics": ([], set(), [], 1),
    "pattern": ([], set(), [], 1),
}  # fmt: skip


@pytest.mark.parametrize("release", ["1.0.2", "2.8.2"])
@pytest.mark.parametrize("name", EXPECTED)
def test_everything_is_read_as_the_code_has_it(name, release):
    version = read_version([str(FOLDER / release / f"{name}.txt")])
    operators, stores, repartitions, subtopologies = EXPECTED[name]
    app = version.streams
    found = [n.operator for n in version.topology.nodes if n.kind is NodeKind.TRANSFORM]
    assert sorted(found) == sorted(operators)
    assert {s.name for s in app.stores} == stores
    assert [s.is_global for s in app.stores if s.is_global] == [True] * (name == "global_join")
    assert [r.name for r in app.repartitions] == repartitions
    assert len({p.subtopology for p in app.processors}) == subtopologies
    assert [w for w in version.warnings if "application id" not in w] == []


@pytest.mark.parametrize("name", EXPECTED)
def test_ids_are_the_same_for_both_releases(name):
    old, new = (read_version([str(FOLDER / r / f"{name}.txt")]) for r in ("1.0.2", "2.8.2"))
    assert {n.id for n in old.topology.nodes} == {n.id for n in new.topology.nodes}
