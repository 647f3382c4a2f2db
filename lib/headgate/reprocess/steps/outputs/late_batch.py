"""Late records of a plan, and the keys whose results they change, for every kind of target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.errors import RefusedError, StalePlanError
from headgate.reprocess.ports.inspector import Inspector
from headgate.reprocess.steps.base.step import check_topics, known_log
from headgate.reprocess.steps.outputs.process_records import Offsets
from headgate.text.numbers import offset_range, plural

PROGRAM = "late.replace_results"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateBatch:
    """Late records: `offsets` of `topics` and `files` (FORMAT:PATH, with the hash `content`).

    They belong to the topic `input`. Those in `known_offsets` of the input, or equal to others by
    the columns of `duplicates`, are left out. Results of the touched `keys` (and of `time_column`)
    are replaced. `records` and `pairs` of key and window were counted when the plan was made.
    """

    input: str
    offsets: Offsets
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: str | None = None
    content: str | None = None
    known_offsets: Offsets
    duplicates: str = "offsets"
    keys: tuple[str, ...]
    time_column: str | None = None
    records: int
    pairs: int

    @property
    def title(self) -> str:
        """How many there are, in sentences."""
        return plural(self.records, "late record")

    @property
    def touched(self) -> str:
        """How many keys they touch, in sentences."""
        return f"{plural(self.pairs, 'key')} (a key counts once per window)"

    @property
    def what(self) -> str:
        """What the program does, in messages."""
        return f"the processing of late records of {self.input}"

    def check(self, inspector: Inspector) -> None:
        """Refuse where a late record is another one now, or is gone."""
        check_topics(inspector, self.topics)
        for name, topic in inspector.kafka.topics(self.offsets).items():
            for part in topic.partitions:
                begin, end = known_log(name, part)
                first, after = self.offsets[name].get(str(part.number), (begin, begin))
                if first < after and not begin <= first < after <= end:
                    raise RefusedError(
                        f"{name}[{part.number}] now has earliest offset {begin} and latest offset "
                        f"{end}, but the plan needs {offset_range(first, after)}. Run `headgate "
                        "plan` again"
                    )
        if self.files is not None:
            check_content(inspector, self.files.partition(":")[2], self.content)

    def arguments(self, target: str) -> tuple[str, ...]:
        """Return the program's arguments about late records and the target's old results."""
        given = {
            "--known-offsets": json.dumps(self.known_offsets, sort_keys=True),
            "--input": self.input,
            "--late-offsets": json.dumps(self.offsets, sort_keys=True),
            "--late-files": self.files,
            "--duplicates": self.duplicates,
            "--keys": ",".join(self.keys),
            "--time-column": self.time_column,
            "--target": target,
        }
        return tuple(w for name, value in given.items() if value for w in (name, value))


def late_counts(facts: Mapping[str, Any]) -> str:
    """Return what the program has read and written, as a sentence for the Runs page."""
    replaced = f"{plural(facts['replaced'], 'result')} replaced by " if "replaced" in facts else ""
    return (
        f"{plural(facts['read'], 'record')} and {plural(facts['new'], 'late record')} read, "
        f"{plural(facts['repeated'] + facts['in_input'], 'duplicate')} dropped, "
        f"{replaced}{plural(facts['written'], 'new result')}{'' if replaced else ' written'} "
        f"in {facts['seconds']:.0f} s, including {facts['startup_seconds']:.0f} s to start Spark"
    )


def check_content(inspector: Inspector, folder: str, planned: str | None) -> None:
    """Refuse where files of a folder are other ones now."""
    if inspector.sinks.content_hash(folder) != planned:
        raise StalePlanError(
            f"files in {folder} changed since the plan was made. Run `headgate plan` again"
        )
