"""A topology for people at a terminal: a tree from the sink up, and tables of what it holds."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from headgate.model.schema import Schema
from headgate.model.streams import InternalTopic, StreamsApplication
from headgate.model.topology import Node, NodeKind, Topology
from headgate.model.version import Version
from headgate.parse.spark.limits import limits_of

_SIGNS = {
    NodeKind.SOURCE: "◀",
    NodeKind.TRANSFORM: "•",
    NodeKind.REPARTITION: "⇄",
    NodeKind.STATE_STORE: "▤",
    NodeKind.SINK: "▶",
}


def topology_text(version: Version) -> RenderableType:
    """Return the whole view; warnings are not part of it."""
    parts: list[RenderableType] = [_heading(version), *_trees(version.topology)]
    if version.sources:
        parts.append(_sources(version))
    if version.stateful:
        parts.append(_stores(version))
    if version.streams is not None:
        parts += _streams(version.streams)
    if open_ := limits_of(version):
        parts.append(_limits(open_))
    return Group(*parts)


def _limits(sentences: Sequence[str]) -> Text:
    """Return what this evidence can't say, a line each."""
    lines = "".join(f"\n· {sentence}" for sentence in sentences)
    return Text.assemble(("Not known from this evidence", "italic"), (lines, "dim"))


def _heading(version: Version) -> Text:
    words = [version.name or "(unnamed)", version.engine.value]
    if version.output_mode:
        words.append(f"{version.output_mode.lower()} mode")
    if version.progress and version.progress.last_commit_batch is not None:
        words.append(f"batch {version.progress.last_commit_batch} committed")
    return Text(" · ".join(words), style="bold")


def _trees(topology: Topology) -> list[Tree]:
    """Return a tree for each node that feeds nothing; what a node needs hangs below it.

    The graph is walked without recursion; a node that feeds several is written out once.
    """
    inputs: dict[str, list[str]] = {}
    stores = {n.id for n in topology.nodes if n.kind is NodeKind.STATE_STORE}
    feeding = set()
    for edge in topology.edges:
        upward = (edge.source, edge.target) if edge.target in stores else (edge.target, edge.source)
        inputs.setdefault(upward[0], []).append(upward[1])
        feeding.add(upward[1])
    nodes = {n.id: n for n in topology.nodes}
    out = []
    seen: set[str] = set()
    for root in (n for n in topology.nodes if n.id not in feeding):
        tree = Tree(_line(root))
        out.append(tree)
        stack = [(tree, below) for below in inputs.get(root.id, [])[::-1]]
        while stack:
            branch, key = stack.pop()
            again = key in seen
            child = branch.add(_line(nodes[key]) if not again else Text(f"↑ {nodes[key].label}"))
            seen.add(key)
            if not again:
                stack.extend((child, below) for below in inputs.get(key, [])[::-1])
    return out


def _kind(node: Node) -> str:
    """Return the operator's word and a blank, nothing where the label begins with it anyway."""
    word = node.operator.replace("_", " ")
    return "" if node.label.startswith(word) else f"{node.operator} "


def _line(node: Node) -> Text:
    sign = _SIGNS[node.kind]
    text = Text.assemble((f"{sign} ", "dim"), (_kind(node), "bold"), node.label)
    if node.kind is NodeKind.REPARTITION and node.details.get("partitions") is not None:
        text.append(f" ({node.details['partitions']})")
    return text


def _sources(version: Version) -> Table:
    table = Table(
        "source", "format", "reads", "from", "offsets", title="Sources", title_justify="left"
    )
    for source in version.sources or ():
        reads = ", ".join(source.topics) or source.pattern or source.path or ""
        start, now = (_offsets(o) for o in (source.start_offsets, source.offsets))
        name = source.name or f"s{source.position}"
        _row(table, name, source.format or "?", reads, start, now)
    return table


def _row(table: Table, *cells: str) -> None:
    """Add cells as they are: a bracket in a path or a list of offsets is no markup."""
    table.add_row(*map(Text, cells))


def _offsets(offsets: object) -> str:
    text = "" if offsets is None else str(offsets)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _stores(version: Version) -> Table:
    table = Table("id", "operator", "store", "key", "value", title="State", title_justify="left")
    for operator in version.stateful or ():
        for store in operator.stores:
            _row(
                table,
                str(operator.operator_id),
                operator.name or operator.kind.value,
                store.store,
                _schema(store.key_schema),
                _schema(store.value_schema),
            )
    return table


def _streams(app: StreamsApplication) -> list[Table]:
    """Return the stores with their changelogs, and the repartition topics, by exact name."""
    on_cluster = {t.name: t for t in app.internal or ()}
    stores = Table("store", "named by", "changelog", "records", title="State", title_justify="left")
    for store in app.stores:
        topic = store.changelog or f"(restored from {store.restored_from})"
        _row(stores, store.name, _by(store.is_generated), topic, _records(on_cluster.get(topic)))
    between = Table(
        "repartition", "named by", "topic", "records", title="Repartitions", title_justify="left"
    )
    for found in app.repartitions:
        records = _records(on_cluster.get(found.topic))
        _row(between, found.name, _by(found.is_generated), found.topic, records)
    return [table for table in (stores, between) if table.row_count]


def _by(is_generated: bool) -> str:
    return "Kafka Streams" if is_generated else "the code"


def _records(topic: InternalTopic | None) -> str:
    if topic is None or not topic.end_offsets:
        return "?"
    return str(sum(topic.end_offsets) - sum(topic.begin_offsets))


def _schema(schema: Schema | None) -> str:
    return "?" if schema is None else schema.describe()
