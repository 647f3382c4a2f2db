"""The records of `headgate.watch`."""
