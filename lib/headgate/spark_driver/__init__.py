"""What runs inside a user's own Spark driver: one listener, one thread, one destination."""
