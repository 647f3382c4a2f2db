"""Plotly charts."""
