"""Steps of an upgrade."""
