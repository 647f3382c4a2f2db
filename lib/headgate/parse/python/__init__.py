"""What Python source code imports, without running it."""
