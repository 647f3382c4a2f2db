"""Damaged inputs of every kind end in a result or in our own error; `make fuzz` reads many more."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headgate
from support.fuzzing import FOUND, KINDS, damaged, fault_of, seeds


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_damaged_has_been_whole(kind):
    assert len(seeds(kind)) > 1
    assert fault_of(kind, seeds(kind)[0]) is None


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_is_no_unexpected_exception(kind, data):
    assert fault_of(kind, data.draw(damaged(kind))) is None


@pytest.mark.parametrize(
    "path", sorted(f for f in FOUND.rglob("*") if f.is_file()), ids=lambda p: p.name
)
def test_what_once_failed(path):
    assert fault_of(path.parent.name, path.read_bytes()) is None


def test_digits_are_those_that_a_number_is_made_of():
    """`isdigit` holds for `²`, of which `int` makes no number."""
    package = Path(headgate.__file__).parent
    assert not [f.name for f in package.rglob("*.py") if "isdigit()" in f.read_text()]
