"""The requirements files of both versions: which packages their code needs, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headgate.gateway.process.python_environment import included_files
from headgate.model.registered_pipelines import Registry
from headgate.usecases.gate.base import Base


@dataclass(frozen=True, slots=True)
class Requirements:
    """`before` is the base's file as a path of the repository, None if it is outside.

    `reasons` say what differs; empty if both versions need the same packages.
    """

    before: str | None
    reasons: tuple[str, ...]


def find_requirements(registry: Registry, old: Registry | None, base: Base) -> Requirements:
    """Compare what both versions register; `old` is the base's registry, None if it had none.

    A file that another one includes with `-r` or `-c` counts, too.
    """
    file = requirements_file(registry)
    before = requirements_file(old or registry)
    reasons = []
    if base.path(file) != base.path(before):
        reasons.append("`requirements` in headgate.toml changed")
    files = sorted({p for f in included_files(file) if (p := base.path(f))})
    reasons += [f"{p} changed" for p in files if base.differs(p)]
    return Requirements(base.path(before), tuple(reasons))


def requirements_file(registry: Registry) -> Path:
    """Return the file that lists the packages of the pipelines' code; it may not exist."""
    return Path(registry.requirements or Path(registry.path or "x").parent / "requirements.txt")
