"""Names that a broken writer trips over, and a topology and a landscape full of them."""

from itertools import pairwise

from headgate.landscape.landscape import (
    Landscape,
    LandscapeKind,
    LandscapeNode,
    LandscapePipeline,
    LandscapeTopic,
)
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Version

NAMES = (
    'double "quotes"', "it's", "[square] (round) {curly}", "two\nlines\r\nand\ttabs",
    "<script>alert(1)</script>", "😀 emoji 🏳️‍🌈", "n" * 5000, "back\\slash\\", "trailing\\",
    "a--> b", "%% comment", "end", "subgraph", "#35;", "&amp; &#60;", "`code` **bold**", ";drop",
    "semi;colon|pipe", "\0nul\x07bell", "\ud800lone", "\ufffe\uffff", "]]>", "<!--", "--", "=",
    "ünïcode ßtraße", "数据流", "‮right to left", " ", "o", "x", "n1", "box0", "\\N \\l \\G",
    "is_topic", "click a call b()", "${x}", "{{ jinja }}", "@{ shape: rect }", "a@{b}", "'",
    "</text></svg>", "<b>html</b>", "topic:with:colons", "a/b/c", "/", "default", "-", "1", "1.5",
)  # fmt: skip


def topology() -> Topology:
    """Return a chain through a node of each name; ids, labels and details are all hostile."""
    kinds = list(NodeKind)
    nodes = tuple(
        Node(name, kinds[i % 5], "operator" if i % 2 else name[:20], name, i // 10, {"is": name})
        for i, name in enumerate(NAMES)
    )
    edges = tuple(Edge(a, b) for a, b in pairwise(NAMES))
    return Topology(nodes, edges)


def version() -> Version:
    """Return a version with that topology, called by a hostile name."""
    return Version(engine=Engine.SPARK, name='<b>"x"</b>\n', topology=topology())


def landscape() -> Landscape:
    """Return a pipeline and a topic of each name; each pipeline writes its topic."""
    kind = LandscapeKind
    return Landscape(
        nodes=(
            *(LandscapeNode(f"topic:{n}", kind.TOPIC, "topic", n) for n in NAMES),
            *(LandscapeNode(f"{n}/sink", kind.SINK, n[:9], n, n, 0, {n: n}) for n in NAMES),
        ),
        edges=tuple(Edge(f"{n}/sink", f"topic:{n}") for n in NAMES),
        pipelines=tuple(
            LandscapePipeline(name=n, engine=Engine.SPARK, owner=n, nodes=(f"{n}/sink",))
            for n in NAMES
        ),
        topics=tuple(LandscapeTopic(id=f"topic:{n}", name=n, writers=(n,)) for n in NAMES),
    )
