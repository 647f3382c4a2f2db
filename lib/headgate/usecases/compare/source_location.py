"""Where the new version is in the repository, so that a review can show findings there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

_FUNCTION = re.compile(r"(?P<module>[\w.]+):(?P<function>\w+)")


def source_location(evidence: Sequence[str]) -> tuple[str, int] | None:
    """Return a path relative to the working directory, and a line; None without a file inside it.

    For a `module:function`, it is the line of the function; for a file of evidence, its first line.
    The source file is read only to find the line, not as evidence.
    """
    for place in evidence:
        match = _FUNCTION.fullmatch(place)
        found = _of_function(match["module"], match["function"]) if match else _of_file(place)
        if found:
            return found
    return None


def _of_function(module: str, function: str) -> tuple[str, int] | None:
    base = PurePosixPath(*module.split("."))
    for path in (f"{base}.py", f"{base}/__init__.py"):
        if Path(path).is_file():
            return path, _line(Path(path), function)
    return None


def _line(file: Path, function: str) -> int:
    start = re.compile(rf"\s*(?:async\s+)?def\s+{function}\b|{function}\s*=")
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 1
    return next((n for n, line in enumerate(lines, 1) if start.match(line)), 1)


def _of_file(place: str) -> tuple[str, int] | None:
    path = Path(place)
    if "://" in place or not path.exists():
        return None
    # Findings are shown at files; of a folder of evidence it is its first.
    path = next((p for p in sorted(path.rglob("*")) if p.is_file()), path)
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix(), 1
    except (ValueError, OSError):
        return None
