"""What holds for every two versions, whatever they are of and however much of them was read."""

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.errors import HeadgateError
from headgate.model.version import Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.usecases.evidence.read_version import read_version

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(
    side
    for pattern in ("spark/*", "spark_fresh/*/*", "kafka_streams/*", "streams_fresh/*")
    for side in ROOT.glob(f"cases/{pattern}/before")
    if (side.parent / "after").is_dir() and (side.parent / "outcome.json").exists()
)
PIECES = sorted(
    path
    for pattern in (
        "cases/*/*/after/*.*",
        "golden/spark/4.2.0/*/capture/*.txt",
        "golden/forms/**/*.txt",
    )
    for path in ROOT.glob(pattern)
    if path.name not in ("conf.json", "config.json")
)
HARM = (Outcome.REFUSES, Outcome.SILENTLY_WRONG)
# What Spark refuses however often it is started: append mode into memory, twice one checkpoint.
NEVER_STARTS = {"SNK003"}
QUIET = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SOME = FOLDERS[::17]
MORE = [pytest.param(f, marks=pytest.mark.slow) for f in FOLDERS[1::4] if f not in SOME]


@cache
def whole(folder: Path) -> Version:
    return read_version([str(folder)])


def verdicts(before: Version, after: Version) -> list[tuple]:
    report = compare(before, after)
    return sorted((f.rule, f.outcome, f.state_effect, f.error_class or "") for f in report.findings)


@pytest.mark.parametrize("folder", [*SOME, *MORE], ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_a_version_is_no_harm_to_itself(folder):
    report = compare(whole(folder), whole(folder))
    faults = {f.kind for f in whole(folder).faults}
    told = {f.rule for f in report.findings if f.outcome in HARM} - NEVER_STARTS
    assert not told or faults or whole(folder).capture_error, (told, report.findings)


@pytest.mark.parametrize("folder", SOME, ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_the_order_in_which_nodes_and_edges_are_listed_decides_nothing(folder):
    before, after = whole(folder), read_version([str(folder.parent / "after")])
    assert verdicts(_shuffled(before, 3), _shuffled(after, 8)) == verdicts(before, after)


def _shuffled(version: Version, seed: int) -> Version:
    nodes, edges = list(version.topology.nodes), list(version.topology.edges)
    random.Random(seed).shuffle(nodes)
    random.Random(seed).shuffle(edges)
    return replace(
        version, topology=replace(version.topology, nodes=tuple(nodes), edges=tuple(edges))
    )


@QUIET
@given(before=st.sampled_from(SOME), after=st.sampled_from(SOME))
def test_any_two_versions_are_compared(before, after):
    report = compare(whole(before), whole(after))
    assert all(f.why and f.source for f in report.findings)


@QUIET
@given(
    path=st.sampled_from(PIECES),
    share=st.floats(0.05, 0.999),
    drop=st.booleans(),
    against=st.sampled_from(SOME),
)
def test_half_read_evidence_is_compared_or_refused_in_a_sentence(
    path, share, drop, against, tmp_path_factory
):
    """A file that ends in the middle, or lacks a part of it, gives a verdict or a clear error."""
    text = path.read_text(encoding="utf-8")
    at = int(len(text) * share)
    cut = tmp_path_factory.mktemp("half") / path.name
    cut.write_text(text[: at // 2] + text[at:] if drop else text[:at], encoding="utf-8")
    try:
        part = read_version([str(cut)])
    except HeadgateError as error:
        assert str(error)
        return
    compare(whole(against), part)
    compare(part, whole(against))
    told = {f.rule for f in compare(part, part).findings if f.outcome in HARM}
    assert told <= NEVER_STARTS
