"""What was not checked, so that nobody takes silence for an answer."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import family
from headgate.rules.spark.facts.cluster_offsets import are_current
from headgate.rules.spark.facts.event_time import output_mode


def unseen(c: Comparison) -> Iterator[str]:
    """Yield a sentence for each thing that could change the verdict and is not in the evidence."""
    if c.spark.assumed:
        yield f"The evidence doesn't show the Spark version, so Headgate assumes {c.spark.text}."
    elif not c.spark.measured:
        yield (
            f"Headgate was not tested with Spark {c.spark.text}. The outcomes are based on tests "
            "with Spark 3.5, 4.0 and 4.2."
        )
    for side, version in (("old", c.before), ("new", c.after)):
        if version.sink is None or not version.sink.format:
            yield (
                f"The evidence of the {side} version doesn't show the sink. Headgate did not check "
                "the sink."
            )
        if output_mode(version) is None and version.stateful:
            yield (
                f"The evidence of the {side} version doesn't show the output mode. Headgate did "
                "not check the output mode."
            )
    yield from _of_the_cluster(c)


def _of_the_cluster(c: Comparison) -> Iterator[str]:
    if not any(family(s) == "kafka" for s in c.after.sources or ()):
        return
    if c.cluster is None:
        yield (
            "Headgate did not check the Kafka cluster: topics may have been deleted or "
            "recreated, and Kafka may have deleted unread records. To check this, run "
            "`headgate diff --cluster`."
        )
    elif not are_current(c.before):
        yield (
            "The old version's offsets are from the time of its capture. Headgate did not compare "
            "them with the offsets in Kafka. To check this, add the checkpoint to the old "
            "version's evidence, and compare again."
        )
