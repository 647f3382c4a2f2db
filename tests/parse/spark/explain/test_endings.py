"""Plans that break off in their last operator, where all brackets are shut."""

from pathlib import Path

import pytest

from headgate.parse.spark.explain.sections import split_sections
from headgate.parse.spark.explain.tree import read_section

SCAN = (
    "FileScan json [k#1] Batched: false, DataFilters: [], Format: JSON, "
    "Location: InMemoryFileIndex(1 paths)[file:/data/in], PartitionFilters: [], PushedFilters: [], "
    "ReadSchema: struct<k:string,t:struct<a:int>>"
)
DETAILS = """== Physical Plan ==
* HashAggregate (3)
+- * Project (2)
   +- StreamingRelation (1)


(1) StreamingRelation
Output [1]: [k#1]
Arguments: FileSource[/data/in], [k#1]

(2) Project [codegen id : 1]
Output [1]: [k#1]
Input [1]: [k#1]

(3) HashAggregate [codegen id : 2]
Input [1]: [k#1]
Keys [1]: [k#1]
Functions [1]: [count(1)]
Aggregate Attributes [1]: [count(1)#7L]
Results [2]: [k#1, count(1)#7L AS n#8L]

"""


def warnings(text):
    return [w for s in split_sections(text) if (plan := read_section(s)) for w in plan.warnings]


@pytest.mark.parametrize(
    "last",
    [
        "EventTimeWatermark 4a6836f0-ad03-4024",
        "HashAggregate(keys=[k#1], functions=[count(1)])",
        SCAN[: SCAN.index(", Format") + 5],
        SCAN[: SCAN.index("struct<a")],
        SCAN[: SCAN.index("truct<k")],
        "FileScan js",
        "FileScan json [k#1]",
        "Relation [k#1] j",
        "Relation [k#1] pa",
    ],
)
def test_a_last_row_that_spark_never_ends_with_is_cut(last):
    said = warnings(f"== Physical Plan ==\nProject [k#1]\n+- {last}")
    assert any("ends in the middle of line 3" in w for w in said), said


@pytest.mark.parametrize("last", [SCAN, "Relation [k#1] json", "LocalTableScan <empty>, [k#1]"])
def test_a_leaf_is_whole(last):
    assert warnings(f"== Physical Plan ==\nProject [k#1]\n+- {last}") == []


def test_an_analysed_plan_that_ends_with_its_result_line_is_cut():
    assert warnings("== Analyzed Logical Plan ==\nk: string, n: bigint")


def test_whole_details_say_nothing():
    assert warnings(DETAILS) == []


@pytest.mark.parametrize("end", ["Results", "Keys", "Input [1]: [k#1]\nKeys", "HashAgg"])
def test_details_without_their_last_line_are_cut(end):
    said = warnings(DETAILS[: DETAILS.rindex(end) + (7 if end == "HashAgg" else 0)])
    assert any("details" in w for w in said), said


@pytest.mark.parametrize("end", ["eSource[", "data/in]"])
def test_a_source_that_is_not_named_whole_is_cut(end):
    text = DETAILS[: DETAILS.index(end)].replace(
        "* HashAggregate (3)\n+- * Project (2)\n   +- ", ""
    )
    assert any("details" in w for w in warnings(text))


def test_a_constant_of_bytes_opens_no_bracket():
    # Java prints the array's address: `[[version,[B@38d34945]] AS headers#8090]`.
    case = Path(__file__).parents[3] / "cases" / "spark_pulls_ninth" / "regatta_headers_in_sink"
    text = (case / "after" / "formatted.txt").read_text()
    assert "[B@" in text.splitlines()[-1]
    assert not warnings(text)
    assert warnings(text.rstrip()[:-1])
