"""Two versions to one report, by engine."""
