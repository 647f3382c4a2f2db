"""Values in words, and the columns of tables."""
