"""Follow the imports of an entry point through the files of a repository; no code runs."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from headgate.errors import ParseError
from headgate.parse.python.imports import Imported, PythonImports, read_imports
from headgate.spark_jobs.own_process import folder_below, is_in

# Folders of installed packages.
PACKAGES = frozenset({"site-packages", "dist-packages"})
_PACKAGE = "__init__.py"
_MOST_UNRESOLVED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What the result of an entry point depends on, as far as its code shows.

    `paths` are relative to the repository: imported files, and files that would be imported if they
    existed. `names` are string constants that may be names of files. `unresolved` are sentences.
    """

    paths: frozenset[str]
    names: frozenset[str]
    unresolved: tuple[str, ...]


@dataclass
class _Walk:
    """One entry point's way; `modules` was imported already, `pending` has yet to be read."""

    paths: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    unresolved: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    pending: list[tuple[str, Path]] = field(default_factory=list)


class ImportFollower:
    """Follows the imports of many entry points; reads each file once.

    `importable` are the folders that Python imports from, in this order. Folders outside of the
    repository are left out, because a change of the repository doesn't affect their modules.
    `files` are the repository's paths: a module may come from a folder that isn't importable.
    """

    def __init__(self, root: Path, importable: Sequence[Path], files: Iterable[str] = ()) -> None:
        self._root = root.resolve()
        # A link in the clone keeps its own path, which the gate compares with what it leads to.
        written = [Path(os.path.abspath(f)) for f in importable]  # noqa: PTH100
        inside = [f if f.is_relative_to(self._root) else f.resolve() for f in written]
        self._folders = tuple(
            dict.fromkeys(f for f in inside if f.is_relative_to(self._root) and f.is_dir())
        )
        self._read: dict[Path, PythonImports | ParseError] = {}
        self._placed = _module_folders(files)

    def follow(self, module: str) -> Followed:
        """Return everything that an import of `module` depends on."""
        walk = _Walk()
        if not self._import(module, walk):
            walk.unresolved.append(self._not_found(module))
        while walk.pending:
            self._read_module(*walk.pending.pop(), walk)
        return Followed(
            paths=frozenset(walk.paths),
            names=frozenset(walk.names),
            unresolved=tuple(dict.fromkeys(walk.unresolved))[:_MOST_UNRESOLVED],
        )

    def _not_found(self, module: str) -> str:
        """Say that Python doesn't find a module, and which folder below has it."""
        below = next(filter(None, (folder_below(module, f) for f in self._folders)), None)
        below = below or self._elsewhere(module)
        if below is None:
            return f"module {module} isn't in a folder of the repository that Python imports from"
        place = os.path.relpath(below)
        return f"module {module} is in the folder {place}: set PYTHONPATH={place}"

    def _elsewhere(self, module: str) -> Path | None:
        """Return the first folder of the repository that has a module and isn't importable."""
        places = self._placed.get(module.partition(".")[0], ())
        folders = (self._root / place for place in places)
        return next((f for f in folders if f not in self._folders and is_in(f, module)), None)

    def _import(self, name: str, walk: _Walk) -> bool:
        """Import `a.b.c` as Python does: `a`, then `a.b`, then `a.b.c`; say whether it is here."""
        folders = self._folders
        parts = name.split(".")
        for end, part in enumerate(parts, 1):
            file, folders = self._find(part, folders, walk)
            if file is None and not folders:
                return False
            imported = ".".join(parts[:end])
            if file is not None and imported not in walk.modules:
                walk.modules.add(imported)
                walk.pending.append((imported, file))
        return True

    def _find(
        self, part: str, folders: Sequence[Path], walk: _Walk
    ) -> tuple[Path | None, tuple[Path, ...]]:
        """Return the file of a module or package, and the folders of its submodules."""
        spread: list[Path] = []
        for folder in folders:
            for file in (folder / part / _PACKAGE, folder / f"{part}.py"):
                self._note(file, walk)
                if file.is_file():
                    return file, ((file.parent,) if file.name == _PACKAGE else ())
            if (folder / part).is_dir():
                spread.append(folder / part)
        return None, tuple(spread)

    def _note(self, file: Path, walk: _Walk) -> None:
        # Links aren't followed: what differs behind one also differs under the link's own path.
        if file.is_relative_to(self._root):
            walk.paths.add(file.relative_to(self._root).as_posix())

    def _read_module(self, name: str, file: Path, walk: _Walk) -> None:
        found = self._imports_of(file)
        if isinstance(found, ParseError):
            walk.unresolved.append(str(found))
            return
        shown = file.relative_to(self._root).as_posix()
        walk.names |= found.files
        walk.unresolved += (f"{shown}:{line} {reason}" for line, reason in found.unresolved)
        is_package = file.name == _PACKAGE
        for one in found.imported:
            self._follow_one(one, name if is_package else name.rpartition(".")[0], walk)

    def _imports_of(self, file: Path) -> PythonImports | ParseError:
        if file not in self._read:
            shown = file.relative_to(self._root).as_posix()
            try:
                self._read[file] = read_imports(file.read_bytes(), source=shown)
            except OSError as error:
                self._read[file] = ParseError(
                    f"the file can't be read: {error.strerror}", source=shown, line=1
                )
            except ParseError as error:
                self._read[file] = error
        return self._read[file]

    def _follow_one(self, one: Imported, package: str, walk: _Walk) -> None:
        module = _absolute(one, package)
        if module is None:
            return
        if not self._import(module, walk):
            self._miss(module, one, walk)
            return
        if not one.names and module not in walk.modules:
            self._miss(module, one, walk)
        for name in one.names:
            for inner in self._starred(module, walk) if name == "*" else (name,):
                is_found = self._import(f"{module}.{inner}", walk)
                # A folder without `__init__.py` has nothing but modules.
                if not is_found and module not in walk.modules:
                    self._miss(f"{module}.{inner}", one, walk)

    def _miss(self, module: str, one: Imported, walk: _Walk) -> None:
        """Note a module that Python may import from a folder that we don't import from."""
        if not one.level and self._elsewhere(module) and self._is_ours(module):
            walk.unresolved.append(self._not_found(module))

    def _is_ours(self, module: str) -> bool:
        """Say whether a module may come from the repository: an installed package comes first."""
        name = module.partition(".")[0]
        if name in sys.stdlib_module_names:
            return False
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        places = [*(spec.submodule_search_locations or ()), spec.origin or ""] if spec else []
        paths = [Path(p).resolve() for p in places if p]
        outside = [p for p in paths if PACKAGES & {*p.parts} or not p.is_relative_to(self._root)]
        return not outside or len(outside) < len(paths)

    def _starred(self, module: str, walk: _Walk) -> Iterator[str]:
        """Yield the submodules that `from module import *` may import."""
        folders = self._folders
        file: Path | None = None
        for part in module.split("."):
            file, folders = self._find(part, folders, walk)
        found = self._imports_of(file) if file is not None else None
        if isinstance(found, PythonImports):
            yield from found.exported


def _module_folders(files: Iterable[str]) -> dict[str, list[str]]:
    """Return the folders that have a module or package, by its name; the shortest path first."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for file in sorted((f for f in files if f.endswith(".py")), key=lambda f: (f.count("/"), f)):
        *folders, name = file.split("/")
        for end, part in enumerate((*folders, name.removesuffix(".py"))):
            found[part]["/".join(folders[:end])] = None
    return {name: list(places) for name, places in found.items()}


def _absolute(one: Imported, package: str) -> str | None:
    """Return the full name of the module that is imported from a package's module."""
    if not one.level:
        return one.module
    parts = package.split(".") if package else []
    if one.level > len(parts):
        return None
    kept = parts[: len(parts) - one.level + 1]
    return ".".join(filter(None, (*kept, one.module)))
