"""What `make test-fast` runs of many cases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_EACH = 8


def fast_sample(cases: Sequence[Path]) -> list[Any]:
    """Return the cases as parameters; all but every eighth are slow."""
    return [
        pytest.param(case, id=case.name, marks=() if number % _EACH == 0 else pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
