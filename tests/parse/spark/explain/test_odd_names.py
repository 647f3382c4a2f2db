"""Columns with names that break a plan's text: what is read of them, from text and from JSON.

Spark prints names as they are, so the recorded plans of a column `größe` are those of any name.
The others were recorded on Spark 4.2 with the names that they have.
"""

from pathlib import Path

import pytest

from headgate.parse.spark.explain.odd_names import decode, encode, is_odd
from headgate.parse.spark.explain.printed_names import encode_names
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.usecases.evidence.read_version import read_version

GOLDEN = Path(__file__).parents[3] / "golden" / "odd_names"
TEXT, JSON = ("explain.txt",), ("logical.json",)
BOTH = (*TEXT, *JSON)
NAMES = (
    "größe", "a.b", "f,g", "City, State", "(paren", "close)", "h AS i", "x#12", "#13L", "a -> b",
    "[0]", "c`d", "sum(v)", 'q"q', "s's", "unit price (EUR)", "a: b", "+- x", "*(1) y", "-z",
    "... 3 more fields", "s0.v", " both ", "],[",
)  # fmt: skip
WORD = "größe"
PLAIN = (WORD,)


def read(folder, files):
    return read_version([str(GOLDEN / folder / name) for name in files])


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def named(tmp_path, name):
    """Return a reader of the recorded plans, in which the column has this name."""

    def made(folder, files):
        paths = []
        for file in files:
            text = (GOLDEN / folder / file).read_text(encoding="utf-8")
            given = name.replace("\\", "\\\\").replace('"', '\\"') if file in JSON else name
            path = tmp_path / f"{folder}-{file}"
            path.write_text(text.replace(WORD, given), encoding="utf-8")
            paths.append(str(path))
        return read_version(paths)

    return made


def shown(name):
    """Return the name as it stands in an expression."""
    return name if name in PLAIN else "`" + name.replace("`", "``") + "`"


@pytest.mark.parametrize("files", [TEXT, JSON, BOTH], ids="+".join)
def test_a_name_is_read_whole(named, name, files):
    version = named("word_a", files)
    assert version.sources[0].columns == ("k", name, "other")
    (operator,) = version.stateful
    assert operator.keys == ("s0.k",)
    assert operator.functions == (f"max(s0.{shown(name)})", "max(s0.other)")
    assert [f.name for f in version.sink.schema.fields] == ["k", "m1", "m2"]
    assert version.warnings == ()


@pytest.mark.parametrize("files", [TEXT, JSON, BOTH], ids="+".join)
def test_changes_of_odd_names_are_judged_as_those_of_plain_ones(named, files):
    same = compare(named("word_a", files), named("word_a", files))
    assert {f.rule for f in same.findings} <= {"STA003"}
    swapped = compare(named("word_a", files), named("word_b", files))
    assert swapped.outcome is Outcome.SILENTLY_WRONG
    assert [f.rule for f in swapped.findings][:2] == ["AGG002", "AGG002"]
    rekeyed = compare(named("word_k", files), named("word_k2", files))
    assert rekeyed.outcome is Outcome.SILENTLY_WRONG
    assert rekeyed.findings[0].rule == "AGG001"


def test_state_has_the_types_that_json_tells(named, name):
    (operator,) = named("word_k", BOTH).stateful
    (store,) = operator.stores
    assert [(f.name, f.type) for f in store.key_schema.fields] == [(name, "long")]
    assert [(f.name, f.type) for f in store.value_schema.fields] == [("max", "long")]


FORMATTED = ("formatted.txt",)


@pytest.mark.parametrize("files", [TEXT, FORMATTED, JSON, (*BOTH, *FORMATTED)], ids="+".join)
def test_fields_of_parsed_json_keep_their_names(files):
    (operator,) = read("json_a", files).stateful
    assert operator.functions == (
        "max(from_json(s0.value).`City, State`)",
        "max(from_json(s0.value).`a.b`)",
    )
    swapped = compare(read("json_a", files), read("json_b", files))
    assert [f.rule for f in swapped.findings][:2] == ["AGG002", "AGG002"]


@pytest.mark.parametrize("files", [TEXT, FORMATTED, JSON, (*BOTH, *FORMATTED)], ids="+".join)
def test_fields_that_the_optimizer_names_are_read(files):
    (operator,) = read("struct_a", files).stateful
    assert operator.functions == ("max(s0.data.`City, State`)", "max(s0.data.`a.b`)")


@pytest.mark.parametrize("files", [TEXT, FORMATTED, JSON], ids="+".join)
def test_names_that_a_query_gives_are_read(files):
    fields = read("alias_a", files).sink.schema.fields
    assert [f.name for f in fields] == ["k", "max of close)", "m, n", "h AS i"]
    (join,) = read("join", files).stateful
    assert (join.keys, join.right_keys) == (("s0.`k, l`",), ("s0.`k, l`",))
    names = [f.name for f in read("join", files).sink.schema.fields]
    assert names == ["k, l", "v.w", "ts", "k2 (x", "v2", "ts 2"]


@pytest.mark.parametrize("files", [TEXT, FORMATTED], ids="+".join)
@pytest.mark.parametrize(
    ("folder", "column"),
    [("renamed_a", "data#92.City, State AS total#"), ("renamed_b", "data#92.x#12 AS total#")],
)
def test_an_ambiguous_text_asks_for_the_column(files, folder, column):
    version = read(folder, files)
    (operator,) = version.stateful
    assert operator.functions is None
    (store,) = operator.stores
    assert [f.type for f in store.value_schema.fields] == [None]
    for other in ("renamed_a", "renamed_b"):
        report = compare(version, read(other, files))
        assert report.outcome is Outcome.UNKNOWN
        asked = [f for f in report.findings if f.rule == "EVD005"]
        assert column in asked[0].question
        assert "headgate capture" in asked[0].remedy


def test_exact_names_settle_an_ambiguous_text():
    files = (*BOTH, *FORMATTED)
    before, after = read("renamed_a", files), read("renamed_b", files)
    assert before.warnings == after.warnings == ()
    assert before.stateful[0].functions == ("max(s0.data.`City, State`)",)
    assert compare(before, after).findings[0].rule == "AGG002"
    assert compare(before, before).outcome is Outcome.RESUMES


@pytest.mark.parametrize("name", [*NAMES, "a\u00a0b, c", "`a`", "line\nbreak"])
def test_a_word_stands_for_a_name_and_comes_back(name):
    assert decode(encode(name)) == name
    assert is_odd(name) is (encode(name) != name)
    if is_odd(name):
        assert encode(name).isidentifier() or name[0].isdigit()


@pytest.mark.parametrize(
    "name", ["v", "größe", "order-id", "count(DISTINCT a, b)", "avg(v#12)", "(a + 1)", "sum(a.b)"]
)
def test_what_breaks_nothing_stays_as_it_is(name):
    assert encode(name) == name


def test_constants_are_no_names():
    text = (
        "== Physical Plan ==\n"
        "*(1) Filter (note#1 = paid AS usual, thanks) AND (b#2 = 1)\n"
        "+- FileScan json [note#1,b#2] Batched: false"
    )
    assert encode_names(text) == text
