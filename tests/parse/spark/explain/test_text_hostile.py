"""Whatever was done to explain text: a plan, a warning or our own error; soon; no secret kept."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_printed import SOME

from headgate.errors import HeadgateError
from headgate.parse.evidence import version_file
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.spark.explain.lines import scan
from support.disturbed import DISTURBED

pytestmark = pytest.mark.slow

TEXTS = [path.read_text() for path in SOME]
CALM = settings(
    deadline=2000, max_examples=120, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
GARBAGE = st.lists(
    st.tuples(
        st.integers(0, 60), st.text(max_size=40) | st.sampled_from(["", "+- ", ":- X", "=="])
    ),
    max_size=6,
)


def version_of(text):
    try:
        piece = recognise(text.encode("utf-8", "surrogatepass"), path="x")
        version = piece and assemble(Gathered(pieces=[piece]))
    except HeadgateError as error:
        str(error).encode()
        return None
    if version is not None:
        version_file.dump(version)
    return version


WHOLE = {text: version_of(text) for text in TEXTS}


@CALM
@given(st.sampled_from(TEXTS), st.integers(0, 20_000))
def test_any_cut_is_whole_or_says_so(text, at):
    whole, version = WHOLE[text], version_of(text[: at % len(text)])
    if version is not None and len(version.sources or ()) < len(whole.sources or ()):
        assert version.warnings


@CALM
@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False))
def test_any_order_of_lines(text, random):
    lines = text.split("\n")
    random.shuffle(lines)
    version_of("\n".join(lines))


@CALM
@given(st.sampled_from(TEXTS), GARBAGE)
def test_any_lines_between(text, garbage):
    lines = text.split("\n")
    for at, line in garbage:
        lines.insert(at % (len(lines) + 1), line)
    version_of("\n".join(lines))


@CALM
@given(st.sampled_from(TEXTS), st.text(max_size=30))
def test_any_prefix(text, prefix):
    version_of("".join(f"{prefix}{line}\n" for line in text.split("\n")))


@CALM
@given(st.sampled_from(TEXTS), st.lists(st.sampled_from(sorted(DISTURBED)), max_size=3))
def test_several_disturbances(text, ways):
    for way in ways:
        text = DISTURBED[way](text)
    version_of(text)


NAMES = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["a.b", 'a"b', "a]b", "a(b", "a\nb", "<script>alert(1)</script>", "🦀", "a#1", " ", "a, b"]
)


@CALM
@given(NAMES, NAMES)
def test_any_name(first, second):
    text = (
        "== Physical Plan ==\n"
        f"Project [{first}#1, ({second}#2 + 1) AS {first}{second}#3]\n"
        f"+- StreamingRelation FileSource[/d/{second}], [{first}#1, {second}#2]\n"
    )
    version_of(text)


SECRETS = [
    'StreamingRelationV2 p@1, kafka, t@2, [kafka.sasl.jaas.config=X required username="u"'
    ' password="hunter,]2";, subscribe=t], [k#1]',
    "ScanV2 kafka[k#1] (Options: [kafka.ssl.key.password=hunter2,subscribe=t])",
    "FileScan json [k#1] Batched: false, Location: InMemoryFileIndex[s3a://AK:hunter2@bucket/x]",
    "Relation [k#1] JDBCRelation(t) [url=jdbc:x://h/d?user=u&password=hunter2]",
]
IN_EXPRESSIONS = [
    "https://u:hunter2@h/",
    "password=hunter2",
    "https://h/?token=hunter2",
    "apiKey=hunter2",
]


@pytest.mark.parametrize("leaf", SECRETS)
@pytest.mark.parametrize(
    "form", ["Physical Plan", "Optimized Logical Plan", "Analyzed Logical Plan"]
)
def test_options_hold_no_secret_when_read(leaf, form):
    version = version_of(f"== {form} Plan ==\nk: string\nProject [k#1]\n+- {leaf}\n")
    assert b"hunter" not in version_file.dump(version)


@pytest.mark.parametrize("literal", IN_EXPRESSIONS)
def test_literals_hold_no_secret_when_read(literal):
    text = f"== Physical Plan ==\nFilter (k#1 = {literal})\n+- FileScan json [k#1]\n"
    version = version_of(text)
    assert b"hunter2" not in version_file.dump(version)
    assert [n.operator for n in version.topology.nodes] == ["json", "filter", "sink"]


def test_a_sinks_secret_is_masked():
    text = (
        "== Parsed Logical Plan ==\nWriteToMicroBatchDataSourceV1 FileSink[s3a://AK:hunter2@b/x],"
        " 1, [checkpointLocation=/c, password=hunter2], Append, 0\n+- StreamingRelation r, [k#1]\n"
    )
    assert b"hunter2" not in version_file.dump(version_of(text))


def test_columns_named_like_secrets_are_columns():
    text = "== Physical Plan ==\nFilter (token#1 = 5)\n+- FileScan json [token#1,password#2]\n"
    (node,) = [n for n in version_of(text).topology.nodes if n.operator == "filter"]
    assert node.details["conditions"] == ["(s0.token = 5)"]


def test_half_a_character_in_json_is_no_trace():
    node = {"class": "org.apache.spark.sql.catalyst.plans.logical.Project", "num-children": 0}
    text = json.dumps([node | {"projectList": [], "x": "\ud800"}, {"y": "\\ud800 \U0001f980"}])
    assert version_of(text) is not None


def test_a_cut_plans_json_says_where():
    node = {"class": "org.apache.spark.sql.catalyst.plans.logical.Project", "num-children": 1}
    text = json.dumps([node | {"projectList": []}] * 3)[:-20]
    version = version_of(text)
    assert "x looks like a query plan as JSON, but ends early at byte" in version.warnings[0]
    assert any("missing" in n.label for n in version.topology.nodes)


PLAN = "== Physical Plan ==\nX\n"
HUGE = {
    "deep indentation": lambda n: PLAN + " " * 3 * n + "+- Y [a#1]\n",
    "a long line": lambda n: f"{PLAN}+- Project [{'a#1, ' * n}b#2]\n   +- Y [a#1]",
    "many brackets": lambda n: f"{PLAN}+- Filter {'(' * n}\n   +- Y [a#1]",
    "many lines": lambda n: PLAN + "INFO nothing\n" * n,
    "many headings": lambda n: "== Physical Plan ==\nFileScan json [a#1]\n\n" * n,
    "many blank lines": lambda n: PLAN + "\n" * n + "+- Y",
    "garbage between rows": lambda n: PLAN + "z\n+- Y\nz\n" * n,
    "open brackets below": lambda n: "== Physical Plan ==\nX (\n" + "(z\n" * n,
    "rails alone": lambda n: PLAN + ":- Y\n" * n,
    "escapes": lambda n: '{"m": "== Physical Plan ==\\nX' + "\\n+- Y" * n,
    "colours": lambda n: "== Physical Plan ==\n" + "\x1b[3" * n,
    "dashes": lambda n: PLAN + " - -" * n + "\n",
    "wrapped": lambda n: PLAN + ("y" * 80 + "\n") * n,
}


@pytest.mark.parametrize("kind", HUGE)
def test_no_size_makes_it_hang(kind):
    """Ten times the text takes about ten times as long, more or less on a busy machine."""
    small, large = (HUGE[kind](n) for n in (2_000, 20_000))
    first, second = _took(small), _took(large)
    assert second < 40 * first + 0.5


def _took(text):
    begun = time.process_time()
    version_of(text)
    return time.process_time() - begun


def test_a_text_of_many_megabytes():
    text = PLAN + " " * 10_000_000 + "\n" + "y" * 10_000_000
    assert _took(text) < 5


def test_rails_are_found_in_place():
    lines = scan("X\n:- Y\n:  +- Z\n   a - b\n+- W")
    assert [(line.column, line.text) for line in lines] == [
        (-1, "X"),
        (0, ":- Y"),
        (3, "+- Z"),
        (-1, "   a - b"),
        (0, "+- W"),
    ]
