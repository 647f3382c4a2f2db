"""Compare the topology descriptions of an application in the repository, and run both its jars."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.errors import EvidenceError, HeadgateError, UnreachableError, with_next_step
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.rules.compare.gated import ComparedWith, Gated
from headgate.rules.compare.twin_findings import with_twin
from headgate.rules.compare.twin_streams_findings import STREAMS_RULES
from headgate.rules.core.report import Report
from headgate.usecases.compare.compare_versions import read_side, report_on
from headgate.usecases.context import Context
from headgate.usecases.gate.base import Base
from headgate.usecases.gate.find_changes import FoundChange
from headgate.usecases.gate.old_version import OldVersion
from headgate.usecases.gate.run_twins import failed_run
from headgate.usecases.rehearsal.properties_file import read_settings
from headgate.usecases.rehearsal.rehearse_kafka_streams import StreamsOptions
from headgate.usecases.rehearsal.twin_kafka_streams import (
    StreamsTwin,
    StreamsTwinOptions,
    run_streams_twin,
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Described:
    """The report about two descriptions, and the questions that they leave open."""

    report: Report
    open: tuple[str, ...]


def compare_descriptions(
    context: Context, base: Base, found: FoundChange, old: OldVersion, folder: Path
) -> Described:
    """Compare the registered evidence of both versions; `folder` has the files of the base.

    EvidenceError if a description is missing.
    """
    pipeline = found.pipeline
    paths = _paths(base, pipeline)
    if not paths:
        raise EvidenceError(_nothing(pipeline))
    after = read_side([str(base.repository.root / p) for p in paths], context)
    before = old.version
    if before is None:
        theirs = _paths(base, found.before or pipeline)
        missing = [p for p in theirs if not (folder / p).exists()]
        if missing or not theirs:
            raise EvidenceError(
                f"the base commit has no {', '.join(missing) or 'description of the topology'}: "
                f"store the running version as {pipeline.name}.headgate.json with `headgate "
                "capture`, and commit this file"
            )
        before = read_side([str(folder / p) for p in theirs], context)
    report = report_on(before, after, context=context, evidence=(), pipeline=pipeline.name)
    return Described(report, _open(base, found, paths))


def _paths(base: Base, pipeline: Pipeline) -> list[str]:
    return [p for e in pipeline.evidence if (p := base.path(e))]


def _nothing(pipeline: Pipeline) -> str:
    if pipeline.engine is Engine.SPARK:
        return (
            "the pipeline has no `entry_point` in headgate.toml, so Headgate can't capture the new "
            "version: set `entry_point`"
        )
    if pipeline.engine is Engine.CONSUMER_GROUP:
        return (
            "Headgate stores no versions of consumer groups. Check that the new code can "
            "continue at the group's committed offsets"
        )
    return (
        "the repository has no description of the topology: write the output of "
        "Topology#describe() to a file, and name the file in `evidence`"
    )


def _open(base: Base, found: FoundChange, paths: list[str]) -> tuple[str, ...]:
    """Ask whether an unchanged description is of the changed application."""
    settings = {f"`{key}` in headgate.toml changed" for key in found.settings}
    code = [reason for reason in found.reasons if reason not in settings]
    if not code or any(base.differs(p) for p in paths):
        return ()
    return (
        (
            f"The application changed ({code[0]}), but its description {', '.join(paths)} "
            "didn't. Is the description still the output of Topology#describe()?"
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JarRuns:
    """Where the jars of both versions are, and the timeout of each start.

    `folder` has the checked-out base. `jars` is the folder with its jars, if they are built.
    """

    context: Context
    base: Base
    folder: Path
    jars: Path | None
    scratch: Path
    seconds: float

    def judge(self, one: Gated, found: FoundChange, old: OldVersion, say: Say) -> Gated:
        """Add the result of a twin run with both jars, or the reason why there was none."""
        pipeline = found.pipeline
        if not (pipeline.jar and pipeline.entry_point and pipeline.engine is Engine.KAFKA_STREAMS):
            return one
        if old.other_code and old.compared_with is not ComparedWith.BASE:
            note = (
                f"No twin run: it would run the jar of the base commit, but the old version "
                f"({old.name}) may have different code, because {old.other_code}."
            )
            return replace(one, twin_note=note)
        try:
            jars = self._old_jar(found), _there(Path(pipeline.jar))
            contents = _contents(jars[0], self._shown(jars[0])), _contents(jars[1], str(jars[1]))
            if contents[0] == contents[1] and not self._has_other_settings(found):
                note = "Both jars have the same contents, and the settings are the same."
                return replace(one, report=None, error=None, said=note)
            ran = self._run(found, jars, say)
        except UnreachableError as error:
            return failed_run(one, error, STREAMS_RULES)
        except HeadgateError as error:
            return replace(one, twin_note=f"No twin run: {with_next_step(error)}")
        report = report_on(
            old.version or ran.versions[0],
            ran.versions[1],
            context=self.context,
            evidence=(),
            pipeline=one.pipeline,
        )
        both = with_twin(report, ran.verdict, *ran.versions, STREAMS_RULES, again=ran.again)
        return replace(
            one,
            error=None,
            report=both.report,
            twin=ran.verdict,
            versions=ran.versions,
            disagreements=both.disagreements,
            lowered=both.lowered,
            plans=ran.plans,
            hints=ran.hints,
        )

    def _old_jar(self, found: FoundChange) -> Path:
        """Return the base's jar; EvidenceError if there is none."""
        jar = (found.before or found.pipeline).jar or found.pipeline.jar or ""
        path = self.base.path(jar)
        places = [self.folder / path] if path else []
        if self.jars is not None:
            places += [self.jars / path] if path else []
            places.append(self.jars / Path(jar).name)
        there = next((p for p in places if p.is_file()), None)
        if there is None:
            raise EvidenceError(
                f"the base commit has no {path or jar}. Build the jar from the base commit, and "
                "pass the folder of the jar with --base-jars"
            )
        return there

    def _shown(self, jar: Path) -> str:
        """Return the name of the base's jar without the folder that the base is checked out in."""
        if not jar.is_relative_to(self.folder):
            return str(jar)
        return f"{jar.relative_to(self.folder)} of the base commit"

    def _has_other_settings(self, found: FoundChange) -> bool:
        files = self._properties(found)
        texts = [f.read_bytes() if f and f.is_file() else b"" for f in files]
        return bool(found.settings) or texts[0] != texts[1]

    def _properties(self, found: FoundChange) -> tuple[Path | None, Path | None]:
        """Return both versions' files of settings."""
        before, after = (found.before or found.pipeline).properties, found.pipeline.properties
        path = self.base.path(before) if before else None
        old = self.folder / path if path else before
        return Path(old) if old else None, Path(after) if after else None

    def _run(self, found: FoundChange, jars: tuple[Path, Path], say: Say) -> StreamsTwin:
        pipeline = found.pipeline
        sides = []
        for known, jar, file in zip(
            (found.before or pipeline, pipeline), jars, self._properties(found), strict=True
        ):
            entry = known.entry_point or pipeline.entry_point or ""
            options = StreamsOptions(settings=read_settings(file) if file else {})
            sides.append(options.side(entry, [jar], known.group or pipeline.name))
        return run_streams_twin(
            *sides,
            options=StreamsTwinOptions(
                seconds=self.seconds,
                samples=[Path(pipeline.records)] if pipeline.records else (),
                scratch=self.scratch,
            ),
            say=lambda text: say(f"{pipeline.name}: {text}"),
        )


def _there(jar: Path) -> Path:
    if not jar.is_file():
        raise EvidenceError(f"{jar} doesn't exist: build the jar before this check")
    return jar


def _contents(jar: Path, shown: str) -> frozenset[tuple[str, int]]:
    """Return name and checksum of each file; the manifest names the build, and no code."""
    try:
        with zipfile.ZipFile(jar) as opened:
            return frozenset(
                (f.filename, f.CRC) for f in opened.infolist() if not _is_about_build(f.filename)
            )
    except (OSError, zipfile.BadZipFile) as error:
        raise EvidenceError(
            f"{shown} can't be read as a jar ({error}): build the jar again"
        ) from None


def _is_about_build(name: str) -> bool:
    return name == "META-INF/MANIFEST.MF" or name.endswith("/") or "META-INF/maven/" in name
