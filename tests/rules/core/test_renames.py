"""`--rename KIND:OLD=NEW`: what it pairs, and what is said where it names nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.errors import RenameError
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.declared_renames import read_renames
from headgate.rules.core.report import ChangeKind
from headgate.usecases.evidence.read_version import read_version
from rules.build import aggregate, files, graph, kafka, version

CASES = Path(__file__).parents[2] / "cases"
OLD = version(aggregate(), topology=graph(("filter", "s0.v > 1")))
NEW = version(aggregate(), topology=graph(("project", "s0.v AS w")))


def kinds(report):
    return sorted(c.kind for c in report.changes)


@pytest.mark.parametrize("rename", ["operator:filter0=project0", "operator:s0.v > 1=s0.v AS w"])
def test_a_renamed_operator_is_one_change(rename):
    assert kinds(compare(OLD, NEW)) == [ChangeKind.ADDED, ChangeKind.REMOVED]
    report = compare(OLD, NEW, renames=[rename])
    assert kinds(report) == [ChangeKind.CHANGED]
    assert "(declared as a rename)" in report.changes[0].what
    assert report.matches["filter0"] == "project0"


def test_findings_follow_the_rename():
    plain = [(f.rule, f.location) for f in compare(OLD, NEW).findings if f.rule == "TRF001"]
    found = compare(OLD, NEW, renames=["operator:filter0=project0"]).findings
    renamed = [(f.rule, f.location) for f in found if f.rule == "TRF001"]
    assert len(plain) == 2
    assert [(w.before, w.after) for _, w in renamed] == [("filter0", "project0")]


def test_a_label_that_holds_an_equals_sign_is_split_where_both_sides_exist():
    def with_filter(condition):
        return version(aggregate(), topology=graph(("filter", condition)))

    found = read_renames(["operator:a = 1=b = 2"], with_filter("a = 1"), with_filter("b = 2"))
    assert found.nodes == (("filter0", "filter0"),)


def test_a_stateful_operator_goes_by_its_number():
    before, after = version(aggregate()), version(aggregate(operator_id=3))
    assert read_renames(["operator:0=3"], before, after).nodes == (("aggregate", "aggregate"),)


def test_sources_go_by_name_topic_and_path():
    before = version(aggregate(), sources=(kafka(topics=("orders",)),))
    after = version(aggregate(), sources=(kafka(topics=("orders-v2",)),))
    assert read_renames(["source:orders=orders-v2"], before, after).sources == {
        "orders": "orders-v2"
    }
    named = [version(sources=(files(name=n, path="/in"),)) for n in ("a", "b")]
    assert read_renames(["source:a=b"], *named).sources == {"a": "b"}
    assert read_renames(["source:/in=/in"], *named).sources == {"a": "b"}


def streams(case, side):
    return read_version([str(CASES / "kafka_streams" / case / side)])


def test_stores_of_kafka_streams_go_by_their_names():
    case = "U02a_insert_mapvalues_unnamed"
    before, after = streams(case, "before"), streams(case, "after")
    name = "KSTREAM-AGGREGATE-STATE-STORE-000000000"
    rename = f"store:{name}1={name}2"
    found = read_renames([rename], before, after)
    assert found.stores == {f"{name}1": f"{name}2"}
    report = compare(before, after, renames=[rename])
    stores = [c for c in report.changes if "STATE-STORE" in c.what]
    assert [c.kind for c in stores] == [ChangeKind.CHANGED]


def test_operators_of_kafka_streams_go_by_the_names_of_the_description():
    before = streams("U02a_insert_mapvalues_unnamed", "before")
    name = "KSTREAM-AGGREGATE-0000000002"
    assert read_renames([f"operator:{name}={name}"], before, before).operators == {name: name}


def two(label):
    nodes = [Node(f"n{i}", NodeKind.TRANSFORM, "filter", label) for i in range(2)]
    edges = tuple(Edge(a.id, b.id) for a, b in pairwise(nodes))
    return replace(version(), topology=Topology(tuple(nodes), edges))


@pytest.mark.parametrize(
    ("renames", "said"),
    [
        (["nonsense"], "Use one of these forms: source:OLD=NEW, store:OLD=NEW, operator:OLD=NEW"),
        (["topic:a=b"], "isn't valid"),
        (["operator:=b"], "isn't valid"),
        (
            ["operator:gone=project0"],
            "the old version has no operator 'gone'. Operators in its evidence: ",
        ),
        (["operator:filter0=gone"], "the new version has no operator 'gone'"),
        (["store:a=b"], "the old version has no store 'a'. Stores in its evidence: none"),
        (["operator:filter0=project0", "operator:filter0=sink"], "another --rename"),
    ],
)
def test_a_rename_of_nothing_is_one_sentence(renames, said):
    with pytest.raises(RenameError, match=said) as raised:
        compare(OLD, NEW, renames=renames)
    assert "\n" not in str(raised.value)


def test_a_label_of_several_asks_which():
    with pytest.raises(RenameError, match="2 operators of the old version have the name 'same'"):
        read_renames(["operator:same=n0"], two("same"), two("other"))


def test_the_command_line_exits_with_2():
    case = CASES / "spark" / "agg_min_to_max"
    sides = [f"--before={case / 'before'}", f"--after={case / 'after'}"]
    result = CliRunner().invoke(headgate, ["diff", *sides, "--rename=source:a=b"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: --rename source:a=b: the old version has no source 'a'")
