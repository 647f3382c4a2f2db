"""Choose among the mutants of one version."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from .mutant import Mutant


def some(mutants: Iterable[Mutant], most: int) -> list[Mutant]:
    """Return at most so many of each kind, always the same ones; what is unchanged comes first."""
    found = list(mutants)
    random.Random(1).shuffle(found)
    found.sort(key=lambda m: not m.kind.endswith("unchanged"))
    seen: Counter[str] = Counter()
    out = []
    for mutant in found:
        seen[mutant.kind] += 1
        if seen[mutant.kind] <= most:
            out.append(mutant)
    return out
