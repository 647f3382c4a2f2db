"""One version, and the world that it runs in, to what will make its next upgrade or reset hurt."""
