"""One file a command; `cli/main.py` finds it by its name."""
