"""One report per subject; only `*_terminal.py` imports rich."""
