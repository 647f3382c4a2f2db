"""A topology in the languages of other tools: Mermaid, Graphviz's DOT and GraphML."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping

import networkx as nx

from headgate.model.topology import Node, NodeKind, Topology

_MERMAID = {
    NodeKind.SOURCE: ("([", "])"),
    NodeKind.TRANSFORM: ("[", "]"),
    NodeKind.REPARTITION: ("{{", "}}"),
    NodeKind.STATE_STORE: ("[(", ")]"),
    NodeKind.SINK: ("([", "])"),
}
_DOT = {
    NodeKind.SOURCE: "oval",
    NodeKind.TRANSFORM: "box",
    NodeKind.REPARTITION: "hexagon",
    NodeKind.STATE_STORE: "cylinder",
    NodeKind.SINK: "oval",
}


def _title(node: Node) -> str:
    same = node.label.lower().startswith(node.operator.lower())
    return node.label if same else f"{node.operator} {node.label}".strip()


def mermaid(topology: Topology) -> str:
    """Return a Mermaid flowchart, a subgraph for each sub-topology."""
    lines = ["flowchart LR"]
    for number, nodes in _by_number(topology).items():
        lines.append(f"  subgraph sub{number}[sub-topology {number}]")
        for node in nodes:
            left, right = _MERMAID[node.kind]
            lines.append(f'    {node.id}{left}"{_mermaid_text(_title(node))}"{right}')
        lines.append("  end")
    stores = {n.id for n in topology.nodes if n.kind is NodeKind.STATE_STORE}
    for edge in topology.edges:
        arrow = "-.-" if edge.target in stores else "-->"
        lines.append(f"  {edge.source} {arrow} {edge.target}")
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    escaped = text.replace("&", "#amp;").replace('"', "#quot;")
    return escaped.replace("<", "#lt;").replace(">", "#gt;").replace("\n", " ")


def _by_number(topology: Topology) -> dict[int, list[Node]]:
    out: dict[int, list[Node]] = {}
    for node in topology.nodes:
        out.setdefault(node.subtopology, []).append(node)
    return {number: out[number] for number in sorted(out)}


def dot(topology: Topology) -> str:
    """Return a Graphviz digraph, a cluster for each sub-topology."""
    lines = ["digraph topology {", "  rankdir=LR;"]
    for number, nodes in _by_number(topology).items():
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f'    label="sub-topology {number}";')
        lines += [
            f"    {_quoted(n.id)} [shape={_DOT[n.kind]}, label={_quoted(_title(n))}];"
            for n in nodes
        ]
        lines.append("  }")
    lines += [f"  {_quoted(e.source)} -> {_quoted(e.target)};" for e in topology.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def graphml(topology: Topology) -> str:
    """Return GraphML with kind, operator, label, sub-topology and details (as JSON) on nodes."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in topology.nodes:
        graph.add_node(
            node.id,
            kind=node.kind.value,
            operator=_printable(node.operator),
            label=_printable(node.label),
            subtopology=node.subtopology,
            details=_printable(json.dumps(node.details, ensure_ascii=False, default=str)),
        )
    graph.add_edges_from((e.source, e.target) for e in topology.edges)
    out = io.BytesIO()
    nx.write_graphml_xml(graph, out)
    return out.getvalue().decode() + "\n"


def _printable(text: str) -> str:
    """XML has no control characters, however they are written."""
    return "".join(c if c >= " " or c in "\t\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


WRITERS: Mapping[str, Callable[[Topology], str]] = {
    "mermaid": mermaid,
    "dot": dot,
    "graphml": graphml,
}
