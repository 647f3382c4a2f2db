"""How runs have Spark process data: a program beside the worker, or on a cluster."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from headgate.errors import OutputError, RefusedError, RunCancelledError, StepError
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.output_comparison import OutputComparison
from headgate.reprocess.ports.spark_jobs import (
    EventTimes,
    JobOutcome,
    JobResult,
    LateTouch,
    Slice,
    SparkJob,
)
from headgate.text.private_files import open_private
from headgate.text.secrets import mask_text

_POLL_SECONDS = 0.2
# How long a program of a cancelled run may take until its next safe place, such as a batch's end.
STOP_SECONDS = 60.0
_GONE_SECONDS = 30.0
# Another one for results that were measured with other facts.
_FORM = "3"


class SparkJobAdapter:
    """Runs programs of `spark_jobs/data`; see `reprocess.ports.spark_jobs`."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def master(self) -> str:
        """Return where programs run."""
        return self._context.registry.spark.master

    def event_times(self, job: SparkJob, topics: Mapping[str, str | None]) -> EventTimes:
        """Return what the program finds; see the port."""
        found = self._known(job, topics)
        slices = (
            Slice(
                topic=s["topic"], partition=s["partition"], begin=s["from"], end=s["to"],
                first=s["first"], last=s["last"],
            )
            for s in found["slices"]
        )  # fmt: skip
        return EventTimes(
            slices=tuple(slices),
            column=found["column"],
            is_exact=found["is_exact"],
            result_time=found["result_time"],
            is_event_time=found.get("is_event_time", False),
            columns=tuple(found["columns"]),
            delay_ms=found["delay_ms"],
            types=tuple(found["types"]),
        )

    def check_import(self, function: str) -> None:
        """Import the function; see the port."""
        arguments = ("--entry-point", function, "--offsets", "{}", "--import-only")
        what = f"the import of {function}"
        self._known(SparkJob(program="measure_times", arguments=arguments, what=what), {})

    def late_touch(self, job: SparkJob, inputs: Mapping[str, str | None]) -> LateTouch:
        """Return what the program finds; see the port."""
        found = self._known(job, inputs)
        kept: dict[str, Any] = {one.name: found[one.name] for one in fields(LateTouch)}
        for name in ("sample", "columns", "assumed", "nulls"):
            kept[name] = tuple(kept[name])
        return LateTouch(**kept)

    def _known(self, job: SparkJob, inputs: Mapping[str, str | None]) -> dict[str, Any]:
        """Return what a program measures of these inputs, or has measured before."""
        folder = self._context.home / "measured"
        spark = self._context.registry.spark
        given = (sorted(inputs.items()), sorted(spark.config.items()))
        asked = json.dumps([_FORM, job.program, *job.arguments, *given])
        named = hashlib.sha256(asked.encode()).hexdigest()[:24]
        found = _remembered(folder / f"{named}.json")
        if found is None:
            # Two plans may be made at once: each has its own process and its own draft.
            draft = folder / f"{named}.{os.getpid()}-{threading.get_ident()}"
            found = self._measured(job, draft)
            with open_private(draft, "w") as out:
                json.dump(found, out)
            draft.replace(folder / f"{named}.json")
        return found

    def _measured(self, job: SparkJob, report: Path) -> dict[str, Any]:
        try:
            result = self._run(job, report, f"measure:{report.name}", lambda _report: None)
        except StepError as error:
            raise RefusedError(str(error)) from None
        finally:
            shutil.rmtree(report, ignore_errors=True)
        if result.outcome is not JobOutcome.DONE:
            raise RefusedError(
                f"{job.what} failed: {result.error}. Fix the cause, then run `headgate plan` again"
            )
        return dict(result.facts)

    def run(
        self, job: SparkJob, on_report: Callable[[Mapping[str, Any]], None] = lambda _report: None
    ) -> JobResult:
        """Run a program and return its result; see the port."""
        at = self._context
        report = at.run_folder / "spark" / job.program
        found = self._run(job, report, f"{at.run}:spark:{job.program}", on_report)
        told = {"program": job.program, "outcome": found.outcome.value, "facts": dict(found.facts)}
        at.keep("job", told)
        return found

    def _run(
        self,
        job: SparkJob,
        report: Path,
        mark: str,
        on_report: Callable[[Mapping[str, Any]], None],
    ) -> JobResult:
        # What starts processes is imported only where one is started.
        from headgate.gateway.spark.run_job import ended_early
        from headgate.gateway.spark.submit_job import Submission

        at = self._context
        submission = Submission(
            program=job.program,
            arguments=job.arguments,
            config=job.config,
            delta=job.delta,
            connections=self._connections(job),
            spark=at.registry.spark,
            folder=at.folder,
            report=report,
            mark=mark,
        )
        _end_earlier(submission.mark, at.pause)
        try:
            code, found = submission.run(
                lambda report: self._pass_report(report, on_report),
                lambda child: self._pause(submission.ask_to_stop, child, job),
            )
        finally:
            _end_earlier(submission.mark, time.sleep)
        if found is None:
            raise StepError(ended_early(job.what, code, submission.log))
        return JobResult(JobOutcome(found["outcome"]), found["facts"], found["error"] or "")

    def _connections(self, job: SparkJob) -> dict[str, Any]:
        name = job.database
        if name is None:
            return {}
        if name not in self._context.registry.jdbc:
            raise RefusedError(
                f"no database {name} is declared: add [jdbc.{name}] with `url` to headgate.toml"
            )
        return {"jdbc": {name: self._context.registry.jdbc[name]}}

    def compare(
        self,
        a: str,
        b: str,
        *,
        keys: Sequence[str],
        tolerance: float = 0.0,
        ignore: Sequence[str] = (),
        newest: bool = False,
    ) -> OutputComparison:
        """Compare two outputs; see the port."""
        from headgate.gateway.spark.compare_outputs import CompareRequest, compare_outputs

        at = self._context
        wish = CompareRequest(
            a=a,
            b=b,
            keys=list(keys),
            tolerance=tolerance,
            ignore=list(ignore),
            newest=newest,
        )
        try:
            found = compare_outputs(wish, at.registry, say=at.note, cancelled=at.is_cancelled)
        except OutputError as error:
            raise StepError(str(error)) from None
        at.keep("comparison", found.counts)
        return found

    def _pause(self, ask_to_stop: Callable[[], None], child: Any, job: SparkJob) -> None:
        """Wait a little; a cancelled run first lets the program finish its current unit safely."""
        try:
            begun = time.monotonic()
            self._context.pause(_POLL_SECONDS)
            # Only a worker's pause takes time: a plan that measures must not spin.
            time.sleep(max(0.0, begun + _POLL_SECONDS - time.monotonic()))
        except RunCancelledError:
            ask_to_stop()
            deadline = time.monotonic() + STOP_SECONDS
            while child.running and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            how = "was ended" if child.running else "stopped"
            raise RunCancelledError(f"the run was cancelled, and {job.what} {how}") from None

    def _pass_report(
        self, report: Mapping[str, Any], on_report: Callable[[Mapping[str, Any]], None]
    ) -> None:
        if "done" in report:
            total = report.get("total")
            self._context.progress(report["done"], total, report.get("unit", "records"))
        if note := report.get("note"):
            self._context.note(mask_text(note))
        if parts := report.get("partitions"):
            self._context.keep("partitions", {"parts": parts})
        on_report(report)


def _remembered(file: Path) -> dict[str, Any] | None:
    """Return what was measured before, None if nothing was, or if the code has changed since."""
    if not file.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return None
    for name, digest in found["code"].items():
        path = Path(name)
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return None
    return found


def _end_earlier(mark: str, pause: Callable[[float], None]) -> None:
    """Kill what is left of the program and wait until it is gone: two would write one checkpoint.

    StepError if something of it does not end.
    """
    from headgate.gateway.process.shell_commands import end_marked

    waited = 0.0
    while end_marked(mark):
        if waited >= _GONE_SECONDS:
            raise StepError(
                "Headgate killed an earlier Spark program of this run, but after "
                f"{_GONE_SECONDS:.0f} s the program is still running. Check this machine for high "
                "load or a disk that doesn't respond, then resume the run"
            )
        pause(_POLL_SECONDS)
        waited += _POLL_SECONDS
