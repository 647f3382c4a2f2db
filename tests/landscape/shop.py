"""A landscape drawn by hand: a shop with six pipelines, for tests of selectors and ways.

orders ──> enrich (sales) ──> enriched ──> totals (sales) ──> totals
  │                              └───────> fraud (payments) ──> alerts ──> group:pager
  └─────────────> archive (no owner; a file sink)
payments ───────────────────────────────> fraud
loop-in ──> retry (payments) ──> loop-in           (a loop of its own)
spare                                              (nobody writes or reads it)
"""

from headgate.landscape.landscape import (
    Landscape,
    LandscapeGroup,
    LandscapeKind,
    LandscapeNode,
    LandscapePipeline,
    LandscapeTopic,
)
from headgate.model.cluster import GroupType
from headgate.model.topology import Edge
from headgate.model.version import Engine

K = LandscapeKind
INSIDE = {
    "enrich": ("source", "join", "sink"),
    "totals": ("source", "count", "counts", "sink"),
    "fraud": ("orders", "payments", "match", "left", "sink"),
    "archive": ("source", "files"),
    "retry": ("source", "sink"),
}
KINDS = {
    "source": K.SOURCE, "orders": K.SOURCE, "payments": K.SOURCE, "join": K.TRANSFORM,
    "count": K.TRANSFORM, "match": K.TRANSFORM, "counts": K.STATE_STORE, "left": K.STATE_STORE,
    "sink": K.SINK, "files": K.SINK,
}  # fmt: skip
OWNERS = {"enrich": "sales", "totals": "sales", "fraud": "payments", "retry": "payments"}
TOPICS = {
    "alerts": (("fraud",), ("group:pager",)),
    "app-7-counts-changelog": ((), ()),
    "enriched": (("enrich",), ("totals", "fraud")),
    "loop-in": (("retry",), ("retry",)),
    "orders": ((), ("enrich", "archive")),
    "payments": ((), ("fraud",)),
    "spare": ((), ()),
    "totals": (("totals",), ()),
}
EDGES = """
    topic:orders>enrich/source enrich/source>enrich/join enrich/join>enrich/sink
    enrich/sink>topic:enriched
    topic:enriched>totals/source totals/source>totals/count totals/count>totals/counts
    totals/count>totals/sink totals/sink>topic:totals
    topic:enriched>fraud/orders topic:payments>fraud/payments fraud/orders>fraud/match
    fraud/payments>fraud/match fraud/match>fraud/left fraud/match>fraud/sink
    fraud/sink>topic:alerts topic:alerts>group:pager
    topic:orders>archive/source archive/source>archive/files
    topic:loop-in>retry/source retry/source>retry/sink retry/sink>topic:loop-in
"""


def shop() -> Landscape:
    """Return the landscape of the module's picture."""
    return Landscape(
        nodes=(
            *(LandscapeNode(f"topic:{t}", K.TOPIC, "topic", t) for t in TOPICS),
            *(
                LandscapeNode(f"{p}/{n}", KINDS[n], n, f"{n} of {p}", pipeline=p, subtopology=0)
                for p, names in INSIDE.items()
                for n in names
            ),
            LandscapeNode("group:pager", K.GROUP, "consumer", "pager", note="undeclared"),
        ),
        edges=tuple(Edge(*pair.split(">")) for pair in EDGES.split()),
        pipelines=tuple(
            LandscapePipeline(
                name=name,
                engine=Engine.KAFKA_STREAMS if name == "retry" else Engine.SPARK,
                owner=OWNERS.get(name),
                group="retry-app" if name == "retry" else None,
                nodes=tuple(f"{name}/{n}" for n in names),
                status="running" if name == "fraud" else None,
            )
            for name, names in INSIDE.items()
        ),
        topics=tuple(
            LandscapeTopic(id=f"topic:{t}", name=t, writers=writers, readers=readers)
            for t, (writers, readers) in TOPICS.items()
        ),
        groups=(
            LandscapeGroup(id="pager", type=GroupType.CONSUMER, state="stable", node="group:pager"),
            LandscapeGroup(
                id="retry-app", type=GroupType.STREAMS, state="stable", pipeline="retry"
            ),
        ),
    )


def of(pipeline: str) -> set[str]:
    """Return the node ids of a pipeline."""
    return {f"{pipeline}/{n}" for n in INSIDE[pipeline]}
