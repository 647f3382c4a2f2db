"""Twin run: start both versions of a query on the same generated rows, and compare the results."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from headgate.errors import BuildError, LimitError, UnreachableError
from headgate.gateway.files.scratch_folders import scratch_folder
from headgate.gateway.spark.rehearsal import evidence
from headgate.gateway.spark.run_job import Checkout
from headgate.gateway.spark.twin_version import TwinProcess, TwinSetting, TwinVersion
from headgate.model.twin import TwinVerdict
from headgate.model.version import Engine, Version
from headgate.rules.compare.twin_findings import Disagreement, with_twin, worst_of
from headgate.rules.compare.twin_lowers import Lowered, can_lower
from headgate.rules.core.report import Report
from headgate.twin.generate_rows import USUAL_ROWS
from headgate.usecases.compare.compare_versions import compare_read
from headgate.usecases.context import Context, importable_from
from headgate.usecases.evidence.read_version import read_version
from headgate.usecases.rehearsal.twin_sample import SampleWish, sampled_rows
from headgate.usecases.rehearsal.twin_trial import Say, Trial, TrialWish

PREFIX = "headgate-twin-"


@dataclass(frozen=True, slots=True)
class TwinRun:
    """The findings and outcome of rules and twin run together, and what Spark did.

    `lowered` are findings of rules whose outcome two runs with different rows refuted. `plans` are
    the texts of both versions' plans. `hints` are what rows were generated from.
    """

    report: Report
    verdict: TwinVerdict
    disagreements: tuple[Disagreement, ...]
    versions: tuple[Version, Version]
    lowered: tuple[Lowered, ...] = ()
    again: TwinVerdict | None = None
    plans: tuple[str, str] = ("", "")
    hints: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinOptions:
    """Options of a twin run; `rows` are generated for each streaming source.

    `seconds` is the timeout of the whole run.
    """

    rows: int = USUAL_ROWS
    seed: int = 7
    seconds: float = 300.0
    query: str | None = None
    conf: Mapping[str, str] | None = None
    scratch: Path | None = None
    sample: SampleWish | None = None


def run_twin(
    before: str,
    after: str,
    *,
    context: Context | None = None,
    options: TwinOptions | None = None,
    say: Say = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    processes: tuple[TwinProcess, TwinProcess] | None = None,
) -> TwinRun:
    """Return the outcome of a twin run with `after` as the next version of `before`.

    Both are `module:function`. Headgate reads no source, and writes only to a scratch folder.
    `processes` are two Spark processes that already run: many small twin runs share them. If a
    function fails or doesn't return, the outcome is UNKNOWN. CaptureError if a function doesn't
    exist, UnreachableError if a version's process ended, or didn't respond in time.
    """
    options = options or TwinOptions()
    with scratch_folder(PREFIX, options.scratch) as folder, contextlib.ExitStack() as stack:
        if processes is None:
            checkout = Checkout(importable_from(context))
            first, second = (
                stack.enter_context(TwinProcess(folder / f"spark-{name}", checkout))
                for name in ("before", "after")
            )
            processes = first, second
        return _Run(
            entry_points=(before, after),
            folder=folder,
            options=options,
            processes=processes,
            say=say,
            cancelled=cancelled,
            context=context,
        ).result()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One twin run: an experiment, and another one if its rows were too few or refute a rule."""

    entry_points: tuple[str, str]
    folder: Path
    options: TwinOptions
    processes: tuple[TwinProcess, TwinProcess]
    say: Say
    cancelled: Callable[[], bool]
    context: Context | None
    begun: float = field(default_factory=time.monotonic)

    def result(self) -> TwinRun:
        """Run both versions, and read the versions that were captured before their start."""
        folder = self.folder / "first"
        trial = self._trial(folder, self.options.seed)
        try:
            verdict = trial.verdict()
        except BuildError as error:
            verdict = _not_built(error, self.options.seed)
        versions = _versions(folder, self.context, has_offsets=trial.reads_files)
        report = compare_read(*versions) if all(v.evidence for v in versions) else Report()
        verdict, is_wide = self._widened(verdict)
        again = self._again(is_wide=is_wide) if can_lower(report, verdict, *versions) else None
        verdict, again = worst_of(verdict, again)
        verdict = replace(verdict, seconds=time.monotonic() - self.begun)
        found = with_twin(report, verdict, *versions, again=again)
        return TwinRun(
            found.report,
            verdict,
            found.disagreements,
            versions,
            lowered=found.lowered,
            again=again,
            plans=(_plan(folder / "before"), _plan(folder / "after")),
            hints=trial.hints.plain(),
        )

    def _widened(self, verdict: TwinVerdict) -> tuple[TwinVerdict, bool]:
        """Run the experiment on more varied rows if the usual ones reached too little to decide.

        Return its verdict if that decides, and whether it does.
        """
        if not verdict.is_thin or not verdict.rows:
            return verdict, False
        self.say("running both versions again, on rows with more keys and windows")
        wide = self._other("wide", self.options.seed, is_wide=True)
        if wide is None or wide.outcome == "unknown":
            return verdict, False
        return wide, True

    def _again(self, *, is_wide: bool) -> TwinVerdict | None:
        """Run the experiment on other rows: a rule is only refuted by two runs.

        None if this run fails or is late: then nothing is lowered, and the first run counts.
        """
        self.say("running both versions again, on other rows")
        second = self._other("second", self.options.seed + 1, is_wide=is_wide)
        # Other rows can reach too few keys where the first ones just reached enough.
        if second is not None and second.is_thin and not is_wide:
            return self._other("third", self.options.seed + 1, is_wide=True)
        return second

    def _other(self, name: str, seed: int, *, is_wide: bool) -> TwinVerdict | None:
        try:
            return self._trial(self.folder / name, seed, is_wide=is_wide).verdict()
        except (BuildError, UnreachableError) as error:
            self.say(f"the repeated run failed, so only the first run counts: {error}")
            return None

    def _trial(self, folder: Path, seed: int, *, is_wide: bool = False) -> Trial:
        setting = TwinSetting(
            rows=folder / "rows",
            deadline=self.begun + self.options.seconds,
            conf=self.options.conf or {},
            query=self.options.query,
            cancelled=self.cancelled,
        )
        self.say(f"building {' and '.join(self.entry_points)}")
        old, new = (
            TwinVersion(entry_point, folder / name, process, setting)
            for entry_point, name, process in zip(
                self.entry_points, ("before", "after"), self.processes, strict=True
            )
        )
        sample = self.options.sample
        read = partial(sampled_rows, sample, context=self.context) if sample else None
        wish = TrialWish(self.options.rows, seed, read, is_wide)
        return Trial((old, new), folder, wish, self.say)


def _not_built(error: BuildError, seed: int) -> TwinVerdict:
    if isinstance(error, LimitError):
        return TwinVerdict(
            outcome="unknown",
            why=str(error),
            question="Does the twin run finish within its limits with fewer rows (--rows)?",
            seed=seed,
        )
    return TwinVerdict(
        outcome="unknown",
        why=f"building the query failed: {error}",
        question="Can the function build the query without access to servers and tables?",
        seed=seed,
    )


def _versions(
    folder: Path, context: Context | None, *, has_offsets: bool
) -> tuple[Version, Version]:
    """Return both versions as recorded before their start, the old one with its checkpoint.

    Without it, if the checkpoint has offsets of files for a source that isn't files. A version
    that could not be built has no evidence.
    """
    checkpoint = folder / "checkpoint-before"
    left = [str(checkpoint)] if has_offsets and (checkpoint / "metadata").is_file() else []
    old, new = (
        read_version([*_pieces(folder / name), *more], context=context)
        if (folder / name / "capture.json").is_file()
        else Version(engine=Engine.SPARK)
        for name, more in (("before", left), ("after", []))
    )
    return old, new


def _pieces(folder: Path) -> list[str]:
    return [*evidence(folder), str(folder / "conf.json")]


def _plan(folder: Path) -> str:
    file = folder / "explain.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else ""
