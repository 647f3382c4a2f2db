"""`WITH` that is cut, and definitions that name each other twice."""

import pytest

from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise

HEAD = "== Analyzed Logical Plan ==\n"


def read(text):
    return assemble(Gathered(pieces=[recognise(text.encode(), path="plan.txt")]))


def test_a_with_that_is_cut():
    version = read(f"{HEAD}Project [k#1]\n+- WithCTE\n")
    assert any("WithCTE" in w for w in version.warnings)


@pytest.mark.slow
def test_definitions_that_double_end():
    refs = [
        "".join(
            f":     {mark} CTERelationRef {n}, true, [k#1], true, false\n" for mark in (":-", "+-")
        )
        for n in range(39)
    ]
    first = ":     :- Relation [k#1] json\n:     +- Relation [k#1] json\n"
    definitions = "".join(
        f":- CTERelationDef {n}, false\n:  +- Join Inner\n{below}"
        for n, below in enumerate((first, *refs))
    )
    version = read(f"{HEAD}WithCTE\n{definitions}+- CTERelationRef 39, true, [k#1], true, false\n")
    assert len(version.topology.nodes) < 100_000
    assert any("lacks a part of the WITH definitions" in w for w in version.warnings)
