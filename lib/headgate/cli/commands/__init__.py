"""One file per command; `cli/main.py` finds the file by the command's name."""
