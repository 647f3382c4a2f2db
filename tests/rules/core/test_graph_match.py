"""Which node is which after operators were inserted, removed, replaced and reordered."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.graph_changes import changes
from headgate.rules.core.match_graphs import match_nodes
from headgate.rules.core.report import ChangeKind
from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[2] / "cases"
ADDED, REMOVED, CHANGED, MOVED = ChangeKind


def chain(*labels: str) -> Topology:
    """Return operators from the source to the sink; ids depend on the way to the sink alone."""
    nodes, path = [], ""
    for label in reversed(labels):
        word = label.split()[0]
        path = f"{path}/{word}"
        kind = {"kafka": NodeKind.SOURCE, "out": NodeKind.SINK}.get(word, NodeKind.TRANSFORM)
        nodes.insert(0, Node(path, kind, word, label))
    return Topology(tuple(nodes), tuple(Edge(a.id, b.id) for a, b in pairwise(nodes)))


def told(before: Topology, after: Topology) -> list[tuple[ChangeKind, str]]:
    old, new = (Version(engine=Engine.SPARK, topology=t) for t in (before, after))
    return [(c.kind, c.what) for c in changes(old, new, match_nodes(before, after))]


A, B, C, D = "filter v > 1", "project k, v", "filter w > 2", "project k, sum"
WHOLE = ("kafka orders", A, B, C, D, "out files")


def test_a_change_names_the_columns_that_differ():
    def computed(**columns):
        old = chain(*WHOLE)
        nodes = tuple(
            replace(n, details={"columns": columns}) if n.label == B else n for n in old.nodes
        )
        return replace(old, nodes=nodes)

    before, after = computed(k="s0.k", v="s0.v"), computed(k="s0.k", v="s0.v * 2", w="s0.w")
    assert told(before, after) == [(CHANGED, "project k, v: columns (v, w)")]


@pytest.mark.parametrize("place", range(1, len(WHOLE)))
def test_an_inserted_operator_is_one_addition_and_nothing_else(place):
    after = [*WHOLE[:place], "filter x is not null", *WHOLE[place:]]
    assert told(chain(*WHOLE), chain(*after)) == [(ADDED, "filter: filter x is not null")]
    assert told(chain(*after), chain(*WHOLE)) == [(REMOVED, "filter: filter x is not null")]


@pytest.mark.parametrize("place", range(1, len(WHOLE) - 1))
def test_a_replaced_operator_is_removed_and_added_and_its_neighbours_stay(place):
    after = [*WHOLE[:place], "generate explode", *WHOLE[place + 1 :]]
    found = told(chain(*WHOLE), chain(*after))
    assert [kind for kind, _ in found] == [REMOVED, ADDED]


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_an_operator_of_other_words_changed(place):
    after = list(WHOLE)
    after[place] += " and more"
    assert [kind for kind, _ in told(chain(*WHOLE), chain(*after))] == [CHANGED]


def test_operators_that_change_places_moved():
    after = ("kafka orders", A, C, B, D, "out files")
    found = told(chain(*WHOLE), chain(*after))
    assert {kind for kind, _ in found} == {MOVED}
    assert {what for _, what in found} <= {f"{w.split()[0]}: {w}" for w in (B, C)}


def test_an_insertion_and_a_change_side_by_side_are_both_said():
    after = ("kafka orders", "filter v > 1 and v < 9", "filter x is null", B, C, D, "out files")
    found = told(chain(*WHOLE), chain(*after))
    assert sorted(kind for kind, _ in found) == sorted([ADDED, CHANGED])
    assert (ADDED, "filter: filter x is null") in found


def test_many_edits_are_told_apart():
    labels = [f"{('filter', 'project', 'generate')[n % 3]} v{n} > {n}" for n in range(600)]
    after = [f"{w} + 1" if n % 7 == 0 else w for n, w in enumerate(labels) if n % 50 != 3]
    found = told(chain("kafka a", *labels, "out b"), chain("kafka a", *after, "out b"))
    kinds = [kind for kind, _ in found]
    kept = [n for n in range(600) if n % 50 != 3]
    assert kinds.count(REMOVED) == 600 - len(kept)
    assert kinds.count(CHANGED) == sum(n % 7 == 0 for n in kept)
    assert set(kinds) == {REMOVED, CHANGED}


def test_equal_branches_of_a_union_pair_in_their_order():
    def union(*branches):
        nodes, edges = [Node("out", NodeKind.SINK, "out", "out")], []
        for n, labels in enumerate(branches):
            ids = [f"{n}/{i}" for i in range(len(labels))] + ["out"]
            nodes += [
                Node(i, NodeKind.TRANSFORM, label.split()[0], label)
                for i, label in zip(ids, labels, strict=False)
            ]
            edges += [Edge(a, b) for a, b in pairwise(ids)]
        return Topology(tuple(nodes), tuple(edges))

    same = ["filter v", "project k"]
    found = match_nodes(union(same, same), union(same, same))
    assert all(b == a for b, a in found.pairs.items())
    third = match_nodes(union(same, same), union(same, same, ["filter w"]))
    assert (len(third.added), third.removed) == (1, ())


def changes_of(engine: str, case: str) -> list[tuple[ChangeKind, str]]:
    folder = CASES / engine / case
    report = compare(*(read_version([str(folder / side)]) for side in ("before", "after")))
    return [(c.kind, c.what) for c in report.changes]


@pytest.mark.parametrize(
    ("case", "added", "removed"),
    [
        ("agg_map_add", {"project: v"}, set()),
        ("join_map_before", {"project: lv"}, set()),
        ("op_add_before", {"exchange: by k, ts", "deduplicate: unique by k, ts"}, set()),
        ("limit_add", {"exchange: to 1 partition", "limit: limit 4"}, set()),
        ("wm_remove", set(), {"watermark: ts 10 seconds"}),
        ("agg_to_dedup", {"deduplicate: unique by k"}, {"aggregate: count by k"}),
    ],
)
def test_plans_of_spark_differ_in_what_was_edited_alone(case, added, removed):
    found = [(k, w) for k, w in changes_of("spark", case) if not w.startswith("state store")]
    assert {what for kind, what in found if kind is ADDED} == added
    assert {what for kind, what in found if kind is REMOVED} == removed
    assert MOVED not in {kind for kind, _ in found}


@pytest.mark.parametrize(
    ("case", "operator", "store"),
    [
        ("U02a_insert_mapvalues_unnamed", "map values", ("1", "2")),
        ("U02b_insert_filter_unnamed_groupby", "filter", ("2", "3")),
    ],
)
def test_a_generated_name_that_shifts_is_another_store(case, operator, store):
    found = changes_of("kafka_streams", case)
    name = "state store: KSTREAM-AGGREGATE-STATE-STORE-000000000"
    assert {w for k, w in found if k is ADDED} == {operator, name + store[1]}
    assert {w for k, w in found if k is REMOVED} == {name + store[0]}


def test_what_the_engine_takes_for_one_is_one_where_it_takes_all_so():
    found = changes_of("spark", "file_union_swap_after_nodata_batch")
    assert [kind for kind, _ in found] == [CHANGED, CHANGED]
