"""Versions changed on purpose, with what an honest verdict may say of each change."""
