"""What the rules of schemas read."""
