"""The graph: our own SVG component that shows a scene and tells what was clicked."""
