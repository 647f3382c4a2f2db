"""Sub-topologies: a task is called after its sub-topology's number, and so is its directory."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.compat.report import Outcome, StateEffect
from headgate.compat.rule import Verdict
from headgate.compat.streams.rule import StreamsComparison, streams_rule
from headgate.compat.streams.rules.keys import kept


@streams_rule("KST050")
def task_moved(c: StreamsComparison) -> Iterator[Verdict]:
    """Sub-topologies are numbered in the order of the code, and a task's local state lies in a
    directory of that number. Under another number the store is restored from its changelog, which
    takes as long as the changelog is long; the old directory stays on the disk."""
    for pair, was, now in kept(c):
        if was.subtopology != now.subtopology and not c.unlogged(was):
            yield Verdict(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.EXACT,
                where=pair.where,
                before=was.subtopology,
                after=now.subtopology,
                because=f"{now.name} moves from tasks {was.subtopology}_* to {now.subtopology}_*.",
                remedy="Allow for the time of a full restoration.",
                scenario="offline-upgrade",
            )


@streams_rule("KST051")
def unlogged_task_moved(c: StreamsComparison) -> Iterator[Verdict]:
    """Without a changelog the store exists on the local disk only, in the directory of its task.
    Its sub-topology got another number, so that the new task looks into another directory and
    starts empty, although the store is named and the disk was kept."""
    for pair, was, now in kept(c):
        if was.subtopology != now.subtopology and c.unlogged(was) and not now.restored_from:
            yield Verdict(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.LOST,
                where=pair.where,
                before=was.subtopology,
                after=now.subtopology,
                because=f"{was.changelog} does not exist, so {was.name} has no changelog.",
                remedy="Keep the order of sub-topologies (declare new ones last), or switch "
                "logging on and replay the inputs into a new application id.",
                scenario="from-scratch",
            )
