"""Judge every change of every recorded version: `python -m tests.compat.mutations [PART] [STRIDE]`.

Prints how many changes of each kind were judged, and the misses by their cause. A part is
`plan_json`, `plan_text`, `session` or `streams`; a stride of 10 takes every tenth version.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from . import plan_json, plan_text, session, streams
from .bases import golden, measured
from .judge import Miss, misses
from .mutant import Base
from .pick import some

PARTS: dict[str, tuple[Callable, Callable[[], list[Base]]]] = {
    "plan_json": (plan_json.mutants, lambda: [*golden(), *measured()]),
    "plan_text": (plan_text.mutants, lambda: [*golden(), *measured()]),
    "session": (session.mutants, lambda: [*golden(), *measured()]),
    "streams": (streams.mutants, lambda: list(streams.bases())),
}


def main(parts: list[str], stride: int, most: int = 4) -> int:
    """Return 1 where a verdict is not honest."""
    failed = 0
    for part in parts:
        mutants, bases = PARTS[part]
        judged: Counter[str] = Counter()
        found: dict[tuple, list[Miss]] = defaultdict(list)
        with tempfile.TemporaryDirectory() as folder:
            for base in bases()[::stride]:
                chosen = some(mutants(base), most)
                judged.update(m.kind for m in chosen)
                for miss in misses(base, chosen, Path(folder)):
                    found[(miss.kind, miss.said, miss.rules)].append(miss)
        print(f"{part}: {judged.total()} changes, {sum(map(len, found.values()))} misses")
        for kind, number in sorted(judged.items()):
            print(f"  {number:5} {kind}")
        for cause, several in sorted(found.items(), key=lambda i: -len(i[1])):
            print(f"{len(several):5} {cause}")
            print(*(f"        {m.base}: {m.what}" for m in several[:5]), sep="\n")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    named = [a for a in sys.argv[1:] if a in PARTS]
    strides = [int(a) for a in sys.argv[1:] if a.isdigit()]
    sys.exit(main(named or list(PARTS), strides[0] if strides else 1))
