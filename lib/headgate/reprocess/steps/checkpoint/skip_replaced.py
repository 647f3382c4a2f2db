"""Let a query continue after the records that the pipelines before it write again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headgate.errors import RefusedError, StepError
from headgate.reprocess.checkpoint.offset_cut import ends_in, unreadable_sources, with_end
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.steps.base.step import PriorState, Step, check_topics
from headgate.reprocess.steps.base.verify_stopped import check_stopped
from headgate.reprocess.steps.checkpoint.cut_batch import entry_edit
from headgate.reprocess.steps.checkpoint.none_read import check_none_read
from headgate.reprocess.steps.checkpoint.rewind import REWOUND
from headgate.reprocess.steps.checkpoint.swap import CheckpointSwap
from headgate.reprocess.steps.offsets.skip_replaced import (
    Replaced,
    check_writers,
    left_behind,
    replaced_in,
    since_words,
    skipped_to,
    unread_before,
)
from headgate.reprocess.steps.offsets.target import TopicPart
from headgate.text.numbers import name_list, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipReplacedInput(CheckpointSwap):
    """Replace the checkpoint with a copy whose last batch ends at the latest offsets.

    `since` says by topic from which time on (Unix milliseconds) its records are replaced, `writers`
    are the pipelines that write them. `first` says that it is the query's own checkpoint that moves
    to backup, not one that an earlier step of the run has made. `by_batch` says that the sink drops
    batch numbers which it has already recorded. `topics` maps a name to its `id` and `partitions`.
    """

    action: ClassVar[str] = "skip_replaced_input"
    pipeline: str
    checkpoint: str
    query_id: str
    since: dict[str, int] = field(default_factory=dict)
    writers: tuple[str, ...] = ()
    first: bool = True
    by_batch: bool = False
    topics: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def word(self) -> str:
        return REWOUND

    @property
    def backup_word(self) -> str:
        return "before" if self.first else "before-cut"

    def describe(self) -> str:
        return (
            f"replace checkpoint {self.checkpoint} of {self.pipeline} with a copy that continues "
            "at the latest offsets, to skip the old results that the run rewrites "
            f"({since_words(self.since)})"
        )

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Refuse where the query runs, or a pipeline that writes to its input does.

        The logs of a checkpoint that the run itself has just written say nothing.
        """
        logs = self.checkpoint if self.first and not again else None
        check_stopped(inspector, self.pipeline, checkpoint=logs)
        check_writers(inspector, self.writers)
        if not again:
            self.check_old(inspector)

    def bind_copy(self, applier: Applier) -> PriorState:
        """Read the last batch, and find where each partition continues."""
        return {**CheckpointSwap.bind_copy(self, applier), **self._entry(applier)}

    def _entry(self, applier: Applier) -> PriorState:
        files = applier.checkpoints.files(self.checkpoint)
        last = files.last_commit if files else None
        log = files.offsets(last) if files and last is not None else None
        if files is not None and last is None:
            raise RefusedError(
                f"checkpoint {self.checkpoint} has no committed batch. Start {self.pipeline}, wait "
                "until a batch is committed, then run `headgate plan` again"
            )
        if files is None or last is None or log is None:
            raise RefusedError(
                f"the last batch of checkpoint {self.checkpoint} can't be read. Run `headgate plan "
                "repair` first"
            )
        if others := unreadable_sources(log):
            raise RefusedError(
                f"{self.pipeline} has {plural(others, 'source')} other than Kafka, or with an "
                "unknown offset format. Headgate can't change offsets of such sources. Plan "
                f"again with --choose {self.pipeline}=nothing"
            )
        if self.by_batch and max(files.logged, default=last) > last:
            raise RefusedError(
                f"batch {last + 1} of {self.pipeline} is uncommitted, and the sink drops batch "
                "numbers that it has already recorded. Start the pipeline, wait until the batch is "
                "committed, then run `headgate plan` again"
            )
        check_topics(applier, self.topics)
        replaced = replaced_in(applier, self.since)
        if not self.first:
            check_none_read(applier, self.pipeline, self.checkpoint, replaced)
        known = {part: ends_in(log, *part) for part in replaced}
        self._check_known(replaced, known)
        at = {part: ends[0] for part, ends in known.items() if ends}
        for text in left_behind(self.pipeline, unread_before(replaced, at)):
            applier.note(text)
        to, text = skipped_to(replaced, at), files.files[f"offsets/{last}"].decode()
        for (topic, number), end in sorted(to.items()):
            text = with_end(text, topic, number, end)
        return {"batch": last, "text": text, "ends": _rows(to)}

    def _check_known(
        self, replaced: Mapping[TopicPart, Replaced], known: Mapping[TopicPart, tuple[int, ...]]
    ) -> None:
        """Refuse partitions with replaced records of which the batch has no end, or several."""
        for (topic, number), part in sorted(replaced.items()):
            ends = known[topic, number]
            if part.begin < part.end and not ends:
                raise RefusedError(unknown_partitions(self.pipeline, [(topic, number)]))
            if len(set(ends)) > 1:
                raise RefusedError(
                    f"sources of {self.pipeline} are at different offsets of {topic}[{number}]: "
                    f"{', '.join(map(str, ends))}. Headgate can skip records only from one "
                    "common offset. Start the pipeline, wait until its sources reach the same "
                    "offset, then run `headgate plan` again"
                )

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Make the copy, unless it is in place already, and swap it in."""
        if not applier.folders.exists(was["aside"]):
            applier.checkpoints.copy_to_batch(self.checkpoint, was["batch"], was["copy"])
            edit = entry_edit(was["batch"], was["text"])
            applier.checkpoints.edit_copy(self.checkpoint, was["copy"], (edit,))
        CheckpointSwap.apply(self, applier, was)

    def verify_new(self, applier: Applier, was: PriorState) -> None:
        """Fail where the last batch does not end where it was set to end."""
        found = applier.checkpoints.read(self.checkpoint)
        now = found.offsets if found else {}
        for topic, parts in was["ends"].items():
            for number, end in parts.items():
                if now.get(topic, {}).get(int(number)) != end:
                    raise StepError(
                        f"checkpoint {self.checkpoint} doesn't end at offset {end} of "
                        f"{topic}[{number}]: another process writes to the checkpoint. Stop that "
                        f"process, then run `headgate undo {applier.run}`"
                    )

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Restore the checkpoint, unless the undo of an earlier step restores it."""
        return CheckpointSwap.undo(self, was) if self.first else ()


def unknown_partitions(pipeline: str, parts: Iterable[TopicPart]) -> str:
    """Say why partitions that no batch has read yet can't be skipped."""
    names = name_list(f"{topic}[{number}]" for topic, number in parts)
    return (
        f"the last batch of {pipeline} has no offset for {names}, so Spark would start there at "
        f"the earliest offset and read the old results, too. Start {pipeline}, wait for a batch "
        f"that includes {names}, then run `headgate plan` again"
    )


def _rows(ends: Mapping[TopicPart, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (topic, number), end in sorted(ends.items()):
        found.setdefault(topic, {})[str(number)] = end
    return found
