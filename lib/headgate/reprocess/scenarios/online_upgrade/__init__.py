"""The scenario online-upgrade."""
