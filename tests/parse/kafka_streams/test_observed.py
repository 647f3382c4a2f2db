"""What a cluster adds to an application, with and without a description of its topology."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.errors import EvidenceError
from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.kafka_streams import GroupSubtopology, GroupTopic
from headgate.model.topology import NodeKind
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import recognise
from headgate.parse.evidence.version_file import dump, fingerprint, load
from headgate.parse.kafka_streams.from_cluster import observed

FOLDER = Path(__file__).parents[2] / "golden" / "streams" / "4.3.1"
COUNTS, REPARTITION = "app-counts-changelog", "app-by-value-repartition"
OWNED = {COUNTS: "the application's topology has the store counts", REPARTITION: "…"}


def described(name="aggregate_named", config=None):
    found = [recognise((FOLDER / f"{name}.txt").read_bytes(), path="d")]
    found += [recognise(config, path="c")] if config else []
    return assemble(Gathered(pieces=found))


def cluster(*names, groups=(), partitions=2, end=5):
    parts = tuple(Partition(number=n, begin=1, end=end) for n in range(partitions))
    own = {"cleanup.policy": "compact"}
    return Cluster(
        id="c",
        at="2026-01-01T00:00:00.000Z",
        bootstrap="b:1",
        topics={n: Topic(name=n, partitions=parts, own_settings=own) for n in names},
        groups={g.id: g for g in groups},
    )


def classic(*topics, type=GroupType.CLASSIC, **more):
    offsets = tuple(GroupOffset(topic=t, partition=0, offset=1) for t in topics)
    return Group(id="app", type=type, state="stable", offsets=offsets, **more)


def test_names_get_the_groups_id_and_topics_their_facts():
    inspector = cluster("in", "out", COUNTS, REPARTITION, groups=[classic("in", REPARTITION)])
    version = observed(described(), "app", inspector, OWNED)
    app = version.streams
    assert (app.application_id, version.name, app.protocol) == ("app", "app", "classic")
    assert [s.changelog for s in app.stores] == [COUNTS]
    assert [r.topic for r in app.repartitions] == [REPARTITION]
    assert app.inputs == {"in": 2}
    assert [(t.name, t.partitions, t.end_offsets) for t in app.internal] == [
        (REPARTITION, 2, (5, 5)),
        (COUNTS, 2, (5, 5)),
    ]
    store = next(n for n in version.topology.nodes if n.kind is NodeKind.STATE_STORE)
    assert store.details["internal_topic"] == COUNTS
    assert store.details["topic_configs"] == {"cleanup.policy": "compact"}
    assert version.warnings == ()
    assert version.evidence[-1].kind == "cluster"
    assert load(dump(version), source="x").streams == app


def test_a_pattern_is_resolved_and_moving_offsets_make_no_new_version():
    inspector = cluster("in", "in2", "other", groups=[classic("in")])
    version = observed(described("pattern_source"), "app", inspector, {})
    assert version.streams.inputs == {"in": 2, "in2": 2}
    later = cluster("in", "in2", "other", groups=[classic("in")], end=9)
    assert fingerprint(observed(described("pattern_source"), "app", later, {})) == fingerprint(
        version
    )


def test_what_is_missing_is_said():
    gone = observed(described(), "app", cluster(), {})
    assert any("the cluster has no group app" in w for w in gone.warnings)
    assert any("the cluster lacks input topics: in" in w for w in gone.warnings)
    new = observed(described(), "app", cluster("in", groups=[classic("in")]), {})
    assert any(
        f"the cluster lacks internal topics of the topology: {REPARTITION}, {COUNTS}" in w
        for w in new.warnings
    )


def test_another_applications_evidence_is_refused():
    other = described(config=b'{"application.id": "other"}')
    with pytest.raises(EvidenceError, match="from application other, but the pipeline's group"):
        observed(other, "app", cluster(), {})


def test_a_broker_that_keeps_another_topology_is_said():
    kept = GroupSubtopology(id="0", changelogs=(GroupTopic(name="app-sums-changelog"),))
    group = classic(type=GroupType.STREAMS, subtopologies=(kept,))
    version = observed(described(), "app", cluster("in", groups=[group]), {})
    assert version.streams.protocol == "streams"
    assert any("app-sums-changelog" in w for w in version.warnings)


def test_a_classic_group_alone_proves_what_it_reads():
    group = classic("in", REPARTITION)
    inspector = cluster("in", COUNTS, REPARTITION, groups=[group])
    version = observed(None, "app", inspector, {REPARTITION: "committed"})
    app = version.streams
    assert not app.described
    assert [s.topics for s in app.sources] == [("in",)]
    assert [r.name for r in app.repartitions] == ["by-value-repartition"]
    assert (app.stores, app.sinks) == ((), ())
    kinds = sorted((n.kind.value, n.operator) for n in version.topology.nodes)
    assert kinds == [
        ("repartition", "repartition"),
        ("source", "source"),
        ("transform", "unknown"),
    ]
    assert [s.topics for s in version.sources] == [("in",)]
    assert any("no description of the topology" in w for w in version.warnings)


def test_nothing_at_all_is_an_empty_graph_that_says_so():
    version = observed(None, "app", cluster(), {})
    assert version.topology.nodes == ()
    assert len(version.warnings) == 2


def test_an_optimised_table_of_a_streams_group_is_no_store_by_its_inputs_name():
    kept = GroupSubtopology(id="0", sources=("in",), changelogs=(GroupTopic(name="in"),))
    group = classic(type=GroupType.STREAMS, subtopologies=(kept,))
    version = observed(None, "app", cluster("in", groups=[group]), {})
    assert version.streams.stores == ()
    assert [s.topics for s in version.streams.sources] == [("in",)]
