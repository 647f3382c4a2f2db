"""No harmful change may be called harmless: recorded versions, changed on purpose, one change each.

What is honest to say of a change follows from how the engines decide (`mutations/`), never from
what a comparison says. A fixed sample runs always, a larger one in `make test-long`;
`python -m tests.rules.mutations` judges every change of every version.
"""

from functools import cache
from zlib import crc32

import pytest

from .mutations.__main__ import PARTS
from .mutations.judge import misses
from .mutations.pick import some

pytestmark = pytest.mark.slow

# One version of so many: in each run of the tests, and in `make test-long`.
STRIDES = {
    "plan_json": (61, 11),
    "plan_text": (83, 13),
    "session": (149, 37),
    "streams": (41, 9),
}
SOME = [pytest.param(part, few, id=part) for part, (few, _) in STRIDES.items()]
MORE = [
    pytest.param(part, many, id=f"{part}-more", marks=pytest.mark.long)
    for part, (_, many) in STRIDES.items()
]


@pytest.mark.parametrize(("part", "stride"), [*SOME, *MORE])
def test_harm_is_not_called_harmless_and_what_is_harmless_raises_no_alarm(part, stride, tmp_path):
    mutants, _ = PARTS[part]
    chosen = _chosen(part, stride)
    told = [str(m) for base in chosen for m in misses(base, some(mutants(base), 2), tmp_path)]
    assert chosen
    assert told == []


def _chosen(part, stride):
    """Take versions by their names alone, so that others that come later change no choice."""
    return [b for b in _settled(part) if crc32(b.name.encode()) % stride == 0]


@cache
def _settled(part):
    groups = ("golden/", "spark/", "first/", "second/", "kafka_streams/", "streams_fresh/")
    return [b for b in PARTS[part][1]() if b.name.startswith(groups)]


@pytest.mark.parametrize(("part", "stride"), SOME)
def test_every_part_has_changes_to_make(part, stride):
    """A change that no version can take would be a test of nothing."""
    mutants, _ = PARTS[part]
    kinds = {m.kind for base in _chosen(part, stride // 3) for m in mutants(base)}
    assert len(kinds) > 8, kinds
