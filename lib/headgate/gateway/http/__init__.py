"""The HTTP client, declared calls and secret values."""
