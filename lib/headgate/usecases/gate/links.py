"""The symbolic links of a clone: git compares what a link says, not its target."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath

# Links to links; a folder that leads to itself has more names than anybody uses.
_MOST_STEPS = 8


@dataclass(frozen=True)
class Links:
    """`targets` has each link's path and the path that it says; `outside` leave the clone."""

    targets: Mapping[str, str] = field(default_factory=dict)
    outside: frozenset[str] = frozenset()

    def with_names(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the paths, and all names that the links give to the same files.

        A link has changed, too, if only a part of its target folder has.
        """
        found = frozenset(paths)
        new: frozenset[str] = found
        for _ in range(_MOST_STEPS):
            new = frozenset(name for path in new for name in self._names(path)) - found
            if not new:
                break
            found |= new
        return found

    def leaves(self, path: str) -> str | None:
        """Return the link on the way to a path that leads out of the clone, None without one."""
        return next((p for p in (path, *_parents(path)) if p in self.outside), None)

    def _names(self, path: str) -> Iterator[str]:
        for end in (path, *_parents(path)):
            for link in self._by_target.get(end, ()):
                yield f"{link}{path[len(end) :]}"
        # What is removed as a whole, or a submodule, has no paths below it.
        yield from self._by_parent.get(path, ())

    @cached_property
    def _by_target(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for link, target in self.targets.items():
            # Whatever is in a folder would be in itself once more.
            if not f"{link}/".startswith(f"{target}/"):
                found[target].append(link)
        return found

    @cached_property
    def _by_parent(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for link, target in self.targets.items():
            for parent in _parents(target):
                found[parent].append(link)
        return found


def read_links(root: Path, links: Iterable[str]) -> Links:
    """Return where the links of a clone lead; `links` are paths in it."""
    targets: dict[str, str] = {}
    outside = set()
    for link in links:
        place = root / link
        try:
            said = place.readlink()
        except OSError:
            continue  # removed, or a link only where git makes none
        target = os.path.normpath(os.path.join(place.parent, said))  # noqa: PTH118
        if target != str(root) and not target.startswith(f"{root}/"):
            target = os.path.realpath(place)
        if target.startswith(f"{root}/"):
            targets[link] = Path(target).relative_to(root).as_posix()
        elif target != str(root):
            outside.add(link)
    return Links(targets, Links(targets).with_names(outside))


def matches(path: str, pattern: str) -> bool:
    """Say whether a path is one of a glob, in which `**` are any folders."""
    return _match(path.split("/"), pattern.split("/"))


def _match(parts: list[str], globs: list[str]) -> bool:
    if not globs or not parts:
        return not parts and all(g == "**" for g in globs)
    if globs[0] == "**":
        return _match(parts, globs[1:]) or _match(parts[1:], globs)
    return fnmatchcase(parts[0], globs[0]) and _match(parts[1:], globs[1:])


def _parents(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, without the clone itself."""
    yield from (p.as_posix() for p in PurePosixPath(path).parents if p.name)
