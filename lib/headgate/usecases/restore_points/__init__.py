"""Make, verify, list and remove restore points while a pipeline runs."""
