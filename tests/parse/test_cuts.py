"""Evidence that is cut off: the same facts or a warning, and no verdict from the cut alone."""

import random

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from support.cut_evidence import GOLDEN, KINDS, faults_of_cut, files, places, version_of

pytestmark = pytest.mark.slow

SPARK = GOLDEN / "spark/4.2.0"
STREAMS = GOLDEN / "streams/4.3.1"
# A file, the text that stands before the cut, and what the warning says.
CUTS = {
    "below a heading": (
        SPARK / "aggregate_by_key/capture/explain.txt",
        "== Analyzed Logical Plan ==\n",
        "nothing follows the analyzed plan's heading",
    ),
    "in the list of the result": (
        SPARK / "aggregate_by_key/capture/explain.txt",
        "== Analyzed Logical Plan ==\nk: ",
        "the text ends after the analyzed plan",
    ),
    "above the physical plan": (
        SPARK / "aggregate_by_key/capture/explain.txt",
        "\n\n== Physical ",
        "the text ends after the optimized plan",
    ),
    "in the last source": (
        SPARK / "aggregate_by_key/capture/simple.txt",
        "+- StreamingRelation FileSou",
        "ends in the middle of line",
    ),
    "in the arguments of the last details": (
        SPARK / "aggregate_by_key/capture/formatted.txt",
        "stateStoreCkptIds = None, App",
        "ends in the middle of the operator details",
    ),
    "below the first source": (
        STREAMS / "count_by_key.txt",
        "(topics: [in])\n",
        "the text ends before the arrows of KSTREAM-SOURCE-0000000000",
    ),
    "below a sub-topology": (
        STREAMS / "count_by_key.txt",
        "Sub-topology: 0\n",
        None,
    ),
    "above the reader of a repartition": (
        STREAMS / "repartition.txt",
        "\n\n  Sub-t",
        "the description is incomplete: no source node reads",
    ),
    "above the global stores": (
        GOLDEN / "streams/1.0.2/global_join.txt",
        "<-- KSTREAM-LEFTJOIN-0000000003\n",
        "the text ends before `Global Stores:`",
    ),
}


@pytest.mark.parametrize("location", CUTS)
def test_what_ends_too_early_says_so(location):
    path, before, said = CUTS[location]
    data = path.read_bytes()
    whole = version_of(data)
    at = data.index(before.encode()) + len(before)
    cut = version_of(data[:at])
    if said is None:
        assert cut is None
        return
    assert any(said in w for w in cut.warnings), cut.warnings
    outcomes = {compare(*pair).outcome for pair in ((whole, cut), (cut, whole))}
    assert outcomes <= {Outcome.UNKNOWN, Outcome.RESUMES}


@pytest.mark.parametrize("kind", KINDS)
def test_golden_texts_are_whole(kind):
    """What cuts are told by is in no text that Spark or Kafka Streams printed as a whole."""
    said = {}
    for path in files(kind):
        version = version_of(path.read_bytes())
        for warning in version.warnings if version else ():
            if "is incomplete" in warning or "ends in the middle" in warning:
                said[str(path.relative_to(GOLDEN))] = warning
    assert not said


def wrong(kind, seed, count, each, recorded=False):
    chance = random.Random(seed)
    texts = {path.read_bytes(): path for path in files(kind, recorded)}
    found, cuts = {}, 0
    for data in chance.sample(sorted(texts), min(count, len(texts))):
        whole = version_of(data)
        for at in places(data, each, chance) if whole else ():
            cuts += 1
            if faults := sorted(set(faults_of_cut(data, at, whole))):
                found[f"{texts[data]}:{at}"] = faults
    return found, cuts


@pytest.mark.parametrize("kind", KINDS)
def test_any_cut_is_told(kind):
    found, cuts = wrong(kind, seed=8, count=12, each=6)
    assert not found
    assert cuts > 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0, *(pytest.param(p, marks=pytest.mark.long) for p in (1, 2, 3))])
def test_thousands_of_cuts_are_told(kind, part):
    found, cuts = wrong(kind, seed=part, count=40, each=10, recorded=True)
    assert not found
    assert cuts >= 200
