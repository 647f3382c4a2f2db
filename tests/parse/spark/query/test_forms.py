"""Every form of one query tells the same story, under the same ids."""

import json
import re

import pytest

from headgate.parse.spark.operators.plan_forms import read_plans, shapes
from headgate.parse.spark.query.merge_forms import merge
from headgate.parse.spark.query.version import Pieces, build_version
from support.spark_golden import FOLDERS, NAMES, ROOT, all_shapes, node_ids, plans

pytestmark = pytest.mark.slow

WHOLE = [f for f in FOLDERS if (f / "formatted.txt").exists()]
MEANING = ("keys", "right_keys", "functions", "conditions")


# What a form of a query can't say as the others do, and why.
# A parsed plan is what was written, before names were looked up: it may lack operators.
SAID_APART = {
    ("aggregate_reduce_groups", "json"): "the JSON has no Java object, so no aggregator's name",
    (
        "aggregate_top_two",
        "analyzed",
    ): "a limit keeps no state in complete mode, the sink says that",
    ("aggregate_top_two", "optimized"): "likewise",
    ("aggregate_reduce_groups", "executed"): "likewise",
    ("unpivot", "executed"): "Spark writes null for the projections that unpivot makes",
    ("unpivot", "json"): "Spark writes null for the projections that unpivot makes",
    (
        "window_of_windows",
        "physical",
    ): "one line does not tell what an aggregation's columns are of",
}


def meaning(anchor):
    facts = anchor.facts
    texts = {name: sorted(t.text for t in getattr(facts, name)) for name in MEANING}
    return texts | {"column": facts.column and facts.column.text, "id": facts.operator_id}


@pytest.mark.parametrize("folder", WHOLE, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_forms_that_hold_less_have_fewer_nodes_and_no_other_ids(folder):
    found = all_shapes(folder)
    (whole,) = found["formatted"]
    for form, shapes_of in found.items():
        if form == "parsed" and "4.2.0" in folder.parts:
            continue
        for shape in shapes_of:
            hides = shape.resolved.query.hides_sources or lacks_a_source(shape, found)
            if not hides:
                assert node_ids(shape) <= node_ids(whole), form


def lacks_a_source(shape, found):
    """The last batch had no data from one source: the optimiser dropped its branch."""
    return any(s.resolved.query.has_empty_batch for same in found.values() for s in same)


@pytest.mark.parametrize("folder", WHOLE, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_forms_mean_the_same(folder):
    found = all_shapes(folder)
    (whole,) = found["formatted"]
    for form in ("json", "analyzed", "optimized", "physical", "executed"):
        if (folder.parent.name, form) in SAID_APART:
            continue
        for shape in found.get(form, ()):
            if lacks_a_source(shape, found):
                continue
            for key, anchor in shape.anchors.items():
                # That JSON has neither operator ids nor the condition of a stream join.
                apart = {"id", "conditions"} if form == "executed" else set()
                one, other = meaning(anchor), meaning(whole.anchors[key])
                assert {k: v for k, v in one.items() if k not in apart} == {
                    k: v for k, v in other.items() if k not in apart
                }, (form, key)


def renumbered(text):
    """Give every attribute another number, in an order of its own."""
    numbers = {int(n) for n in re.findall(r"#(\d+)", text)}
    fresh = {n: 700_000 - 3 * n for n in numbers}
    return re.sub(r"#(\d+)", lambda m: f"#{fresh[int(m[1])]}", text)


@pytest.mark.parametrize(("folder", "name"), list(zip(FOLDERS, NAMES, strict=True)), ids=NAMES)
def test_other_attribute_numbers_change_nothing(folder, name):
    text = (folder / "explain.txt").read_text()
    before, after = (build_version(Pieces(plans=read_plans(t))) for t in (text, renumbered(text)))
    assert before.topology == after.topology
    assert before.stateful == after.stateful
    assert before.warnings == after.warnings == ()


@pytest.mark.parametrize(
    "name", [n.removesuffix("/before") for n in NAMES if n.endswith("/before")]
)
def test_unchanged_parts_keep_their_ids(name):
    """Sources hang on the same path unless the change put an operator between them and the sink."""
    sides = (ROOT / name / side for side in ("before", "after"))
    before, after = (merge(shapes(plans(side))).shape for side in sides)
    common = before.anchors.keys() & after.anchors.keys()
    assert "sink" in common
    for key in common:
        assert before.anchors[key].word == after.anchors[key].word


def test_a_query_in_json_alone_has_sources_operators_and_sink():
    folder = ROOT / "join_left_to_inner" / "before"
    json_plan = [p for p in plans(folder) if p.form == "json"]
    version = build_version(Pieces(plans=tuple(json_plan)))
    kinds = [n.kind.value for n in version.topology.nodes]
    assert kinds.count("source") == 2
    assert kinds.count("repartition") == 0
    (join,) = version.stateful
    assert (join.keys, join.right_keys, join.join_type) == (("s0.k",), ("s1.k",), "LeftOuter")


def test_json_says_types_of_attributes():
    folder = next(f for f in FOLDERS if f.parent.name == "agg_input_decimal_precision")
    (json_plan,) = [p for p in plans(folder) if p.form == "json"]
    assert {t.type for t in json_plan.types.values()} >= {"string"}
    assert json.loads((folder / "logical.json").read_text())[0]["class"]
