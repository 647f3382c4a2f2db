"""Have Spark compute the results of the keys that late records touch, into a copy of a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StalePlanError
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.spark_jobs import SparkJob
from headgate.reprocess.steps.base.step import PriorState, check_topics, known_log
from headgate.reprocess.steps.outputs.process_records import Offsets, ProcessRecords
from headgate.text.numbers import plural


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceResults(ProcessRecords):
    """Process the input and the late records; write a copy of the folder with new results.

    Late records are `late_offsets` of `late_topics` and files (`late_files` as FORMAT:PATH, with
    the hash `late_content`); they belong to the topic `input`. Those in `known_offsets` of the
    input, or equal to others by the columns of `duplicates`, are left out. Results of the touched
    `keys` (and of `time_column`) replace those in `folder`, whose hash is `content`. `pairs` of key
    and window were touched when the plan was made.
    """

    action: ClassVar[str] = "replace_results"
    symbol: ClassVar[str] = "~"
    input: str
    late_offsets: Offsets
    late_topics: dict[str, dict[str, Any]] = field(default_factory=dict)
    late_files: str | None = None
    late_content: str | None = None
    known_offsets: Offsets
    duplicates: str = "offsets"
    keys: tuple[str, ...]
    time_column: str | None = None
    content: str
    late: int
    pairs: int

    def describe(self) -> str:
        return (
            f"process {plural(self.records, 'record')} of {', '.join(sorted(self.offsets))} and "
            f"{plural(self.late, 'late record')} with {self.entry_point}, and write a copy of "
            f"{self.folder} with new results for {plural(self.pairs, 'key')} (a key counts "
            "once per window)"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where a record, a late one too, or the folder's contents are other ones now."""
        ProcessRecords.check(self, inspector, again=again)
        check_topics(inspector, self.late_topics)
        for name, topic in inspector.kafka.topics(self.late_offsets).items():
            for part in topic.partitions:
                begin, end = known_log(name, part)
                first, after = self.late_offsets[name].get(str(part.number), (begin, begin))
                if first < after and not begin <= first < after <= end:
                    raise RefusedError(
                        f"{name}[{part.number}] now has offsets {begin} to {end}, not {first} to "
                        f"{after}. Run `headgate plan` again"
                    )
        if self.late_files is not None:
            path = self.late_files.partition(":")[2]
            _check_content(inspector, path, self.late_content)
        _check_content(inspector, self.folder, self.content)

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Run the program; what an earlier try has written is overwritten."""
        self.work(applier, "--to", was["staged"])

    def job(self, *target: str) -> SparkJob:
        """Return the program, with the arguments that name the new folder."""
        given = {
            "--entry-point": self.entry_point,
            "--query": self.query,
            "--offsets": json.dumps(self.offsets, sort_keys=True),
            "--known-offsets": json.dumps(self.known_offsets, sort_keys=True),
            "--input": self.input,
            "--late-offsets": json.dumps(self.late_offsets, sort_keys=True),
            "--late-files": self.late_files,
            "--duplicates": self.duplicates,
            "--keys": ",".join(self.keys),
            "--time-column": self.time_column,
            "--input-from": self.input_start,
            "--input-until": self.input_until,
            "--target": f"{self.format}:{self.folder}",
        }
        words = (w for name, value in given.items() if value for w in (name, value))
        return SparkJob(
            program="late.replace_results",
            arguments=(*words, *target),
            what=f"the processing of late records of {self.input}",
            config=self.config,
        )

    def report(self, facts: Mapping[str, Any]) -> str:
        """Return what the program has done, as a sentence for the Runs page."""
        return (
            f"{plural(facts['read'], 'record')} and {plural(facts['new'], 'late record')} read, "
            f"{plural(facts['repeated'] + facts['in_input'], 'duplicate')} dropped, "
            f"{plural(facts['replaced'], 'result')} replaced by {facts['written']} new results "
            f"in {facts['seconds']:.0f} s, including {facts['startup_seconds']:.0f} s to start "
            "Spark"
        )


def _check_content(inspector: Inspector, folder: str, planned: str | None) -> None:
    if inspector.sinks.content_hash(folder) != planned:
        raise StalePlanError(
            f"files in {folder} changed since the plan was made. Run `headgate plan` again"
        )
