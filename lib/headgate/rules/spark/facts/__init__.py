"""What the rules of Spark read."""
