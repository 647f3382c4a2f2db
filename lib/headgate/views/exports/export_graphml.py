"""A graph as GraphML, every fact an attribute of its node."""

from __future__ import annotations

import io

import networkx as nx

from headgate.text.xml_escape import distinct, printable
from headgate.views.exports.plain_graph import ExportGraph


def graphml(graph: ExportGraph) -> str:
    """Return GraphML as networkx, yEd and Gephi read it; `details` is JSON in one attribute.

    Characters that XML does not have are replaced; ids stay different from each other.
    """
    ids = distinct(n.id for n in graph.nodes)
    out: nx.DiGraph[str] = nx.DiGraph()
    for node in graph.nodes:
        facts = {k: printable(v) if isinstance(v, str) else v for k, v in node.facts.items()}
        out.add_node(ids[node.id], **facts)
    out.add_edges_from((ids[e.source], ids[e.target]) for e in graph.edges)
    written = io.BytesIO()
    nx.write_graphml_xml(out, written)
    return written.getvalue().decode() + "\n"
