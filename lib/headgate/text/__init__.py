"""Numbers, times, tables, JSON and secrets as text: what every layer writes."""
