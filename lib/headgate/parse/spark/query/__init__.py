"""All that is known of one query to one version."""
