"""Check all pipelines that a working tree changes; each registered pipeline has one outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.errors import HeadgateError, with_next_step
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.process.git import repository_of
from headgate.gateway.process.python_environment import python_of
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.rules.compare.gated import (
    ComparedWith,
    Gated,
    GateReport,
    PipelineChange,
    worst_first,
)
from headgate.text.numbers import plural
from headgate.usecases.compare.compare_versions import report_on
from headgate.usecases.compare.source_location import source_location
from headgate.usecases.context import UNSET, Context, needs_file, read_context, unset_variables
from headgate.usecases.gate.base import Base, find_base
from headgate.usecases.gate.find_changes import FoundChange, find_changes, registry_at
from headgate.usecases.gate.kafka_streams import JarRuns, compare_descriptions
from headgate.usecases.gate.old_version import OldVersion, find_old_version, unset_store
from headgate.usecases.gate.requirements import find_requirements
from headgate.usecases.gate.run_twins import Pair, TwinChoice, TwinRuns
from headgate.usecases.gate.sides import (
    Captured,
    Sides,
    Wanted,
    base_tree,
    capture_both,
    working_tree,
)

PREFIX = "headgate-gate-"
Say = Callable[[str], None]


def gate(
    revision: str,
    *,
    config: str | None = None,
    options: GateOptions | None = None,
    say: Say = lambda _: None,
) -> GateReport:
    """Return the outcome of a restart with this working tree, for each pipeline of headgate.toml.

    The old version is the pipeline's baseline, else the running version in the store, else the code
    of `revision`. Only changed pipelines are captured, without credentials, all of one side in one
    Spark session. The working tree isn't changed. If a capture fails, the outcome is unknown, with
    an error. Raises NotFoundError if this clone doesn't have the revision, SetupError if git fails.
    """
    context = read_context(config, unset_variables())
    needs_file(context)
    base = find_base(repository_of(Path(context.registry.path or ".").parent), revision)
    changes, warnings = find_changes(context, base)
    with scratch_folder(PREFIX) as scratch, ExitStack() as stack:
        check = _Check(context, base, scratch, options or GateOptions(), say)
        pipelines = check.run(changes, stack)
    return GateReport(
        base=base.commit,
        revision=revision,
        pipelines=worst_first(pipelines),
        warnings=(*base.warnings, *warnings, *check.warnings),
    )


def _offline(context: Context, scratch: Path) -> Context:
    """Return the context without what can't be reached: its address needs an unset variable."""
    known = context.registry
    if UNSET in (known.schema_registry_url or ""):
        known = replace(known, schema_registry_url=None)
    url = context.store_url if UNSET not in context.store_url else f"sqlite:///{scratch}/none.db"
    return replace(context, registry=known, store_url=url)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Which changed pipelines get a twin run, and the timeout of each capture and run in seconds.

    `base_jars` is a folder with the jars of the base, if they aren't in the repository.
    """

    twin: TwinChoice = TwinChoice.AUTO
    seconds: float = 300.0
    base_jars: Path | None = None


class _Check:
    """The check of one working tree."""

    def __init__(
        self, context: Context, base: Base, scratch: Path, options: GateOptions, say: Say
    ) -> None:
        self._context, self._base, self._scratch = _offline(context, scratch), base, scratch
        self._unset = unset_store(context)
        self._options, self._say = options, say
        self.warnings: list[str] = []

    def run(self, changes: tuple[FoundChange, ...], stack: ExitStack) -> list[Gated]:
        """Return the result of each pipeline, in the order of the changes."""
        settled = {c.pipeline.name: self._without_comparison(c) for c in changes}
        open_ = [c for c in changes if settled[c.pipeline.name] is None]
        changed = [c for c in changes if c.change is not PipelineChange.UNCHANGED]
        self._say(
            f"{len(changed)} of {plural(len(changes), 'pipeline')} changed since "
            f"{self._base.commit[:10]}"
        )
        judged = self._judge(open_, stack) if open_ else {}
        return [settled[c.pipeline.name] or judged[c.pipeline.name] for c in changes]

    def _without_comparison(self, found: FoundChange) -> Gated | None:
        """Return the verdict of a pipeline that needs no comparison, None of all others."""
        if found.change is PipelineChange.REMOVED:
            said = (
                "The pipeline was removed from headgate.toml, so nothing restarts. The "
                "checkpoint, topics and offsets remain."
            )
            return self._gated(found, said=said)
        if found.reasons:
            return None
        same = {
            PipelineChange.NEW: (
                "The pipeline is new in headgate.toml, but the base already has the pipeline's "
                "code, so there is no change to compare."
            ),
            PipelineChange.RENAMED: (
                f"{_renamed(found)} The pipeline's code and settings didn't change."
            ),
        }
        return self._gated(found, said=same.get(found.change, ""))

    def _judge(self, changes: list[FoundChange], stack: ExitStack) -> dict[str, Gated]:
        folder = self._scratch / "base"
        repository, commit = self._base.repository, self._base.commit
        stack.enter_context(repository.checked_out(commit, folder))
        self.warnings += (
            f"The base's code may miss files, because {why}."
            for why in repository.fill_submodules(commit, folder)
        )
        old = {c.pipeline.name: self._old(c) for c in changes}
        judged: dict[str, Gated] = {}
        code: list[tuple[FoundChange, OldVersion]] = []
        for found in changes:
            known = old[found.pipeline.name]
            if isinstance(known, Gated):
                judged[found.pipeline.name] = known
            elif found.pipeline.entry_point and found.pipeline.engine is Engine.SPARK:
                code.append((found, known))
            else:
                judged[found.pipeline.name] = self._described(found, known, folder)
        return judged | self._judge_code(code, folder)

    def _old(self, found: FoundChange) -> OldVersion | Gated:
        try:
            known = find_old_version(self._context, self._base, found)
        except HeadgateError as error:
            return self._gated(found, error=with_next_step(error))
        if known.version is None and not _is_in_base(found, self._base):
            said = (
                "The pipeline is new, so there is no old version to compare with. The base doesn't "
                "have the pipeline's code, and Headgate knows no baseline or running version."
            )
            return self._gated(found, said=said)
        if known.compared_with is ComparedWith.BASE:
            return replace(known, warnings=(*known.warnings, *self._unset))
        return known

    def _described(self, found: FoundChange, old: OldVersion, folder: Path) -> Gated:
        """Compare what the repository has of a pipeline without a function: texts, and jars."""
        open_: tuple[str, ...] = ()
        try:
            compared = compare_descriptions(self._context, self._base, found, old, folder)
            one, open_ = replace(self._gated(found, old), report=compared.report), compared.open
        except HeadgateError as error:
            said = with_next_step(error).replace(f"{folder}/", "")
            one = self._gated(found, old, error=said)
        if self._options.twin is not TwinChoice.NEVER:
            one = self._jars(folder).judge(one, found, old, self._say)
        # Whether a text is still the jar's doesn't matter once the jars themselves were asked.
        return one if one.twin or one.said else replace(one, open=(*one.open, *open_))

    def _jars(self, folder: Path) -> JarRuns:
        return JarRuns(
            context=self._context,
            base=self._base,
            folder=folder,
            jars=self._options.base_jars,
            scratch=self._scratch,
            seconds=self._options.seconds,
        )

    def _judge_code(
        self, code: list[tuple[FoundChange, OldVersion]], folder: Path
    ) -> dict[str, Gated]:
        if not code:
            return {}
        sides = self._sides(folder)
        self._say(f"capturing {', '.join(f.pipeline.name for f, _ in code)}")
        before = [_wanted(f.before or f.pipeline) for f, old in code if old.version is None]
        choice, seconds = self._options.twin, self._options.seconds
        captured = capture_both(
            sides, before, [_wanted(f.pipeline) for f, _ in code], self._scratch, seconds
        )
        with TwinRuns(self._context, sides, self._scratch, choice, seconds) as twins:
            return {f.pipeline.name: self._compared(f, o, captured, twins) for f, o in code}

    def _sides(self, folder: Path) -> Sides:
        """Return both versions' code; the base gets its own packages if they differ."""
        after, python, problem = working_tree(self._context), None, None
        old, _ = registry_at(self._context, self._base)
        needed = find_requirements(self._context.registry, old, self._base)
        path = needed.before
        theirs = folder / (path or "requirements.txt")
        if path and needed.reasons and theirs.is_file():
            self._say(f"installing the base's packages from {path}")
            try:
                python, is_new = python_of(theirs)
                how = "created" if is_new else "reused"
                self.warnings.append(
                    f"{needed.reasons[0]}, so Headgate ran the base's code in a separate Python "
                    f"environment ({how})."
                )
            except HeadgateError as error:
                problem = f"the packages of the base can't be installed: {with_next_step(error)}"
        return Sides(base_tree(self._context, self._base, folder, python), after, problem)

    def _compared(
        self,
        found: FoundChange,
        old: OldVersion,
        captured: tuple[Captured, Captured],
        twins: TwinRuns,
    ) -> Gated:
        known = found.before or found.pipeline
        new = captured[1][_wanted(found.pipeline)]
        if isinstance(new, str):
            return self._gated(found, old, error=new)
        was = old.version or captured[0][_wanted(known)]
        if isinstance(was, str):
            return self._gated(found, old, error=f"The old version can't be captured: {was}")
        name = found.pipeline.name
        report = report_on(was, new, context=self._context, evidence=(), pipeline=name)
        one = replace(self._gated(found, old), report=report)
        pair = Pair(
            pipeline=found.pipeline, registered_before=known, old=old, before=was, after=new
        )
        return twins.judge(one, pair, self._say)

    def _gated(
        self,
        found: FoundChange,
        old: OldVersion | None = None,
        *,
        said: str = "",
        error: str | None = None,
    ) -> Gated:
        pipeline = found.pipeline
        one = Gated(
            pipeline=pipeline.name,
            change=found.change,
            reasons=tuple(_reasons(found)),
            said=said,
            error=error,
            place=self._source_line(pipeline),
        )
        if old is None:
            return one
        return replace(
            one,
            compared_with=old.compared_with,
            old=old.name,
            warnings=old.warnings,
            open=tuple(_setting_questions(found)),
        )

    def _source_line(self, pipeline: Pipeline) -> tuple[str, int]:
        """Return the line of the function in the repository, else the pipeline's table."""
        found = source_location((pipeline.entry_point,)) if pipeline.entry_point else None
        path = self._base.path(found[0]) if found else None
        if found and path:
            return path, found[1]
        file = self._context.registry.path or "headgate.toml"
        return self._base.path(file) or Path(file).name, pipeline.line


def _wanted(pipeline: Pipeline) -> Wanted:
    assert pipeline.entry_point is not None
    return Wanted(pipeline.entry_point, pipeline.query)


def _reasons(found: FoundChange) -> Iterator[str]:
    if found.change is PipelineChange.RENAMED:
        yield _renamed(found).rstrip(".")
    yield from found.reasons


def _renamed(found: FoundChange) -> str:
    return f"Renamed from {found.before.name if found.before else '?'}."


def _setting_questions(found: FoundChange) -> Iterator[str]:
    """Yield the questions that settings leave open: no version says which state there will be."""
    before, after = found.before, found.pipeline
    if before is None:
        return
    if "checkpoint" in found.settings and before.checkpoint:
        old, new = before.declared or before.checkpoint, after.declared or after.checkpoint
        yield (
            f"headgate.toml changes the checkpoint from {old} to {new}. Does "
            "the new checkpoint have the state of the old checkpoint? If not, the query "
            "starts from scratch."
            if new
            else f"headgate.toml no longer has `checkpoint` (in the base: {old}). Does the query "
            "still start with the same checkpoint? If not, the query starts from scratch."
        )
    if "group" in found.settings and before.group and after.group:
        yield (
            f"headgate.toml changes the group from {before.group} to {after.group}. Does "
            "the new group have the offsets and state of the old group? If not, the "
            "application starts from scratch."
        )


def _is_in_base(found: FoundChange, base: Base) -> bool:
    """Say whether the base has the code or the description of a pipeline."""
    if found.before is not None:
        return True
    pipeline = found.pipeline
    if not (pipeline.entry_point and pipeline.engine is Engine.SPARK):
        paths = [base.path(e) for e in (*pipeline.evidence, *filter(None, [pipeline.jar]))]
        return any(p and any(f"{f}/".startswith(f"{p}/") for f in base.had) for p in paths)
    module = pipeline.entry_point.partition(":")[0].replace(".", "/")
    ends = (f"/{module}.py", f"/{module}/__init__.py")
    return any(f"/{p}".endswith(ends) for p in found.depends_on & base.had)
