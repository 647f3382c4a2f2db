"""Which topics a schedule counts unread records of: those that its bounded runs read."""

from types import SimpleNamespace

from headgate.model.cluster import Group, GroupOffset, Partition, Topic
from headgate.model.kafka_streams import StreamsApplication, StreamsSource
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Version
from headgate.usecases.schedules import watch_inputs
from support.flat_ports import FlatPorts

APP = Pipeline(name="p", engine=Engine.KAFKA_STREAMS, group="app")


class World(FlatPorts):
    """The application has read in-a, in-new not yet, and once read `old`."""

    def has_cluster(self):
        return True

    def topic_names(self):
        return frozenset({"in-a", "in-new", "out"})

    def topics(self, names):
        parts = (Partition(number=0, begin=0, end=5),)
        return {n: Topic(name=n, id="1", partitions=parts) for n in names}

    def group(self, name):
        read = (("in-a", 5), ("old", 1))
        offsets = tuple(GroupOffset(topic=t, partition=0, offset=o) for t, o in read)
        return Group(id=name, offsets=offsets)

    def close(self):
        pass


def test_new_topics_of_a_pattern_are_unread_and_old_ones_are_not(monkeypatch):
    facts = StreamsApplication(
        described=True, sources=(StreamsSource(processor="s", pattern="in-.*"),)
    )
    version = Version(engine=Engine.KAFKA_STREAMS, streams=facts)
    store = SimpleNamespace(versions=SimpleNamespace(running=lambda _: version))
    monkeypatch.setattr(watch_inputs, "LiveInspector", lambda *_: World())
    context = SimpleNamespace(registry=None, home=None)
    found = watch_inputs.read_unread(context, store, APP)
    assert (found.records, sorted(found.ends)) == (5, ["in-a:0", "in-new:0"])
