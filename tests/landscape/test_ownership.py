"""Whose an internal topic is: every proof, what is none, and proofs that contradict each other."""

from headgate.landscape.internal_topic_owner import owned_by, ownership
from headgate.model.cluster import Cluster, Group, GroupOffset, GroupType, Partition, Topic
from headgate.model.kafka_streams import (
    GroupSubtopology,
    GroupTopic,
    Repartition,
    StreamsApplication,
    StreamsSource,
    StreamsStore,
)
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Version


def pipeline(app, **more):
    return Pipeline(name=f"the {app}", engine=Engine.KAFKA_STREAMS, group=app, **more)


def version(app, stores=(), repartitions=(), sources=()):
    facts = StreamsApplication(
        application_id=app,
        described=True,
        stores=tuple(StreamsStore(name=s, changelog=f"{app}-{s}-changelog") for s in stores),
        repartitions=tuple(Repartition(name=r, topic=f"{app}-{r}") for r in repartitions),
        sources=(StreamsSource(processor="source", topics=tuple(sources)),),
    )
    return Version(engine=Engine.KAFKA_STREAMS, streams=facts)


def cluster(topics, groups=()):
    parts = (Partition(number=0, begin=2, end=7),)
    return Cluster(
        id="c",
        at="2026-01-01T00:00:00.000Z",
        bootstrap="b:1",
        topics={t: Topic(name=t, partitions=parts, bytes=100) for t in topics},
        groups={g.id: g for g in groups},
    )


def committed(group, *topics, **more):
    offsets = tuple(GroupOffset(topic=t, partition=0, offset=1) for t in topics)
    return Group(id=group, offsets=offsets, **more)


def owners(found):
    return {name: o.owner for name, o in found.items()}


def test_exact_names_of_the_topology_prove_and_the_size_is_told():
    topics = ["my-app-counts-changelog", "my-app-by-city-repartition", "my-app-old-changelog"]
    versions = {"the my-app": version("my-app", ["counts"], ["by-city-repartition"])}
    found = ownership(Registry(pipelines=(pipeline("my-app"),)), versions, cluster(topics))
    assert owners(found) == {
        "my-app-counts-changelog": "the my-app",
        "my-app-by-city-repartition": "the my-app",
        "my-app-old-changelog": None,
    }
    proven = found["my-app-counts-changelog"]
    assert proven.proof == "the application's topology has the store counts"
    assert (proven.records, proven.bytes, proven.application is not None) == (5, 100, True)
    assert found["my-app-by-city-repartition"].proof == (
        "the application's topology has the repartition by-city-repartition"
    )
    assert found["my-app-old-changelog"].candidates == ("my-app",)
    assert [o.topic for o in owned_by(found, "my-app")] == sorted(topics[:2])


def test_an_application_does_not_own_what_begins_with_another_ones_id():
    topics = ["my-app-v1-counts-changelog", "my-app-counts-changelog"]
    versions = {"the my-app": version("my-app", ["counts"])}
    apps = (pipeline("my-app"), pipeline("my-app-v1"))
    found = ownership(Registry(pipelines=apps), versions, cluster(topics))
    assert owners(found)["my-app-counts-changelog"] == "the my-app"
    unproven = found["my-app-v1-counts-changelog"]
    assert (unproven.owner, unproven.candidates) == (None, ("my-app-v1", "my-app"))
    assert unproven.proof.startswith(
        "unverified: the name starts with application id my-app-v1 or my-app"
    )


def test_two_topologies_that_imply_one_topic_contradict_each_other():
    versions = {
        "the my-app": version("my-app", ["v1-counts"]),
        "the my-app-v1": version("my-app-v1", ["counts"]),
    }
    apps = (pipeline("my-app"), pipeline("my-app-v1"))
    found = ownership(Registry(pipelines=apps), versions, cluster(["my-app-v1-counts-changelog"]))[
        "my-app-v1-counts-changelog"
    ]
    assert (found.owner, found.candidates) == (None, ("my-app-v1", "my-app"))
    assert found.proof.startswith(
        "contradictory evidence: my-app: the application's topology has the store"
    )


def test_the_registry_proves():
    app = pipeline("my-app", topics=("orders", "my-app-x-changelog"))
    found = ownership(Registry(pipelines=(app,)), {}, cluster(["my-app-x-changelog", "orders"]))
    assert owners(found) == {"my-app-x-changelog": "the my-app"}
    assert "headgate.toml" in found["my-app-x-changelog"].proof


def test_the_topology_of_a_streams_group_proves_but_for_inputs_that_serve_as_changelog():
    kept = GroupSubtopology(
        id="0",
        sources=("orders-changelog",),
        repartition_sinks=("my-app-r-repartition",),
        changelogs=(GroupTopic(name="my-app-s-changelog"), GroupTopic(name="orders-changelog")),
    )
    group = Group(id="my-app", type=GroupType.STREAMS, subtopologies=(kept,))
    topics = ["my-app-r-repartition", "my-app-s-changelog", "orders-changelog"]
    declared = ownership(Registry(pipelines=(pipeline("my-app"),)), {}, cluster(topics, [group]))
    assert owners(declared) == {
        "my-app-r-repartition": "the my-app",
        "my-app-s-changelog": "the my-app",
        "orders-changelog": None,
    }
    unknown = ownership(Registry(), {}, cluster(topics, [group]))["my-app-s-changelog"]
    assert (unknown.application, unknown.owner) == ("my-app", None)
    assert unknown.proof.endswith(", but no pipeline has application id my-app")


def test_commits_prove_for_repartition_topics_under_the_groups_own_id_only():
    topics = ["my-app-r-repartition", "my-app-s-changelog", "other-r-repartition"]
    group = committed("my-app", *topics)
    found = ownership(Registry(pipelines=(pipeline("my-app"),)), {}, cluster(topics, [group]))
    assert owners(found) == {
        "my-app-r-repartition": "the my-app",
        "my-app-s-changelog": None,
        "other-r-repartition": None,
    }


def test_a_plain_consumer_of_a_repartition_topic_proves_nothing():
    topics = ["my-app-r-repartition"]
    found = ownership(Registry(), {}, cluster(topics, [committed("debugging", *topics)]))
    assert found["my-app-r-repartition"].candidates == ()


def test_an_input_is_no_internal_topic_however_it_is_called():
    topics = ["my-app-in-repartition"]
    versions = {"the my-app": version("my-app", sources=topics)}
    found_cluster = cluster(topics, [committed("my-app", *topics)])
    found = ownership(Registry(pipelines=(pipeline("my-app"),)), versions, found_cluster)
    assert owners(found) == {"my-app-in-repartition": None}


def test_a_description_of_another_application_proves_nothing():
    versions = {"the my-app": version("my-app-v1", ["counts"])}
    found_cluster = cluster(["my-app-v1-counts-changelog"])
    found = ownership(Registry(pipelines=(pipeline("my-app"),)), versions, found_cluster)
    assert owners(found) == {"my-app-v1-counts-changelog": None}


def test_without_a_cluster_the_described_topics_are_told():
    versions = {"the my-app": version("my-app", ["counts"])}
    found = ownership(Registry(pipelines=(pipeline("my-app"),)), versions, None)
    assert owners(found) == {"my-app-counts-changelog": "the my-app"}
    assert found["my-app-counts-changelog"].records is None
