"""What evidence leaves open is said, and not said once something tells it."""

import re
from dataclasses import replace

import pytest

from headgate.model.version import Engine, Evidence, Version
from headgate.parse.evidence.limits import limits_of
from headgate.usecases.evidence.read_version import read_version
from parse.spark.explain.test_printed import ROOT as FORMS
from support.spark_golden import ROOT

FOLDER = ROOT / "agg_add_column" / "before"
OPEN = {
    "formatted.txt": {
        "options",
        "types and nullability",
        "provider",
        "sink",
        "output mode",
        "trigger",
    },
    "explain.txt": {"options", "provider", "trigger", "pinned"},
    "logical.json": {"options", "exchanges", "types and nullability", "sink", "output mode"},
    "progress.json": {"between sources and sink", "whether the query has state", "trigger"},
    "checkpoint": {"between sources and sink", "sink", "output mode", "trigger"},
}
TOLD = {
    "explain.txt": {"the sink", "output mode", "types and", "exchanges"},
    "formatted.txt": {"exchanges", "between"},
    "checkpoint": {"pinned", "types and", "provider"},
    "progress.json": {"the sink"},
}


@pytest.mark.parametrize("piece", OPEN)
def test_what_is_open_and_what_is_told(piece):
    said = limits_of(read_version([str(FOLDER / piece)]))
    for words in OPEN[piece]:
        assert any(words in sentence for sentence in said), words
    for words in TOLD.get(piece, ()):
        assert not any(f"{words}" in s.partition(". ")[0] for s in said), words
    assert all(s.startswith("Unknown: ") and re.search(r"\b(Add|Run|run)\b", s) for s in said)


def test_all_pieces_together_leave_nothing_open():
    assert limits_of(read_version([str(FOLDER)])) == ()


def test_a_stored_capture_has_a_plan():
    """A capture keeps no plan text beside its version; its own evidence is the function."""
    version = read_version([str(FOLDER / "formatted.txt")])
    captured = replace(version, evidence=(Evidence(kind="capture", path="shop:build"),))
    assert not any("between sources and sink" in s for s in limits_of(captured))


def test_topics_are_in_no_plan():
    folder = ROOT / "kafka_union_swap" / "before"
    alone = limits_of(read_version([str(folder / "explain.txt")]))
    assert any(s.startswith("Unknown: the topics of sources s0 and s1, because") for s in alone)
    both = read_version([str(folder / n) for n in ("explain.txt", "progress.json")])
    assert not any("topics" in s for s in limits_of(both))


def test_variables_of_transform_with_state_are_in_no_plan():
    said = limits_of(read_version([str(ROOT / "tws_add_var" / "before" / "explain.txt")]))
    assert any(s.startswith("Unknown: state variables, timers") for s in said)


def test_a_stateless_query_lacks_no_state():
    said = limits_of(read_version([str(FORMS / "stateless" / "query_extended.txt")]))
    assert not any("state of" in s or "exchanges" in s or "provider" in s for s in said)


def test_other_engines_have_limits_of_their_own():
    assert limits_of(Version(engine=Engine.KAFKA_STREAMS)) == ()
