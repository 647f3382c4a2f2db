"""The graph: our own SVG component that shows a scene and reports what was clicked."""
