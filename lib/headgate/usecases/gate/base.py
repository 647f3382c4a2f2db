"""The base: the commit that a working tree is compared with, and what differs from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from headgate.gateway.files.addresses import is_uri
from headgate.gateway.process.git import Repository
from headgate.usecases.gate.links import Links, read_links


@dataclass(frozen=True, kw_only=True)
class Base:
    """The base: the commit that a working tree is compared with.

    `commit` is the full id. `changed` are the paths that differ, `files` all paths of the working
    tree, `had` all paths of the base. What differs behind a link of `links` also differs under the
    link's own path.
    """

    repository: Repository
    commit: str
    changed: frozenset[str]
    files: frozenset[str]
    had: frozenset[str]
    links: Links = field(default_factory=Links)
    submodules: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()

    def path(self, location: str | Path) -> str | None:
        """Return a location's path in the repository, None if it is outside of the repository."""
        if is_uri(str(location)):
            return None
        # git compares the path that is written; links are followed only outside of the clone.
        root = str(self.repository.root)
        for path in (os.path.abspath(location), os.path.realpath(location)):  # noqa: PTH100
            if is_below(path, root):
                return Path(path).relative_to(root).as_posix()
        return None

    def compares(self, path: str) -> bool:
        """Return whether git compares a path of the working tree, or a submodule that has it."""
        parents = (p.as_posix() for p in PurePosixPath(path).parents)
        return path in self.compared or any(p in self._submodules for p in parents)

    def differs(self, path: str) -> bool:
        """Return whether the path differs, a file below it, or a folder that contains it."""
        parents = (p.as_posix() for p in PurePosixPath(path).parents)
        return (
            path in self.changed or path in self._folders or any(p in self.changed for p in parents)
        )

    @cached_property
    def compared(self) -> frozenset[str]:
        """The paths of the working tree that git compares, also those behind a link."""
        return self.links.with_names(self.files)

    @cached_property
    def _submodules(self) -> frozenset[str]:
        return self.links.with_names(self.submodules)

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The folders in which something differs."""
        return frozenset(p.as_posix() for c in self.changed for p in PurePosixPath(c).parents)


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is the folder or in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def find_base(repository: Repository, revision: str) -> Base:
    """Return the merge base with HEAD, so that newer commits of `revision` don't count.

    NotFoundError if this clone doesn't have the revision.
    """
    named = repository.commit(revision)
    ancestor = repository.common_ancestor(named)
    commit = ancestor or named
    links = read_links(repository.root, repository.links())
    return Base(
        repository=repository,
        commit=commit,
        changed=links.with_names(repository.changed(commit)),
        files=repository.files(),
        had=repository.files(commit),
        links=links,
        submodules=repository.submodules(),
        warnings=() if ancestor else (_no_history(repository, revision),),
    )


def _no_history(repository: Repository, revision: str) -> str:
    if not repository.is_shallow():
        return (
            f"{revision} and HEAD share no history, so Headgate compares with the newest commit of "
            f"{revision}. Check that {revision} is the branch that this one was made from."
        )
    return (
        f"This clone doesn't have the history that {revision} and HEAD share. Changes of newer "
        f"commits on {revision} may show up as changes of this working tree. "
        "Fetch the full history, for example with `git fetch --unshallow`."
    )
