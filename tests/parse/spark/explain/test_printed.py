"""Every form that Spark 4.2 prints of one query tells one story, whatever was done to the text."""

from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from support.disturbed import DISTURBED

ROOT = Path(__file__).parents[3] / "golden" / "forms" / "4.2.0"
# Written by hand, after the queries in `record.py`: kinds of operators from source to sink.
OPERATORS = {
    "stateless": {"filter", "project"},
    "static_join": {"static_join"},
    "window": {"watermark", "aggregate", "exchange", "state_store"},
    "stream_join": {"watermark", "stream_join", "exchange", "state_store"},
    "wide": {"project"},
    "subquery": {"filter"},
    "user_shuffle": {"exchange"},
    "union_dedup": {"watermark", "union", "deduplicate_within_watermark", "state_store"},
}
# In the plan of a running batch a scan of a stream's files looks like any other.
AMBIGUOUS = ("query_simple.txt", "ui_formatted.txt", "ui_simple.txt")
REFUSED = ("subquery-df_cost", "subquery-df_codegen")


def name(path):
    return f"{path.parent.name}-{path.stem}"


FILES = [
    f
    for f in sorted(ROOT.rglob("*.txt"))
    if f.parent.name in OPERATORS and not f.stem.startswith("batch_") and "codegen" not in f.stem
    if name(f) not in REFUSED
]
SOME = [
    ROOT / name / f"{form}.txt"
    for name, form in (
        ("window", "query_extended"),
        ("window", "df_formatted"),
        ("stream_join", "query_simple"),
        ("static_join", "ui_formatted"),
        ("subquery", "query_simple"),
        ("union_dedup", "df_cost"),
    )
]


def version_of(text, query=None):
    piece = recognise(text.encode(), path="x")
    return piece and assemble(Gathered(pieces=[piece]), query=query)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_form_shows_the_operators_of_its_query(path):
    version = version_of(path.read_text())
    shown = {n.operator for n in version.topology.nodes}
    assert shown >= OPERATORS[path.parent.name]
    assert "unknown" not in shown
    if path.name in AMBIGUOUS and path.parent.name == "static_join":
        return
    sources = 2 if path.parent.name in ("stream_join", "union_dedup") else 1
    assert len(version.sources) == sources


def test_a_refusal_in_the_place_of_a_plan_is_told():
    refused = (ROOT / "subquery" / "df_cost.txt").read_text()
    with pytest.raises(EvidenceError, match="x has a Spark error instead of a query plan: org"):
        version_of(refused)
    lost = "org.apache.spark.SparkException: Job aborted;"
    extended = (ROOT / "window" / "df_extended.txt").read_text()
    version = version_of(
        extended.partition("== Optimized")[0] + f"== Optimized Logical Plan ==\n{lost}"
    )
    assert (
        "has a Spark error instead of one of its query plans: org.apache.spark"
        in version.warnings[0]
    )


def test_a_query_that_has_not_started_has_its_analyzed_plan():
    version = version_of((ROOT / "subquery" / "df_extended.txt").read_text())
    assert not any("Spark error" in w for w in version.warnings)
    assert {n.operator for n in version.topology.nodes} >= OPERATORS["subquery"]


@pytest.mark.parametrize("trigger", ["continuous", "micro_batch"])
@pytest.mark.parametrize("form", ["query_simple", "query_extended"])
def test_triggers_of_their_own_operators(trigger, form):
    version = version_of((ROOT / f"rate_{trigger}" / f"{form}.txt").read_text())
    operators = [n.operator for n in version.topology.nodes]
    assert operators[:3] == ["rate", "filter", "project"]
    assert not version.warnings


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*codegen.txt")), ids=name)
def test_codegen_says_that_it_is_a_part(path):
    if name(path) in REFUSED or "Found 0" in path.read_text():
        assert version_of(path.read_text()) is None
        return
    assert any("only compiled subtrees" in w for w in version_of(path.read_text()).warnings)


def test_an_adaptive_plan_is_its_final_one():
    version = version_of((ROOT / "static_join" / "query_simple.txt").read_text())
    assert [n.operator for n in version.topology.nodes].count("static_join") == 1


@pytest.mark.parametrize("path", SOME, ids=name)
@pytest.mark.parametrize("way", DISTURBED)
def test_what_was_done_to_the_text_changes_nothing(path, way):
    plain = version_of(path.read_text())
    disturbed = version_of(DISTURBED[way](path.read_text()))
    assert disturbed.topology == plain.topology
    assert disturbed.stateful == plain.stateful
    said = {w for w in disturbed.warnings if "part of the query plan" not in w}
    assert said <= set(plain.warnings)


def test_a_line_that_is_no_part_of_the_plan_is_named():
    text = (ROOT / "stream_join" / "query_simple.txt").read_text()
    disturbed = version_of(DISTURBED["a log between"](text))
    assert (
        "line 9 isn't part of the query plan: 26/11/21 08:00:00 WARN Foo: (bar"
        in disturbed.warnings
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in SOME if "formatted" not in p.stem], ids=name)
def test_a_plan_that_is_cut_at_any_line_says_so(path):
    """Unless the rest is another form of the plan, or an adaptive plan's initial one."""
    lines = path.read_text().rstrip().split("\n")
    whole = version_of("\n".join(lines))
    for count in range(2, len(lines)):
        version = version_of("\n".join(lines[:count]))
        if version is not None and version.topology != whole.topology:
            same = len(version.sources) == len(whole.sources)
            assert version.warnings or same, count


def test_formatted_without_details_or_without_some_says_which_are_missing():
    text = (ROOT / "window" / "df_formatted.txt").read_text()
    tree, _, details = text.partition("\n\n")
    version = version_of(tree)
    operators = [n.operator for n in version.topology.nodes]
    assert operators.count("aggregate") == 1
    assert "lacks the operator details" in version.warnings[0]
    some = version_of(f"{tree}\n\n{details.split('(5)')[0]}")
    assert "lacks the details of 7 operators: 5, 6, 7, 8, 9, ..." in some.warnings[0]
    apart = version_of(f"{tree}\n\n26/11/21 08:00:00 INFO Foo: bar\n\n{details}")
    assert apart.topology == version_of(text).topology


def test_a_tree_without_its_heading_is_read():
    text = (ROOT / "window" / "query_simple.txt").read_text()
    bare = text.replace("== Physical Plan ==\n", "")
    assert version_of(bare).topology == version_of(text).topology
    begun = version_of(bare.split("\n", 2)[2])
    assert "starts in the middle: the text above line 1 is missing" in begun.warnings[0]


def test_the_rows_of_a_subquery_feed_nothing():
    for form in ("query_simple", "query_extended", "ui_formatted", "ui_cost"):
        version = version_of((ROOT / "subquery" / f"{form}.txt").read_text())
        assert [n.operator for n in version.topology.nodes][:2] == ["json", "filter"]
