"""Derived schemas against those that Spark wrote for the same query."""

import pytest

from headgate.parse.spark.state import bare
from headgate.usecases.read_version import read_version
from spark_golden import FOLDERS

RECORDED = [f for f in FOLDERS if (f / "checkpoint").exists()]


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
                assert shape(getattr(made, part)) == shape(getattr(store, part)), part
            assert store.proven and not made.proven


def shape(schema):
    return [(bare(f.type), f.nullable) for f in schema.fields]


@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_pieces_of_one_version_agree(folder):
    version = read_version([str(folder)])
    assert version.warnings == ()
    assert [o.operator_id for o in version.stateful] == list(range(len(version.stateful)))
    assert all(o.node and version.topology.node(o.node) for o in version.stateful)
    assert all(s.node and version.topology.node(s.node) for s in version.sources)
