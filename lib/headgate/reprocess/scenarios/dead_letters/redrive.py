"""The facts for a redrive's plan: for its steps, its impact and its risks."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.cluster import Topic
from headgate.model.dead_letters import Selection, Summary
from headgate.reprocess.ports.kafka import TopicShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Redrive:
    """What the plan is made of: the question, the topic, what it holds, and where that goes.

    `targets` are existing topics by name; `new` is the retry topic that the run creates. `left` are
    topics where records failed that are not written, each with the reason.
    """

    chosen: Selection
    topic: Topic
    summary: Summary
    targets: dict[str, Topic]
    left: dict[str, str]
    new: TopicShape | None
    rate: int

    @property
    def partitions(self) -> dict[str, int]:
        """The number of partitions of each topic that is written."""
        found = {name: len(topic.partitions) for name, topic in self.targets.items()}
        return found | ({self.new.name: self.new.partitions} if self.new else {})

    @property
    def counts(self) -> dict[str, int]:
        """How many records go to each topic, as far as the topic was read."""
        return {n: c for n, c in self.summary.targets.items() if n in self.partitions}

    @property
    def scaled(self) -> dict[str, int]:
        """How many records go to each topic: of a sample estimated, with a limit the limit."""
        summary, most = self.summary, self.chosen.most
        factor = summary.offsets / summary.read if summary.is_sample and summary.read else 1.0
        found = {name: round(count * factor) for name, count in self.counts.items()}
        total = sum(found.values())
        if most is None or total <= most or not found:
            return found
        limited = {name: count * most // total for name, count in found.items()}
        limited[next(iter(limited))] += most - sum(limited.values())
        return limited
