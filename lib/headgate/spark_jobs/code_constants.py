"""The short texts in a module's functions: what its own code compares columns with."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator

_WORD = re.compile(r"[\w.-]{1,24}")


def of_module(name: str) -> set[str]:
    """Return the words among the constants of functions that are nested in the module's own.

    A user function is often defined inside the function that builds the query; what only that one
    names (columns, formats, options) is left out.
    """
    module = sys.modules.get(name)
    own = (f for f in vars(module).values() if isinstance(f, types.FunctionType)) if module else ()
    found: set[str] = set()
    for function in own:
        if function.__module__ == name:
            nested = (c for c in function.__code__.co_consts if isinstance(c, types.CodeType))
            found |= {word for code in nested for word in _words(code)}
    return found


def _words(code: types.CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _words(constant)
        elif isinstance(constant, str):
            yield from [constant] if _WORD.fullmatch(constant) else []
        elif isinstance(constant, (tuple, frozenset)):
            yield from (c for c in constant if isinstance(c, str) and _WORD.fullmatch(c))
