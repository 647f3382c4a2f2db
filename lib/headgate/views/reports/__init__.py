"""One report a subject; `*_terminal.py` alone imports rich."""
