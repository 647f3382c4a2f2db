"""The look of the pages: hues shared with the graph, and the pages' own rules."""
