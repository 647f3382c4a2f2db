"""Write the answers to a scenario's questions as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any


def as_arguments(options: Mapping[str, Any]) -> str:
    """Return the options as they are written on a command line, each with a space before it."""
    return "".join(f" {part}" for part in _arguments(options))


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in sorted(options.items()):
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, (list, tuple)) else [value]:
            # With `=` a value that begins with a dash, as of a shift, is no option.
            yield flag if one is True else f"{flag}={shlex.quote(str(one))}"
