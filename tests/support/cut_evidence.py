"""Evidence that is cut off anywhere, and what must be true of what is read of the rest."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headgate.errors import HeadgateError
from headgate.model.version import Version
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.rules.compare.compare_versions import compare
from headgate.rules.compare.other_engines import is_gap
from headgate.rules.core.report import Outcome

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden"
KINDS = ("explain", "describe", "json")


@cache
def files(kind: str, recorded: bool = False) -> list[Path]:
    """Every golden file of a kind; with `recorded` those of tests/cases, too."""
    found = sorted(GOLDEN.rglob("*"))
    found += sorted((TESTS / "cases").rglob("*.*")) if recorded else []
    return [f for f in found if f.is_file() and "checkpoint" not in f.parts and _kind(f) == kind]


# What lies beside evidence: what happened, who ruled on it, the rows that were read.
_BESIDE = {"outcome.json", "rulings.json", "rows.json", "runs.json"}


def _kind(path: Path) -> str:
    if path.name in _BESIDE:
        return "other"
    if path.suffix == ".txt":
        of_streams = path.name == "describe.txt" or "streams" in path.parts
        return "describe" if of_streams else "explain"
    return "json" if path.suffix == ".json" else "other"


def version_of(data: bytes) -> Version | None:
    """What is read, None where our own error says that it is no evidence."""
    try:
        piece = recognise(data, path="x")
        return assemble(Gathered(pieces=[piece])) if piece else None
    except HeadgateError:
        return None


def places(data: bytes, most: int, chance: random.Random) -> list[int]:
    """Where to cut: some ends of lines, and some places in the middle of one."""
    ends = [i + 1 for i, byte in enumerate(data[:-1]) if byte == 10]
    inside = range(1, max(len(data) - 1, 2))
    half = max(most // 2, 1)
    return sorted(
        {*chance.sample(ends, min(half, len(ends))), *(chance.choice(inside) for _ in range(half))}
    )


def faults_of_cut(data: bytes, at: int, whole: Version) -> Iterator[str]:
    """Say what is wrong with what is read of the first `at` bytes; nothing if nothing is."""
    cut = version_of(data[:at])
    if cut is None or not data[at:].strip() or _facts(cut) == _facts(whole):
        return
    if not any(map(is_gap, cut.warnings)) and not _between_sub_topologies(data, at):
        yield "other facts, and no warning"
    for before, after in ((whole, cut), (cut, whole)):
        for finding in compare(before, after).findings:
            if finding.outcome > Outcome.UNKNOWN:
                yield f"{finding.rule} {finding.outcome.name}"


def _facts(version: Version) -> tuple[object, ...]:
    graph = version.topology
    nodes = {(n.id, n.kind, n.operator, n.label) for n in graph.nodes}
    edges = {(e.source, e.target) for e in graph.edges}
    return nodes, edges, version.sources, version.stateful, version.sink, version.streams


def _between_sub_topologies(data: bytes, at: int) -> bool:
    """Whether the rest begins with a sub-topology: what stands before is a whole description."""
    return data[at:].lstrip().startswith(b"Sub-topology: ")
