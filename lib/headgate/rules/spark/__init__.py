"""Rules of Spark: one aspect a file; `codes.py` lists them."""
