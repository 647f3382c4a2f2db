"""Find the pipelines that a working tree changes, without starting Spark or running their code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from headgate.errors import RegistryError
from headgate.gateway.files.addresses import is_uri
from headgate.gateway.process.git import Repository
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.config import headgate_toml
from headgate.rules.compare.gated import PipelineChange
from headgate.usecases.context import Context, importable_from, unset_variables
from headgate.usecases.gate.follow_imports import Followed, ImportFollower
from headgate.usecases.gate.links import Links, matches, read_links

_MOST_REASONS = 3
_PACKAGES = {"site-packages", "dist-packages"}
# What of a pipeline's table decides which version runs, and on which state.
_SETTINGS = (
    *("engine", "checkpoint", "group", "entry_point", "topics", "evidence", "watch", "query"),
    *("inputs", "jar", "properties"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChange:
    """A pipeline, the kind of its change, and the changed parts of its code and settings.

    `before` is its registration in the base, None if there is none; its paths are those of the
    working tree. `depends_on` are the paths that the pipeline depends on, `settings` the changed
    keys.
    """

    pipeline: Pipeline
    change: PipelineChange
    before: Pipeline | None = None
    reasons: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    depends_on: frozenset[str] = frozenset()


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
    warnings: tuple[str, ...] = ()

    def path(self, location: str | Path) -> str | None:
        """Return a location's path in the repository, None if it is outside of the repository."""
        if is_uri(str(location)):
            return None
        # git compares the path that is written; links are followed only outside of the clone.
        root = str(self.repository.root)
        for path in (os.path.abspath(location), os.path.realpath(location)):  # noqa: PTH100
            if _below(path, root):
                return Path(path).relative_to(root).as_posix()
        return None

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
    def _folders(self) -> frozenset[str]:
        """The folders in which something differs."""
        return frozenset(p.as_posix() for c in self.changed for p in PurePosixPath(c).parents)


def _untracked(path: str) -> str:
    return f"{path} isn't under version control, so it may have changed"


def _outside(link: str) -> str:
    return f"the link {link} leads out of the repository, so the target may have changed"


def _below(path: str, folder: str) -> bool:
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


def find_changes(context: Context, base: Base) -> tuple[tuple[FoundChange, ...], tuple[str, ...]]:
    """Return every registered pipeline in the order of headgate.toml, removed ones last.

    The second value are warnings.
    """
    old, warnings = _registry_at(context, base)
    follower = ImportFollower(base.repository.root, import_folders(context))
    search = _Search(context, base, follower)
    registered = {p.name: p for p in old.pipelines} if old else {}
    ours = context.registry.pipelines
    gone = [p for name, p in registered.items() if not any(name == o.name for o in ours)]
    found: list[FoundChange] = []
    for pipeline in ours:
        before = registered.get(pipeline.name) or _renamed(pipeline, gone)
        if before in gone:
            gone.remove(before)
        found.append(search.judge(pipeline, before))
    removed = (FoundChange(pipeline=p, change=PipelineChange.REMOVED, before=p) for p in gone)
    return (*found, *removed), warnings


def import_folders(context: Context) -> tuple[Path, ...]:
    """Return the folders that the pipelines' code is imported from, without installed packages."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    more = (Path(p) for p in (*named, *sys.path) if p)
    return (*importable_from(context), *(p for p in more if not _PACKAGES & {*p.parts}))


def _registry_at(context: Context, base: Base) -> tuple[Registry | None, tuple[str, ...]]:
    """Return what headgate.toml said at the base; its paths are as if it were here."""
    file = context.registry.path or "headgate.toml"
    path = base.path(file)
    text = base.repository.read(base.commit, path) if path else None
    if text is None:
        return None, (f"{path or file} isn't in the base commit, so all pipelines count as new.",)
    source = f"{path} of the base"
    try:
        data = text.decode("utf-8-sig")
        known = headgate_toml.parse(data, path=str(file), source=source, env=unset_variables())
        return known, ()
    except RegistryError as error:
        problem = str(error)
    except UnicodeDecodeError:
        problem = f"{source} isn't UTF-8 text"
    return context.registry, (
        f"{problem}. For the base, Headgate uses the pipelines of the working tree.",
    )


def _renamed(pipeline: Pipeline, gone: Sequence[Pipeline]) -> Pipeline | None:
    """Return the pipeline of another name that had the same state, or else the same code."""
    if pipeline.checkpoint or pipeline.group:
        state = (pipeline.engine, pipeline.checkpoint, pipeline.group)
        same = [p for p in gone if (p.engine, p.checkpoint, p.group) == state]
    else:
        same = [p for p in gone if p.entry_point and p.entry_point == pipeline.entry_point]
    return same[0] if len(same) == 1 else None


class _Search:
    """What of one pipeline differs; files are read once for all pipelines."""

    def __init__(self, context: Context, base: Base, follower: ImportFollower) -> None:
        self._context, self._base, self._follower = context, base, follower
        self._folder = Path(context.registry.path or "headgate.toml").parent
        self._followed: dict[str, Followed] = {}
        self._requirements = self._changed_requirements()

    def judge(self, pipeline: Pipeline, before: Pipeline | None) -> FoundChange:
        settings = _different(pipeline, before) if before else ()
        depends_on, reasons = self._look(pipeline)
        said = [*(f"`{key}` in headgate.toml changed" for key in settings), *reasons]
        change = PipelineChange.CHANGED if said else PipelineChange.UNCHANGED
        if before is None:
            change = PipelineChange.NEW
        elif before.name != pipeline.name:
            change = PipelineChange.RENAMED
        shown = said[:_MOST_REASONS]
        if len(said) > len(shown):
            shown.append(f"{len(said) - len(shown)} more")
        return FoundChange(
            pipeline=pipeline,
            change=change,
            before=before,
            reasons=tuple(shown),
            settings=settings,
            depends_on=depends_on,
        )

    def _look(self, pipeline: Pipeline) -> tuple[frozenset[str], list[str]]:
        """Return the paths that decide what a pipeline is, and what of them differs."""
        if not self._base.changed:
            # Whatever decides it is as it was.
            return frozenset(), []
        paths, reasons = self._files(pipeline)
        reasons += self._inputs(pipeline)
        if pipeline.entry_point and pipeline.engine is Engine.SPARK:
            followed = self._follow(pipeline.entry_point.partition(":")[0])
            paths |= followed.paths
            reasons += [
                f"Headgate can't follow all imports: {text}" for text in followed.unresolved
            ]
            reasons += self._unversioned(followed)
            reasons += self._requirements
            paths |= {c for c in self._base.changed if _is_named(c, followed.names)}
            left = self._base.links.outside
            reasons += [_outside(o) for o in sorted(left) if _is_named(o, followed.names)]
        elif pipeline.engine is Engine.SPARK and pipeline.inputs is None and not pipeline.evidence:
            reasons.append(
                "neither `entry_point` nor `inputs` is set in headgate.toml, so any file may be "
                "part of the pipeline"
            )
        said = [f"{p} changed" for p in sorted(paths) if self._base.differs(p)]
        return frozenset(paths), list(dict.fromkeys((*said, *reasons)))

    def _files(self, pipeline: Pipeline) -> tuple[set[str], list[str]]:
        """Return jar, settings and evidence in the repository, and what git doesn't know there."""
        paths, reasons = set(), []
        for location in filter(None, (pipeline.jar, pipeline.properties, *pipeline.evidence)):
            path = self._base.path(location)
            if path is None:
                continue
            paths.add(path)
            if link := self._base.links.leaves(path):
                reasons.append(_outside(link))
            elif not any(_below(f, path) for f in (*self._base.compared, *self._base.had)):
                reasons.append(_untracked(path))
        return paths, reasons

    def _inputs(self, pipeline: Pipeline) -> Iterator[str]:
        folder = self._base.path(self._folder)
        for glob in pipeline.inputs or ():
            matching = {p for f in self._folder.glob(glob) if (p := self._base.path(f))}
            pattern = f"{'' if folder in (None, '.') else f'{folder}/'}{glob}"
            changed = self._base.repository.changed(self._base.commit, patterns=(pattern,))
            # git doesn't compare what is behind a link.
            linked = {p for p in matching if p in self._base.links.targets}
            changed |= {p for p in linked if self._base.differs(p)}
            changed |= {p for p in self._base.changed if matches(p, pattern)}
            if changed:
                yield from (f"{path} changed" for path in sorted(changed))
            elif left := sorted(filter(None, map(self._base.links.leaves, matching))):
                yield _outside(left[0])
            elif not matching:
                yield f"the pattern {glob} in `inputs` matches no file"
            elif unknown := sorted(p for p in matching if not self._is_known(p)):
                yield _untracked(unknown[0])

    def _unversioned(self, followed: Followed) -> Iterator[str]:
        """Yield imported files that git can't compare: ignored ones, and those behind a link."""
        root = self._base.repository.root
        there = sorted(p for p in followed.paths if (root / p).is_file())
        leaving = filter(None, map(self._base.links.leaves, there))
        yield from dict.fromkeys(map(_outside, leaving))
        unknown = (p for p in there if p not in self._base.compared)
        yield from (_untracked(p) for p in unknown if not self._base.links.leaves(p))

    def _is_known(self, path: str) -> bool:
        is_folder = (self._base.repository.root / path).is_dir()
        return is_folder or path in self._base.compared

    def _follow(self, module: str) -> Followed:
        if module not in self._followed:
            self._followed[module] = self._follower.follow(module)
        return self._followed[module]

    def _changed_requirements(self) -> list[str]:
        file = requirements_file(self._context)
        path = self._base.path(file)
        return [f"{path} changed"] if path and self._base.differs(path) else []


def requirements_file(context: Context) -> Path:
    """Return the file that lists the packages of the pipelines' code; it may not exist."""
    registry = context.registry
    return Path(registry.requirements or Path(registry.path or "x").parent / "requirements.txt")


def _different(pipeline: Pipeline, before: Pipeline) -> tuple[str, ...]:
    ours, theirs = (replace(p, checkpoint=p.declared or p.checkpoint) for p in (pipeline, before))
    return tuple(key for key in _SETTINGS if getattr(ours, key) != getattr(theirs, key))


def _is_named(path: str, names: frozenset[str]) -> bool:
    """Say whether a constant of the code ends like this path: `orders.sql`, `sql/orders.sql`."""
    parts = path.split("/")
    return any("/".join(parts[n:]) in names for n in range(len(parts)))
