"""Explain text to plan to topology: physical plans of 1,000 and of 5,000 operators.

The peer builds a networkx graph of as many nodes: it splits the same text at its lines, finds each
line's depth and adds an edge to its parent. That is the least that anybody does who wants the
graph of a plan, with a library made for graphs, and leaves out all that makes it a topology:
expressions, columns, stable ids, state. (Decoding JSON of the same size has no tree to find.)

A union's text grows with the number of its operators, so its larger plan costs what the work of
reading costs. The text of the others, one operator below the other, grows with the square of
their depth: Spark indents each line by three more characters. Each row says how large its text
is; the goals are the same for all of them. Times are processor time of this one thread: reading a
text that is there waits for nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import networkx as nx
from harness import Row, least_of

from headgate.parse.spark.operators.plan_forms import read_plans
from headgate.parse.spark.query.version import Pieces, build_version

SMALL, LARGE = 1_000, 5_000
MOST_SECONDS, MOST_TIMES = 0.050, 6.0
TURNS = {SMALL: 25, LARGE: 7}
_ROW = re.compile(r"^(?P<rails>[ :]*(?:[+:]- )?)(?:\*\(\d+\) )?(?P<name>\w+) ?(?P<rest>.*)$")


def union(operators: int) -> str:
    """A union of as many branches as it takes: projection, filter, projection, source."""
    count = operators // 4
    lines = ["Union"]
    for i in range(count):
        last = i == count - 1
        rail, k, v = " " if last else ":", i * 10 + 1, i * 10 + 2
        lines += [
            f"{'+' if last else ':'}- *(1) Project [k#{k}, (v#{v} + 1) AS v#{v + 1}]",
            f"{rail}  +- *(1) Filter isnotnull(k#{k})",
            f"{rail}     +- *(1) Project [k#{k}, v#{v}]",
            f"{rail}        +- StreamingRelation FileSource[/d{i}], [k#{k}, v#{v}]",
        ]
    return _printed(lines)


def chain(operators: int) -> str:
    """Projections one below the other: the text grows with the square, by its indentation."""
    lines = [f"Project [k#1, (v#2 + 1) AS v#{operators + 5}]"]
    lines += [
        f"{'   ' * n}+- *(1) Project [k#1, (v#{operators - n} + 1) AS v#{operators - n + 1}]"
        for n in range(operators - 2)
    ]
    return _printed([*lines, f"{'   ' * (operators - 2)}+- StreamingRelation rate, [k#1, v#3]"])


def joins(operators: int) -> str:
    """Stream-static joins one below the other, each with an exchange, a filter and a scan."""
    lines, rights, indent = [], [], ""
    for i in range(operators // 4):
        k, n = 100 + i * 3, 101 + i * 3
        rail = f"{indent[:-3]}:- " if i else ""
        lines.append(
            f"{rail}*(5) BroadcastHashJoin [k#1], [k{i}#{k}], LeftOuter, BuildRight, false"
        )
        rights.append(
            [
                f"{indent}+- BroadcastExchange HashedRelationBroadcastMode(List(k{i}#{k}),false)",
                f"{indent}   +- *(1) Filter isnotnull(k{i}#{k})",
                f"{indent}      +- FileScan json [k{i}#{k},n{i}#{n}] Batched: false, Format: JSON",
            ]
        )
        indent += ":  "
    lines.append(f"{indent[:-3]}:- StreamingRelation FileSource[/d], [k#1, v#2]")
    return _printed([*lines, *(line for right in reversed(rights) for line in right)])


def columns(operators: int) -> str:
    """A chain of filters with a projection of 200 columns at every hundredth operator."""
    names = [f"c{j}" for j in range(200)]
    number = dict.fromkeys(names, 0) | {name: j + 1 for j, name in enumerate(names)}
    source = ", ".join(f"{name}#{number[name]}" for name in names)
    rows = [f"StreamingRelation FileSource[/d], [{source}]"]
    for i in range(operators - 1):
        if i % 100:
            rows.append(f"*(1) Filter (c0#{number['c0']} > {i})")
            continue
        before = dict(number)
        number |= {name: 10_000 + i * 200 + j for j, name in enumerate(names) if j % 10 == 0}
        made = (
            f"(c{j}#{before[name]} + 1) AS c{j}#{number[name]}"
            if j % 10 == 0
            else f"{name}#{before[name]}"
            for j, name in enumerate(names)
        )
        rows.append(f"*(1) Project [{', '.join(made)}]")
    rows.reverse()
    return _printed([rows[0], *(f"{'   ' * n}+- {row}" for n, row in enumerate(rows[1:]))])


def _printed(lines: list[str]) -> str:
    return "\n".join(("== Physical Plan ==", *lines, ""))


def formatted(text: str) -> str:
    """Return a simple plan as `formatted` prints it: numbers in the tree, details below."""
    rows = text.split("\n")[1:-1]
    tree, details = ["== Physical Plan =="], []
    for at, row in enumerate(rows):
        match = _ROW.match(row)
        assert match is not None
        name, rest, number = match["name"], match["rest"], len(rows) - at
        tree.append(f"{match['rails']}* {name} ({number})")
        details.append(f"({number}) {name}\n{_fields(name, rest)}\n")
    return "\n".join(tree) + "\n\n\n" + "\n".join(reversed(details))


def _fields(name: str, rest: str) -> str:
    match name:
        case "Project":
            return f"Output [9]: {rest}\nInput [2]: [k#1, v#2]"
        case "Filter":
            return f"Input [2]: [k#1, v#2]\nCondition : {rest}"
        case "StreamingRelation":
            place, _, made = rest.partition(", ")
            return f"Output [9]: {made}\nArguments: {place}, {made}"
        case "BroadcastHashJoin":
            left, right, kind = rest.split(", ")[:3]
            keys = f"Left keys [1]: {left}\nRight keys [1]: {right}"
            return f"{keys}\nJoin type: {kind}\nJoin condition: None"
        case "FileScan":
            return f"Output [2]: {rest.split(' ')[1]}\nBatched: false"
    return f"Arguments: {rest}"


def ours(text: str) -> None:
    """Read the text into a version, topology included."""
    build_version(Pieces(plans=read_plans(text)))


def peer(text: str) -> None:
    """Build the graph that the lines' depths give."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    path: list[int] = []
    for number, line in enumerate(text.split("\n\n\n")[0].split("\n")[1:]):
        rail = line.find("- ")
        depth = 0 if rail < 0 else (rail - 1) // 3 + 1
        del path[depth:]
        graph.add_node(number, label=line[rail + 2 :])
        if path:
            graph.add_edge(number, path[-1])
        path.append(number)


SHAPES: dict[str, Callable[[int], str]] = {
    "a union of 4-operator branches": union,
    "a chain": chain,
    "stream-static joins": joins,
    "projections of 200 columns": columns,
}


def _measured(text: str, turns: int) -> list[float]:
    """Return the processor time of ours and of the peer."""
    return least_of((lambda: ours(text), lambda: peer(text)), turns, time.process_time)


def _size(text: str) -> str:
    """Return how large a text is; plans are ASCII."""
    size = len(text) / 1e6
    return f"{size * 1000:.0f} kB of text" if size < 1 else f"{size:.1f} MB of text"


def _growth(small: str, large: str) -> str:
    return f"{len(large) / len(small):.1f} times that of {SMALL:,}"


def rows() -> Iterator[Row]:
    """Yield a row for each shape and size, simple and formatted."""
    for shape, make in SHAPES.items():
        for form, printed in (("simple", str), ("formatted", formatted)):
            small, large = (printed(make(n)) for n in (SMALL, LARGE))
            ours_small, peer_small = _measured(small, TURNS[SMALL])
            ours_large, peer_large = _measured(large, TURNS[LARGE])
            what = f"{form} plan, {shape}"
            yield Row(
                subject=f"{what}: {SMALL:,} operators ({_size(small)})",
                ours=ours_small,
                peer=peer_small,
                goal=f"under {MOST_SECONDS * 1000:.0f} ms",
                met=ours_small < MOST_SECONDS,
                peer_is="networkx graph of the same lines",
            )
            yield Row(
                subject=f"{what}: {LARGE:,} operators ({_size(large)}, {_growth(small, large)})",
                ours=ours_large,
                peer=peer_large,
                goal=f"at most {MOST_TIMES:.0f} times that of {SMALL:,}",
                met=ours_large <= MOST_TIMES * ours_small,
                peer_is="networkx graph of the same lines",
            )
