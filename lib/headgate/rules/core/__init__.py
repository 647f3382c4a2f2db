"""Rule, finding, report and acceptance, and what corresponds to what in both versions."""
