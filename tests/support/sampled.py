"""A fixed sample of a large matrix for `make test`; `make test-long` runs all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pytest


def sampled(names: str, *axes: Iterable[object], one_in: int) -> pytest.MarkDecorator:
    """Parametrize with the product of the axes; all but every `one_in`-th cell are long.

    `one_in` shares no factor with the length of an axis where each of its values is to be in the
    sample. With fewer axes than names, an axis has tuples for several names.
    """
    cells = []
    for number, cell in enumerate(product(*axes)):
        values: list[object] = list(cell)
        if len(cell) < len(names.split(",")):
            values = [v for part in cell for v in (part if isinstance(part, tuple) else (part,))]
        marks = [pytest.mark.long] if number % one_in else []
        shown = (value[0] if isinstance(value, tuple) else value for value in values)
        cells.append(pytest.param(*values, marks=marks, id="-".join(str(v) for v in shown)))
    return pytest.mark.parametrize(names, cells)


# Of recorded cases, one in so many is in `make test-fast`, and one in so many in `make test`.
_FAST, _ALWAYS = 16, 4


def sampled_cases(cases: Sequence[Path]) -> list[object]:
    """Return cases as parameters: of sixteen, one is fast, three are slow, and twelve are long."""
    return [pytest.param(case, id=case.name, marks=_marks(at)) for at, case in enumerate(cases)]


def _marks(number: int) -> Sequence[pytest.MarkDecorator]:
    if number % _FAST == 0:
        return ()
    return (pytest.mark.slow if number % _ALWAYS == 0 else pytest.mark.long,)


crash_points = pytest.mark.parametrize(
    "step", [pytest.param(4, id="some"), pytest.param(1, id="every", marks=pytest.mark.long)]
)
"""`step`: of so many points of a run, one has a crash."""
