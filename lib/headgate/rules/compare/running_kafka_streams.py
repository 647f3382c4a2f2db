"""Whether the group of a running application shows the topology that was judged."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.cluster import Group
from headgate.model.kafka_streams import GroupSubtopology, StreamsApplication
from headgate.model.version import Version
from headgate.rules.compare.running_version import VersionMatch
from headgate.rules.kafka_streams.facts.broker_topology import Registered, registered

_CODE = "the group's topology on the broker doesn't show the code of the processors"


def liken_group(judged: Version, group: Group) -> VersionMatch:
    """Compare a description with what the broker keeps of a group, or what its members read.

    A group of the classic protocol shows no more than the topics that its members are assigned.
    """
    app = judged.streams
    if app is None or not app.described:
        return VersionMatch(untold=("the topology of the checked version is not in the evidence",))
    if group.subtopologies is None:
        return _by_assignment(app, group)
    return VersionMatch(tuple(_differences(app, group.subtopologies)), (_CODE,))


def _differences(app: StreamsApplication, kept: tuple[GroupSubtopology, ...]) -> Iterator[str]:
    was = {str(number): one for number, one in registered(app, frozenset()).items()}
    now = {one.id: _registered(one) for one in kept}
    for number in sorted({*was, *now}, key=lambda n: (len(n), n)):
        old, new = was.get(number), now.get(number)
        if old is None or new is None:
            side = "running" if old is None else "checked"
            yield f"only the {side} version has sub-topology {number}"
            continue
        if not any(t.startswith("/") for t in old.inputs) and old.inputs != new.inputs:
            yield (
                f"the input topics of sub-topology {number} differ (running version: "
                f"{_named(new.inputs)}; checked version: {_named(old.inputs)})"
            )
        for what in ("writes", "repartitions"):
            if getattr(old, what) != getattr(new, what):
                names = _named(getattr(new, what)), _named(getattr(old, what))
                yield (
                    f"the repartition topics of sub-topology {number} differ (running version: "
                    f"{names[0]}; checked version: {names[1]})"
                )
        # A store without logging has no changelog, and a description does not tell which those are.
        if more := new.changelogs - old.changelogs - old.inputs:
            yield (
                f"only the running version has these changelogs in sub-topology {number}: "
                f"{_named(more)}"
            )


def _registered(one: GroupSubtopology) -> Registered:
    return Registered(
        inputs=frozenset(one.sources),
        writes=frozenset(one.repartition_sinks),
        repartitions=frozenset(t.name for t in one.repartition_sources),
        changelogs=frozenset(t.name for t in one.changelogs),
    )


def _by_assignment(app: StreamsApplication, group: Group) -> VersionMatch:
    unseen = ("a group with the classic protocol shows its input topics, but not its topology",)
    if any(s.pattern for s in app.sources):
        return VersionMatch(untold=unseen)
    known = {t for s in app.sources for t in s.topics} | {r.topic for r in app.repartitions}
    read = {topic for m in group.members or () for topic, _ in m.assignment}
    unknown = frozenset(read - known)
    return VersionMatch(
        (f"only the running version reads these topics: {_named(unknown)}",) if unknown else (),
        unseen,
    )


def _named(topics: frozenset[str]) -> str:
    return ", ".join(sorted(topics)) or "none"
