"""What is wrong with a checkpoint, and its files after a repair: values, no I/O."""
