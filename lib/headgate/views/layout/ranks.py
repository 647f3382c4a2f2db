"""Break cycles and give every node a rank along the flow."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from headgate.views.layout.graph import Join, Link, Rows


def without_cycles(count: int, joins: Sequence[Join]) -> tuple[list[Join], frozenset[int]]:
    """Turn the edges that close a cycle; return all edges and the numbers of the turned ones.

    Iterative depth-first search in the order of the nodes, so that equal input gives equal
    output and a long chain cannot exhaust the stack.
    """
    leaving: list[list[int]] = [[] for _ in range(count)]
    for number, join in enumerate(joins):
        leaving[join.source].append(number)
    back = _back_edges(count, joins, leaving)
    return [j.turned() if n in back else j for n, j in enumerate(joins)], frozenset(back)


def _back_edges(count: int, joins: Sequence[Join], leaving: list[list[int]]) -> set[int]:
    fresh, open_, closed = 0, 1, 2
    state = [fresh] * count
    back: set[int] = set()
    for root in range(count):
        if state[root] != fresh:
            continue
        state[root] = open_
        stack = [(root, iter(leaving[root]))]
        while stack:
            node, rest = stack[-1]
            for number in rest:
                target = joins[number].target
                if state[target] == open_:
                    back.add(number)
                elif state[target] == fresh:
                    state[target] = open_
                    stack.append((target, iter(leaving[target])))
                    break
            else:
                state[node] = closed
                stack.pop()
    return back


def rank(count: int, joins: Sequence[Join]) -> list[int]:
    """Return each node's rank: the longest path to it, sources pulled towards their consumers."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for join in joins:
        after[join.source].append(join.target)
        waiting[join.target] += 1
    first = [node for node in range(count) if not waiting[node]]
    ranks, order = _longest_paths(after, waiting, first)
    is_first = set(first)
    for node in reversed(order):
        if after[node] and node in is_first:
            ranks[node] = min(ranks[target] for target in after[node]) - 1
    lowest = min(ranks, default=0)
    return [r - lowest for r in ranks]


def _longest_paths(
    after: list[list[int]], waiting: list[int], first: list[int]
) -> tuple[list[int], list[int]]:
    ranks = [0] * len(after)
    order: list[int] = []
    queue = deque(first)
    while queue:
        node = queue.popleft()
        order.append(node)
        for target in after[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                queue.append(target)
    return ranks, order


def split_into_rows(count: int, joins: Sequence[Join], ranks: Sequence[int]) -> Rows:
    """Return the rows, with a bend point wherever an edge passes a rank."""
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=0) + 1)]
    for node in range(count):
        rows[ranks[node]].append(node)
    out = Rows(count, rows, [[] for _ in range(count)], [[] for _ in range(count)])
    for join in joins:
        out.chains.append(_add_chain(out, join, ranks))
    return out


def _add_chain(rows: Rows, join: Join, ranks: Sequence[int]) -> list[int]:
    chain: list[int] = []
    last, offset = join.source, join.leaves
    for level in range(ranks[join.source] + 1, ranks[join.target]):
        bend = len(rows.up)
        rows.up.append([Link(last, 0.0, offset)])
        rows.down.append([])
        rows.down[last].append(Link(bend, offset, 0.0))
        rows.rows[level].append(bend)
        chain.append(bend)
        last, offset = bend, 0.0
    rows.down[last].append(Link(join.target, offset, join.arrives))
    rows.up[join.target].append(Link(last, join.arrives, offset))
    return chain
