"""The stages of `setup.py`; only the standard library is used, because nothing else is there."""
