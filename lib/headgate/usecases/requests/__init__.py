"""Request a run, decide about requests, list requests."""
