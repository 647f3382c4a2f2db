"""Which definitions are recorded when: a first group, and one kept back until rules were mended."""

from __future__ import annotations

import importlib
from types import ModuleType

from recorder.case import CASES

_FIRST = ("aggregates", "windows", "deduplications", "joins")
# Every other one of these waits, whatever it is, so that both groups have all kinds.
_HALVED = ("sources", "sinks", "settings", "steps", "functions", "kafka", "edges")


def _imported(names: tuple[str, ...]) -> list[ModuleType]:
    return [importlib.import_module(f"definitions.{name}") for name in names]


MODULES = _imported(_FIRST)
_whole = list(CASES)
MODULES += _imported(_HALVED)
_rest = [name for name in CASES if name not in _whole]

_before = len(CASES)
MODULES += _imported(("state_variables", "state_operators"))
_third = len(CASES)
MODULES += _imported(("measures", "times", "pairs", "inputs", "outputs", "pins"))
_fourth = len(CASES)
MODULES += _imported(("takeovers",))

GROUPS = {
    "first": [*_whole, *_rest[::2]],
    "second": _rest[1::2],
    "arbitrary_state": list(CASES)[_before:_third],
    "third": list(CASES)[_third:_fourth],
    "fourth": list(CASES)[_fourth:],
}
