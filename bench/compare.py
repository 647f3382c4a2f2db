"""What a gate waits for: `headgate diff` on two version files, and large graphs compared.

Matching is measured beside what a program does without the graph: difflib aligns the two lists of
operators, as a text diff of two printed plans would, and knows nothing of inputs and consumers.
Growth is counted only on the matching, in calls of functions: no other process has a part in it.
"""

from __future__ import annotations

import cProfile
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import partial
from math import log
from pathlib import Path

from harness import Row, least, least_of
from streams_application import description

from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Sink, Source, Version
from headgate.parse.evidence.version_file import dump
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.match_graphs import match_nodes
from headgate.usecases.evidence.read_version import read_version

ROOT = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).with_name("headgate"))
CASE = ROOT / "tests/cases/spark/agg_min_to_max"
MOST_FILES, MOST_LARGE = 0.400, 2.0
SMALL, LARGE = 2_000, 8_000
SIDES = ("before", "after")
TIMES = 40


def rows() -> Iterator[Row]:
    """Yield two version files, two large graphs, and how the matching grows."""
    with tempfile.TemporaryDirectory(prefix="headgate-bench-") as folder:
        yield _two_files(Path(folder))
        yield _two_graphs(Path(folder))
        yield _two_applications(Path(folder))
        yield _growth_of_applications(Path(folder))
    yield from _growth()


def branches(count: int, *, edit: bool = False) -> Topology:
    """Return a union of branches of ten operators, `count` in all; some edited, added, removed.

    Ids depend on the way to the sink, as Spark's do: an insertion changes all that lie above it.
    """
    nodes, edges = [Node("sink", NodeKind.SINK, "sink", "sink")], []
    for branch in range(count // 10):
        below, path = "sink", f"{branch}"
        for step in _steps(branch, edit):
            path = f"{path}/{step.split()[0]}"
            kind = NodeKind.SOURCE if step.startswith("kafka") else NodeKind.TRANSFORM
            nodes.append(Node(path, kind, step.split()[0], step))
            edges.append(Edge(path, below))
            below = path
    return Topology(tuple(nodes), tuple(edges))


def _steps(branch: int, edit: bool) -> list[str]:
    words = ("project", "filter", "aggregate", "watermark", "project2", "filter2", "generate")
    steps = [f"{word} v{branch} > {n}" for n, word in enumerate(words)]
    if edit and branch % 7 == 0:
        steps[3] += " + 1"
    if edit and branch % 11 == 0:
        steps.insert(2, f"filter3 w{branch} is not null")
    if edit and branch % 13 == 0:
        del steps[5]
    return [*steps, f"filter4 k{branch}", f"project4 k{branch}", f"kafka topic-{branch}"]


def _version(topology: Topology) -> Version:
    sources = tuple(
        Source(position=i, format="kafka", topics=(n.label.split()[-1],), node=n.id)
        for i, n in enumerate(n for n in topology.nodes if n.kind is NodeKind.SOURCE)
    )
    return Version(
        engine=Engine.SPARK,
        engine_version="4.2.0",
        topology=topology,
        sources=sources,
        stateful=(),
        sink=Sink(format="kafka", target="out", node="sink"),
    )


def _two_files(folder: Path) -> Row:
    for side in ("before", "after"):
        (folder / side).write_bytes(dump(read_version([str(CASE / side)])))
    best, peer = _commands(folder, TIMES)
    return Row(
        subject="headgate diff of two version files, a process from start to end",
        ours=best,
        peer=peer,
        goal=f"under {MOST_FILES * 1000:.0f} ms",
        met=best < MOST_FILES,
        peer_is="import click, rich",
    )


def _two_graphs(folder: Path) -> Row:
    for side, edit in (("before", False), ("after", True)):
        (folder / side).write_bytes(dump(_version(branches(SMALL, edit=edit))))
    best, peer = _commands(folder, 5)
    return Row(
        subject=f"headgate diff of two topologies of {SMALL:,} nodes",
        ours=best,
        peer=peer,
        goal=f"under {MOST_LARGE:.0f} s",
        met=best < MOST_LARGE,
        peer_is="import click, rich",
    )


def _described(folder: Path, nodes: int) -> tuple[Path, Path]:
    """Write two descriptions with their settings; return their folders."""
    sides = folder / str(nodes) / "before", folder / str(nodes) / "after"
    for side, edit in zip(sides, (False, True), strict=True):
        side.mkdir(parents=True)
        (side / "describe.txt").write_text(description(nodes, edit=edit))
        (side / "config.json").write_text('{"application.id": "large"}')
    return sides


def _two_applications(folder: Path) -> Row:
    best, peer = _commands(folder, 5, *_described(folder, SMALL))
    return Row(
        subject=f"headgate diff of two Kafka Streams descriptions of {SMALL:,} nodes",
        ours=best,
        peer=peer,
        goal=f"under {MOST_LARGE:.0f} s",
        met=best < MOST_LARGE,
        peer_is="import click, rich",
    )


def _growth_of_applications(folder: Path) -> Row:
    """Count what reading and judging take; names are remembered, so each size is read afresh."""
    _described(folder, LARGE)
    few, many = (_calls(partial(_compared, folder / str(n))) for n in (SMALL, LARGE))
    return Row(
        subject=f"calls of functions that reading and judging takes, {LARGE:,} nodes described",
        ours=many,
        peer=few,
        goal=f"at most {_n_log_n():.1f} times as many (n log n)",
        met=many <= _n_log_n() * few,
        unit="calls",
        peer_is=f"the same of {SMALL:,}",
    )


def _compared(folder: Path) -> object:
    return compare(*(read_version([str(folder / side)]) for side in SIDES))


def _commands(folder: Path, times: int, *given: Path) -> tuple[float, float]:
    """Return the shortest run of `diff` and of an interpreter that only imports."""
    before, after = given or (folder / "before", folder / "after")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "HEADGATE_CONFIG": os.devnull}
    sides = ("--before", str(before), "--after", str(after))
    ours = (COMMAND, "diff", *sides, "--fail-on", "none")
    bare = (sys.executable, "-c", "import click, rich.console, rich.table")
    works = [
        partial(subprocess.run, c, check=True, stdout=subprocess.DEVNULL, env=env)
        for c in (ours, bare)
    ]
    for work in works:
        work()
    best, peer = least_of(works, times)
    return best, peer


def _growth() -> Iterator[Row]:
    graphs = [(branches(size, edit=False), branches(size, edit=True)) for size in (SMALL, LARGE)]
    works = [partial(match_nodes, old, new) for old, new in graphs]
    small, large = least_of(works, 25, time.process_time)
    old, new = graphs[0]
    was, now = ([n.label for n in t.nodes] for t in (old, new))
    aligned = least(lambda: SequenceMatcher(None, was, now, autojunk=False).get_opcodes(), 3)
    yield Row(
        subject=f"matching two graphs of {SMALL:,} nodes",
        ours=small,
        peer=aligned,
        goal="informs",
        peer_is="difflib aligning the operators' lists",
    )
    yield Row(
        subject=f"matching two graphs of {LARGE:,} nodes",
        ours=large,
        peer=small,
        goal="informs: the caches of a busy machine are in it",
        peer_is=f"the same of {SMALL:,}",
    )
    few, many = (_calls(work) for work in works)
    yield Row(
        subject=f"calls of functions that it takes, {LARGE:,} nodes",
        ours=many,
        peer=few,
        goal=f"at most {_n_log_n():.1f} times as many (n log n)",
        met=many <= _n_log_n() * few,
        unit="calls",
        peer_is=f"the same of {SMALL:,}",
    )
    report = least(lambda: compare(_version(old), _version(new)), 3)
    yield Row(subject=f"all rules over {SMALL:,} nodes", ours=report, goal="informs")


def _calls(work: Callable[[], object]) -> int:
    """Return how many functions a work calls: its growth, whatever else the machine does."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def _n_log_n() -> float:
    return LARGE * log(LARGE) / (SMALL * log(SMALL))
