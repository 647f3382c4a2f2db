"""The commit that a version is captured from, for later checks of the same code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headgate.errors import HeadgateError
from headgate.model.version import Code

_SUFFIX = ".headgate.json"
# A version file says what it is in its first lines.
_HEAD = 200


def code_of(entry_point: str) -> Code:
    """Return what a later check finds the code by; without a repository only the entry point."""
    return _code(Path.cwd(), entry_point) or Code(entry_point=entry_point)


def code_beside(evidence: Sequence[str]) -> Code | None:
    """Return the commit of the clone that has all evidence, None without one."""
    places = [Path(e) for e in evidence]
    if not places or not all(p.exists() for p in places):
        return None
    codes = {_code(p if p.is_dir() else p.absolute().parent, "") for p in places}
    return codes.pop() if len(codes) == 1 else None


def _code(folder: Path, entry_point: str) -> Code | None:
    from headgate.gateway.process.git import repository_of

    try:
        repository = repository_of(folder)
        commit = repository.commit("HEAD")
        # A version beside the code doesn't change it: baselines are captured one after the other.
        other = any(not _is_version(repository.root / p) for p in repository.uncommitted())
    except HeadgateError:
        return None
    return Code(entry_point=entry_point, commit=commit, is_clean=not other)


def _is_version(file: Path) -> bool:
    """Say whether a file is a version that `capture` wrote."""
    if file.name.endswith(_SUFFIX):
        return True
    if file.suffix != ".json":
        return False
    from headgate.parse.evidence.version_file import KIND

    try:
        with file.open("rb") as opened:
            return f'"{KIND}"'.encode() in opened.read(_HEAD)
    except OSError:
        return False
