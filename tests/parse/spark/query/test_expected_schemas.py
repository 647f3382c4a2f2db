"""Derived schemas against those that Spark wrote for the same query."""

import pytest

from headgate.parse.spark.query.stateful_operators import bare
from headgate.usecases.evidence.read_version import read_version
from support.spark_golden import FOLDERS

pytestmark = pytest.mark.slow

# A continuous query reports no progress; one query's last batch is empty.
TRUE_OF_THE_LOG = ("logged no progress", "Spark shows a source as an empty local table")
RECORDED = [f for f in FOLDERS if (f / "checkpoint").exists()]


# What these plans don't tell of their state: there, only what is told is compared, by type.
NOT_TOLD = {
    "aggregate_reduce_groups": "the encoder of a typed aggregation",
    "chain_static_join_aggregate": "types of a table that is joined",
    "empty_last_batch": "types of a source that had no data",
    "flat_map_groups_with_state": "the encoder of a typed state",
    "map_groups_with_state": "the encoder of a typed state",
    "stream_join_state_format_3": "the third format of a join's state is not derived",
}


@pytest.mark.parametrize("pieces", ["all", "explain"])
@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_a_plan_tells_the_schemas_that_spark_wrote(folder, pieces):
    names = ["explain.txt", "formatted.txt", "logical.json"] if pieces == "all" else ["explain.txt"]
    planned = read_version([str(folder / n) for n in names if (folder / n).exists()])
    recorded = read_version([str(folder / "checkpoint")])
    derived = {(o.operator_id, s.store): s for o in planned.stateful for s in o.stores}
    for operator in recorded.stateful:
        for store in operator.stores:
            if operator.kind.value == "transform_with_state":
                continue
            made = derived[operator.operator_id, store.store]
            for part in ("key_schema", "value_schema"):
                one, other = getattr(made, part), getattr(store, part)
                if folder.parent.name in NOT_TOLD:
                    assert one is None or all(
                        bare(a.type) in (None, bare(b.type))
                        for a, b in zip(one.fields, other.fields, strict=True)
                    )
                    continue
                assert shape(one) == shape(other), part
            assert store.proven and not made.proven


def shape(schema):
    return [(bare(f.type), f.nullable) for f in schema.fields]


@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_pieces_of_one_version_agree(folder):
    version = read_version([str(folder)])
    assert not [w for w in version.warnings if not w.endswith(TRUE_OF_THE_LOG)]
    assert [o.operator_id for o in version.stateful] == list(range(len(version.stateful)))
    assert all(o.node and version.topology.node(o.node) for o in version.stateful)
    if folder.parent.name != "empty_last_batch":
        assert all(s.node and version.topology.node(s.node) for s in version.sources)
