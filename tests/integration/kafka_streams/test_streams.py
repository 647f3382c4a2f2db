"""Real Kafka Streams applications of both protocols: what the cluster adds, and whose topics are.

The id of one application begins the other's, and somebody's own topic is called like a changelog.
"""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.gateway.process.jars import streams_class_path
from headgate.landscape.internal_topic_owner import ownership
from headgate.model.cluster import GroupType
from headgate.store import open_store
from headgate.usecases.context import open_context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.evidence.refresh_versions import refresh_versions
from headgate.usecases.landscape.show_landscape import show_landscape
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.kafka

PROGRAM = Path(__file__).parents[2] / "gateway/kafka_streams/TestApplication.java"
JAVA = ("java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
GENERATED = "KSTREAM-AGGREGATE-STATE-STORE-0000000002"
REGISTRY = """
[kafka]
bootstrap_servers = "{broker}"

[[pipeline]]
name = "classic"
engine = "kafka-streams"
group = "{app}"
evidence = ["described.txt"]

[[pipeline]]
name = "newer"
engine = "kafka-streams"
group = "{app}-v1"
"""


@contextmanager
def running(broker, folder, name, app, **settings):
    """Run one topology until the block ends; it has a member by then."""
    words = [f"{k.replace('_', '.')}={v}" for k, v in settings.items()]
    words += [f"application.id={app}", f"state.dir={folder / app}"]
    process = subprocess.Popen(
        [*JAVA, "-cp", streams_class_path(), str(PROGRAM),
         "run", name, broker, *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    try:
        assert process.stdout.readline().strip() == "READY"
        yield
    finally:
        process.stdin.close()
        process.wait(PATIENCE)


@dataclass(frozen=True)
class Deployment:
    app: str
    newer: str
    prefix: str
    context: object
    stop_newer: object


@pytest.fixture(scope="module")
def deployment(broker, tmp_path_factory):
    """Both applications, with their first records counted."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    folder = tmp_path_factory.mktemp("streams")
    app, prefix = f"my-app{time.time_ns() % 10**6}", f"t{time.time_ns() % 10**6}-"
    admin = AdminClient({"bootstrap.servers": broker})
    names = [NewTopic(f"{prefix}in", 2, 1), NewTopic(f"{prefix}out", 1, 1),
             NewTopic(f"{app}-orders-changelog", 1, 1)]  # fmt: skip
    for future in admin.create_topics(names).values():
        future.result()
    producer = Producer({"bootstrap.servers": broker})
    for key in "abc":
        producer.produce(f"{prefix}in", key=key, value=key)
    assert producer.flush(20) == 0
    file = folder / "headgate.toml"
    file.write_text(REGISTRY.format(broker=broker, app=app))
    context = open_context(str(file))
    one = running(broker, folder, "aggregate_named", app, prefix=prefix,
                  describe=folder / "described.txt")  # fmt: skip
    two = running(broker, folder, "aggregate_repartitioned", f"{app}-v1", prefix=prefix,
                  group_protocol="streams")  # fmt: skip
    ended = []
    with one:
        two.__enter__()

        def stop():
            if not ended:
                ended.append(True)
                two.__exit__(None, None, None)

        try:
            until(lambda: committed(context, app) and committed(context, f"{app}-v1"))
            yield Deployment(app, f"{app}-v1", prefix, context, stop)
        finally:
            stop()


def committed(context, app):
    """Whether the group has committed on its repartition topic."""
    group = read_cluster(context).groups.get(app)
    return group and any("repartition" in o.topic and o.offset for o in group.offsets)


def stored(deployment, name):
    store = open_store(deployment.context.store_url)
    try:
        return store.versions.newest(name)
    finally:
        store.close()


@pytest.mark.long
def test_the_group_of_the_streams_protocol_tells_its_own_topology(deployment):
    group = read_cluster(deployment.context).groups[deployment.newer]
    assert group.type is GroupType.STREAMS
    first, second = group.subtopologies
    repartition, changelog = (
        f"{deployment.newer}-{GENERATED}-{e}" for e in ("repartition", "changelog")
    )
    assert (first.sources, first.repartition_sinks) == ((f"{deployment.prefix}in",), (repartition,))
    assert [t.name for t in second.repartition_sources] == [repartition]
    assert [t.name for t in second.changelogs] == [changelog]
    assert second.changelogs[0].configs["cleanup.policy"] == "compact"


def test_each_application_owns_what_a_proof_says(deployment):
    cluster = read_cluster(deployment.context)
    described = {"classic": stored(deployment, "classic") or read_first(deployment)}
    found = ownership(deployment.context.registry, described, cluster)
    mine = {t: o for t, o in found.items() if t.startswith(deployment.app)}
    assert {t: o.owner for t, o in mine.items()} == {
        f"{deployment.app}-counts-changelog": "classic",
        f"{deployment.app}-by-value-repartition": "classic",
        f"{deployment.newer}-{GENERATED}-changelog": "newer",
        f"{deployment.newer}-{GENERATED}-repartition": "newer",
        f"{deployment.app}-orders-changelog": None,
    }
    theirs = mine[f"{deployment.app}-orders-changelog"]
    assert theirs.candidates == (deployment.app,)
    assert theirs.proof.startswith("unverified")
    assert mine[f"{deployment.app}-counts-changelog"].records == 3
    assert mine[f"{deployment.app}-counts-changelog"].bytes > 0
    assert mine[f"{deployment.newer}-{GENERATED}-changelog"].proof == (
        f"the broker's topology of streams group {deployment.newer} contains the topic"
    )


def read_first(deployment):
    assert all(f.number for f in refresh_versions(deployment.context))
    return stored(deployment, "classic")


def test_without_a_topology_commits_prove_repartitions_and_nothing_else(deployment):
    cluster = read_cluster(deployment.context)
    found = ownership(deployment.context.registry, {}, cluster)
    assert found[f"{deployment.app}-by-value-repartition"].owner == "classic"
    assert found[f"{deployment.app}-counts-changelog"].owner is None


def test_a_description_is_completed_by_the_cluster(deployment):
    version = stored(deployment, "classic") or read_first(deployment)
    app = version.streams
    assert app.described
    assert (app.application_id, app.protocol) == (deployment.app, "classic")
    assert app.inputs == {f"{deployment.prefix}in": 2}
    topics = {t.name: t for t in app.internal}
    assert topics.keys() == app.expected_topics().keys()
    changelog = topics[f"{deployment.app}-counts-changelog"]
    assert (changelog.partitions, sum(changelog.end_offsets)) == (2, 3)
    assert changelog.configs == {
        "cleanup.policy": "compact",
        "message.timestamp.type": "CreateTime",
    }
    assert changelog.effective["retention.ms"] == "604800000"
    assert changelog.proof == "the application's topology has the store counts"
    assert version.warnings == ()


def test_without_evidence_the_version_is_what_the_group_proves(deployment):
    version = stored(deployment, "newer") or (
        read_first(deployment) and stored(deployment, "newer")
    )
    app = version.streams
    assert (app.described, app.protocol) == (False, "streams")
    assert [s.name for s in app.stores] == [GENERATED]
    assert [(r.name, r.writes_from, r.reads_into) for r in app.repartitions] == [
        (f"{GENERATED}-repartition", (0,), (1,))
    ]
    assert {n.operator for n in version.topology.nodes} == {
        *("source", "unknown", "repartition", "state_store")
    }
    assert any("no description of the topology" in w for w in version.warnings)


def test_the_landscape_shows_owners_and_what_is_unproven(deployment):
    read_first_if_none(deployment)
    land = show_landscape(deployment.context, read_cluster(deployment.context))
    assert land.topic(f"{deployment.app}-counts-changelog").owner == "classic"
    assert land.topic(f"{deployment.newer}-{GENERATED}-changelog").owner == "newer"
    unproven = land.topic(f"{deployment.app}-orders-changelog")
    assert (unproven.owner, unproven.candidates) == (None, (deployment.app,))
    assert land.pipeline("classic").reads == (f"{deployment.prefix}in",)
    assert land.pipeline("classic").writes == (f"{deployment.prefix}out",)


def read_first_if_none(deployment):
    return stored(deployment, "classic") or read_first(deployment)


def test_stopping_an_application_makes_no_new_version(deployment):
    read_first_if_none(deployment)
    refresh_versions(deployment.context)
    deployment.stop_newer()
    until(lambda: read_cluster(deployment.context).groups[deployment.newer].state == "empty")
    assert read_cluster(deployment.context).groups[deployment.newer].type is GroupType.STREAMS
    assert refresh_versions(deployment.context) == []
