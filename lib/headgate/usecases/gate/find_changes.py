"""Find the pipelines that a working tree changes, without starting Spark or running their code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.errors import RegistryError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.config import headgate_toml
from headgate.rules.compare.gated import PipelineChange
from headgate.usecases.context import Context, importable_from, unset_variables
from headgate.usecases.gate.base import Base, is_below
from headgate.usecases.gate.follow_imports import PACKAGES, Followed, ImportFollower
from headgate.usecases.gate.links import matches
from headgate.usecases.gate.requirements import Requirements, find_requirements

_MOST_REASONS = 3
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


def _untracked(path: str) -> str:
    return f"{path} isn't under version control, so it may have changed"


def _outside(link: str) -> str:
    return f"the link {link} leads out of the repository, so the target may have changed"


def find_changes(context: Context, base: Base) -> tuple[tuple[FoundChange, ...], tuple[str, ...]]:
    """Return every registered pipeline in the order of headgate.toml, removed ones last.

    The second value are warnings.
    """
    old, warnings = registry_at(context, base)
    follower = ImportFollower(base.repository.root, import_folders(context), base.compared)
    search = _Search(context, base, follower, find_requirements(context.registry, old, base))
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
    return (*importable_from(context), *(p for p in more if not PACKAGES & {*p.parts}))


def registry_at(context: Context, base: Base) -> tuple[Registry | None, tuple[str, ...]]:
    """Return what headgate.toml said at the base; its paths are as if it were here."""
    file = context.registry.path or "headgate.toml"
    path = base.path(file)
    text = base.repository.read(base.commit, path) if path else None
    if text is None:
        return None, (f"{path or file} isn't in the base commit, so all pipelines count as new.",)
    source = f"{path} (base commit)"
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

    def __init__(
        self, context: Context, base: Base, follower: ImportFollower, requirements: Requirements
    ) -> None:
        self._base, self._follower, self._requirements = base, follower, requirements
        self._folder = Path(context.registry.path or "headgate.toml").parent
        self._followed: dict[str, Followed] = {}

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
            reasons += self._requirements.reasons
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
            elif not self._base.compares(path) and not any(
                is_below(f, path) for f in (*self._base.compared, *self._base.had)
            ):
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
        unknown = (p for p in there if not self._base.compares(p))
        yield from (_untracked(p) for p in unknown if not self._base.links.leaves(p))

    def _is_known(self, path: str) -> bool:
        is_folder = (self._base.repository.root / path).is_dir()
        return is_folder or self._base.compares(path)

    def _follow(self, module: str) -> Followed:
        if module not in self._followed:
            self._followed[module] = self._follower.follow(module)
        return self._followed[module]


def _different(pipeline: Pipeline, before: Pipeline) -> tuple[str, ...]:
    ours, theirs = (replace(p, checkpoint=p.declared or p.checkpoint) for p in (pipeline, before))
    return tuple(key for key in _SETTINGS if getattr(ours, key) != getattr(theirs, key))


def _is_named(path: str, names: frozenset[str]) -> bool:
    """Say whether a constant of the code ends like this path: `orders.sql`, `sql/orders.sql`."""
    parts = path.split("/")
    return any("/".join(parts[n:]) in names for n in range(len(parts)))
