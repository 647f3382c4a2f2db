"""DOT, GraphML, Mermaid, SVG, PNG and OpenLineage."""
