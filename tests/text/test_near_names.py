"""What somebody may have meant by a name that is not there."""

import re
from pathlib import Path

import pytest

import headgate
from headgate.text.near_names import LONGEST, near_names
from headgate.text.numbers import instead


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        ("shpo", "shop"),
        ("hsop", "shop"),
        ("ba", "ab"),
        ("shop", "shops"),
        ("shops", "shop"),
        ("hop", "shop"),
        ("shup", "shop"),
        ("ordres-by-city", "orders-by-city"),
        ("Shop", "shop"),
    ],
)
def test_one_slip_is_near(typed, known):
    assert near_names(typed, ["unlike", known, "another"]) == [known]


@pytest.mark.parametrize("typed", ["billing", "", "x", "y" * (LONGEST + 1)])
def test_what_is_unlike_is_not_near(typed):
    assert near_names(typed, ["shop", "x" * (LONGEST + 1)]) == []


def test_a_slip_comes_before_what_is_only_alike():
    assert near_names("abcdefgh", ["abcdefxy", "bacdefgh"])[0] == "bacdefgh"


def test_no_more_than_asked_for():
    assert len(near_names("shop", [f"shop{n}" for n in range(9)], most=2)) == 2


def test_a_sentence_asks_back():
    assert instead("shpo", ["shop", "billing"]) == ": did you mean shop?"


def test_nothing_else_looks_for_near_names():
    package = Path(headgate.__file__).parent
    found = {f.name for f in package.rglob("*.py") if re.search(r"\bdifflib\b", f.read_text())}
    assert found == {"near_names.py"}
