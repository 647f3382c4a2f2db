"""Compare two versions of a Kafka Streams application: what the new one does at its start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.model.cluster import Cluster
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.version import Version
from headgate.parse.kafka_streams.from_cluster import with_application_id
from headgate.rules.compare.kafka_streams_upgrade import way_of_upgrade
from headgate.rules.core.declared_renames import Renames
from headgate.rules.core.graph_changes import changes
from headgate.rules.core.match_operators import match_nodes
from headgate.rules.core.report import Report
from headgate.rules.kafka_streams.codes import RULES
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, StreamsRule
from headgate.rules.kafka_streams.facts.store_pairs import meaning
from headgate.rules.kafka_streams.facts.topic_patterns import subscribed

MEASURED_ON = "4.3.1"


def compare_streams(
    before: Version,
    after: Version,
    renames: Renames,
    cluster: Cluster | None,
    rules: Sequence[StreamsRule] = RULES,
) -> Report:
    """Return findings (worst first), changes, matches and the way of the upgrade; pure.

    The verdict is for an upgrade with every instance stopped; `upgrade` says whether a rolling
    bounce will do. `cluster` is Kafka as it is now, None if it was not checked.
    """
    before, after = _with_one_id(before, after)
    c = _comparison(before, after, renames, cluster)
    found = sorted((f for rule in rules for f in rule.run(c)), key=lambda f: -f.outcome)
    nodes = match_nodes(before.topology, after.topology, _anchors(c), declared=renames.nodes)
    return Report(
        findings=tuple(found),
        changes=changes(before, after, nodes, renames.nodes),
        matches=nodes.pairs,
        judged_for=f"kafka-streams {after.engine_version or MEASURED_ON}",
        warnings=tuple(_warnings(c)),
        upgrade=way_of_upgrade(c, found),
    )


def _with_one_id(before: Version, after: Version) -> tuple[Version, Version]:
    """Return both with the application id that only one version's evidence has.

    Otherwise all names of internal topics would differ.
    """
    ids = [v.streams.application_id for v in (before, after) if v.streams is not None]
    known = next(filter(None, ids), None)
    if known is None or all(ids):
        return before, after
    return with_application_id(before, known), with_application_id(after, known)


def _comparison(
    before: Version, after: Version, renames: Renames, cluster: Cluster | None
) -> StreamsComparison:
    none = StreamsApplication()
    old, new = subscribed(before.streams or none, after.streams or none, cluster)
    return StreamsComparison(
        before=before,
        after=after,
        old=old,
        new=new,
        renames=renames,
        cluster=cluster,
    )


def _anchors(c: StreamsComparison) -> Iterator[tuple[str | None, str | None]]:
    """Yield the nodes of stores of one meaning and of those who fill them."""
    for pair in c.stores:
        if pair.before is None or pair.after is None:
            continue
        yield pair.location.before, pair.location.after
        old, new = c.flow_before.users(pair.before), c.flow_after.users(pair.after)
        if old and new:
            yield c.flow_before.nodes[old[0]].node, c.flow_after.nodes[new[0]].node


def _warnings(c: StreamsComparison) -> Iterator[str]:
    if c.old.described and c.old.internal is None:
        yield (
            "The old version's internal topics are not in the evidence. Headgate did not "
            "check their partition counts, or which stores have a changelog. Add "
            "internal_topics.json to the evidence."
        )
    for side, app in (("old", c.old), ("new", c.new)):
        if not app.config:
            yield (
                f"The {side} version's configuration is not in the evidence. Add config.json, or "
                "a log that contains `StreamsConfig values:`."
            )
    if names := _alike(c):
        yield (
            "These stores have generated names, and Headgate can't detect whether they were "
            f"swapped: {names}. Set their current names explicitly in the code."
        )
    if not c.after.engine_version:
        yield (
            "The evidence doesn't show the version of Kafka Streams, so Headgate assumes "
            f"{MEASURED_ON}. Add the application's startup log, which shows the version."
        )


def _alike(c: StreamsComparison) -> str:
    """Return stores with generated names that differ only in their numbers."""
    found: dict[object, list[str]] = {}
    for store in c.new.stores:
        what = meaning(c.flow_after, store)
        if what is not None and store.is_generated and not store.is_global:
            found.setdefault(what.whole, []).append(store.name)
    return "; ".join(" and ".join(names) for names in found.values() if len(names) > 1)
