"""What logs, terminals and Spark's own limits do to explain text."""

import pytest

from headgate.parse.spark.operators.plan_forms import read_plans
from headgate.parse.spark.query.version import Pieces, build_version
from support.spark_golden import FOLDERS

TEXT = (
    next(f for f in FOLDERS if f.parent.name == "session_gap").joinpath("explain.txt").read_text()
)


def version_of(text):
    return build_version(Pieces(plans=read_plans(text)))


def coloured(text):
    return "".join(f"\x1b[32m{line}\x1b[0m\n" for line in text.splitlines())


def logged(text):
    return "".join(
        f"26/11/21 08:{n // 60:02}:{n % 60:02} INFO Shop: {line}\n"
        for n, line in enumerate(text.splitlines())
    )


@pytest.mark.parametrize(
    "disturb",
    [
        coloured,
        logged,
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: "".join(f"    {line}\n" for line in t.splitlines()),
        lambda t: "Starting ...\n\n" + t + "\n== Photon Explanation ==\nPhoton does not\n",
        lambda t: "".join(f"app-1  | {line}\n" for line in t.splitlines()),
    ],
    ids=["colours", "log", "crlf", "bom", "indented", "other text around", "compose"],
)
def test_what_surrounds_a_plan_changes_nothing(disturb):
    plain, disturbed = version_of(TEXT), version_of(disturb(TEXT))
    assert disturbed.topology == plain.topology
    assert disturbed.stateful == plain.stateful


SCAN = "FileScan json [a#1] Location: InMemoryFileIndex[file:/in], ReadSchema: struct<a:int>"


def test_a_cut_plan_says_so():
    text = f"== Physical Plan ==\nProject [a#1, ... 23 more fields]\n+- {SCAN}\n"
    (warning,) = version_of(text).warnings
    assert "lacks 23 fields" in warning
    assert "maxToStringFields" in warning


_WITH = """== Parsed Logical Plan ==
CTE [x]
:  +- 'SubqueryAlias x
:     +- 'Project ['k, scalar-subquery#7 [] AS top#8]
:        :  +- 'Project [unresolvedalias('max('n))]
:        :     +- 'UnresolvedRelation [lim], [], false
:        +- 'UnresolvedRelation [a_in], [], false
+- 'Aggregate ['k], ['k, 'count(1) AS n#9]
   +- 'UnresolvedRelation [x], [], false
"""


def test_a_with_clause_lacks_nothing():
    (warning,) = read_plans(_WITH)[0].warnings
    assert warning.endswith("the text ends after the parsed plan")


def test_what_the_parsed_plan_lacks_is_in_the_analysed_one():
    section = "== Parsed Logical Plan ==\n'Aggregate ['k]\n:  +- 'Project\n\n"
    rest = TEXT[TEXT.index("== Analyzed") :]
    assert version_of(section).warnings
    assert version_of(section + rest).warnings == version_of(TEXT).warnings


def test_an_operator_of_no_known_name_is_a_node_and_a_warning():
    text = f"== Physical Plan ==\nPhotonMagic [k#1]\n+- {SCAN}\n"
    version = version_of(text)
    assert [n.operator for n in version.topology.nodes] == ["json", "unknown", "sink"]
    assert "PhotonMagic" in version.warnings[0]


def test_statistics_and_code_are_passed_over():
    cost = (
        "== Optimized Logical Plan ==\n"
        "Filter (v#2 > 3), Statistics(sizeInBytes=8.0 EiB)\n"
        "+- Relation [k#1,v#2] json, Statistics(sizeInBytes=8.0 EiB, rowCount=3)\n"
    )
    (node,) = [n for n in version_of(cost).topology.nodes if n.operator == "filter"]
    assert node.details["conditions"] == ["(s0.v > 3)"]
    code = (
        "Found 1 WholeStageCodegen subtrees.\n"
        "== Subtree 1 / 1 (maxMethodCodeSize:283; maxConstantPoolSize:139(0.21% used)) ==\n"
        "*(1) Filter (v#2 > 3)\n+- FileScan json [k#1,v#2]\n\nGenerated code:\n/* 001 */ public\n"
    )
    assert [n.operator for n in version_of(code).topology.nodes] == ["json", "filter", "sink"]


def test_the_empty_last_batch_hides_no_sources():
    text = (
        "== Analyzed Logical Plan ==\nk: string, c: bigint\n"
        "~WriteToMicroBatchDataSourceV1 ForeachBatchSink, 1, [checkpointLocation=/c], Update, 3\n"
        "+- ~Aggregate [k#1], [k#1, count(1) AS c#2L]\n"
        "   +- ~LocalRelation <empty>, [k#1]\n\n"
        "== Physical Plan ==\n"
        "*(2) HashAggregate(keys=[k#1], functions=[count(1)], output=[k#1, c#2L])\n"
        "+- StateStoreSave [k#1], state info [ checkpoint = file:/c/state, runId = 1, opId = 0,"
        " ver = 3, numPartitions = 5] stateStoreCkptIds = None, Update, 0, 0, 2\n"
        "   +- LocalTableScan <empty>, [k#1, count#3L]\n"
    )
    version = version_of(text)
    assert len(version.sources) == 1
    assert version.output_mode == "Update"
    (operator,) = version.stateful
    assert operator.functions == ("count(1)",)
    assert operator.stores[0].partitions == 5


@pytest.mark.parametrize("text", ["", "== Physical Plan ==", "hello", "== Physical Plan ==\n\n"])
def test_nothing_comes_of_nothing(text):
    assert read_plans(text) == ()
