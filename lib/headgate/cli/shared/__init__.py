"""What several commands use: options, plans in text, following a run."""
