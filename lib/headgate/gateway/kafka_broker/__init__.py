"""Brokers that Headgate starts itself."""
