"""A restart of what looks the same, on offsets of a Kafka that nobody asked."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Outcome, Rollback
from headgate.rules.core.rule import Comparison, Verdict, rule
from headgate.rules.spark.facts.cluster_offsets import STORED, listed
from headgate.rules.spark.facts.kafka_subscriptions import kafka_pairs, logged_offsets
from headgate.rules.spark.facts.version_identity import looks_equal


@rule("WLD010")
def offsets_not_asked(c: Comparison) -> Iterator[Verdict]:
    """Where the query is the same, only the world decides how its restart ends.

    A topic that was made again, records that were deleted before they were read, and offsets that
    were edited look like any other restart in the files. Where the two versions differ, the
    difference is what the comparison is about, and Kafka is a warning.
    """
    if c.cluster is not None or not _is_of_checkpoint(c) or not _is_same_query(c):
        return
    logged = [(p, t) for p in kafka_pairs(c) if p.before for t in logged_offsets(p.before)]
    if not logged:
        return
    topics = listed(sorted({topic for _, topic in logged}))
    yield Verdict(
        outcome=Outcome.UNKNOWN,
        where=logged[0][0].where,
        because="Nothing that can be seen differs, and Kafka was not asked.",
        question=f"Is {topics} still the topic that the offsets were read from, with all that was "
        "not read yet, and did nobody edit the checkpoint?",
        rollback=Rollback.UNKNOWN,
        remedy="Compare with `--cluster`, which asks Kafka.",
    )


def _is_of_checkpoint(c: Comparison) -> bool:
    """Say whether a restart is judged: a version of code alone is compared for its difference."""
    progress = c.before.progress
    return progress is not None and progress.offsets_from not in (None, STORED)


def _is_same_query(c: Comparison) -> bool:
    """Say whether even names, settings and numbers that decide nothing are equal."""
    same = [(s.columns, s.options) for s in c.before.sources or ()]
    return (
        looks_equal(c)
        and same == [(s.columns, s.options) for s in c.after.sources or ()]
        and not c.nodes.removed
        and not c.nodes.added
    )
