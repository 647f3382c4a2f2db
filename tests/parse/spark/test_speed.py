"""Plans of thousands of operators are read in linear time and without recursion."""

import time

import pytest

from headgate.parse.spark.forms import read_plans
from headgate.parse.spark.version import Pieces, build_version

pytestmark = pytest.mark.slow


def wide(operators):
    """A union of as many branches as it takes."""
    count = operators // 4
    lines = ["== Physical Plan ==", "Union"]
    for i in range(count):
        last = i == count - 1
        rail, k, v = " " if last else ":", i * 10 + 1, i * 10 + 2
        lines += [
            f"{'+' if last else ':'}- *(1) Project [k#{k}, (v#{v} + 1) AS v#{v + 1}]",
            f"{rail}  +- *(1) Filter isnotnull(k#{k})",
            f"{rail}     +- *(1) Project [k#{k}, v#{v}]",
            f"{rail}        +- StreamingRelation FileSource[/d{i}], [k#{k}, v#{v}]",
        ]
    return "\n".join(lines)


def deep(operators):
    """A chain: its text grows with the square of the operators, by its indentation."""
    lines = ["== Physical Plan ==", f"Project [k#1, (v#2 + 1) AS v#{operators}]"]
    lines += [
        f"{'   ' * n}+- *(1) Project [k#1, (v#{operators - n} + 1) AS v#{operators - n + 1}]"
        for n in range(operators - 2)
    ]
    return "\n".join([*lines, f"{'   ' * (operators - 2)}+- StreamingRelation rate, [k#1, v#3]"])


def best(work, *arguments):
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work(*arguments)
        times.append(time.perf_counter() - begun)
    return min(times)


def test_five_times_the_operators_take_about_five_times_as_long():
    texts = [wide(1_000), wide(5_000)]
    small, large = (best(read_plans, t) for t in texts)
    assert small < 0.25
    assert large < 15 * small + 0.05
    pieces = [Pieces(plans=read_plans(t)) for t in texts]
    small, large = (best(build_version, p) for p in pieces)
    assert large < 15 * small + 0.1


def test_a_chain_of_5000_operators_is_no_recursion():
    plans = read_plans(deep(5_000))
    assert len(plans[0].nodes) == 5_000
    version = build_version(Pieces(plans=plans))
    assert [n.operator for n in version.topology.nodes] == ["rate", "project", "sink"]
